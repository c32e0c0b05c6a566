"""Does a review pay? Wrong labels found in 100 decisions, and what correcting them brings.

    GRANULEARN_DATA=... python benchmarks/compare_review_loop.py out/loop.csv
    python benchmarks/compare_review_loop.py out/loop.csv --report docs/results/review_loop.md
    python benchmarks/compare_review_loop.py out/loop.csv --figure docs/images/review_loop.png

A reviewer who knows the truth takes 100 decisions in sittings of 25 about the training labels
of a set: planted noise in sets of the collection, or real noise. Orders differ in which rows
are shown (`review_orders.py`). Models are then trained on the labels as given and as corrected,
and judged once, on rows that nobody looked at, by their true labels. Results are written at
once and kept, so the run can be stopped and continued.
"""

import argparse
import csv
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from kept_results import run_or_report
from lightgbm import LGBMClassifier
from review_loop_page import draw, report
from review_orders import DEPTHS, HALF_ERRS, LOGISTIC, ORDERS, OURS_ERRS, Labels
from sklearn.metrics import accuracy_score, average_precision_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from granulearn import RobustClassifier
from granulearn.bench import load_study
from granulearn.datasets import flip_labels, load
from granulearn.preprocess import TablePreprocessor

TRAINING_SHARE, LEAST_ROWS, MOST_ROWS = 0.7, 200, 2_000
REVIEWER_ERRS = 0.05
CONDITIONS = [
    ("real", 0.0), ("uniform", 0.1), ("uniform", 0.2), ("uniform", 0.3), ("pair", 0.2),
    ("boundary", 0.2),
]  # fmt: skip
MODELS = {
    "robust": partial(RobustClassifier, random_state=0),
    "LightGBM": partial(LGBMClassifier, n_jobs=1, verbose=-1, deterministic=True, random_state=0),
    "logistic": LOGISTIC,
}
SCORES = ("accuracy", "balanced accuracy", "average precision")
KEY = ["set", "noise", "rate", "order"]
FIELDS = [
    *KEY, "n_rows", "n_wrong", *(f"found_{depth}" for depth in DEPTHS), "left", "low", "high",
    "looked_rare", "found_rare", "wrong_rare",
    *(f"{model}, {score}" for model in MODELS for score in SCORES),
]  # fmt: skip


def labels_of(name: str, kind: str, rate: float) -> Labels:
    """Return the training part of a set with its doubtful labels, and the rows to judge by."""
    data = load(name, download=False)
    classes, given = np.unique(data.y, return_inverse=True)
    truth = np.searchsorted(classes, data.truth) if kind == "real" else given
    train, new = train_test_split(
        np.arange(len(given)),
        train_size=min(MOST_ROWS, int(TRAINING_SHARE * len(given))),
        stratify=given,
        random_state=0,
    )
    prepare = TablePreprocessor(max_one_hot=None).fit(data.X.iloc[train])
    X, X_new = (prepare.transform(data.X.iloc[rows]) for rows in (train, new))
    given = given[train]
    if kind != "real":
        where = {"X": X} if kind == "boundary" else {}
        given = flip_labels(given, rate, kind, 0, **where).labels
    return Labels(X, given, truth[train], X_new, truth[new])


def result(labels: Labels, order: str) -> dict:
    """Review labels in an order; return what was found and how models trained on it do."""
    answers = labels.truth
    if order in (OURS_ERRS, HALF_ERRS):
        answers = flip_labels(labels.truth, REVIEWER_ERRS, "uniform", 1).labels
    review = ORDERS[order](labels, answers)
    corrected = labels.given.copy()
    corrected[review.rows] = answers[review.rows]
    found = ((labels.given != labels.truth) & (answers == labels.truth))[review.rows]
    rare = labels.given == np.bincount(labels.given).argmin()
    row = {
        "n_rows": len(labels.given),
        "n_wrong": int((labels.given != labels.truth).sum()),
        **{f"found_{depth}": int(found[:depth].sum()) for depth in DEPTHS},
        "left": int((corrected != labels.truth).sum()),
        "looked_rare": int(rare[review.rows].sum()),
        "found_rare": int(found[rare[review.rows]].sum()),
        "wrong_rare": int((labels.given != labels.truth)[rare].sum()),
    }
    if review.audit is not None:
        row |= {"low": review.audit.noise_.low, "high": review.audit.noise_.high}
    for name, model in MODELS.items():
        proba = model().fit(labels.X, corrected).predict_proba(labels.new)
        predicted = proba.argmax(axis=1)
        values = (
            accuracy_score(labels.new_truth, predicted),
            balanced_accuracy_score(labels.new_truth, predicted),
            average_precision_score(labels.new_truth, proba[:, 1]),
        )
        row |= {f"{name}, {score}": x for score, x in zip(SCORES, values, strict=True)}
    return row


def sets_of(kind: str) -> Iterator[str]:
    """Yield names of sets with enough rows to train on."""
    for name in load_study("real-noise" if kind == "real" else "rivals").datasets:
        if int(TRAINING_SHARE * len(load(name, download=False).y)) >= LEAST_ROWS:
            yield name


def run(path: Path) -> None:
    """Compute what the file does not have yet."""
    done = set(pd.read_csv(path)[KEY].itertuples(index=False, name=None)) if path.exists() else ()
    with path.open("a", newline="", encoding="utf-8") as file, threadpool_limits(1):
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for kind, rate in CONDITIONS:
            for name in sets_of(kind):
                labels = labels_of(name, kind, rate)
                for order in ORDERS:
                    key = dict(zip(KEY, (name, kind, rate, order), strict=True))
                    if tuple(key.values()) not in done:
                        writer.writerow(key | result(labels, order))
                        file.flush()


def main() -> None:
    """Run, write the report, or draw the figure."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--figure", type=Path)
    arguments, others = parser.parse_known_args()
    if arguments.figure is not None:
        draw(Path(others[0]), arguments.figure)
        return
    run_or_report(__doc__, __file__, "Does a review pay?", run, report)


if __name__ == "__main__":
    main()
