"""Scores by name: accuracy, balance, calibration and time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    get_scorer,
    get_scorer_names,
    log_loss,
    make_scorer,
    recall_score,
)

from granulearn.bench.study import StudyError, hint_for

TIMES = ("fit_seconds", "predict_seconds")
# Share of the balls that hold one sample; of methods on balls only.
SINGLE_BALLS = "single_balls"
# Average precision of the class that has the fewest rows in the test part.
RARE_PRECISION = "rare_average_precision"
CALIBRATION_ERROR = "calibration_error"
CALIBRATION_BINS = 15
_OF_PROBABILITIES = ("log_loss", CALIBRATION_ERROR, RARE_PRECISION)
# Scorers of scikit-learn that ask for more than labels.
_SCORERS_OF_PROBABILITIES = (
    "neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score", "roc_auc_ovr",
    "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted",
)  # fmt: skip
_SCORERS_OF_ORDER = ("roc_auc", "average_precision", "top_k_accuracy")
LOWER_IS_BETTER = ("log_loss", CALIBRATION_ERROR, SINGLE_BALLS, *TIMES)
# Shares are shown in percent.
SHARES = (
    "accuracy", "balanced_accuracy", "macro_f1", "geometric_mean", "roc_auc", RARE_PRECISION,
    CALIBRATION_ERROR, SINGLE_BALLS,
)  # fmt: skip


def geometric_mean(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    """Return the geometric mean of the recalls of the classes in ``y_true``."""
    recalls = recall_score(y_true, y_pred, labels=np.unique(y_true), average=None)
    return float(recalls.prod() ** (1 / len(recalls)))


def calibration_error(
    right: np.ndarray, confidence: np.ndarray, n_bins: int = CALIBRATION_BINS
) -> float:
    """Return the expected calibration error: the mean gap between confidence and accuracy.

    Predictions are put into bins of equal width by their confidence; bins count by their
    predictions.
    """
    inner_edges = np.linspace(0, 1, n_bins + 1)[1:-1]
    bins = np.digitize(confidence, inner_edges)
    # The count of a bin cancels: count x |mean - mean| is |sum - sum|.
    surplus = np.bincount(bins, np.asarray(right, dtype=float) - confidence, n_bins)
    return float(np.abs(surplus).sum() / len(confidence))


def rare_average_precision(y_true: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> float:
    """Return the average precision of the class with the fewest labels; of several, the last."""
    present, counts = np.unique(y_true, return_counts=True)
    rare = present.tolist()[len(counts) - 1 - int(np.argmin(counts[::-1]))]
    column = np.flatnonzero(np.asarray(classes) == rare)
    if len(column) == 0:
        raise ValueError(f"class {rare!r} is not in the training part.")
    return float(average_precision_score(y_true == rare, proba[:, column[0]]))


def _macro_f1(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    return float(f1_score(y_true, y_pred, average="macro", zero_division=0))


_OF_LABELS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "macro_f1": _macro_f1,
    "geometric_mean": geometric_mean,
}
OWN_SCORES = (*_OF_LABELS, *_OF_PROBABILITIES, SINGLE_BALLS, *TIMES)


@dataclass(frozen=True)
class Prediction:
    """The predictions of a fitted model for the test part; made once, scored often."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Probabilities of the classes, asked for once."""
        return np.asarray(self.model.predict_proba(self.X))

    def score(self, name: str) -> float:
        """Return one score by its name."""
        if name in _OF_LABELS:
            return float(_OF_LABELS[name](self.y, self.labels))
        if name == "log_loss":
            return float(log_loss(self.y, self.probabilities, labels=self.model.classes_))
        if name == CALIBRATION_ERROR:
            top = self.probabilities.argmax(axis=1)
            right = np.asarray(self.model.classes_)[top] == self.y
            return calibration_error(right, self.probabilities.max(axis=1))
        if name == RARE_PRECISION:
            return rare_average_precision(self.y, self.probabilities, self.model.classes_)
        if name == SINGLE_BALLS:
            return float(np.mean(self.model.balls_.counts == 1))
        return float(get_scorer(name)(self.model, self.X, self.y))


def check_score(name: str) -> None:
    """Raise if no score has this name."""
    known = [*OWN_SCORES, *get_scorer_names()]
    if name not in known:
        hint = hint_for(name, known, f"use one of {', '.join(OWN_SCORES)}")
        raise StudyError(f"no score is named {name!r}; {hint} (or any scorer of scikit-learn).")


def needed_for(name: str) -> tuple[str, ...]:
    """Return the methods of a model of which a score needs at least one, beside ``predict``."""
    if name in _OF_PROBABILITIES or name in _SCORERS_OF_PROBABILITIES:
        return ("predict_proba",)
    return ("decision_function", "predict_proba") if name in _SCORERS_OF_ORDER else ()


def scoring_for_tuning(name: str) -> Any:
    """Return the ``scoring`` of a search for a score of this name; higher is better."""
    if name in get_scorer_names():
        return name
    if name in _OF_LABELS:
        return make_scorer(_OF_LABELS[name])
    if name == "log_loss":
        return "neg_log_loss"
    raise StudyError(f"{name!r} cannot guide tuning; use a score of predictions.")


def higher_is_better(name: str) -> bool:
    """Return whether a larger value of this score is a better one."""
    return name not in LOWER_IS_BETTER
