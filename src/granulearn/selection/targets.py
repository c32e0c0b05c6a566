"""What ridges are fitted to, classes or numbers, and who judges what they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d

from granulearn.estimators.regression import RegressionRows
from granulearn.estimators.training_rows import TrainingRows
from granulearn.network import one_hot
from granulearn.selection.accuracy import Accuracy
from granulearn.selection.r_squared import RSquared

# Where rounding can move scores by more than this, the solver of `fit` decides.
# Accuracy needs only the sign of a lead, and small leads are looked at one by one.
LARGEST_ERROR_FOR_LABELS = 1e-3
LARGEST_ERROR_FOR_SCORES = 1e-6
LARGEST_ERROR_FOR_NUMBERS = 2e-9


@dataclass(frozen=True, eq=False)
class ClassTargets:
    """One for a row's class, zero for the others."""

    Y: np.ndarray
    """(n_rows, n_classes) as booleans."""
    classes: np.ndarray
    """(n_classes,) labels."""

    own_scores = (None, "accuracy")
    """What a search may ask for that the judge knows."""

    @property
    def offset(self) -> np.ndarray:
        """(n_classes,) what was taken from the targets and is part of the bias: nothing."""
        return np.zeros(len(self.classes))

    def largest_error(self, own_score: bool) -> float:
        """Return how far rounding may move scores if labels, or any scorer, look at them."""
        return LARGEST_ERROR_FOR_LABELS if own_score else LARGEST_ERROR_FOR_SCORES

    def judge(self, y: Any, weights: np.ndarray | None) -> Accuracy:
        """Return who judges samples of these labels and weights."""
        return Accuracy(column_or_1d(y) == self.classes[:, None], weights)

    def to_leave_out(self) -> np.ndarray:
        """Return the targets whose leave-one-out predictions `left_out` needs."""
        return self.Y.astype(np.float64)

    def left_out(self, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return what is predicted for each row without it: what ridges predict."""
        return predictions


@dataclass(frozen=True, eq=False)
class NumberTargets:
    """Numbers around their weighted mean."""

    Y: np.ndarray
    """(n_rows, n_outputs) minus the mean."""
    offset: np.ndarray
    """(n_outputs,) the mean, which is part of the bias in the end."""

    own_scores = (None, "r2")
    """What a search may ask for that the judge knows."""

    def largest_error(self, own_score: bool) -> float:
        """Return how far rounding may move scores, whoever looks at them."""
        return LARGEST_ERROR_FOR_NUMBERS

    def judge(self, y: Any, weights: np.ndarray | None) -> RSquared:
        """Return who judges samples of these values and weights."""
        truth = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        weights = np.ones(len(truth)) if weights is None else weights
        return RSquared(truth, weights, self.offset, np.abs(self.Y).max(axis=0))

    def to_leave_out(self) -> np.ndarray:
        """Return the targets whose leave-one-out predictions `left_out` needs.

        Without a row the mean is another, and the ridge is fitted to targets
        shifted by the difference: by so many times the target one.
        """
        return np.column_stack([self.Y, np.ones(len(self.Y))])

    def left_out(self, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        r"""Return what is predicted for each row without it, minus the mean of all.

        A ridge is linear in its targets. With its prediction :math:`p_i(\cdot)`
        for row i without it and the mean :math:`m_i` of the other rows, that
        is :math:`p_i(Y - m_i) + m_i = p_i(Y) - m_i p_i(1) + m_i`.

        Parameters
        ----------
        predictions : ndarray of shape (..., n_rows, n_outputs + 1)
            Of `to_leave_out`.
        weights : ndarray of shape (n_rows,)
            Of the rows.
        """
        others = weights.sum() - weights
        if others.min() <= 0:
            raise ValueError(
                "one row has all the weight, so without it nothing is left to fit; leave-one-out "
                "needs two or more."
            )
        # The weighted sum of all targets is zero.
        mean = self.Y * (-weights / others)[:, None]
        return predictions[..., :-1] + mean * (1 - predictions[..., -1:])


def targets_of(
    estimator: BaseEstimator, rows: TrainingRows | RegressionRows
) -> ClassTargets | NumberTargets:
    """Return the targets of rows that an estimator has prepared."""
    if isinstance(rows, RegressionRows):
        mean = rows.mean()
        return NumberTargets(rows.Y - mean, mean)
    return ClassTargets(one_hot(rows.codes, len(estimator.classes_)), estimator.classes_)
