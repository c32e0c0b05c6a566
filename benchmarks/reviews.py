"""Simulated reviews: coverage of intervals, errors of forecasts, and the gain by verified rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from benchmarks.audit_sets import REAL_NOISE, SMALL, Labels, labels_of, names_of
from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn.audit import LabelAudit

ABOUT = """\
A simulated reviewer, who knows the true labels, decides on 60 to 200 rows of `next_to_review` in
one to three sittings; the audit is fitted again after each. The number of the review seeds the
set, the noise (planted, 0 to 30 % of three kinds, or real), the size and the fraction of random
rows."""
SIZES, RANDOM_FRACTIONS, SITTINGS = (60, 100, 200), (0.3, 0.5, 1.0), (1, 2, 3)
PLANTED = [(kind, rate) for kind in ("uniform", "pair", "boundary") for rate in (0, 0.1, 0.2, 0.3)]
NEXT, MOST_ROWS = 50, 2_000


def drawn_labels(review: int, rng: np.random.Generator) -> tuple[str, str, Labels]:
    """Return the set, the noise and the labels of a review."""
    group = REAL_NOISE if review % 2 else SMALL
    name = str(rng.choice(names_of(group)))
    labels, noise = labels_of(name, group), "real"
    if group == SMALL:
        noise, rate = PLANTED[rng.integers(len(PLANTED))]
        labels = labels.planted(noise, rate, 1 + review)
    kept = rng.permutation(len(labels.given))[:MOST_ROWS]
    return name, noise, Labels(labels.X[kept], labels.given[kept], labels.truth[kept])


def simulate(review: int) -> list[Row]:
    """Return one review, or nothing if the set has too few rows for it."""
    rng = np.random.default_rng(review)
    name, noise, labels = drawn_labels(review, rng)
    X, given, truth, wrong = labels.X, labels.given, labels.truth, labels.wrong
    n_decided, fraction, n_sittings = (
        choices[rng.integers(len(choices))] for choices in (SIZES, RANDOM_FRACTIONS, SITTINGS)
    )
    if n_decided > len(given) / 2 or np.bincount(given).min() < 3:
        return []
    before = audit = LabelAudit(random_state=review).fit(X, given)
    verified: list[pd.DataFrame] = []
    for _ in range(n_sittings):
        rows = audit.next_to_review(n_decided // n_sittings, random_fraction=fraction)
        verified.append(rows.assign(label=truth[rows.index])[["label", "drawn"]])
        audit = LabelAudit(random_state=review).fit(X, given, verified=pd.concat(verified))
    order = audit.ratings_.worst_first
    rows = order[~audit.verified_[order]][:NEXT]
    rest = ~audit.verified_ & ~np.isnan(audit.label_quality_)
    scores = {}
    if 0 < wrong[rest].sum() < rest.sum():
        for when, one in (("before", before), ("after", audit)):
            doubt = -np.nan_to_num(one.label_quality_[rest], nan=1)
            scores[when] = average_precision_score(wrong[rest], doubt)
    judged = not np.isnan(audit.error_proba_[rows]).any()
    return [
        {
            "set": name, "noise": "real" if noise == "real" else "planted", "rows": n_decided,
            "random_fraction": fraction, "sittings": n_sittings, "truth": wrong.mean(),
            "estimate": audit.noise_.rate, "low": audit.noise_.low, "high": audit.noise_.high,
            "forecast": audit.error_proba_[rows].sum() if judged else np.nan,
            "found": int(wrong[rows].sum()), **scores,
        }
    ]  # fmt: skip


def tasks(quick: bool) -> Iterator[Task]:
    """Yield reviews by number."""
    for review in range(6 if quick else 600):
        yield {"review": review}, partial(simulate, review)


def parts_of(found: pd.DataFrame, columns: dict[str, str]) -> dict[str, pd.DataFrame]:
    """Return all reviews, and the parts of equal values of some columns."""
    parts = {"all": found}
    for column, words in columns.items():
        parts |= {words.format(value): part for value, part in found.groupby(column)}
    return parts


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield how honest intervals and forecasts are, and what verified rows bring."""
    yield f"{len(found)} simulated reviews of {found['set'].nunique()} sets."
    found["holds"] = (found["low"] <= found["truth"]) & (found["truth"] <= found["high"])
    words = {
        "noise": "{} noise", "rows": "{} rows", "random_fraction": "{:.0%} at random",
        "sittings": "{} sittings",
    }  # fmt: skip
    yield "## The 95 % interval of the noise rate"
    lines = {
        name: {
            "reviews": len(part),
            "contains the true rate": f"{part['holds'].mean():.1%}",
            "mean width": (part["high"] - part["low"]).mean(),
            "mean signed error": (part["estimate"] - part["truth"]).mean(),
        }
        for name, part in parts_of(found, words).items()
    }
    yield markdown(pd.DataFrame(lines).T.rename_axis("reviews of"))
    yield f"## Wrong labels in the next {NEXT} rows, worst first"
    lines = {}
    for name, part in parts_of(found[found["forecast"].notna()], {"noise": "{} noise"}).items():
        errors = (part["forecast"] - part["found"]).abs()
        lines[name] = {
            "forecast": part["forecast"].mean(),
            "found": part["found"].mean(),
            "mean absolute error": errors.mean(),
            # Fewer than two rows are no error, however few were found.
            "within 20 %": f"{(errors <= np.maximum(0.2 * part['found'], 2)).mean():.0%}",
        }
    yield markdown(pd.DataFrame(lines).T, 1)
    yield "## Do verified rows help the others?"
    yield "Average precision of the audit on the rows that were not reviewed, before and after."
    lines = {}
    for name, part in parts_of(found[found["before"].notna()], words).items():
        gain = part["after"] - part["before"]
        lines[name] = {
            "before": part["before"].mean(), "after": part["after"].mean(), "gain": gain.mean(),
            "reviews that gain": f"{(gain > 0).mean():.0%}",
        }  # fmt: skip
    yield markdown(pd.DataFrame(lines).T)


BENCHMARKS = {"reviews": Benchmark("Simulated reviews", ABOUT, tasks, tables)}
