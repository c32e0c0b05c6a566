r"""Judging networks: the targets of their ridges, and the scores of their predictions.

A judge scores networks of several sizes at once, and says which of these scores
rounding could change. Classes are judged by accuracy, numbers by

.. math::
    R^2 = 1 - \frac{\sum_i w_i (y_i - f_i)^2}{\sum_i w_i (y_i - \bar y)^2} ,

the mean over outputs. When each :math:`f_i` moves by at most m, the share u of
the variation that is not explained moves by at most
:math:`2 m \sqrt{u / v} + m^2 / v` for the variance v of the targets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d

from granulearn.estimators.base import TrainingRows
from granulearn.estimators.regression import RegressionRows
from granulearn.network import one_hot, row_blocks
from granulearn.selection.fold import OutcomeTable
from granulearn.selection.ridge_path import RidgePath

Error = float | np.ndarray
"""One for all widths, or one for each."""

EPS = float(np.finfo(np.float64).eps)

# Two ways to compute a score differ, relative to the largest score, by less
# than eps times the sum of this and the condition number of the system. On the
# benchmark sets a tenth of that is typical for large C.
FLOOR = 1000

# Where rounding can move scores by more than this, the solver of `fit` decides.
# Accuracy needs only the sign of a lead, and small leads are looked at one by one.
LARGEST_ERROR_FOR_LABELS = 0.05
LARGEST_ERROR_FOR_SCORES = 1e-6
LARGEST_ERROR_FOR_NUMBERS = 2e-9

# The largest change of R squared that counts as none, relative to its size where
# that is above one. Rounding as a rule changes it by less than a tenth of this. Where
# rows to score lie far outside those fitted, large terms cancel, and about twice this
# is possible.
LARGEST_CHANGE = 1e-8


def rounding_error(condition: float) -> float:
    """Return how far rounding can move a score, relative to the largest score.

    Parameters
    ----------
    condition : float
        The condition number of the system, or a larger number.
    """
    return float(EPS * (FLOOR + condition))


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of networks of several sizes on the same samples."""

    scores: np.ndarray
    """(n_sizes,) score of each network."""
    certain: np.ndarray
    """(n_sizes,) true where the score is certain: rounding cannot change it."""


