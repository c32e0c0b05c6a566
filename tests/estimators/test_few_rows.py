"""Boosted trees and bundles of a few rows, held against the compiled loops, bit for bit."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier

from granulearn.balls import _walk_kernels
from granulearn.balls.few_rows import MOST_WALKS, loops_may_wait
from granulearn.estimators import RobustClassifier, _boosted_kernels, few_rows
from granulearn.estimators.boosted_trees import BoostedTrees, trees_of
from granulearn.estimators.bundles import find_bundles
from granulearn.network import _feature_kernels


def one_hot_table(seed, n, n_categories, n_numbers):
    """Return categories as columns of zeros and ones, and numbers beside them."""
    rng = np.random.default_rng(seed)
    category = rng.integers(n_categories, size=n)
    return np.hstack([np.eye(n_categories)[category], rng.normal(size=(n, n_numbers))])


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(40, 90),
    n_categories=st.integers(2, 9),
    n_numbers=st.integers(0, 3),
    n_classes=st.integers(2, 4),
)
def test_few_rows_are_bundled_and_boosted_as_by_loops(seed, n, n_categories, n_numbers, n_classes):
    X = one_hot_table(seed, n, n_categories, n_numbers)
    y = np.random.default_rng(seed).integers(n_classes, size=n)
    bundles = find_bundles(X, y.astype(float), np.ones(n))
    # New rows may be anything: several columns of a bundle on, none, or in between.
    new = np.vstack([X, np.random.default_rng(seed).normal(size=X.shape).round(1)])
    by_loops, by_numpy = np.zeros((2, len(new), bundles.n_inputs))
    _boosted_kernels.set_codes(
        new, bundles.bundled, bundles.offsets, bundles.middles, bundles.codes, by_loops
    )
    few_rows.set_codes(bundles, new, by_numpy)
    assert_array_equal(by_numpy, by_loops)

    booster = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3, max_leaf_nodes=8)
    trees = trees_of(booster.fit(bundles.inputs(X), y), bundles)
    by_loops, Z = trees.raw(new), bundles.inputs(new)
    by_numpy = np.tile(trees.baseline, (len(new), 1))
    few_rows.add_leaf_values(trees, Z, by_numpy)
    assert_array_equal(by_numpy, by_loops)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_robust_classifier_predicts_few_rows_to_the_bits_of_the_loops(n_classes, monkeypatch):
    X = one_hot_table(0, 400, 6, 4)
    y = (X[:, :6].argmax(axis=1) + (X[:, 6] > 0)) % n_classes
    model = RobustClassifier(random_state=0).fit(X, y)
    by_loops = model.predict_proba(X)
    monkeypatch.delitem(sys.modules, "granulearn.balls._compiled")
    monkeypatch.setattr(_walk_kernels, "add_posterior", None)
    monkeypatch.setattr(_boosted_kernels, "add_leaf_values", None)
    monkeypatch.setattr(_feature_kernels, "overwrite_by_sine", None)
    with loops_may_wait():
        assert_array_equal(model.predict_proba(X), by_loops)


def test_rows_that_walk_down_very_many_trees_are_left_to_the_loops(monkeypatch):
    """A leaf for each of many classes and rounds: side by side, their places take gigabytes."""
    n_classes = 3
    n_trees = n_classes * (MOST_WALKS // n_classes + 1)
    nothing = np.zeros(n_trees, np.int32)
    X = np.zeros((1, 2))
    trees = BoostedTrees(
        find_bundles(np.arange(12.0).reshape(6, 2), np.arange(6.0), np.ones(6)),
        np.arange(n_classes), np.zeros(n_classes), np.arange(n_trees, dtype=np.int32),
        np.tile(np.arange(n_classes, dtype=np.int32), n_trees // n_classes), nothing, nothing,
        np.full(n_trees, -1, np.int32), np.zeros(n_trees), np.ones(n_trees, np.float32),
    )  # fmt: skip
    monkeypatch.setattr(few_rows, "add_leaf_values", None)
    monkeypatch.delitem(sys.modules, "granulearn.balls._compiled")
    with loops_may_wait():
        assert_array_equal(trees.raw(X), np.full((1, n_classes), n_trees / n_classes))
