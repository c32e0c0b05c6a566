"""The tree over ball centres, and searches in it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls import _surface_kernels
from granulearn.balls.surfaces import point_tree


def random_tree(n, d, seed, leaf_points=8, on_grid=False):
    rng = np.random.RandomState(seed)
    points = rng.randint(3, size=(n, d)).astype(float) if on_grid else rng.standard_normal((n, d))
    radii = rng.uniform(0, 1, n)
    return points, radii, point_tree(points, radii, leaf_points)


@settings(max_examples=60)
@given(
    n=st.integers(1, 200), d=st.integers(1, 9), seed=st.integers(0, 10**6), on_grid=st.booleans()
)
def test_leaves_hold_all_points_and_nodes_reach_around_all_their_balls(n, d, seed, on_grid):
    points, radii, tree = random_tree(n, d, seed, on_grid=on_grid)
    assert_array_equal(np.sort(tree.order), np.arange(n))
    assert_array_equal(tree.points, points[tree.order])
    leaves = [tree.bounds[node] for node in range(len(tree.children)) if tree.children[node] == 0]
    leaves.sort(key=lambda bounds: bounds[0])
    assert_array_equal(np.concatenate([np.arange(*bounds) for bounds in leaves]), np.arange(n))
    for node, (start, stop) in enumerate(tree.bounds):
        away = np.linalg.norm(tree.points[start:stop] - tree.pivots[node], axis=1)
        assert (away + radii[tree.order][start:stop] <= tree.reach[node] * (1 + 1e-12)).all()
        left = tree.children[node]
        if left > 0:
            assert left > node
            assert_array_equal(tree.bounds[left : left + 2].ravel()[[0, 3]], [start, stop])


@settings(max_examples=60)
@given(n=st.integers(1, 40), d=st.integers(1, 11), seed=st.integers(0, 10**6))
def test_squares_of_a_leaf_are_those_of_distances_to_the_last_bit(n, d, seed):
    points, _, tree = random_tree(n, d, seed, leaf_points=n)
    squares = np.empty(n)
    x = np.random.RandomState(seed + 1).standard_normal(d)
    _surface_kernels.leaf_squares(x, tree, 0, squares)
    expected = [_surface_kernels.distance(x, point) for point in points]
    assert_array_equal(np.sqrt(squares), expected)


@settings(max_examples=60)
@given(n=st.integers(1, 60), d=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_no_surface_is_nearer_than_possible(n, d, seed):
    _, radii, tree = random_tree(n, d, seed)
    x = np.random.RandomState(seed + 1).standard_normal(d) * 3
    for node, (start, stop) in enumerate(tree.bounds):
        own = np.linalg.norm(tree.points[start:stop] - x, axis=1) - radii[tree.order][start:stop]
        for extra in (0.0, 2.0):
            possible = _surface_kernels.nearest_possible(x, tree, node, extra)
            assert possible <= own.min() - extra


@given(
    found=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), min_size=1, max_size=20),
    k=st.integers(1, 5),
)
def test_the_least_are_kept_and_ties_go_to_the_smaller_number(found, k):
    found = [(float(value), number) for number, (value, _) in enumerate(found)]
    order = np.random.RandomState(len(found)).permutation(len(found))
    numbers, values = np.full(k, 10**6), np.full(k, np.inf)
    for at in order:
        _surface_kernels.insert_sorted(found[at][1], found[at][0], numbers, values)
    expected = sorted(found)[:k]
    assert_array_equal(numbers[: len(expected)], [number for _, number in expected])
    assert_array_equal(values[: len(expected)], [value for value, _ in expected])


@settings(max_examples=60)
@given(
    n=st.integers(1, 150), d=st.integers(1, 3), seed=st.integers(0, 10**6), leaf=st.integers(1, 3)
)
def test_leaves_of_any_size_find_the_nearest_surface(n, d, seed, leaf):
    """Bounds are the tighter the smaller the leaves: of one point, they are its distance."""
    points, radii, tree = random_tree(n, d, seed, leaf)
    rows = random_tree(40, d, seed + 1, leaf)[2]
    numbers, distances = np.empty((40, 1), np.int64), np.empty((40, 1))
    _surface_kernels.nearest_surfaces(rows, tree, radii[tree.order], numbers, distances)
    to_surface = np.linalg.norm(rows.points[:, None] - points, axis=2) - radii
    assert_array_equal(numbers[:, 0], to_surface.argmin(axis=1))
