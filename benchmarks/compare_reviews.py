"""Simulated reviews: whether intervals and forecasts are honest, and whether verified rows help.

    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_reviews.py out/reviews.csv [--reviews 500]
    python benchmarks/compare_reviews.py out/reviews.csv --report docs/results/reviews.md

A reviewer who knows the truth looks at 60 to 200 rows that `next_to_review` names, in one to
three sittings; the audit is fitted again after each. Sets, planted noise (0 to 30 %, of
three kinds, in training parts of the collection) or real noise, sizes and the share of rows
drawn at random are drawn by the number of the review. Results are written at once and
kept, so the run can be stopped and continued.
"""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
from kept_results import run_or_report
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits
from training_parts import small_sets, training_part

from granulearn.audit import LabelAudit
from granulearn.bench import load_study
from granulearn.datasets import load
from granulearn.preprocess import TablePreprocessor

FIELDS = [
    "review", "set", "noise", "rate", "n_looked", "random_fraction", "n_sittings", "truth",
    "estimate", "low", "high", "basis", "forecast", "found", "of_rows", "before", "after",
]  # fmt: skip
SIZES, RANDOM_SHARES, SITTINGS = (60, 100, 200), (0.3, 0.5, 1.0), (1, 2, 3)
PLANTED = [(kind, rate) for kind in ("uniform", "pair", "boundary") for rate in (0, 0.1, 0.2, 0.3)]
NEXT = 50
MOST_ROWS = 2_000
COMMANDS = """\
```
mkdir -p out
GRANULEARN_DATA=DIRECTORY python benchmarks/compare_reviews.py out/reviews.csv
python benchmarks/compare_reviews.py out/reviews.csv --report docs/results/reviews.md
```
"""


def drawn_labels(review: int, rng: np.random.Generator) -> tuple:
    """Return name, kind and rate of noise, inputs, given and true labels of a review."""
    if review % 2:
        name = str(rng.choice(load_study("real-noise").datasets))
        data = load(name, download=False)
        X = TablePreprocessor(max_one_hot=None).fit_transform(data.X)
        classes, given = np.unique(data.y, return_inverse=True)
        truth = np.searchsorted(classes, data.truth)
        kept = rng.permutation(len(given))[:MOST_ROWS]
        return name, "real", 0.0, X[kept], given[kept], truth[kept]
    name = str(rng.choice(small_sets()))
    part = training_part(name, 1 + review)
    kind, rate = PLANTED[rng.integers(len(PLANTED))]
    return name, kind, rate, part.X, part.disturbed(kind, rate), part.labels


