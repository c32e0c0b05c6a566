"""Laws of the ball forest."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls.forest import BallForest, grow_forest, label_reliability
from granulearn.balls.forest_rows import canonical_order
from granulearn.balls.forest_tree import ForestRule, Weighing

RULE = ForestRule(n_trees=12, seed=3)
UNSPLIT = ForestRule(n_trees=1, max_samples=1.0, weighings=(Weighing(stop=1.0),))
WEIGHINGS = (Weighing(), Weighing(0.5, 0.98), Weighing(0.005, 0.05))
SEARCHED = ForestRule(
    n_trees=12, n_directions=4, n_axes=8, n_thresholds=8, split_alpha=0.1, weighings=WEIGHINGS,
    seed=3,
)  # fmt: skip


def two_clouds(n=120, d=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, d)) + y[:, None], y


def test_one_leaf_gives_the_class_frequencies():
    X, y = two_clouds(n_classes=3)
    grown = grow_forest(X, y, 3, UNSPLIT)
    frequencies = (np.bincount(y) + 0.5) / (len(y) + 1.5)
    assert_allclose(grown.forest.posterior(X[:5]), np.tile(frequencies, (5, 1)), rtol=1e-6)


def test_the_first_split_counts_by_the_two_stage_average():
    """Two far apart pure clouds: one useful split, so W = g E + (1 - g) E_left E_right."""
    X = np.r_[np.zeros((6, 1)), np.ones((4, 1))]
    y = np.r_[np.zeros(6, int), np.ones(4, int)]
    grown = grow_forest(X, y, 2, ForestRule(n_trees=1, max_samples=1.0))

    def evidence(a, b):
        seen, product = np.zeros(2), 1.0
        for label in [0] * a + [1] * b:
            product *= (seen[label] + 0.5) / (seen.sum() + 1)
            seen[label] += 1
        return product

    whole, parts = 0.8 * evidence(6, 4), 0.2 * evidence(6, 0) * evidence(0, 4)
    stop = whole / (whole + parts)
    expected = stop * 6.5 / 11 + (1 - stop) * 6.5 / 7
    assert grown.forest.posterior(X[:1])[0, 0] == pytest.approx(expected)
    assert_allclose(grown.importances, [1.0])


def test_out_of_bag_uses_exactly_the_trees_that_did_not_see_the_sample():
    X, y = two_clouds(60)
    grown = grow_forest(X, y, 2, RULE)
    assert_array_equal(grown.in_bag.sum(axis=1), round(0.632 * 60))
    found = grown.forest.out_of_bag_posterior(X, grown.in_bag)
    forest = grown.forest
    each = [BallForest((t,), forest.shift, forest.scale, 2).posterior(X) for t in forest.trees]
    for i in range(60):
        unseen = [p[i] for p, seen in zip(each, grown.in_bag, strict=True) if not seen[i]]
        assert_allclose(found[i], np.mean(unseen, axis=0) if unseen else np.nan, rtol=1e-6)


def test_a_samples_own_label_never_reaches_its_out_of_bag_posterior():
    X, y = two_clouds(80)
    grown = grow_forest(X, y, 2, RULE)
    straight = grown.forest.out_of_bag_posterior(X, grown.in_bag)
    order, _ = canonical_order(X, y, 2)
    for i in order[[10, 40, 70]]:
        changed = y.copy()
        changed[i] = 1 - y[i]
        other = grow_forest(X, changed, 2, RULE)
        posterior = other.forest.out_of_bag_posterior(X, other.in_bag)
        assert_array_equal(posterior[i], straight[i])
        assert not np.array_equal(posterior, straight, equal_nan=True)


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 4), decimals=st.integers(0, 3))
def test_permuted_rows_and_renamed_classes_change_nothing(seed, n_classes, decimals):
    rng = np.random.default_rng(seed)
    X, y = two_clouds(50, 3, n_classes, seed)
    X = X.round(decimals)  # few decimals: many equal rows with different labels
    order, names = rng.permutation(50), rng.permutation(n_classes)
    plain = grow_forest(X, y, n_classes, RULE)
    other = grow_forest(X[order], names[y[order]], n_classes, RULE)
    posterior = plain.forest.posterior(X)
    assert_array_equal(other.forest.posterior(X)[:, names], posterior)
    assert_array_equal(other.importances, plain.importances)
    if decimals == 3:
        assert_array_equal(other.in_bag, plain.in_bag[:, order])


def test_the_number_of_threads_changes_nothing():
    X, y = two_clouds(9000, 5)
    alone = grow_forest(X, y, 2, ForestRule(n_trees=4), n_threads=1)
    together = grow_forest(X, y, 2, ForestRule(n_trees=4), n_threads=3)
    assert_array_equal(alone.in_bag, together.in_bag)
    assert_array_equal(alone.importances, together.importances)
    assert_array_equal(
        alone.forest.out_of_bag_posterior(X, alone.in_bag, 1),
        together.forest.out_of_bag_posterior(X, together.in_bag, 3),
    )


def test_integer_weights_are_repeated_rows_and_zero_is_absence():
    X, y = two_clouds(60, n_classes=3)
    weights = np.random.default_rng(1).integers(0, 4, 60).astype(float)
    weighted = grow_forest(X, y, 3, RULE, sample_weight=weights)
    repeats = np.repeat(np.arange(60), weights.astype(int))
    repeated = grow_forest(X[repeats], y[repeats], 3, RULE)
    assert_array_equal(weighted.forest.posterior(X), repeated.forest.posterior(X))
    assert not weighted.in_bag[:, weights == 0].any()


def test_broken_weights_count_in_the_posterior():
    X, y = two_clouds(40)
    weights = np.where(y == 1, 0.25, 1.5)
    posterior = grow_forest(X, y, 2, UNSPLIT, sample_weight=weights).forest.posterior(X[:1])
    counts = np.bincount(y, weights)
    # 1.5 rounds to two rows of weight 0.75 each.
    assert_allclose(posterior[0], (counts + 0.5) / (counts.sum() + 1), rtol=1e-6)


def test_class_factors_multiply_the_counts():
    X, y = two_clouds(40)
    factor = np.array([1.0, 3.0])
    posterior = grow_forest(X, y, 2, UNSPLIT, class_factor=factor).forest.posterior(X[:1])
    counts = np.bincount(y) * factor
    assert_allclose(posterior[0], (counts + 0.5) / (counts.sum() + 1), rtol=1e-6)


def test_a_constant_feature_has_no_importance_and_noise_little():
    X, y = two_clouds(400, 3)
    X[:, 1] = 7.0
    X[:, 2] = np.random.default_rng(2).normal(size=400)
    importances = grow_forest(X, y, 2, ForestRule(n_trees=30)).importances
    assert importances.sum() == pytest.approx(1)
    assert importances[1] == 0
    assert importances[0] > 0.8


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_extreme_scales_change_nothing(factor):
    X, y = two_clouds(80)
    power = 2.0 ** round(np.log2(factor))  # exact to multiply by
    plain = grow_forest(X, y, 2, RULE).forest.posterior(X)
    assert_allclose(grow_forest(X * power, y, 2, RULE).forest.posterior(X * power), plain)


def test_identical_rows_with_different_labels_are_one_leaf():
    X, y = np.ones((30, 2)), np.arange(30) % 2
    grown = grow_forest(X, y, 2, RULE)
    assert all(len(tree.children) == 1 for tree in grown.forest.trees)
    assert_array_equal(grown.importances, [0, 0])


def test_reliability_of_the_only_sample_of_a_class_is_unknown_and_counted():
    posterior = np.array([[0.9, 0.05, 0.05], [0.2, 0.4, 0.4], [0.8, 0.1, 0.1], [np.nan] * 3])
    with pytest.warns(UserWarning, match="2 of 4 labels is unknown .* of its class: 1 .* tree: 1"):
        reliability = label_reliability(posterior, np.array([0, 1, 0, 0]))
    assert_array_equal(reliability, [0.9, np.nan, 0.8, np.nan])


def test_the_warning_names_only_the_causes_that_there_are():
    alone = np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]]), np.array([0, 0, 1])
    with pytest.warns(UserWarning, match="1 of 3 labels") as said:
        label_reliability(*alone)
    assert "tree" not in str(said[0].message)
    assert "max_samples" not in str(said[0].message)
    seen = np.array([[0.9, 0.1], [np.nan, np.nan]]), np.array([0, 0])
    with pytest.warns(UserWarning, match="1 of 2 labels.* seen by every tree: 1") as said:
        label_reliability(*seen)
    assert "only sample" not in str(said[0].message)


def test_a_sample_of_weight_zero_is_rated_by_the_others_of_its_class():
    posterior = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]])
    codes, weights = np.array([0, 1, 1]), np.array([0.0, 1, 1])
    with pytest.warns(UserWarning, match="1 of 3 labels"):
        reliability = label_reliability(posterior, codes, weights)
    assert_array_equal(reliability, [np.nan, 0.7, 0.8])


def test_weighings_of_the_same_trees_equal_forests_weighed_one_by_one():
    X, y = two_clouds(90, n_classes=3)
    together = grow_forest(X, y, 3, SEARCHED)
    for number, weighing in enumerate(WEIGHINGS):
        alone = grow_forest(X, y, 3, replace(SEARCHED, weighings=(weighing,)))
        found = together.out_of_bag(X)[number]
        assert_allclose(found, alone.out_of_bag(X)[0], rtol=1e-5, atol=1e-7)


@given(shares=st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_a_mixed_forest_predicts_the_weighted_mean_of_the_weighings(shares):
    X, y = two_clouds(90, n_classes=3)
    shares = np.array(shares) / sum(shares)
    grown = grow_forest(X, y, 3, SEARCHED)
    each = grown.forest.posterior(X).reshape(len(X), 3, 3)
    mixed = grown.mixed(shares)
    assert_allclose(mixed.posterior(X), np.einsum("w,nwk->nk", shares, each), atol=1e-6)
    assert sum(len(t.children) for t in mixed.trees) <= sum(
        len(t.children) for t in grown.forest.trees
    )


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 4), decimals=st.integers(0, 3))
def test_order_names_and_threads_change_no_searched_forest(seed, n_classes, decimals):
    rng = np.random.default_rng(seed)
    X, y = two_clouds(50, 3, n_classes, seed)
    X = X.round(decimals)
    order, names = rng.permutation(50), rng.permutation(n_classes)
    shares = [0.5, 0.3, 0.2]
    plain = grow_forest(X, y, n_classes, SEARCHED)
    other = grow_forest(X[order], names[y[order]], n_classes, SEARCHED, n_threads=3)
    found = other.mixed(shares).posterior(X, 2)[:, names]
    assert_array_equal(found, plain.mixed(shares).posterior(X))
    assert_array_equal(other.importances, plain.importances)


def test_of_columns_that_are_constant_nearly_everywhere_all_are_found():
    """A class is told by one of sixty columns, each on in a few rows only."""
    rng = np.random.default_rng(0)
    kind = rng.integers(60, size=3000)
    X, y = (kind[:, None] == np.arange(60)).astype(float), (kind % 2).astype(int)
    rule = replace(SEARCHED, n_trees=20, weighings=(Weighing(0.005, 0.05),))
    proba = grow_forest(X, y, 2, rule).out_of_bag(X)[0]
    assert (proba.argmax(axis=1) == y).mean() > 0.99


def test_a_forest_of_one_sure_weighing_is_smaller():
    X, y = two_clouds(400)
    grown = grow_forest(X, y, 2, SEARCHED)
    sizes = [
        sum(len(tree.children) for tree in grown.mixed(shares).trees)
        for shares in ([0, 1, 0], [0, 0, 1])
    ]
    assert sizes[0] < sizes[1]
