"""What networks of several sizes score at once, and which of it rounding could change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from granulearn.selection.outcomes import OutcomeTable
from granulearn.selection.ridge_path import RidgePath

# Two ways to compute a score differ, relative to the largest score, by less
# than eps times this and the condition number of the system together. On the
# benchmark sets a tenth of that is typical for large C.
FLOOR = 1000


def rounding_error(condition: float) -> float:
    """Return how far rounding can move a score, relative to the largest score.

    Parameters
    ----------
    condition : float
        The condition number of the system, or more.
    """
    return float(np.finfo(np.float64).eps * (FLOOR + condition))


@dataclass(frozen=True, eq=False)
class Judged:
    """Networks of several sizes on the same samples."""

    scores: np.ndarray
    """(n_sizes,)"""
    certain: np.ndarray
    """(n_sizes,) whether rounding cannot change the score."""


class Judge(Protocol):
    """Knows the truth about some samples."""

    def of_widths(
        self, path: RidgePath, columns: np.ndarray, H: np.ndarray, error: float
    ) -> Judged:
        """Judge a network of each width.

        Parameters
        ----------
        path : RidgePath
            Of the widest network.
        columns : ndarray of shape (n_widths,)
            Number of leading columns of each width, ascending.
        H : ndarray of shape (n_rows, p)
            Features of the samples.
        error : float
            How far rounding can move a score, relative to the largest.
        """

    def of_layers(self, outputs: np.ndarray) -> Judged:
        """Judge networks by their outputs, which are those of `fit` to the last bit.

        Parameters
        ----------
        outputs : ndarray of shape (n_networks, n_rows, n_outputs)
            For the samples.
        """


def certain_of_all(judged: dict[str, Judged]) -> np.ndarray:
    """Return of which networks every score is certain."""
    return np.all([found.certain for found in judged.values()], axis=0)


def add_certain(places: np.ndarray, judged: dict[str, Judged], table: OutcomeTable) -> np.ndarray:
    """Add the scores that rounding cannot change; return of which networks they are.

    Parameters
    ----------
    places : ndarray of shape (n_networks,)
        Where they stand in the grid.
    judged : dict of str -> Judged
        By the name of the result.
    table : OutcomeTable
        Where outcomes are added.
    """
    certain = certain_of_all(judged)
    scores = {name: found.scores[certain].tolist() for name, found in judged.items()}
    table.add_scores(places[certain].tolist(), scores)
    return certain
