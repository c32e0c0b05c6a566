"""Walks down packed trees: together or alone, to the same leaves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import _walk_kernels
from granulearn.balls._compiled import STACK_SIZE
from granulearn.balls.narrow_tables import narrow_table


def test_a_row_goes_right_when_its_product_exceeds_the_threshold():
    """One split on features 2 and 0: 2 x2 - x0 > 1."""
    tree = (
        np.array([1, -1, -2], np.int32), np.array([0, 2, 2, 2], np.int32),
        np.array([2, 0], np.int32), np.array([2.0, -1.0]), np.array([1.0, 0, 0]),
    )  # fmt: skip
    for row, leaf in [([0, 9, 0], 0), ([0, 9, 1], 1), ([1, 9, 1], 0), ([0.5, 9, 1], 1)]:
        assert _walk_kernels.find_leaf(np.array(row, float), *tree) == leaf


def add_posterior(X, seen, *tree_and_total):
    """Let rows walk as a forest does."""
    table = narrow_table(X)
    rows, spare = np.empty((2, len(X)), np.uint32)
    products, pending = np.empty(len(X)), np.empty((STACK_SIZE, 3), np.int64)
    *tree, total = tree_and_total
    _walk_kernels.add_posterior(
        np.ascontiguousarray(table.plain.T), np.ascontiguousarray(table.codes.T), table.places,
        table.marks, table.lows, table.highs, seen, *tree, rows, spare, products, pending, total,
    )  # fmt: skip


def test_a_walk_ends_in_arrays_that_are_no_tree():
    # Both children of the first ball are the first ball's own pair, again and again.
    tree = (
        np.array([1, 1, 1], np.int32),
        np.array([0, 1, 2, 3], np.int32),
        np.zeros(3, np.int32),
        np.ones(3),
        np.zeros(3),
    )
    assert _walk_kernels.find_leaf(np.ones(1), *tree) == -2
    total = np.zeros((2, 1))
    add_posterior(np.ones((2, 1)), np.empty(0, bool), *tree, np.ones((1, 1)), total)
    assert total.tolist() == [[0], [0]]


def test_a_tree_adds_only_to_the_rows_that_it_has_not_seen():
    leaf = (
        np.array([-1], np.int32), np.array([0, 0], np.int32), np.empty(0, np.int32),
        np.empty(0), np.zeros(1), np.array([[0.25, 0.75]]),
    )  # fmt: skip
    total, seen = np.zeros((3, 2)), np.array([True, False, True])
    add_posterior(np.zeros((3, 1)), seen, *leaf, total)
    assert_array_equal(total, [[0, 0], [0.25, 0.75], [0, 0]])
    add_posterior(np.zeros((3, 1)), np.ones(3, bool), *leaf, total)
    assert_array_equal(total, [[0, 0], [0.25, 0.75], [0, 0]])
    add_posterior(np.zeros((3, 1)), np.empty(0, bool), *leaf, total)
    assert_array_equal(total, [[0.25, 0.75], [0.5, 1.5], [0.25, 0.75]])


@pytest.mark.parametrize("n_plain", [2, 1, 0])
def test_rows_that_walk_together_come_to_the_leaves_they_come_to_alone(n_plain):
    """Row 0 right of 0.1 goes on, and its sum of two features decides."""
    tree = (
        np.array([1, -1, 3, -2, -3], np.int32), np.array([0, 1, 1, 3, 3, 3], np.int32),
        np.array([0, 0, 1], np.int32), np.array([1.0, 2.0, -1.0]), np.array([0.1, 0, 1.5, 0, 0]),
    )  # fmt: skip
    rng = np.random.default_rng(0)
    X, seen = rng.normal(size=(75, 2)), rng.random(75) < 0.4
    X[:, n_plain:] = X[:, n_plain:] > 0  # a feature of two values is read from its code
    total = np.zeros((75, 3))
    add_posterior(X, seen, *tree, np.eye(3), total)
    alone = [_walk_kernels.find_leaf(row, *tree) for row in X]
    assert_array_equal(total, np.where(seen[:, None], 0, np.eye(3)[alone]))
    assert set(np.array(alone)[~seen]) == {0, 1, 2}


def test_every_ball_counts_the_rows_whose_walk_goes_through_it():
    rng = np.random.default_rng(0)
    rows, codes, weights = rng.normal(size=(40, 2)), rng.integers(3, size=40), rng.uniform(size=40)
    children = np.array([1, -1, 3, -2, -3], np.int32)
    offsets, features = np.array([0, 1, 1, 3, 3, 3], np.int32), np.array([0, 0, 1], np.int32)
    directions, thresholds = np.array([1.0, 2.0, -1.0]), np.array([0.1, 0, 0.2, 0, 0])
    counts = np.empty((5, 3))
    _walk_kernels.count_balls(
        rows, codes, weights, children, offsets, features, directions, thresholds, counts
    )
    right = rows[:, 0] > 0.1
    beyond = right & (2 * rows[:, 0] - rows[:, 1] > 0.2)
    for ball, own in enumerate([right | True, ~right, right, right & ~beyond, beyond]):
        expected = np.bincount(codes[own], weights[own], minlength=3)
        assert_allclose(counts[ball], expected)


@pytest.mark.parametrize("n_used", [1, 2, 3, 4, 5, 8])
def test_a_split_of_any_features_sends_rows_together_where_it_sends_them_alone(n_used):
    """Four numbers and four columns of two values, in every order: pairs of a kind, and single."""
    rng = np.random.default_rng(n_used)
    X = rng.normal(size=(90, 8))
    X[:, 4:] = X[:, 4:] > 0.5
    for _ in range(20):
        features = rng.permutation(8)[:n_used].astype(np.int32)
        tree = (
            np.array([1, -1, -2], np.int32), np.array([0, n_used, n_used, n_used], np.int32),
            features, rng.normal(size=n_used), np.array([rng.normal() / 2, 0, 0]),
        )  # fmt: skip
        total = np.zeros((90, 2))
        add_posterior(X, np.empty(0, bool), *tree, np.eye(2), total)
        alone = [_walk_kernels.find_leaf(row, *tree) for row in X]
        assert_array_equal(total, np.eye(2)[alone])
