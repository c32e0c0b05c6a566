"""Which forest suits how many rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.balls.forest_rules import (
    FIRST_LOOK_ROWS,
    MAX_SPARED,
    MAX_TREE_ROWS,
    MAX_TREE_VALUES,
    SMALL,
    WEIGHINGS,
    audit_rule,
    rule_of_size,
)
from granulearn.balls.forest_tree import ForestRule, Weighing


def test_a_small_forest_splits_by_class_means_and_weighs_once():
    assert rule_of_size(SMALL, 5, seed=7) == ForestRule(seed=7)


def test_a_larger_forest_searches_and_weighs_in_several_ways():
    rule = rule_of_size(SMALL + 1, 5)
    assert (rule.n_directions, rule.n_axes, rule.n_thresholds) == (2, 8, 8)
    assert rule.weighings == WEIGHINGS


@given(n_rows=st.integers(1, 10**8), n_features=st.integers(1, 10**5))
def test_rows_and_values_of_a_tree_are_bounded_and_the_smaller_it_is_the_more_trees(
    n_rows, n_features
):
    rule = rule_of_size(n_rows, n_features)
    seen = rule.max_samples * n_rows
    assert seen <= MAX_TREE_ROWS + 1
    assert seen <= max(MAX_TREE_VALUES / n_features, SMALL) + 1
    assert 20 <= rule.n_trees <= 100
    assert 0 < rule.max_samples <= 0.632


def test_what_is_asked_for_is_taken():
    weighings = (Weighing(0.1, 0.9),)
    rule = rule_of_size(
        10, 2, n_trees=3, max_samples=1.0, n_tries=4, searched=True, weighings=weighings
    )
    assert rule == ForestRule(3, 1.0, 1, 4, 8, 0.1, weighings)
    assert rule_of_size(10**6, 2, searched=False).n_axes == 0


@pytest.mark.parametrize(
    ("n_rows", "n_trees"), [(1000, 100), (5000, 48), (40_000, 32), (10**6, 20)]
)
def test_trees_of_many_rows_are_fewer(n_rows, n_trees):
    assert rule_of_size(n_rows, 10).n_trees == n_trees


def test_two_classes_have_fewer_trees_and_small_balls_are_spared_unless_rows_are_very_many():
    two, three = (rule_of_size(5000, 10, n_classes=k) for k in (2, 3))
    assert (two.n_trees, two.max_spared) == (32, MAX_SPARED)
    assert (three.n_trees, three.max_spared) == (48, 0)
    assert rule_of_size(SMALL, 10, n_classes=2) == rule_of_size(SMALL, 10, n_classes=3)
    assert rule_of_size(10**5, 10, n_classes=2) == rule_of_size(10**5, 10, n_classes=3)
    assert rule_of_size(10**5, 10, n_classes=2, first_look=True).max_spared == MAX_SPARED
    assert audit_rule(5000, 10, n_classes=2, n_trees=7, max_rows=800, seed=3).max_spared == 0


@given(
    n_rows=st.integers(SMALL + 1, 10**7),
    n_features=st.integers(1, 1000),
    n_classes=st.sampled_from([2, 3]),
)
def test_hardly_ever_a_row_is_seen_by_every_tree(n_rows, n_features, n_classes):
    rule = rule_of_size(n_rows, n_features, n_classes=n_classes)
    assert n_rows * rule.max_samples**rule.n_trees <= 0.02


def test_an_audit_weighs_once_and_looks_along_directions_of_two_classes_alone():
    rule = audit_rule(5000, 10, n_classes=2, n_trees=7, max_rows=800, seed=3)
    assert (rule.n_trees, rule.n_directions, rule.n_axes, rule.seed) == (7, 6, 0, 3)
    assert rule.weighings == (Weighing(0.1, 0.9),)
    assert rule.max_samples == 800 / 5000
    many = audit_rule(5000, 10, n_classes=3, n_trees=7, max_rows=800, seed=3)
    assert many.n_axes > 0
    assert many.weighings == rule.weighings
    few = audit_rule(3000, 10, n_classes=2, n_trees=100, max_rows=8000, seed=0)
    assert few == ForestRule()
    assert audit_rule(3000, 10, n_classes=3, n_trees=100, max_rows=8000, seed=0) != few
    assert audit_rule(SMALL, 10, n_classes=3, n_trees=100, max_rows=8000, seed=0) == few


def test_a_first_look_at_many_rows_has_few_small_trees_unless_their_number_is_given():
    first = rule_of_size(100_000, 20, first_look=True)
    assert round(100_000 * first.max_samples) == FIRST_LOOK_ROWS
    assert first.n_trees < rule_of_size(10_000, 20).n_trees
    assert rule_of_size(100_000, 20, n_trees=33, first_look=True).n_trees == 33
