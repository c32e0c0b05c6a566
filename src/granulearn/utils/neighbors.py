"""Nearest points, and the nearest other points."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors


def nearest_points(points: np.ndarray, queries: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the indices of the `n_neighbors` points nearest to each query."""
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
    return search.kneighbors(queries, return_distance=False)


def nearest_others(
    points: np.ndarray,
    n_neighbors: int,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
) -> np.ndarray:
    """Return the indices of each point's nearest other points.

    A point is told from its duplicates by its index: among duplicates the
    first "neighbour" found need not be the point itself.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The points.
    n_neighbors : int
        How many to find for each.
    rows : ndarray of int, default=None
        Indices of the points to answer for; None means all.
    among : ndarray of int, default=None
        Indices of the points that may be found; None means all.
    """
    rows = np.arange(len(points)) if rows is None else rows
    among = np.arange(len(points)) if among is None else among
    found = among[nearest_points(points[among], points[rows], n_neighbors + 1)]
    is_self = found == rows[:, None]
    # The point itself may be missing: it has many duplicates, or is not one of `among`.
    is_self[~is_self.any(axis=1), -1] = True
    return found[~is_self].reshape(len(rows), n_neighbors)