class Judge(Protocol):
    """Scores networks on samples whose classes or values it knows."""

    def of_widths(
        self, path: RidgePath, columns: np.ndarray, H: np.ndarray, error: Error
    ) -> Judged:
        """Judge a network of each width.

        Parameters
        ----------
        path : RidgePath
            The ridge of the widest network.
        columns : ndarray of shape (n_widths,)
            Number of leading columns of each width, ascending.
        H : ndarray of shape (n_rows, p)
            Features of the samples.
        error : float or ndarray of shape (n_widths,)
            How far rounding can move an output, relative to the largest one.
        """

    def of_layers(self, outputs: np.ndarray) -> Judged:
        """Judge networks by their outputs, which are those of `fit` to the last bit.

        Parameters
        ----------
        outputs : ndarray of shape (n_networks, n_rows, n_outputs)
            Outputs of each network for the samples.
        """


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Judges classifiers, by the class of highest score."""

    is_class: np.ndarray
    """(n_classes, n_rows) whether a sample is of a class."""
    weights: np.ndarray | None
    """(n_rows,) weights of the samples; None means one for each."""

    def of_widths(
        self, path: RidgePath, columns: np.ndarray, H: np.ndarray, error: Error
    ) -> Judged:
        """Judge a network of each width; see `Judge`."""
        contrasts = class_contrasts(path)
        found = decide(contrasts, columns, H, self.is_class, self.weights)
        certain = found.margins > error
        doubted = ~certain & np.isfinite(error)
        if doubted.any():
            path, error = contrasts.at_widths(doubted), np.broadcast_to(error, certain.shape)
            certain[doubted] = leads_hold(
                path, columns[doubted], H, found.at_widths(doubted), error[doubted]
            )
        return Judged(found.accuracies, certain)

    def of_layers(self, outputs: np.ndarray) -> Judged:
        """Judge networks by their outputs; see `Judge`."""
        correct = self.is_class[outputs.argmax(axis=2), np.arange(self.is_class.shape[1])]
        return Judged(shares(correct, self.weights), np.ones(len(outputs), dtype=bool))


def class_contrasts(path: RidgePath) -> RidgePath:
    """Return the path of the outputs that tell classes apart.

    For two classes one output is enough: the difference of their scores.
    """
    return path.difference() if path.n_outputs == 2 else path


@dataclass(frozen=True, eq=False)
class Decisions:
    """What networks of several widths decide on the same samples."""

    accuracies: np.ndarray
    """(n_widths,) weighted share of samples whose class is predicted."""
    leads: np.ndarray
    """(n_widths, n_rows) lead of the winning class over the next one."""
    largest: float
    """Largest magnitude of all scores, or one where that is above it."""

    @property
    def margins(self) -> np.ndarray:
        """(n_widths,) smallest lead of a winning class, relative to ``largest``."""
        return self.leads.min(axis=1) / self.largest

    def at_widths(self, which: np.ndarray) -> Decisions:
        """Return what some of the widths decide, by a mask of them."""
        return Decisions(self.accuracies[which], self.leads[which], self.largest)


def decide(
    path: RidgePath,
    columns: np.ndarray,
    H: np.ndarray,
    is_class: np.ndarray,
    weights: np.ndarray | None,
) -> Decisions:
    """Let a network of each width classify the rows of H.

    Parameters
    ----------
    path : RidgePath
        What `class_contrasts` returned.
    columns : ndarray of shape (n_widths,)
        Number of leading columns of each width, ascending.
    H : ndarray of shape (n_rows, p)
        Features of the samples.
    is_class : bool ndarray of shape (n_classes, n_rows)
        Whether a sample is of a class.
    weights : ndarray of shape (n_rows,) or None
        Weights of the samples in the accuracy.
    """
    n_rows = len(H)
    correct = np.empty((len(columns), n_rows), dtype=bool)
    leads, largest = np.empty((len(columns), n_rows)), 0.0
    bytes_per_row = 8 * (len(columns) * len(is_class) + H.shape[1])
    for block in row_blocks(n_rows, bytes_per_row):
        judged = _judge(path.scores(H[block], columns), is_class[:, block])
        correct[:, block], leads[:, block] = judged.right, judged.leads
        largest = max(largest, judged.largest)
    # Targets are zero and one, so leads that are all far smaller are differences of
    # equal scores, and rounding decides them.
    return Decisions(shares(correct, weights), leads, max(largest, 1.0))


def leads_hold(
    path: RidgePath, columns: np.ndarray, H: np.ndarray, found: Decisions, error: np.ndarray
) -> np.ndarray:
    """Return, for each width, whether rounding changes no decision; rows are looked at one by one.

    Parameters
    ----------
    path : RidgePath
        What `class_contrasts` returned, of these widths.
    columns : ndarray of shape (n_widths,)
        Number of leading columns of each width, ascending.
    H : ndarray of shape (n_rows, p)
        Features of the samples.
    found : Decisions
        What these widths decide.
    error : ndarray of shape (n_widths,)
        How far rounding can move an output of any row, relative to the largest one.
    """
    # Larger leads need not be looked at. "not >" is also true for NaN, after an overflow.
    safe = (error * found.largest)[:, None]
    doubted = np.flatnonzero(~(found.leads > safe).all(axis=0))
    hold = np.ones(len(columns), dtype=bool)
    for block in row_blocks(len(doubted), 8 * (2 * len(columns) + 3 * H.shape[1])):
        rows = doubted[block]
        moved = EPS * (path.moved_by_rounding(H[rows], columns) + FLOOR * found.largest)
        hold &= (found.leads[:, rows] > np.minimum(moved, safe)).all(axis=1)
    return hold


class _Judgement(NamedTuple):
    right: np.ndarray
    """(n_widths, n_rows) whether the class of highest score is the sample's."""
    leads: np.ndarray
    """(n_widths, n_rows) lead of that class over the next one."""
    largest: float
    """Largest magnitude of a score."""


