"""Nearest neighbours whose answer does not depend on the number of threads."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import ThreadpoolController

# From this many queries per thread on, scikit-learn's brute-force search gives
# each thread its own queries; below, its own points, and threads decide ties.
QUERIES_PER_THREAD = 1024


def nearest_points(points: np.ndarray, queries: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the indices of the `n_neighbors` points nearest to each query."""
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
    useful_threads = max(1, (len(queries) - 1) // QUERIES_PER_THREAD)
    threads = min(useful_threads, _openmp_effective_n_threads())
    with _thread_pools().limit(limits=threads, user_api="openmp"):
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
    # The point itself may be absent: for its many duplicates, or as none of `among`.
    is_self[~is_self.any(axis=1), -1] = True
    return found[~is_self].reshape(len(rows), n_neighbors)


@cache
def _thread_pools() -> ThreadpoolController:
    # Looking for the loaded libraries costs milliseconds, so it is done once.
    return ThreadpoolController()
