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


def nearest_others(points: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the indices of each point's nearest other points.

    A point is told from its duplicates by its index: among duplicates the
    first "neighbour" found need not be the point itself.
    """
    found = nearest_points(points, points, n_neighbors + 1)
    is_self = found == np.arange(len(points))[:, None]
    # More duplicates than neighbours asked for: the point itself may be absent.
    is_self[~is_self.any(axis=1), -1] = True
    return found[~is_self].reshape(len(points), n_neighbors)


@cache
def _thread_pools() -> ThreadpoolController:
    # Looking for the loaded libraries costs milliseconds, so it is done once.
    return ThreadpoolController()