def one_review(review: int) -> dict | None:
    """Simulate a review; None if the set has too few rows for it."""
    rng = np.random.default_rng(review)
    name, kind, rate, X, given, truth = drawn_labels(review, rng)
    n_looked, share, n_sittings = (
        choices[rng.integers(len(choices))] for choices in (SIZES, RANDOM_SHARES, SITTINGS)
    )
    if n_looked > len(given) / 2 or np.bincount(given).min() < 3:
        return None
    plain = audit = LabelAudit(random_state=review).fit(X, given)
    said = pd.DataFrame({"label": [], "drawn": []})
    for _ in range(n_sittings):
        rows = audit.next_to_review(n_looked // n_sittings, random_fraction=share)
        said = pd.concat([said, rows.assign(label=truth[rows.index])[["label", "drawn"]]])
        said["label"] = said["label"].astype(int)
        audit = LabelAudit(random_state=review).fit(X, given, verified=said)
    wrong, noise = given != truth, audit.noise_
    order = audit.ratings_.worst_first
    rows = order[~audit.verified_[order]][:NEXT]
    rest = ~audit.verified_ & ~np.isnan(audit.label_quality_)
    scores: dict[str, float] = {}
    if 0 < wrong[rest].sum() < rest.sum():
        scores = {
            when: average_precision_score(
                wrong[rest], -np.nan_to_num(of.label_quality_[rest], nan=1)
            )
            for when, of in (("before", plain), ("after", audit))
        }
    judged = not np.isnan(audit.error_proba_[rows]).any()
    return {
        "review": review, "set": name, "noise": kind, "rate": rate, "n_looked": n_looked,
        "random_fraction": share, "n_sittings": n_sittings, "truth": wrong.mean(),
        "estimate": noise.rate, "low": noise.low, "high": noise.high, "basis": noise.basis,
        "forecast": audit.error_proba_[rows].sum() if judged else np.nan,
        "found": int(wrong[rows].sum()), "of_rows": len(rows), **scores,
    }  # fmt: skip


def run(path: Path, reviews: int) -> None:
    """Simulate what the file does not have yet, until it has so many."""
    done = set(pd.read_csv(path)["review"]) if path.exists() else set()
    with path.open("a", newline="", encoding="utf-8") as file, threadpool_limits(1):
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        review = 0
        while len(done) < reviews:
            if review not in done:
                row = one_review(review)
                if row is not None:
                    writer.writerow(row)
                    file.flush()
                    done.add(review)
            review += 1


def report(path: Path) -> str:
    """Return the tables of a file of results as Markdown."""
    table = pd.read_csv(path)
    table["holds"] = (table["low"] <= table["truth"]) & (table["truth"] <= table["high"])
    table["width"], table["bias"] = table["high"] - table["low"], table["estimate"] - table["truth"]
    table["kind"] = np.where(table["noise"] == "real", "real", "planted")
    lines = [
        COMMANDS,
        f"{len(table)} simulated reviews of {table['set'].nunique()} sets.",
        "",
        "## The 95 % interval of the share of wrong labels",
        "",
        "| reviews | number | holds the truth | mean width | mean error with sign |",
        "|---|---|---|---|---|",
    ]
    parts = {"all": table}
    words = {
        "kind": "{} noise",
        "n_looked": "{} rows",
        "random_fraction": "{:.0%} at random",
        "n_sittings": "{} sittings",
    }
    for column, word in words.items():
        parts |= {word.format(value): part for value, part in table.groupby(column)}
    for name, part in parts.items():
        lines.append(
            f"| {name} | {len(part)} | {part['holds'].mean():.1%} | {part['width'].mean():.3f} | "
            f"{part['bias'].mean():+.4f} |"
        )
    lines += [
        "",
        f"## Wrong labels in the next {NEXT} rows, worst first",
        "",
        "| reviews | forecast | found | forecast by found | mean absolute error | within 20 % |",
        "|---|---|---|---|---|---|",
    ]
    known = table[table["forecast"].notna()]
    for name, part in {"all": known, **dict(list(known.groupby("kind")))}.items():
        forecast, found = part["forecast"].mean(), part["found"].mean()
        errors = (part["forecast"] - part["found"]).abs()
        # Fewer than two rows are no error, however few were found.
        within = (errors <= np.maximum(0.2 * part["found"], 2)).mean()
        lines.append(
            f"| {name} | {forecast:.1f} | {found:.1f} | {forecast / found:.2f} | "
            f"{errors.mean():.1f} | {within:.0%} |"
        )
    lines += [
        "",
        "## Do verified rows help the others?",
        "",
        "Average precision on the rows nobody looked at, by the audit before and after.",
        "",
        "| reviews | before | after | gain | reviews that gain |",
        "|---|---|---|---|---|",
    ]
    scored = table[table["before"].notna()]
    for (kind, n_looked), part in scored.groupby(["kind", "n_looked"]):
        gain = part["after"] - part["before"]
        lines.append(
            f"| {kind} noise, {n_looked} rows | {part['before'].mean():.3f} | "
            f"{part['after'].mean():.3f} | {gain.mean():+.3f} | {(gain > 0).mean():.0%} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, or write the report."""
    run_or_report(__doc__, __file__, "Simulated reviews", run, report, reviews=500)


if __name__ == "__main__":
    main()
