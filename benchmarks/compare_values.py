"""Study `values`: which score finds wrong numbers that were planted.

Values of the targets of 22 sets are changed in four ways, and each method rates
them; AUROC and average precision say how well the ratings rank the changed ones
first. Every result is written at once and kept, so the study can be stopped and
continued:

    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_values.py out/values.csv [--repeats 1]
    python benchmarks/compare_values.py out/values.csv --report docs/results/values.md
"""

import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.regression.learn import CleanLearning
from cleanlab.regression.rank import get_label_quality_scores
from kept_results import run_or_report
from lightgbm import LGBMRegressor
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import KFold, cross_val_predict
from threadpoolctl import threadpool_limits
from value_errors import CHOSEN_ON, KINDS, MAX_ROWS, NAMES, plant, value_set

from granulearn.audit import audit_labels
from granulearn.bench import compare
from granulearn.rvfl import RVFLEnsembleRegressor

CONDITIONS = [(kind, rate) for kind in KINDS for rate in (0.05, 0.1)]
CLEAN = ("none", 0.0)
SCORES = ["auroc", "average_precision", "seconds"]
# What the audit says beside its order; the rivals say nothing comparable.
SAID = ["noise_rate", "explained", "flagged", "promised", "precision", "recall", "in_range"]
FIELDS = ["dataset", "kind", "rate", "repeat", "method", *SCORES, *SAID]
OURS = "audit_labels"
COMMANDS = """\
```
mkdir -p out
GRANULEARN_DATA=DIRECTORY python benchmarks/compare_values.py out/values.csv
python benchmarks/compare_values.py out/values.csv --report docs/results/values.md
```
"""
# The same target with more and more rows, against rivals that are fast enough: cleanlab's score
# of five-fold predictions looks at so many neighbours that 20,000 rows take minutes.
LARGE = {"diamonds": (5_000, 20_000, 53_940), "covtype": (100_000,)}
LARGE_METHODS = (OURS, "CleanLearning, linear", "LightGBM, residual")
LARGE_CONDITIONS = [("other row", 0.05), ("outlier", 0.05)]

