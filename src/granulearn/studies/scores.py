"""Scores by name: how good, how well-balanced, how sure, how fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    get_scorer,
    get_scorer_names,
    log_loss,
)

from granulearn.studies.spec import StudyError, hint_for

TIMES = ("fit_seconds", "predict_seconds")
# Share of the balls that hold one sample; of methods on balls only.
SINGLE_BALLS = "single_balls"
LOWER_IS_BETTER = ("log_loss", SINGLE_BALLS, *TIMES)
# Shares are shown in percent.
SHARES = ("accuracy", "balanced_accuracy", "macro_f1", "geometric_mean", SINGLE_BALLS)


def geometric_mean(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    """Return the geometric mean of the recalls of the classes in ``y_true``.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n,)
        Labels.

    Returns
    -------
    float
        In [0, 1]; 0 as soon as one class is never found.
    """
    counts = confusion_matrix(y_true, y_pred)
    present = counts.sum(axis=1) > 0
    recalls = np.diag(counts)[present] / counts.sum(axis=1)[present]
    return float(recalls.prod() ** (1 / len(recalls)))


def _macro_f1(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    return float(f1_score(y_true, y_pred, average="macro", zero_division=0))


_OF_LABELS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "macro_f1": _macro_f1,
    "geometric_mean": geometric_mean,
}


@dataclass(frozen=True)
class Prediction:
    """What a fitted model says about the test part; made once, scored often."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray

    def score(self, name: str) -> float:
        """Return one score by its name."""
        if name in _OF_LABELS:
            return float(_OF_LABELS[name](self.y, self.labels))
        if name == "log_loss":
            probabilities = self.model.predict_proba(self.X)
            return float(log_loss(self.y, probabilities, labels=self.model.classes_))
        if name == SINGLE_BALLS:
            return float(np.mean(self.model.balls_.counts == 1))
        return float(get_scorer(name)(self.model, self.X, self.y))


def check_score(name: str) -> None:
    """Raise if no score has this name.

    Parameters
    ----------
    name : str
        Name of a score.
    """
    own = [*_OF_LABELS, "log_loss", SINGLE_BALLS, *TIMES]
    if name in own or name in get_scorer_names():
        return
    hint = hint_for(name, [*own, *get_scorer_names()], f"use one of {', '.join(own)}")
    raise StudyError(f"no score is named {name!r}; {hint} (or any scorer of scikit-learn).")


def scoring_for_tuning(name: str) -> Any:
    """Return what a search takes as ``scoring`` for a score of this name.

    Parameters
    ----------
    name : str
        Name of a score.

    Returns
    -------
    str or callable
        Higher is better.
    """
    if name in get_scorer_names():
        return name
    if name in _OF_LABELS:
        return _LabelScorer(name)
    if name == "log_loss":
        return "neg_log_loss"
    raise StudyError(f"{name!r} cannot guide tuning; use a score of predictions.")


@dataclass(frozen=True)
class _LabelScorer:
    """A scorer that can be sent to another process."""

    name: str

    def __call__(self, model: Any, X: np.ndarray, y: np.ndarray) -> float:
        return float(_OF_LABELS[self.name](y, model.predict(X)))


def higher_is_better(name: str) -> bool:
    """Return whether a larger value of this score is a better one.

    Parameters
    ----------
    name : str
        Name of a score.

    Returns
    -------
    bool
        False for losses and times.
    """
    return name not in LOWER_IS_BETTER
