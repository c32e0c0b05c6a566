"""Laws of where rows lie."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.audit import embedding as module
from granulearn.audit.embedding import place


def cloud(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def test_units_and_correlation_of_columns_hardly_matter():
    X = cloud()
    plain, scaled = place(X), place(X * 10.0 ** np.arange(-4, 6, 2) + 3)
    assert_allclose(scaled.distances, plain.distances, rtol=1e-6)
    turned = place(np.column_stack([X[:, 0] + X[:, 1], X[:, 0] - X[:, 1], X[:, 2:]]))
    ratio = turned.distances.mean() / plain.distances.mean()
    assert 0.8 < ratio < 1.25


@settings(max_examples=25)
@given(n=st.integers(1, 80), d=st.integers(1, 6), seed=st.integers(0, 10**6), few=st.booleans())
def test_the_order_of_rows_and_threads_change_nothing(n, d, seed, few):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, d)).astype(float) if few else rng.normal(size=(n, d))
    order = rng.permutation(n)
    plain, moved = place(X), place(X[order], n_threads=3)
    assert_array_equal(moved.points, plain.points[order])
    assert_array_equal(np.sort(moved.gaps, axis=1), np.sort(plain.gaps, axis=1))
    if len(np.unique(X, axis=0)) == n:
        # Of equal rows any may be the reference.
        assert_array_equal(moved.distances, plain.distances[order])
        assert_array_equal(order[moved.references], plain.references)


def test_many_rows_are_compared_in_parts_whose_size_does_not_matter(monkeypatch):
    X = cloud(700)
    whole = place(X)
    monkeypatch.setattr(module, "ROWS_PER_TASK", 64)
    parts = place(X, n_threads=2)
    assert_array_equal(parts.distances, whole.distances)
    assert_array_equal(parts.gaps, whole.gaps)


def test_wide_tables_are_mixed_and_distances_stay_alike():
    X = np.random.default_rng(0).normal(size=(400, 200))
    points = place(X).points
    assert points.shape == (400, module.MOST_DIMENSIONS)
    away = np.linalg.norm(points[1:] - points[0], axis=1)
    assert away.std() / away.mean() < 0.25


def test_constant_columns_huge_numbers_and_rare_values_are_no_trouble():
    X = cloud(200, 3)
    with_more = np.column_stack([X, np.full(200, 7.0), np.zeros(200), 1e308 * np.sign(X[:, 0])])
    with_more[5, 4] = 1.0
    found = place(with_more)
    assert np.isfinite(found.points).all()
    assert np.isinf(found.widths[3])
    assert np.isfinite(found.distances).all()
