"""The compiled loops of the restricted diffusion maker against looking at every sample."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from granulearn.balls import _diffusion_kernels
from granulearn.balls.rd_gbg import nearest_of_both_kinds
from granulearn.balls.surfaces import point_tree


def tables(draw_seed, n, d, on_grid):
    rng = np.random.RandomState(draw_seed)
    X = rng.randint(4, size=(n, d)).astype(float) if on_grid else rng.standard_normal((n, d))
    y = np.where(rng.uniform(size=n) < 0.2, rng.randint(3, size=n), X[:, 0] > 0)
    return X, y.astype(np.int32), rng.permutation(n)


small_tables = st.builds(
    tables, st.integers(0, 10**6), st.integers(1, 150), st.integers(1, 6), st.booleans()
)


@settings(max_examples=80)
@given(small_tables)
def test_the_nearest_of_both_kinds_are_those_of_all_pairs(table):
    X, y, _ = table
    tree = point_tree(X, np.zeros(len(X)), 8)
    foreign, own = (part[np.argsort(tree.order)] for part in nearest(tree, y))
    pairs = cdist(X, X)
    np.fill_diagonal(pairs, np.inf)
    differs = y[:, None] != y
    expected = np.where(differs, pairs, np.inf).min(axis=1)
    expected_own = np.where(differs, np.inf, pairs).min(axis=1)
    assert_allclose(foreign, expected, rtol=1e-12)
    # The own class is looked for only as far as the other.
    assert_array_equal(own < foreign, expected_own < expected)
    assert_allclose(own[own < foreign], expected_own[own < foreign], rtol=1e-12)


def nearest(tree, y):
    return nearest_of_both_kinds(tree, y[tree.order], n_threads=1)


def reference_diffusion(X, y, queue):
    """Grow balls one after the other, looking at every sample and every ball each time."""
    pairs = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    ball, centers, radii = np.full(len(X), -1), [], []
    for center in queue:
        if ball[center] >= 0:
            continue
        foreign = pairs[center][y != y[center]].min(initial=np.inf)
        gap = min(
            (pairs[center, c] - r for c, r in zip(centers, radii, strict=True)), default=np.inf
        )
        inside = (ball < 0) & (pairs[center] < foreign) & (pairs[center] <= gap)
        if inside.sum() >= 2:
            ball[inside] = len(centers)
            centers.append(center)
            radii.append(pairs[center][inside].max())
    for center in queue:
        if ball[center] < 0:
            ball[center] = len(centers)
            centers.append(center)
            radii.append(0.0)
    return ball, centers, radii


@settings(max_examples=80)
@given(small_tables)
def test_balls_equal_those_of_the_slow_twin(table):
    X, y, queue = table
    n = len(X)
    tree = point_tree(X, np.zeros(n), 8)
    foreign, own = nearest(tree, y)
    place = np.argsort(tree.order)
    ball, centers, radii = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    n_balls = _diffusion_kernels.diffuse(tree, foreign, own, place[queue], ball, centers, radii)
    expected_ball, expected_centers, expected_radii = reference_diffusion(X, y, queue)
    assert_array_equal(ball[place], expected_ball)
    assert_array_equal(tree.order[centers[:n_balls]], expected_centers)
    assert_allclose(radii[:n_balls], expected_radii, rtol=1e-12)
