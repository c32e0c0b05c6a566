"""What an audit says about each number: how far it is from expected, and what that means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from granulearn.utils.neighbors import nearest_others

# These were chosen on half of the sets of `benchmarks/values.py`.
N_NEIGHBORS = 50
N_NEAREST = 10
GLOBAL_SHARE = 0.2
# Right values have tails like Student's t; wrong ones may lie anywhere, many times as far.
RIGHT = stats.t(7)
WRONG = stats.cauchy(scale=5)
# As if twenty right values and a wrong one had been seen before: a few rows tell no share.
SEEN_WRONG, SEEN_RIGHT = 1, 20
RANGE = 0.95
# Where inputs fix the values, what is left is rounding and penalty, with tails of its own: less
# than a thousandth of the values' own spread counts as nothing.
SMALLEST_SPREAD = 1e-3
# Neighbours are looked for among so many rows, so that the search stays linear in the rows.
MAX_SEARCHED = 10_000

_NORMAL_MEDIAN = float(stats.norm.ppf(0.75))


@dataclass(frozen=True, eq=False)
class ValueRatings:
    """One row per value."""

    spread: np.ndarray
    """(n,) usual size of the residuals near each row."""
    distance: np.ndarray
    """(n,) size of each residual, in units of the spread."""
    error_proba: np.ndarray
    """(n,) probability that the value is wrong."""
    half_width: np.ndarray
    """(n,) how far from what is expected 95 % of the right values lie."""


def rate_residuals(X: np.ndarray, expected: np.ndarray, residuals: np.ndarray) -> ValueRatings:
    """Rate each residual by those of rows that are near.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Scaled inputs.
    expected : ndarray of shape (n_rows,)
        What each value is predicted to be without its row.
    residuals : ndarray of shape (n_rows,)
        The values minus that, in units in which the values have a spread of about one.
    """
    points = _points(X, expected)
    near = neighbours(points)
    spread = local_spread(residuals, near, remoteness(points, near))
    distance = np.abs(residuals) / spread
    error_proba = error_probability(distance)
    half_width = spread * weighted_quantile(distance, 1 - error_proba, RANGE)
    return ValueRatings(spread, distance, error_proba, half_width)


def _points(X: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return what rows are compared by.

    Spread often grows with the value, so the expected value weighs as much as all inputs
    together.
    """
    size, deviation = np.sqrt(X.var(axis=0).sum()), expected.std()
    # Columns of zeros tell nothing, and need no scale.
    return np.column_stack([X / (size or 1.0), expected / (deviation or 1.0)])


def neighbours(points: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows that are nearest to each row, itself not among them.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_features)
        What rows are compared by.
    """
    n_searched = min(len(points), MAX_SEARCHED)
    searched = np.arange(n_searched) * len(points) // n_searched
    return nearest_others(points, min(N_NEIGHBORS, n_searched - 1), among=searched)


def remoteness(points: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return a factor on the spread of each row: one, and more for rows far from all others.

    What is expected of such rows is known less well. The factor is the root of the mean
    distance to the ten nearest rows, in units of the median of that.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_features)
        What rows are compared by.
    near : ndarray of shape (n_rows, n_neighbors)
        Numbers of each row's neighbours.
    """
    nearest = near.T[:N_NEAREST]
    # One neighbour at a time: all at once would hold ten times the table.
    far = np.mean([np.linalg.norm(points - points[rows], axis=1) for rows in nearest], axis=0)
    usual = np.median(far)
    return np.sqrt(np.maximum(far / usual, 1)) if usual > 0 else np.ones(len(points))


def local_spread(residuals: np.ndarray, near: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the usual size of residuals at each row.

    It is the root of a mean of squares: of the size among the neighbours, and, for a fifth,
    of that among all rows, since a few neighbours may be alike by chance.

    Parameters
    ----------
    residuals : ndarray of shape (n_rows,)
        Of all rows.
    near : ndarray of shape (n_rows, n_neighbors)
        Numbers of each row's neighbours.
    factors : ndarray of shape (n_rows,)
        How many times as large as elsewhere residuals of each row are.
    """
    sizes = np.abs(residuals) / factors
    of_all = max(usual_size(sizes), SMALLEST_SPREAD)
    of_near = np.median(sizes[near], axis=1) / _NORMAL_MEDIAN
    return factors * np.sqrt((1 - GLOBAL_SHARE) * of_near**2 + GLOBAL_SHARE * of_all**2)


def usual_size(numbers: np.ndarray) -> float:
    """Return a standard deviation about zero that a few large numbers do not change.

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        At least one.
    """
    size = float(np.median(np.abs(numbers))) / _NORMAL_MEDIAN
    # Where most of them are zero, the others must tell.
    return size if size > 0 else float(np.abs(numbers).mean())


def error_probability(distance: np.ndarray) -> np.ndarray:
    """Return the probability that a value is wrong, given how far all values are from expected.

    Two groups are assumed. Distances of right values follow Student's t with seven degrees
    of freedom, scaled to the median of all distances; those of wrong values a Cauchy
    distribution five times as wide. The share of wrong values is the most probable one by
    expectation maximisation. The farther, the more probably wrong. The scale is not that of
    values believed to be right alone, which would be exact under the assumptions: on real
    tables, with longer tails, that made probabilities too large.

    Parameters
    ----------
    distance : ndarray of shape (n_rows,)
        Sizes of residuals in units of the spread around them.
    """
    # Half the usual size at least: where residuals are rounding, none is far.
    unit = max(float(np.median(distance)) / RIGHT.ppf(0.75), 0.5)
    right, wrong = RIGHT.pdf(distance / unit), WRONG.pdf(distance / unit)
    share = SEEN_WRONG / (SEEN_WRONG + SEEN_RIGHT)
    seen = SEEN_WRONG + SEEN_RIGHT
    proba = np.empty(len(distance))
    for _ in range(1000):
        before = share
        proba = share * wrong / (share * wrong + (1 - share) * right)
        share = (proba.sum() + SEEN_WRONG) / (len(proba) + seen)
        if abs(share - before) <= 1e-9:
            break
    return proba


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """Return the smallest value up to which so much of the weight lies.

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        Weights are not negative, and not all zero.
    share : float
        Between 0 and 1.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    at = int(np.searchsorted(reached, share * reached[-1]))
    return float(values[order[min(at, len(order) - 1)]])


def explained_share(values: np.ndarray, residuals: np.ndarray, trust: np.ndarray) -> float:
    """Return R squared of what was expected, each value counted as far as it is trusted.

    Parameters
    ----------
    values, residuals : ndarray of shape (n_rows,)
        The values, and the values minus what was expected.
    trust : ndarray of shape (n_rows,)
        Probabilities that the values are right.
    """
    mean = np.average(values, weights=trust)
    total = float(trust @ np.square(values - mean))
    return 1 - float(trust @ np.square(residuals)) / total if total > 0 else 0.0
