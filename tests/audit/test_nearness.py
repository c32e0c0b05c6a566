"""Slow twins of the loops that say how near rows are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.audit import _nearness


def grid_or_cloud(n, d, seed, on_grid):
    rng = np.random.RandomState(seed)
    return rng.randint(3, size=(n, d)).astype(float) if on_grid else rng.standard_normal((n, d))


@settings(max_examples=60)
@given(
    n=st.integers(1, 40),
    m=st.integers(6, 60),
    d=st.integers(1, 9),
    seed=st.integers(0, 10**6),
    on_grid=st.booleans(),
)
def test_the_nearest_references_are_those_of_a_full_comparison(n, m, d, seed, on_grid):
    both = grid_or_cloud(n + m, d, seed, on_grid)
    references = both[:m]
    own = np.where(np.arange(n + m) < m, np.arange(n + m), -1)
    numbers, squares = np.empty((n + m, 4), np.int64), np.empty((n + m, 4))
    least = np.full((2, m), np.inf)
    columns = np.ascontiguousarray(references.T)
    _nearness.nearest_references(both, own, columns, numbers, squares, least)
    away = ((both[:, None] - references) ** 2).sum(axis=2)
    for r in range(m):
        different = (
            np.unique(away[:, r][away[:, r] > 0])[:2] if on_grid else np.sort(away[:, r])[1:3]
        )
        expected = np.append(different, [np.inf, np.inf])[:2]
        assert_allclose(least[:, r], expected, rtol=1e-12)
    away[np.arange(m), np.arange(m)] = np.inf
    assert_allclose(squares, np.sort(away, axis=1)[:, :4], rtol=1e-12)
    assert_allclose(squares, np.take_along_axis(away, numbers, axis=1), rtol=1e-12)
    assert all(len(set(found)) == 4 for found in numbers.tolist())


def test_rows_are_shifted_scaled_cut_off_and_turned():
    X = np.array([[1e308, 3.0], [-1e308, 5.0]])
    points = np.empty((2, 2))
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    _nearness.place_rows(X, np.array([0.0, 3.0]), np.array([1e-3, np.inf]), turn, 1e6, points)
    assert_array_equal(points, [[0, 1e6], [0, -1e6]])


def pairs_within(points, radius):
    found = _nearness.close_pairs(points, radius, max(1, 4 * len(points) ** 2))
    return {tuple(pair) for pair in found.tolist()}


@settings(max_examples=80)
@given(
    n=st.integers(0, 150),
    d=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    radius=st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]),
    on_grid=st.booleans(),
)
def test_close_pairs_are_those_of_looking_at_all_pairs(n, d, seed, radius, on_grid):
    points = grid_or_cloud(n, d, seed, on_grid)
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    expected = {(i, j) for i in range(n) for j in range(i + 1, n) if squares[i, j] <= radius**2}
    assert pairs_within(points, radius) == expected


def test_too_many_pairs_are_said_to_be():
    points = np.zeros((100, 2))
    assert _nearness.close_pairs(points, 0.1, 10) is None
    assert _nearness.close_pairs(np.zeros((5000, 2)), 0.1, 10**8) is None
