"""Weighing and packing against averages over all coverings, and walks against one row alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.forest._posterior import (
    add_to_children,
    add_to_parents,
    average_coverings,
    find_leaves,
    join_equal_leaves,
)
from granulearn.forest.tree import log_evidences
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


@given(small_trees())
def test_the_recursion_equals_the_average_over_all_coverings(tree):
    children, counts, stop, alpha = tree
    evidences = log_evidences(counts, alpha)
    assert_allclose(evidences, [reference.log_evidence(own, alpha) for own in counts], atol=1e-9)
    average, stops, reach = average_coverings(children, evidences, stop)
    expected_average, expected = reference.brute_force_average(children, counts, stop, alpha)
    assert average == pytest.approx(expected_average)
    smoothed = counts + alpha
    posterior = (reach * stops)[:, None] * smoothed / smoothed.sum(axis=1, keepdims=True)
    add_to_children(children, posterior)
    for leaf in np.flatnonzero(children == 0):
        assert_allclose(posterior[leaf], expected[leaf], rtol=1e-9)
        assert posterior[leaf].sum() == pytest.approx(1)
    summed = np.where(children[:, None] == 0, counts, 0)
    add_to_parents(children, summed)
    assert_array_equal(summed, counts)


def test_leaves_that_predict_the_same_are_one():
    children = np.array([1, -1, 3, -2, -3], np.int32)
    proba = np.array([[0, 0], [0.5, 0.5], [0, 0], [0.2, 0.8], [0.2 + 1e-9, 0.8 - 1e-9]])
    is_leaf = join_equal_leaves(children, proba, 1e-7)
    assert_array_equal(is_leaf, [False, True, True, True, True])
    assert_allclose(proba[2], [0.2, 0.8])


@given(alpha=st.sampled_from(ALPHAS), n_classes=st.integers(2, 4))
def test_evidence_is_the_probability_of_the_labels_one_by_one(alpha, n_classes):
    labels = np.arange(7) ** 2 % n_classes
    counts, expected = np.zeros(n_classes), 0.0
    for label in labels:
        expected += np.log((counts[label] + alpha) / (counts.sum() + alpha * n_classes))
        counts[label] += 1
    assert log_evidences(counts[None], alpha)[0] == pytest.approx(expected)


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
    found = find_leaves(np.ascontiguousarray(X.T), None, *tree)
    for row, leaf in zip(X, found, strict=True):
        node = 0
        while children[node] >= 0:
            part = slice(offsets[node], offsets[node + 1])
            product = sum(row[features[part]] * directions[part])
            node = children[node] + int(product > thresholds[node])
        assert leaf == -1 - children[node]
    seen = np.arange(50) % 3 == 0
    some = find_leaves(np.ascontiguousarray(X.T), seen, *tree)
    assert_array_equal(some, np.where(seen, -1, found))


def test_a_walk_ends_in_arrays_that_are_no_tree():
    children, offsets, features, directions, thresholds = hand_made_tree(1)
    children[1] = 0  # a circle
    tree = children, offsets, features, directions, thresholds
    assert_array_equal(find_leaves(np.zeros((1, 3)), None, *tree), -1)
