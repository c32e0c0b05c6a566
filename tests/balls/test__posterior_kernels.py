"""Weighing, packing and walking against averages over all coverings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import _posterior_kernels
from granulearn.balls._compiled import STACK_SIZE
from granulearn.balls.evidence_table import evidence_table
from granulearn.balls.narrow_tables import narrow_table
from tests.balls import forest_reference as reference

ALPHAS = (0.5, 0.1, 0.005)


@st.composite
def small_trees(draw):
    """A tree of up to six leaves with class counts, its nodes numbered as kernels do."""
    n_classes, n_splits = draw(st.integers(2, 3)), draw(st.integers(0, 5))
    children = [0]
    for _ in range(n_splits):
        leaves = [node for node, left in enumerate(children) if left == 0]
        children[draw(st.sampled_from(leaves))] = len(children)
        children += [0, 0]
    counts = np.zeros((len(children), n_classes))
    for node in range(len(children) - 1, -1, -1):
        if children[node]:
            counts[node] = counts[children[node]] + counts[children[node] + 1]
        else:
            counts[node] = draw(st.lists(st.integers(0, 6), min_size=n_classes, max_size=n_classes))
    stop, alpha = draw(st.sampled_from([0.05, 0.5, 0.8, 0.98, 1.0])), draw(st.sampled_from(ALPHAS))
    return np.array(children, np.int32), counts, stop, alpha


def packed_children(children, number, kept):
    """Return the children of a packed tree whose splits look at no feature."""
    found, nothing = np.empty(len(kept), np.int32), np.zeros(len(children), np.int32)
    _posterior_kernels.pack_tree(
        children, nothing, nothing, np.zeros(0, np.int32), np.zeros(0), np.zeros(len(children)),
        number, kept, found, np.empty(len(kept) + 1, np.int32), np.empty(0, np.int32), np.empty(0),
        np.empty(len(kept)),
    )  # fmt: skip
    return found


@given(small_trees())
def test_the_recursion_equals_the_average_over_all_coverings(tree):
    children, counts, stop, alpha = tree
    table = evidence_table(20, counts.shape[1], alpha)
    evidences, stops, reach = (np.empty(len(children)) for _ in range(3))
    _posterior_kernels.weigh_balls(counts, table, evidences)
    assert_allclose(evidences, [reference.log_evidence(own, alpha) for own in counts], atol=1e-9)
    average = _posterior_kernels.weigh_tree(children, evidences, stop, stops, reach)
    expected_average, expected = reference.brute_force_average(children, counts, stop, alpha)
    assert average == pytest.approx(expected_average)
    number, kept = np.empty(len(children), np.int32), np.empty(len(children), np.int32)
    n_kept = _posterior_kernels.renumber_kept(children, reach, -1.0, number, kept)
    assert n_kept == len(children)
    packed = packed_children(children, number, kept)
    leaves = [node for node in kept if children[node] == 0]
    leaf_proba = np.empty((len(leaves), counts.shape[1]))
    _posterior_kernels.set_leaf_posteriors(packed, kept, counts, alpha, stops, reach, leaf_proba)
    for leaf, node in enumerate(leaves):
        assert packed[number[node]] == -1 - leaf
        assert_allclose(leaf_proba[leaf], expected[node], rtol=1e-9)
        assert leaf_proba[leaf].sum() == pytest.approx(1)


def test_what_is_hardly_reached_is_dropped_and_the_rest_still_sums_to_one():
    children = np.array([1, 0, 3, 0, 0], np.int32)
    counts = np.array([[9, 9], [9, 0], [0, 9], [0, 4], [0, 5]], float)
    stops, reach = np.array([0.5, 1, 0.999, 1, 1]), np.array([1, 0.5, 0.5, 0.0005, 0.0005])
    number, kept = np.empty(5, np.int32), np.empty(5, np.int32)
    n_kept = _posterior_kernels.renumber_kept(children, reach, 0.01, number, kept)
    assert_array_equal(number, [0, 1, 2, -1, -1])
    kept = kept[:n_kept]
    packed, leaf_proba = packed_children(children, number, kept), np.empty((2, 2))
    _posterior_kernels.set_leaf_posteriors(packed, kept, counts, 0.5, stops, reach, leaf_proba)
    assert_allclose(leaf_proba.sum(axis=1), 1)
    assert_allclose(leaf_proba[1, 1], 0.5 * 9.5 / 19 + 0.5 * 9.5 / 10)


def test_leaves_that_predict_the_same_are_one():
    children = np.array([1, -1, 3, -2, -3], np.int32)
    leaf_proba = np.array([[0.5, 0.5], [0.2, 0.8], [0.2 + 1e-9, 0.8 - 1e-9]])
    is_leaf, node_proba = np.empty(5, bool), np.empty((5, 2))
    _posterior_kernels.mark_equal_leaves(children, leaf_proba, 1e-7, is_leaf, node_proba)
    assert_array_equal(is_leaf, [False, True, True, True, True])
    assert_allclose(node_proba[2], [0.2, 0.8])


def test_a_row_goes_right_when_its_product_exceeds_the_threshold():
    """One split on features 2 and 0: 2 x2 - x0 > 1."""
    tree = (
        np.array([1, -1, -2], np.int32), np.array([0, 2, 2, 2], np.int32),
        np.array([2, 0], np.int32), np.array([2.0, -1.0]), np.array([1.0, 0, 0]),
    )  # fmt: skip
    for row, leaf in [([0, 9, 0], 0), ([0, 9, 1], 1), ([1, 9, 1], 0), ([0.5, 9, 1], 1)]:
        assert _posterior_kernels.find_leaf(np.array(row, float), *tree) == leaf


def add_posterior(X, seen, *tree_and_total):
    """Let rows walk as a forest does."""
    table = narrow_table(X)
    rows, spare = np.empty((2, len(X)), np.int32)
    products, pending = np.empty(len(X)), np.empty((STACK_SIZE, 3), np.int64)
    *tree, total = tree_and_total
    _posterior_kernels.add_posterior(
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
    assert _posterior_kernels.find_leaf(np.ones(1), *tree) == -2
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
    alone = [_posterior_kernels.find_leaf(row, *tree) for row in X]
    assert_array_equal(total, np.where(seen[:, None], 0, np.eye(3)[alone]))
    assert set(np.array(alone)[~seen]) == {0, 1, 2}


def test_every_ball_counts_the_rows_whose_walk_goes_through_it():
    rng = np.random.default_rng(0)
    rows, codes, weights = rng.normal(size=(40, 2)), rng.integers(3, size=40), rng.uniform(size=40)
    children = np.array([1, -1, 3, -2, -3], np.int32)
    offsets, features = np.array([0, 1, 1, 3, 3, 3], np.int32), np.array([0, 0, 1], np.int32)
    directions, thresholds = np.array([1.0, 2.0, -1.0]), np.array([0.1, 0, 0.2, 0, 0])
    counts = np.empty((5, 3))
    _posterior_kernels.count_balls(
        rows, codes, weights, children, offsets, features, directions, thresholds, counts
    )
    right = rows[:, 0] > 0.1
    beyond = right & (2 * rows[:, 0] - rows[:, 1] > 0.2)
    for ball, own in enumerate([right | True, ~right, right, right & ~beyond, beyond]):
        expected = np.bincount(codes[own], weights[own], minlength=3)
        assert_allclose(counts[ball], expected)
