"""What every membership scheme shares: the call, its checks, grouping by class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from granulearn.balls import BallSet


class Membership(BaseEstimator, ABC):
    """A scheme that rates balls: call it with a `BallSet`, get one number per ball.

    Parameters live in the constructor, as in scikit-learn, so that schemes can
    be cloned, printed and searched over (``membership__n_neighbors``). A new
    scheme derives from this class and writes `_rate`.
    """

    _parameter_constraints: ClassVar[dict] = {}

    def __call__(
        self, balls: BallSet, X: np.ndarray | None = None, y: np.ndarray | None = None
    ) -> np.ndarray:
        """Rate the balls.

        Parameters
        ----------
        balls : BallSet
            The balls to rate.
        X : ndarray of shape (n_samples, n_features), optional
            The samples the balls were made of; only some schemes need them.
        y : ndarray of shape (n_samples,), optional
            The classes of those samples.

        Returns
        -------
        ndarray of shape (n_balls,)
            Memberships in [0, 1].
        """
        self._validate_params()
        return check_memberships(self._rate(balls, X, y), len(balls), type(self).__name__)

    @abstractmethod
    def _rate(self, balls: BallSet, X: np.ndarray | None, y: np.ndarray | None) -> np.ndarray:
        """Return one number per ball; parameters are already checked."""


def check_memberships(values, expected_length: int, origin: str) -> np.ndarray:
    """Return `values` as floats in [0, 1], one for each of `expected_length` items."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (expected_length,):
        raise ValueError(
            f"{origin}: expected {expected_length} memberships in one dimension, "
            f"got an array of shape {values.shape}; give exactly one number for each."
        )
    outside = ~((values >= 0) & (values <= 1))  # also true where a value is NaN
    if outside.any():
        raise ValueError(
            f"{origin}: memberships must lie in [0, 1], got {values[outside][0]:g} at position "
            f"{np.flatnonzero(outside)[0]} ({outside.sum()} such values); rescale them."
        )
    return values


def distance_to_own_class_mean(points: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return each point's distance to the mean of the points of its class."""
    counts = np.bincount(codes)
    means = class_means(class_sums(points, codes, len(counts)), counts)
    return distance_to_means(points, codes, means)


def class_sums(points: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the sum of each class's points, of shape (n_classes, n_features)."""
    one_per_row = np.arange(len(codes) + 1)
    shape = (len(codes), n_classes)
    belongs = sparse.csr_array((np.ones(len(codes)), codes, one_per_row), shape=shape)
    return belongs.T @ points


def class_means(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean of each class; zero for a class without points."""
    return sums / np.maximum(counts, 1)[:, None]


def distance_to_means(points: np.ndarray, codes: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return each point's distance to the mean that its class is given."""
    return np.linalg.norm(points - means[codes], axis=1)
