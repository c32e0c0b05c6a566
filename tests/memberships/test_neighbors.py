"""Nearest neighbours against brute force, whatever the threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from granulearn.memberships.neighbors import nearest_others, nearest_points


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_nearest_others_are_as_near_as_brute_force_finds(seed, n_neighbors, on_grid):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 2, (15, 2)).astype(float) if on_grid else rng.normal(size=(15, 2))
    distances = cdist(points, points)
    found = nearest_others(points, n_neighbors)
    np.fill_diagonal(distances, np.inf)
    expected = np.sort(distances, axis=1)[:, :n_neighbors]
    found_distances = np.take_along_axis(distances, found, axis=1)
    assert_allclose(np.sort(found_distances, axis=1), expected)
    assert (found != np.arange(15)[:, None]).all()


def test_nearest_points_of_another_set():
    points, queries = np.array([[0.0], [10.0], [20.0]]), np.array([[9.0], [21.0]])
    assert_array_equal(nearest_points(points, queries, 1), [[1], [2]])


@pytest.mark.parametrize("n_points", [300, 3000])
def test_threads_do_not_decide_ties(n_points):
    """Twenty binary features: nearly every distance is shared by many points."""
    points = np.random.default_rng(0).integers(0, 2, (n_points, 20)).astype(float)
    alone = _with_threads(1, points)
    assert_array_equal(_with_threads(2, points), alone)


def _with_threads(n_threads, points):
    with threadpool_limits(n_threads):
        return nearest_others(points, 3)
