"""Real label noise: who ranks wrong labels first, whose verdicts hold, who learns the truth.

    GRANULEARN_DATA=DIRECTORY granulearn bench real-noise --results out/real-noise.db
    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_real_noise.py out/real-noise.db \
        docs/results/real_noise.md

The 15 releases of the study `real-noise` are audited with the labels as given; the right
ones only judge. cleanlab rates them by five-fold probabilities of three models, and flags
them by its default filter. The classifiers' scores come from the store of the study.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.filter import find_label_issues
from compare_large import per_set, read, splits_in_words
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from granulearn.audit import LabelAudit
from granulearn.bench import average_ranks, load_study
from granulearn.bench.scores import SHARES, TIMES, higher_is_better
from granulearn.datasets import load
from granulearn.preprocess import TablePreprocessor

OURS = "granulearn"
COMMANDS = """\
Made by:

```
GRANULEARN_DATA=DIRECTORY granulearn bench real-noise --results out/real-noise.db
GRANULEARN_DATA=DIRECTORY python benchmarks/compare_real_noise.py out/real-noise.db \
docs/results/real_noise.md
```
"""
DEPTHS = (20, 50, 100)
MODELS = {
    "cleanlab, logistic": LogisticRegression(max_iter=2000),
    "cleanlab, LightGBM": LGBMClassifier(n_jobs=1, verbose=-1, deterministic=True, random_state=0),
    "cleanlab, random forest": RandomForestClassifier(100, n_jobs=1, random_state=0),
}


def judged(wrong: np.ndarray, trust: np.ndarray, flagged: np.ndarray) -> dict[str, float]:
    """Return how well wrong labels are ranked and flagged."""
    order = np.argsort(np.nan_to_num(trust, nan=1.0), kind="stable")
    hits = int((flagged & wrong).sum())
    return {
        "AUROC": roc_auc_score(wrong, -trust),
        "average precision": average_precision_score(wrong, -trust),
        **{f"precision at {k}": wrong[order[:k]].mean() for k in DEPTHS},
        "precision of verdicts": hits / max(flagged.sum(), 1),
        "recall of verdicts": hits / wrong.sum(),
        "F1 of verdicts": 2 * hits / (flagged.sum() + wrong.sum()),
    }


def audits() -> pd.DataFrame:
    """Audit all releases; one row per release and method."""
    rows = []
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name in load_study("real-noise").datasets:
        data = load(name, download=False)
        X = TablePreprocessor(max_one_hot=None).fit_transform(data.X)
        classes, given = np.unique(data.y, return_inverse=True)
        wrong = given != np.searchsorted(classes, data.truth)
        audit = LabelAudit(random_state=0).fit(X, given)
        noise = audit.noise_
        found = judged(wrong, audit.label_quality_, audit.is_label_issue_)
        extra = {"truth": wrong.mean(), "rate": noise.rate, "low": noise.low, "high": noise.high}
        rows.append({"set": name, "method": OURS, **found, **extra})
        for method, model in MODELS.items():
            proba = cross_val_predict(model, X, given, cv=folds, method="predict_proba")
            flagged = find_label_issues(given, proba, n_jobs=1)
            own = proba[np.arange(len(given)), given]
            rows.append({"set": name, "method": method, **judged(wrong, own, flagged)})
    return pd.DataFrame(rows)


def audit_tables(table: pd.DataFrame) -> list[str]:
    """Return the tables of ranking, verdicts and the estimated share."""
    scores = [column for column in table.columns if column[0].isupper() or " " in column]
    methods = [OURS, *MODELS]
    lines = [
        "## Finding the wrong labels",
        "",
        "Mean over releases, and in brackets the mean rank.",
        "",
        "| score | " + " | ".join(methods) + " |",
        "|---|" + "---|" * len(methods),
    ]
    for score in scores:
        values = table.pivot(index="set", columns="method", values=score)[methods]
        ranks = pd.Series(average_ranks(values), methods)
        cells = " | ".join(f"{values[m].mean():.3f} ({ranks[m]:.2f})" for m in methods)
        lines.append(f"| {score} | {cells} |")
    ours = table[table["method"] == OURS]
    holds = (ours["low"] <= ours["truth"]) & (ours["truth"] <= ours["high"])
    lines += [
        "",
        f"The range of the estimated share of wrong labels holds the truth in {holds.sum()} of "
        f"{len(ours)} releases; its mean width is {(ours['high'] - ours['low']).mean():.3f}.",
        "",
        "| release | wrong | estimate | range |",
        "|---|---|---|---|",
        *(
            f"| {row.set} | {row.truth:.1%} | {row.rate:.1%} | {row.low:.1%} to {row.high:.1%} |"
            for row in ours.itertuples()
        ),
        "",
    ]
    return lines


def classifier_table(store: Path) -> list[str]:
    """Return the scores of classifiers trained on given labels, on right ones."""
    study, cells, _ = read(store)
    methods = [method.name for method in study.method]
    splits = cells.groupby("dataset")["split"].nunique()
    lines = [
        "## Learning from them",
        "",
        f"{len(splits)} releases, {splits_in_words(splits.min(), splits.max())} each; trained on "
        "given labels, tested on right ones. Mean over releases, and in brackets the mean rank.",
        "",
        "| score | " + " | ".join(methods) + " |",
        "|---|" + "---|" * len(methods),
    ]
    for score in study.scores:
        if score in TIMES:
            continue
        values = per_set(cells, score, methods)
        better = values if higher_is_better(score) else -values
        ranks = pd.Series(average_ranks(better), methods)
        digits, unit = (2, ", percent") if score in SHARES else (3, "")
        means = " | ".join(f"{values[m].mean():.{digits}f} ({ranks[m]:.2f})" for m in methods)
        lines.append(f"| {score.replace('_', ' ')}{unit} | {means} |")
    return lines


def main() -> None:
    """Audit, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="results of the study real-noise")
    parser.add_argument("page", type=Path, help="Markdown file to write")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        found = audit_tables(audits())
    text = "\n".join(
        [
            "# Real label noise",
            "",
            COMMANDS,
            "The study `real-noise` has 15 releases of four Java projects, one row per source "
            "file, labelled by the usual heuristic, with the right labels beside. Releases of a "
            "project repeat many files, so the sets are not independent of each other.",
            "",
            *found,
            *classifier_table(arguments.store),
        ]
    )
    arguments.page.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
