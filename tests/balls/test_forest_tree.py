"""One tree: what it draws, what its leaves hold, and what mixing keeps."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls._forest_kernels import tree_key
from granulearn.balls.forest_rows import forest_rows
from granulearn.balls.forest_tree import (
    ForestRule,
    Weighing,
    _draw_rows,
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


@st.composite
def group_numbers(draw):
    """Return the group of each row: a few of any size, all alone, or one that has nearly all."""
    kind = draw(st.sampled_from(["few", "alone", "huge"]))
    if kind == "few":
        return draw(st.lists(st.integers(0, 4), min_size=4, max_size=30))
    n = draw(st.integers(4, 30))
    return list(range(n)) if kind == "alone" else [0] * n + list(range(1, draw(st.integers(2, 4))))


@settings(max_examples=60)
@given(groups=group_numbers(), seed=st.integers(0, 10**6), share=st.floats(0.01, 0.99))
def test_a_tree_sees_all_of_a_group_or_none_and_never_all_groups(groups, seed, share):
    groups = np.unique(groups, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(len(groups), 2)), rng.integers(2, size=len(groups))
    rows = forest_rows(X, y, 2, groups=groups)
    rule = ForestRule(1, share, seed=seed)
    for number in range(5):
        drawn = _draw_rows(rows, rule, np.uint64(tree_key(np.uint64(seed), number)))
        assert (np.diff(drawn) > 0).all()
        seen = np.zeros(len(groups), dtype=bool)
        seen[rows.samples[drawn]] = True
        n_seen = 0
        for group in range(groups.max() + 1):
            own = seen[groups == group]
            assert own.all() or not own.any()
            n_seen += own.all()
        assert n_seen >= 1
        assert n_seen <= groups.max() or groups.max() == 0


def test_many_small_groups_give_a_tree_its_share_and_every_group_its_turn():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 3)
    rows = forest_rows(rng.normal(size=(300, 2)), rng.integers(2, size=300), 2, groups=groups)
    rule, turns = ForestRule(1, 0.632), np.zeros(300)
    for number in range(400):
        drawn = _draw_rows(rows, rule, np.uint64(tree_key(np.uint64(3), number)))
        assert abs(len(drawn) - 0.632 * 300) <= 3
        turns[rows.samples[drawn]] += 1
    deviation = np.sqrt(400 * 0.632 * 0.368)
    assert (np.abs(turns - 400 * 0.632) < 4.5 * deviation).all()
