"""One tree: what it draws, what its leaves hold, and what mixing keeps."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls.forest_rows import forest_rows
from granulearn.balls.forest_tree import (
    ForestRule,
    Weighing,
    evidence_tables,
    grow_one,
    mix_tree,
)

RULE = ForestRule(1, 0.5, 2, 4, 8, 0.1, (Weighing(), Weighing(0.005, 0.05)), seed=1)


def grown(rule=RULE):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(3, size=200)
    rows = forest_rows(X, y, 3)
    return grow_one(rows, evidence_tables(rule, 200, 3), rule, 0)


def test_a_table_is_made_for_every_dirichlet_weight_of_a_rule():
    assert set(evidence_tables(RULE, 10, 3)) == {0.5, 0.1, 0.005}


def test_a_tree_sees_its_share_of_the_rows_and_each_leaf_has_all_weighings():
    one = grown()
    assert len(one.drawn) == 100
    tree = one.tree
    n_leaves = np.count_nonzero(tree.children < 0)
    assert tree.leaf_proba.shape == (n_leaves, 6)
    assert tree.leaf_proba.dtype == np.float32
    assert_allclose(tree.leaf_proba.reshape(n_leaves, 2, 3).sum(axis=2), 1, rtol=1e-6)
    assert_array_equal(np.sort(-1 - tree.children[tree.children < 0]), np.arange(n_leaves))


def test_mixing_joins_leaves_that_predict_the_same():
    one = grown(ForestRule(1, 0.5, weighings=(Weighing(stop=1.0), Weighing(0.005, 0.05))))
    alike = mix_tree(one.tree, np.array([1.0, 0.0]), one.stops)
    assert len(alike.children) == 1  # every walk stops at the first ball
    assert_array_equal(alike.thresholds, [1.0])
    apart = mix_tree(one.tree, np.array([0.5, 0.5]), one.stops)
    assert len(apart.children) > 20
    assert_allclose(apart.leaf_proba.sum(axis=1), 1, rtol=1e-6)


def test_a_leaf_tells_whether_its_ball_was_split():
    trusting = grown(ForestRule(1, 0.5, weighings=(Weighing(0.005, 0.05),))).tree
    cautious = grown(ForestRule(1, 0.5, weighings=(Weighing(stop=1.0),))).tree
    assert not trusting.thresholds[trusting.children < 0].any()  # nothing is left out
    assert_array_equal(cautious.thresholds, [1.0])
