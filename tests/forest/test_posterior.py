"""Weighing and packing against averages over all coverings, and walks against one row alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.forest import _posterior_kernels
from granulearn.forest.tree import evidence_table
from tests.forest import reference

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


@given(alpha=st.sampled_from(ALPHAS), n_classes=st.integers(2, 4))
def test_evidence_is_the_probability_of_the_labels_one_by_one(alpha, n_classes):
    labels = np.arange(7) ** 2 % n_classes
    counts, expected = np.zeros(n_classes), 0.0
    for label in labels:
        expected += np.log((counts[label] + alpha) / (counts.sum() + alpha * n_classes))
        counts[label] += 1
    found = np.empty(1)
    _posterior_kernels.weigh_balls(counts[None], evidence_table(10, n_classes, alpha), found)
    assert found[0] == pytest.approx(expected)
    # Beyond the table, and for broken counts, it is the formula.
    _posterior_kernels.weigh_balls(counts[None], evidence_table(1, n_classes, alpha), found)
    assert found[0] == pytest.approx(expected)


def hand_made_tree(n_used):
    """A root whose split looks at the first columns, and a left child that looks at column 0."""
    children = np.array([1, 3, -3, -1, -2], np.int32)
    offsets = np.array([0, n_used, n_used + 1, n_used + 1, n_used + 1, n_used + 1], np.int32)
    features = np.append(np.arange(n_used), 0).astype(np.int32)
    directions = np.append(np.linspace(1, -0.5, n_used), 1.0)
    return children, offsets, features, directions, np.array([0.1, -0.3, 0, 0, 0])


@pytest.mark.parametrize("n_used", [1, 2, 3, 4])
def test_rows_that_walk_together_come_to_the_leaves_they_come_to_alone(n_used):
    X = np.random.default_rng(0).normal(size=(50, 4)).round(1)
    tree = hand_made_tree(n_used)
    children, offsets, features, directions, thresholds = tree
    found, nothing = np.empty(50, np.int64), np.empty(0, bool)
    _posterior_kernels.find_leaves(np.ascontiguousarray(X.T), nothing, *tree, found)
    for row, leaf in zip(X, found, strict=True):
        node = 0
        while children[node] >= 0:
            part = slice(offsets[node], offsets[node + 1])
            product = sum(row[features[part]] * directions[part])
            node = children[node] + int(product > thresholds[node])
        assert leaf == -1 - children[node]
    seen = np.arange(50) % 3 == 0
    some = np.empty(50, np.int64)
    _posterior_kernels.find_leaves(np.ascontiguousarray(X.T), seen, *tree, some)
    assert_array_equal(some, np.where(seen, -1, found))


def test_a_walk_ends_in_arrays_that_are_no_tree():
    children, offsets, features, directions, thresholds = hand_made_tree(1)
    children[1] = 0  # a circle
    leaves = np.empty(3, np.int64)
    _posterior_kernels.find_leaves(
        np.zeros((1, 3)), np.empty(0, bool), children, offsets, features, directions, thresholds,
        leaves,
    )  # fmt: skip
    assert_array_equal(leaves, -1)