def _judge(scores: np.ndarray, is_class: np.ndarray) -> _Judgement:
    """Compare scores, which are overwritten, with the classes."""
    if len(scores) == 1:  # the lead of the second class over the first
        right = (scores[0] > 0) == is_class[1]
        right &= is_class.any(axis=0)  # a sample may be of a class not trained on
        leads = np.abs(scores[0], out=scores[0])
        return _Judgement(right, leads, leads.max())
    right = is_class[scores.argmax(axis=0), np.arange(is_class.shape[1])]
    largest = np.abs(scores).max()
    scores.partition(-2, axis=0)
    return _Judgement(right, scores[-1] - scores[-2], largest)


def shares(correct: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the weighted share of true entries in each row."""
    if weights is None:
        return np.count_nonzero(correct, axis=1) / correct.shape[1]
    return (correct * weights).sum(axis=1) / weights.sum()


@dataclass(frozen=True, eq=False)
class RSquared:
    """Judges regressors, as scikit-learn's ``r2_score`` does."""

    Y: np.ndarray
    """(n_rows, n_outputs) the true values."""
    weights: np.ndarray
    """(n_rows,) weights of the samples."""
    offset: np.ndarray
    """(n_outputs,) what is added to the outputs of a ridge."""
    largest_target: np.ndarray
    """(n_outputs,) largest magnitude of the targets that ridges were fitted to."""

    def of_widths(
        self, path: RidgePath, columns: np.ndarray, H: np.ndarray, error: Error
    ) -> Judged:
        """Judge a network of each width; see `Judge`."""
        n_outputs = self.Y.shape[1]
        squares, largest = np.zeros((n_outputs, len(columns))), self.largest_target
        for block in row_blocks(len(H), 8 * (len(columns) * n_outputs + H.shape[1])):
            scores = path.scores(H[block], columns)
            largest = np.maximum(largest, np.abs(scores).max(axis=(1, 2)))
            scores -= (self.Y[block] - self.offset).T[:, None]
            squares += np.square(scores, out=scores) @ self.weights[block]
        # No system is solved for the offset: it is added as it is.
        moved = error * largest + rounding_error(0) * np.abs(self.offset)
        return self._judged(squares.T, moved)

    def of_layers(self, outputs: np.ndarray) -> Judged:
        """Judge networks by their outputs; see `Judge`."""
        return self._judged(self.weights @ np.square(outputs - self.Y), np.zeros(1))

    def _judged(self, squares: np.ndarray, moved: np.ndarray) -> Judged:
        """Return the scores for sums of squared errors, of shape (n_networks, n_outputs)."""
        # No score is certain where targets vary by rounding alone, or not at all.
        exactness = rounding_error(0) * np.abs(self.Y).max(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            variation = self._variation()
            unexplained = squares / variation
            variance = variation / self.weights.sum()
            change = largest_change(unexplained, variance, moved)
            change += unexplained * np.square(exactness) / variance
            scores = 1 - unexplained.mean(axis=1)
            certain = change.mean(axis=1) < LARGEST_CHANGE * np.abs(scores).clip(min=1)
        return Judged(scores, certain)

    def _variation(self) -> np.ndarray:
        mean = np.average(self.Y, axis=0, weights=self.weights)
        return self.weights @ np.square(self.Y - mean)


def largest_change(unexplained, variance, moved):
    """Return how far the unexplained share can move when predictions move by `moved`."""
    return 2 * moved * np.sqrt(unexplained / variance) + moved**2 / variance


@dataclass(frozen=True, eq=False)
class ClassTargets:
    """Targets of a classifier: one for a row's class, zero for the others."""

    Y: np.ndarray
    """(n_rows, n_classes) the targets, as booleans."""
    classes: np.ndarray
    """(n_classes,) labels."""

    own_scores = (None, "accuracy")
    """Values of `scoring` that the judge computes itself."""

    @property
    def offset(self) -> np.ndarray:
        """(n_classes,) what was subtracted from the targets and is added to the bias: zero."""
        return np.zeros(len(self.classes))

    def largest_error(self, own_score: bool) -> float:
        """Return how far rounding may move scores: further if they only decide labels."""
        return LARGEST_ERROR_FOR_LABELS if own_score else LARGEST_ERROR_FOR_SCORES

    def judge(self, y: Any, weights: np.ndarray | None) -> Accuracy:
        """Return the judge of samples with these labels and weights."""
        return Accuracy(column_or_1d(y) == self.classes[:, None], weights)

    def to_leave_out(self) -> np.ndarray:
        """Return the targets whose leave-one-out predictions `left_out` needs."""
        return self.Y.astype(np.float64)

    def left_out(self, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the prediction for each row without it, which is that of the ridges."""
        return predictions


@dataclass(frozen=True, eq=False)
class NumberTargets:
    """Targets of a regressor: numbers minus their weighted mean."""

    Y: np.ndarray
    """(n_rows, n_outputs) the targets minus the mean."""
    offset: np.ndarray
    """(n_outputs,) the mean, which is added to the bias in the end."""

    own_scores = (None, "r2")
    """Values of `scoring` that the judge computes itself."""

    def largest_error(self, own_score: bool) -> float:
        """Return how far rounding may move scores, whatever the scorer."""
        return LARGEST_ERROR_FOR_NUMBERS

    def judge(self, y: Any, weights: np.ndarray | None) -> RSquared:
        """Return the judge of samples with these values and weights."""
        truth = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        weights = np.ones(len(truth)) if weights is None else weights
        return RSquared(truth, weights, self.offset, np.abs(self.Y).max(axis=0))

    def to_leave_out(self) -> np.ndarray:
        """Return the targets whose leave-one-out predictions `left_out` needs.

        Leaving out a row changes the mean, so the ridge is fitted to shifted
        targets. The shift is a multiple of the last column, the constant one.
        """
        return np.column_stack([self.Y, np.ones(len(self.Y))])

    def left_out(self, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        r"""Return the prediction for each row without it, minus the mean of all rows.

        A ridge is linear in its targets. With its prediction :math:`p_i(\cdot)`
        for row i without it and the mean :math:`m_i` of the other rows, the
        result is :math:`p_i(Y - m_i) + m_i = p_i(Y) - m_i p_i(1) + m_i`.

        Parameters
        ----------
        predictions : ndarray of shape (..., n_rows, n_outputs + 1)
            Leave-one-out predictions of the targets that `to_leave_out` returns.
        weights : ndarray of shape (n_rows,)
            Weights of the rows.
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


def certain_of_all(judged: dict[str, Judged]) -> np.ndarray:
    """Return, for each network, whether all its scores are certain."""
    return np.all([found.certain for found in judged.values()], axis=0)


def add_certain(places: np.ndarray, judged: dict[str, Judged], table: OutcomeTable) -> np.ndarray:
    """Add the scores of the networks that rounding cannot change; return which these are.

    Parameters
    ----------
    places : ndarray of shape (n_networks,)
        Positions of the networks in the grid.
    judged : dict of str -> Judged
        Scores of the networks, by the name of the score.
    table : OutcomeTable
        Where outcomes are added.
    """
    certain = certain_of_all(judged)
    scores = {name: found.scores[certain].tolist() for name, found in judged.items()}
    table.add_scores(places[certain].tolist(), scores)
    return certain
