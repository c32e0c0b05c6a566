"""Laws of rows that are nearly equal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.audit.embedding import embed_rows
from granulearn.audit.near_duplicates import (
    CONTRADICTION,
    SHARED,
    close_pairs,
    close_rows,
    find_mixed,
    near_radius,
)

AB = np.array(["a", "b"])


def close(X):
    return close_rows(X, embed_rows(X))


def normal(n=500, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def with_copies(n=500, d=6, seed=0, noise=1e-4, n_copies=5):
    """Return rows of which the last ones nearly repeat the first ones under the other label."""
    rng = np.random.default_rng(seed)
    X, codes = normal(n, d, seed), rng.integers(2, size=n)
    X[-n_copies:] = X[:n_copies] + noise * rng.normal(size=(n_copies, d))
    codes[-n_copies:] = 1 - codes[:n_copies]
    return X, codes


@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-3])
def test_nearly_equal_rows_with_different_labels_are_found_and_nothing_else(noise):
    X, codes = with_copies(noise=noise)
    found = find_mixed(close(X), AB[codes], CONTRADICTION)
    assert {issue.rows for issue in found} == {(i, 495 + i) for i in range(5)}
    for issue in found:
        assert issue.kind == CONTRADICTION
        assert issue.classes == ("a", "b")
        assert issue.score > 0.9
        assert ("nearly" in issue.message) == (noise > 0)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 60])
def test_hardly_any_pair_of_a_continuous_table_is_near(d):
    n_clusters = [len(close(normal(400, d, seed)).distances) for seed in range(20)]
    assert sum(400 - n for n in n_clusters) <= 4


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 80), d=st.integers(1, 4), few=st.booleans())
def test_clusters_are_those_of_looking_at_all_pairs(seed, n, d, few):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, d)).astype(float) if few else rng.normal(size=(n, d))
    X[: n // 4] = X[n // 2 : n // 2 + n // 4] + 1e-6
    rows = embed_rows(X)
    found = close_rows(X, rows)
    away = np.linalg.norm(rows.points[:, None] - rows.points, axis=2)
    near = (away <= found.radius) | (X[:, None] == X).all(axis=2)
    for _ in range(n):
        near = near @ near
    assert_array_equal(found.clusters[:, None] == found.clusters, near)
    assert found.repeated == pytest.approx((near.sum(axis=1) > 1).mean())


@settings(max_examples=40)
@given(
    n=st.integers(0, 400),
    d=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    radius=st.sampled_from([0.0, 0.01, 0.1, 0.5]),
    on_grid=st.booleans(),
)
def test_close_pairs_are_those_of_looking_at_all_pairs(n, d, seed, radius, on_grid):
    rng = np.random.default_rng(seed)
    points = rng.integers(3, size=(n, d)).astype(float) if on_grid else rng.normal(size=(n, d))
    away = np.linalg.norm(points[:, None] - points, axis=2)
    expected = np.argwhere(np.triu(away <= radius, 1))
    assert_array_equal(close_pairs(points, radius, max(1, n**2)), expected)
    assert close_pairs(points, radius, len(expected) - 1) is None or len(expected) == 0


def test_points_that_cannot_be_divided_are_not_compared_pair_by_pair():
    assert close_pairs(np.zeros((5000, 2)), 0.1, 10**8) is None


def test_copies_of_many_rows_are_one_set_and_mean_less():
    X = np.repeat(np.arange(4.0)[:, None], 25, axis=0)
    codes = np.arange(100) % 2
    found = find_mixed(close(X), AB[codes], CONTRADICTION)
    assert [len(issue.rows) for issue in found] == [25] * 4
    assert max(issue.score for issue in found) == 0


def test_rows_of_two_groups_that_are_nearly_equal_are_shared():
    X, _ = with_copies()
    groups = np.where(np.arange(500) < 250, "train", "test")
    found = find_mixed(close(X), groups, SHARED, positions=np.arange(500) + 1)
    assert {issue.rows for issue in found} == {(i, 495 + i) for i in range(5)}
    assert found[0].kind == SHARED
    (first,) = (issue for issue in found if issue.rows[0] == 0)
    assert first.message.startswith("Rows 1 and 496 have nearly equal inputs in different groups")
    assert find_mixed(close(X), np.zeros(500), SHARED) == []


def test_on_a_grid_only_copies_are_near_and_without_gaps_nothing_is():
    grid = np.array([np.ones(100), np.full(100, 2**0.5)])
    typical, radius = near_radius(grid, 1000)
    assert typical == 1.0
    assert 0 < radius <= 0.05
    assert near_radius(np.full((2, 3), np.inf), 3) == (0.0, 0.0)
    assert near_radius(np.array([[1.0], [np.inf]]), 3)[0] == 1.0
