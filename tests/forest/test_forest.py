"""Laws of the ball forest."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.forest.forest import BallForest, grow_forest, label_quality, settings_for
from granulearn.forest.tree import ForestSettings, Prior, draw_rows

SETTINGS = ForestSettings(n_estimators=12, seed=3)
UNSPLIT = ForestSettings(n_estimators=1, max_samples=1.0, priors=(Prior(stop=1.0),))
PRIORS = (Prior(), Prior(0.5, 0.98), Prior(0.005, 0.05))
SEARCHED = ForestSettings(
    n_estimators=12, n_directions=4, n_axes=8, n_thresholds=8, split_alpha=0.1, priors=PRIORS,
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
    grown = grow_forest(X, y, 2, ForestSettings(n_estimators=1, max_samples=1.0))

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
    grown = grow_forest(X, y, 2, SETTINGS)
    assert_array_equal(grown.in_bag.sum(axis=1), round(0.632 * 60))
    found = grown.forest.posterior(X, in_bag=grown.in_bag)
    forest = grown.forest
    each = [BallForest((t,), forest.shift, forest.scale, 2).posterior(X) for t in forest.trees]
    for i in range(60):
        unseen = [p[i] for p, seen in zip(each, grown.in_bag, strict=True) if not seen[i]]
        assert_allclose(found[i], np.mean(unseen, axis=0) if unseen else np.nan, rtol=1e-6)


def test_a_samples_own_label_never_reaches_its_out_of_bag_posterior():
    X, y = two_clouds(80)
    grown = grow_forest(X, y, 2, SETTINGS)
    straight = grown.forest.posterior(X, in_bag=grown.in_bag)
    for i in (10, 40, 70):
        changed = y.copy()
        changed[i] = 1 - y[i]
        other = grow_forest(X, changed, 2, SETTINGS)
        posterior = other.forest.posterior(X, in_bag=other.in_bag)
        assert_array_equal(posterior[i], straight[i])
        assert not np.array_equal(posterior, straight, equal_nan=True)


def test_the_number_of_threads_changes_nothing():
    X, y = two_clouds(9000, 5)
    alone = grow_forest(X, y, 2, ForestSettings(n_estimators=4), n_threads=1)
    together = grow_forest(X, y, 2, ForestSettings(n_estimators=4), n_threads=3)
    assert_array_equal(alone.in_bag, together.in_bag)
    assert_array_equal(alone.importances, together.importances)
    assert_array_equal(
        alone.forest.posterior(X, 1, alone.in_bag),
        together.forest.posterior(X, 3, together.in_bag),
    )


def test_integer_weights_are_repeated_rows_of_one_group():
    """Both see the same rows only if they draw alike, so they are compared in the mean."""
    X, y = two_clouds(60, n_classes=3)
    weights = np.random.default_rng(1).integers(0, 4, 60).astype(float)
    many = replace(SETTINGS, n_estimators=800)
    weighted = grow_forest(X, y, 3, many, sample_weight=weights)
    copies = np.repeat(np.arange(60), weights.astype(int))
    repeated = grow_forest(X[copies], y[copies], 3, many, groups=copies)
    difference = np.abs(weighted.forest.posterior(X) - repeated.forest.posterior(X))
    assert difference.mean() < 0.03
    assert not weighted.in_bag[:, weights == 0].any()


def test_a_sample_of_weight_w_counts_as_w_samples_in_one_leaf():
    X, y = two_clouds(40)
    weighted = grow_forest(X, y, 2, UNSPLIT, sample_weight=1.0 + np.arange(40) % 3)
    copies = np.repeat(np.arange(40), 1 + np.arange(40) % 3)
    repeated = grow_forest(X[copies], y[copies], 2, UNSPLIT)
    assert_allclose(weighted.forest.posterior(X[:1]), repeated.forest.posterior(X[:1]), rtol=1e-6)


def test_broken_weights_count_in_the_posterior():
    X, y = two_clouds(40)
    weights = np.where(y == 1, 0.25, 1.5)
    posterior = grow_forest(X, y, 2, UNSPLIT, sample_weight=weights).forest.posterior(X[:1])
    counts = np.bincount(y, weights)
    assert_allclose(posterior[0], (counts + 0.5) / (counts.sum() + 1), rtol=1e-6)


def test_a_constant_feature_has_no_importance_and_noise_little():
    X, y = two_clouds(400, 3)
    X[:, 1] = 7.0
    X[:, 2] = np.random.default_rng(2).normal(size=400)
    importances = grow_forest(X, y, 2, ForestSettings(n_estimators=30)).importances
    assert importances.sum() == pytest.approx(1)
    assert importances[1] == 0
    assert importances[0] > 0.8


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_extreme_scales_change_nothing(factor):
    X, y = two_clouds(80)
    power = 2.0 ** round(np.log2(factor))  # exact to multiply by
    plain = grow_forest(X, y, 2, SETTINGS).forest.posterior(X)
    assert_allclose(grow_forest(X * power, y, 2, SETTINGS).forest.posterior(X * power), plain)


def test_identical_rows_with_different_labels_are_one_leaf():
    X, y = np.ones((30, 2)), np.arange(30) % 2
    grown = grow_forest(X, y, 2, SETTINGS)
    assert all(len(tree.children) == 1 for tree in grown.forest.trees)
    assert_array_equal(grown.importances, [0, 0])


def test_quality_of_the_only_sample_of_a_class_is_unknown_and_counted():
    posterior = np.array([[0.9, 0.05, 0.05], [0.2, 0.4, 0.4], [0.8, 0.1, 0.1], [np.nan] * 3])
    with pytest.warns(UserWarning, match="2 of 4 labels is unknown .* of its class: 1 .* tree: 1"):
        quality = label_quality(posterior, np.array([0, 1, 0, 0]))
    assert_array_equal(quality, [0.9, np.nan, 0.8, np.nan])


def test_a_sample_of_weight_zero_is_rated_by_the_others_of_its_class():
    posterior = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]])
    codes, weights = np.array([0, 1, 1]), np.array([0.0, 1, 1])
    with pytest.warns(UserWarning, match="1 of 3 labels"):
        quality = label_quality(posterior, codes, weights)
    assert_array_equal(quality, [np.nan, 0.7, 0.8])


def test_priors_of_the_same_trees_equal_forests_of_one_prior_each():
    X, y = two_clouds(90, n_classes=3)
    together = grow_forest(X, y, 3, SEARCHED)
    for number, prior in enumerate(PRIORS):
        alone = grow_forest(X, y, 3, replace(SEARCHED, priors=(prior,)))
        found = together.out_of_bag(X)[number]
        assert_allclose(found, alone.out_of_bag(X)[0], rtol=1e-5, atol=1e-7)


@given(shares=st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_a_mixed_forest_predicts_the_weighted_mean_of_the_priors(shares):
    X, y = two_clouds(90, n_classes=3)
    shares = np.array(shares) / sum(shares)
    grown = grow_forest(X, y, 3, SEARCHED)
    each = grown.forest.posterior(X).reshape(len(X), 3, 3)
    mixed = grown.mixed(shares)
    assert_allclose(mixed.posterior(X), np.einsum("w,nwk->nk", shares, each), atol=1e-6)
    assert sum(len(t.children) for t in mixed.trees) <= sum(
        len(t.children) for t in grown.forest.trees
    )


def test_of_columns_that_are_constant_nearly_everywhere_all_are_found():
    """A class is told by one of sixty columns, each on in a few rows only."""
    rng = np.random.default_rng(0)
    kind = rng.integers(60, size=3000)
    X, y = (kind[:, None] == np.arange(60)).astype(float), (kind % 2).astype(int)
    chosen = replace(SEARCHED, n_estimators=20, priors=(Prior(0.005, 0.05),))
    proba = grow_forest(X, y, 2, chosen).out_of_bag(X)[0]
    assert (proba.argmax(axis=1) == y).mean() > 0.99


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
    drawn = draw_rows(len(groups), share, groups, np.random.default_rng(seed))
    assert (np.diff(drawn) > 0).all()
    seen = np.zeros(len(groups), dtype=bool)
    seen[drawn] = True
    shares = np.bincount(groups, seen) / np.bincount(groups)
    assert set(shares) <= {0.0, 1.0}
    assert shares.any()
    assert not shares.all() or groups.max() == 0


def test_many_small_groups_give_a_tree_its_share_and_every_group_its_turn():
    groups, turns = np.repeat(np.arange(100), 3), np.zeros(300)
    for seed in range(400):
        drawn = draw_rows(300, 0.632, groups, np.random.default_rng(seed))
        assert abs(len(drawn) - 0.632 * 300) <= 3
        turns[drawn] += 1
    deviation = np.sqrt(400 * 0.632 * 0.368)
    assert (np.abs(turns - 400 * 0.632) < 4.5 * deviation).all()


@given(n=st.integers(2, 10**6), d=st.integers(1, 20_000), n_classes=st.integers(2, 9))
def test_rules_are_bounded_and_hardly_ever_a_row_is_seen_by_every_tree(n, d, n_classes):
    found = settings_for(n, d, n_classes)
    assert found.max_samples <= 0.632
    assert found.max_samples * n <= 50_000 + 1e-6
    assert found.max_samples * n * d <= max(10_000_000, 1_000 * d) * (1 + 1e-9)
    assert 20 <= found.n_estimators <= 100
    assert n * found.max_samples**found.n_estimators < 0.1 or found.n_estimators == 100


def test_trees_are_fewer_where_each_sees_more_rows():
    sizes = [settings_for(n, 10, 3).n_estimators for n in (100, 1_000, 4_000, 10_000, 10**6)]
    assert sizes[:2] == [100, 100]
    assert sizes == sorted(sizes, reverse=True)
    assert settings_for(4_000, 10, 2).n_estimators < settings_for(4_000, 10, 3).n_estimators
