"""From scores to probabilities: softmax against clipped and normalised scores, by log-loss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Benchmark, Row, Task, markdown
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


BENCHMARKS = {"probabilities": Benchmark("From scores to probabilities", ABOUT, tasks, tables)}
