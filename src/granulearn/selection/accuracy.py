"""Accuracies of many networks at once, and which of them rounding could change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from granulearn.network import row_blocks
from granulearn.selection.judging import Judged
from granulearn.selection.ridge_path import RidgePath


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Judges classifiers, by the class of highest score."""

    is_class: np.ndarray
    """(n_classes, n_rows) whether a sample is of a class."""
    weights: np.ndarray | None
    """(n_rows,) of the samples; None means one for each."""

    def of_widths(
        self, path: RidgePath, columns: np.ndarray, H: np.ndarray, error: float
    ) -> Judged:
        """Judge a network of each width; see `Judge`."""
        found = decide(class_contrasts(path), columns, H, self.is_class, self.weights)
        return Judged(found.accuracies, found.margins > error)

    def of_layers(self, outputs: np.ndarray) -> Judged:
        """Judge networks by their outputs; see `Judge`."""
        correct = self.is_class[outputs.argmax(axis=2), np.arange(self.is_class.shape[1])]
        return Judged(shares(correct, self.weights), np.ones(len(outputs), dtype=bool))


def class_contrasts(path: RidgePath) -> RidgePath:
    """Return the path of the outputs that tell classes apart.

    For two classes one output is enough: the difference of their scores.
    """
    z = path.projected
    return RidgePath(path.factor, z[:, 1:] - z[:, :1]) if z.shape[1] == 2 else path


@dataclass(frozen=True, eq=False)
class Decisions:
    """What networks of several widths decide on the same samples."""

    accuracies: np.ndarray
    """(n_widths,) weighted share of samples given their class."""
    margins: np.ndarray
    """(n_widths,) smallest lead of a winning class, relative to the largest of all scores, if
    that is above one."""


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
        Of `class_contrasts`.
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
    lead, largest = np.full(len(columns), np.inf), 0.0
    bytes_per_row = 8 * (len(columns) * len(is_class) + H.shape[1])
    for block in row_blocks(n_rows, bytes_per_row):
        judged = _judge(path.scores(H[block], columns), is_class[:, block])
        correct[:, block] = judged.right
        np.minimum(lead, judged.leads.min(axis=1), out=lead)
        largest = max(largest, judged.largest)
    # Targets are zero and one: leads that are all far smaller are differences of equal
    # scores, and rounding decides them.
    margins = lead / max(largest, 1.0)
    return Decisions(shares(correct, weights), margins)


class _Judgement(NamedTuple):
    right: np.ndarray
    """(n_widths, n_rows) whether the class of highest score is the sample's."""
    leads: np.ndarray
    """(n_widths, n_rows) of that class over the next."""
    largest: float
    """Score."""


def _judge(scores: np.ndarray, is_class: np.ndarray) -> _Judgement:
    """Compare scores, which are overwritten, with the classes."""
    if len(scores) == 1:  # of the second class over the first
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