Rater = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def of_committee(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the absolute leave-one-out residual of the committee, fitted once."""
    model = RVFLEnsembleRegressor(n_estimators="auto", n_hidden="auto", random_state=seed).fit(X, y)
    return -np.abs(y - model.loo_prediction_)


def _seeded(model, seed: int):
    model = clone(model)
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def of_folds(model) -> Rater:
    """Return cleanlab's quality scores on five-fold predictions of a model."""

    def rate_values(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        folds = KFold(5, shuffle=True, random_state=seed)
        predicted = cross_val_predict(_seeded(model, seed), X, y, cv=folds)
        return get_label_quality_scores(y, predicted)

    return rate_values


def of_boosted_residual(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the absolute residual of five-fold predictions of LightGBM."""
    folds = KFold(5, shuffle=True, random_state=seed)
    return -np.abs(y - cross_val_predict(_seeded(_BOOSTED, seed), X, y, cv=folds))


def of_clean_learning(model) -> Rater:
    """Return cleanlab's own search for wrong values, with a model."""

    def rate_values(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        found = CleanLearning(_seeded(model, seed), seed=seed).find_label_issues(X, y)
        return found["label_quality"].to_numpy()

    return rate_values


_BOOSTED = LGBMRegressor(n_jobs=1, verbose=-1, deterministic=True)

RIVALS: dict[str, Rater] = {
    "committee, residual": of_committee,
    "CleanLearning, LightGBM": of_clean_learning(_BOOSTED),
    "CleanLearning, linear": of_clean_learning(LinearRegression()),
    "CleanLearning, forest": of_clean_learning(RandomForestRegressor(30, max_features=1 / 3)),
    "five folds, LightGBM": of_folds(_BOOSTED),
    "five folds, forest": of_folds(RandomForestRegressor(100)),
}
METHODS = (OURS, *RIVALS)
_RATERS = {**RIVALS, "LightGBM, residual": of_boosted_residual}


def audited(
    X: np.ndarray, y: np.ndarray, right: np.ndarray, wrong: np.ndarray, seed: int
) -> tuple[np.ndarray, dict[str, float], float]:
    """Return trust by the order of the audit, what else it says, and the seconds it took."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        listing = audit_labels(X, y, task="regression", random_state=seed)
    seconds = time.perf_counter() - began
    trust = np.empty(len(y))
    trust[listing.index] = np.arange(len(y))
    rows = listing.sort_index()
    flagged = rows["is_label_issue"].to_numpy()
    inside = (rows["low"] <= right) & (right <= rows["high"])
    return (
        trust,
        {
            "noise_rate": listing.attrs["noise_rate"],
            "explained": listing.attrs["explained"],
            "flagged": float(flagged.mean()),
            "promised": float(rows["error_probability"][flagged].mean()),
            "precision": float(wrong[flagged].mean()) if flagged.any() else float("nan"),
            "recall": float(flagged[wrong].mean()) if wrong.any() else float("nan"),
            "in_range": float(inside[~wrong].mean()),
        },
        seconds,
    )


def results(name: str, repeat: int, done: set[tuple], n_rows: int | None = None) -> Iterator[dict]:
    """Yield what is missing of one set: a row per condition and method."""
    X, y = value_set(name, n_rows or MAX_ROWS)
    shown = f"{name} {n_rows}" if n_rows else name
    methods = LARGE_METHODS if n_rows else METHODS
    for kind, rate in LARGE_CONDITIONS if n_rows else (*CONDITIONS, CLEAN):
        given, wrong = y, np.zeros(len(y), dtype=bool)
        if rate:
            given, wrong = plant(X, y, kind, rate, repeat)
        for method in methods if rate else (OURS,):
            key = (shown, kind, rate, repeat, method)
            if key in done:
                continue
            said: dict[str, float] = {}
            if method == OURS:
                trust, said, seconds = audited(X, given, y, wrong, repeat)
            else:
                began = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    trust = _RATERS[method](X, given, repeat)
                seconds = time.perf_counter() - began
            row = dict(zip(FIELDS, key, strict=False)) | {"seconds": seconds} | said
            if rate:
                row["auroc"] = roc_auc_score(wrong, -trust)
                row["average_precision"] = average_precision_score(wrong, -trust)
            yield row


def run(path: Path, repeats: int) -> None:
    """Compute what the file does not have yet."""
    done: set[tuple] = set()
    if path.exists():
        done = set(pd.read_csv(path)[FIELDS[:5]].itertuples(index=False, name=None))
    with path.open("a", newline="", encoding="utf-8") as file, threadpool_limits(1):
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for repeat in range(repeats):
            for name in NAMES:
                for row in results(name, repeat, done):
                    writer.writerow(row)
                    file.flush()
        for name, n_rows in ((name, n) for name, sizes in LARGE.items() for n in sizes):
            for row in results(name, 0, done, n_rows):
                writer.writerow(row)
                file.flush()


def report(path: Path) -> str:
    """Return the tables of a file of results as Markdown."""
    table = pd.read_csv(path)
    large = table["dataset"].str.contains(" ")
    larger, table = table[large], table[~large]
    planted = table[table["rate"] > 0]
    complete = planted.groupby(["dataset", "kind", "rate", "repeat"])["method"].transform("nunique")
    planted = planted[complete == len(METHODS)]
    draws = planted.groupby("dataset")["repeat"].nunique()
    lines = [
        COMMANDS,
        f"{len(draws)} sets of at most {MAX_ROWS:,} rows, {draws.max()} draw of wrong values each; "
        "means over sets. Four kinds of errors: the value of another row; 2 to 5 standard "
        "deviations of the ten nearest rows added or taken away; a decimal point slipped by one; "
        "two neighbouring digits of the first four swapped, which often changes little. p-values "
        "are Wilcoxon's against the best rival, over sets, corrected by Holm for all pairs. "
        "`CleanLearning` is cleanlab's own search, which fits a model many times (its forest has "
        "30 trees, the other 100); `five folds` is cleanlab's score of five-fold predictions; "
        "`residual` is the absolute leave-one-out residual of the same committee, fitted once. "
        "Rivals get the same scaled inputs.",
        "",
        f"The settings of the audit were chosen on {len(CHOSEN_ON)} of the sets "
        f"({', '.join(CHOSEN_ON)}); the tables are of all sets, and one of them tells both "
        "halves apart. Fifteen targets are columns of sets of classes (the one with the most "
        "different values), four are targets of regression, and three are generated.",
    ]
    for score, title in (("auroc", "AUROC"), ("average_precision", "Average precision")):
        lines += ["", f"## {title}", "", _row("errors", *METHODS, "ahead of the best rival, p")]
        lines.append("|" + "---|" * (len(METHODS) + 2))
        for kind, rate in CONDITIONS:
            part = planted[(planted["kind"] == kind) & (planted["rate"] == rate)]
            per_set = part.pivot_table(score, "dataset", "method")[list(METHODS)]
            found = compare(per_set)
            rivals = found.means.drop(OURS)
            p_value = found.p_matrix().loc[OURS, rivals.idxmax()]
            ahead = "yes" if found.means[OURS] > rivals.max() else "no"
            cells = [f"{mean:.3f}" for mean in found.means]
            lines.append(_row(f"{kind} {rate:.0%}", *cells, f"{ahead}, {p_value:.2g}"))
        means = planted.groupby("method")[score].mean()[list(METHODS)]
        lines.append(_row("mean", *(f"{mean:.3f}" for mean in means), ""))
    return (
        "\n".join(lines + _of_sets(planted) + _said(table) + _seconds(planted) + _larger(larger))
        + "\n"
    )


def _of_sets(planted: pd.DataFrame) -> list[str]:
    """Return average precision over all conditions, set by set and by halves."""
    lines = ["", "## Average precision by set", "", _row("set", *METHODS)]
    lines.append("|" + "---|" * (len(METHODS) + 1))
    by_set = planted.pivot_table("average_precision", "dataset", "method")[list(METHODS)]
    for name, means in by_set.iterrows():
        lines.append(_row(str(name), *(f"{mean:.3f}" for mean in means)))
    lines += ["", "## Average precision of both halves of the sets", "", _row("sets", *METHODS)]
    lines.append("|" + "---|" * (len(METHODS) + 1))
    chosen = by_set.index.isin(CHOSEN_ON)
    for said, part in (("settings chosen on", by_set[chosen]), ("not looked at", by_set[~chosen])):
        lines.append(_row(said, *(f"{mean:.3f}" for mean in part.mean())))
    return lines


def _said(table: pd.DataFrame) -> list[str]:
    """Return what the audit says beside its order, and how far it is right."""
    ours = table[table["method"] == OURS]
    lines = [
        "",
        "## What the audit says",
        "",
        "Estimated share of wrong values; share of values flagged; of these, wrong as the "
        "probabilities promise, and in truth; of the wrong ones, flagged; right values within "
        "`low` and `high`, which should be 95 %; sets whose inputs hardly predict the target, "
        "where nothing is flagged. Means over sets.",
        "",
        _row("errors", "noise rate", *SAID[2:5], "recall", "in range", "not judged"),
        "|" + "---|" * 8,
    ]
    for kind, rate in (CLEAN, *CONDITIONS):
        part = ours[(ours["kind"].fillna("none") == kind) & (ours["rate"] == rate)]
        means = [part[name].mean() for name in ("noise_rate", *SAID[2:])]
        cells = ["" if np.isnan(mean) else f"{mean:.1%}" for mean in means]
        unjudged = str(int(part["noise_rate"].isna().sum()))
        lines.append(_row(f"{kind} {rate:.0%}", *cells, unjudged))
    return lines


def _seconds(planted: pd.DataFrame) -> list[str]:
    seconds = planted.groupby("method")["seconds"].mean()[list(METHODS)]
    return [
        "",
        "## Seconds per audit",
        "",
        "Of one thread of a busy machine.",
        "",
        _row(*METHODS),
        "|" + "---|" * len(METHODS),
        _row(*(f"{value:.2f}" for value in seconds)),
    ]


def _larger(larger: pd.DataFrame) -> list[str]:
    """Return average precision and seconds on larger tables."""
    lines = [
        "",
        "## Larger tables",
        "",
        "One draw; AP is average precision, s are seconds. Above 20,000 rows the committee is "
        "fitted to 10,000 of them. `LightGBM, residual` is the absolute residual of five-fold "
        "predictions.",
        "",
        _row("set and rows", "errors", *(f"{m}, {s}" for m in LARGE_METHODS for s in ("AP", "s"))),
        "|" + "---|" * (2 + 2 * len(LARGE_METHODS)),
    ]
    for (name, kind, rate), part in larger.groupby(["dataset", "kind", "rate"], sort=False):
        of = part.set_index("method")
        if set(LARGE_METHODS) <= set(of.index):
            cells = [
                text
                for method in LARGE_METHODS
                for text in (
                    f"{of.loc[method, 'average_precision']:.3f}",
                    f"{of.loc[method, 'seconds']:.1f}",
                )
            ]
            lines.append(_row(str(name), f"{kind} {rate:.0%}", *cells))
    return lines


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run the study, or write its report."""
    run_or_report(__doc__, __file__, "Finding planted wrong values", run, report, repeats=1)


if __name__ == "__main__":
    main()
