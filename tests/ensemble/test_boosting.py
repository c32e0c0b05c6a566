"""Laws of boosted trees: which rows a booster sees, when it stops, and its trees as arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier

from granulearn.datasets import flip_labels
from granulearn.ensemble import BoostedTreesClassifier, boosting
from granulearn.ensemble.boosting import find_one_hot, join_one_hot, n_leaves, trees_of
from granulearn.rvfl import one_hot
from tests.rvfl.families import overlapping_classes


def rings(n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(np.square(X[:, :2]).sum(axis=1), [1.0, 3.0])
    return X, y


def which_booster(model, X):
    """Return, for each booster and row, whether it made the out-of-sample prediction."""
    each = np.stack([booster.proba(X, len(model.classes_)) for booster in model.boosters_])
    return np.abs(each - model.out_of_sample_proba_).max(axis=2) < 1e-6


def test_every_row_is_predicted_by_the_booster_that_did_not_see_it():
    X, y = rings()
    model = BoostedTreesClassifier(random_state=0).fit(X, y)
    near = which_booster(model, X)
    assert near.any(axis=0).all()
    assert_allclose(near.mean(axis=1), 1 / 3, atol=0.02)
    proba = np.mean([booster.proba(X, 3) for booster in model.boosters_], axis=0)
    assert_allclose(model.predict_proba(X), proba)


def test_a_group_is_never_divided():
    X, y = rings()
    groups = np.random.default_rng(0).integers(40, size=len(X))
    near = which_booster(BoostedTreesClassifier(random_state=0).fit(X, y, groups=groups), X)
    for group in range(40):
        assert near[:, groups == group].all(axis=1).any()


def test_wrong_labels_stop_it_earlier():
    X, y = rings(1500)
    noisy = flip_labels(y, 0.4, random_state=0).labels
    clean, wrong = (BoostedTreesClassifier(random_state=0).fit(X, each) for each in (y, noisy))
    assert len(wrong.boosters_[0].roots) < len(clean.boosters_[0].roots)


def test_random_labels_leave_about_the_class_frequencies():
    X, _ = rings(300)
    y = np.random.default_rng(1).integers(2, size=300)
    model = BoostedTreesClassifier(random_state=0).fit(X, y)
    assert np.abs(model.predict_proba(X)[:, 1] - y.mean()).mean() < 0.1


def test_trees_of_two_classes_grow_with_the_rows_and_those_of_more_are_large():
    assert [n_leaves(n, 2) for n in (100, 4400, 10**5)] == [15, 20, 31]
    assert n_leaves(100, 3) == 31


def test_rows_of_weight_zero_are_predicted_and_not_learnt_from():
    X, y = rings(600)
    weights = (np.arange(600) % 4 > 0).astype(float)
    model = BoostedTreesClassifier(random_state=0).fit(X, y, weights)
    part = BoostedTreesClassifier(random_state=0).fit(X[weights > 0], y[weights > 0])
    assert_array_equal(model.predict_proba(X), part.predict_proba(X))
    assert_array_equal(model.out_of_sample_proba_[weights > 0], part.out_of_sample_proba_)
    assert_array_equal(model.out_of_sample_proba_[weights == 0], model.predict_proba(X)[::4])


def test_class_weights_count():
    X, y = rings(600)
    plain = BoostedTreesClassifier(random_state=0).fit(X, y).predict_proba(X)
    heavy = BoostedTreesClassifier(random_state=0, class_weight={2: 9.0}).fit(X, y)
    assert heavy.predict_proba(X)[:, 2].mean() > plain[:, 2].mean() + 0.05


def test_of_large_tables_a_booster_sees_a_sample(monkeypatch):
    monkeypatch.setattr(boosting, "MAX_TRAIN", 200)
    monkeypatch.setattr(boosting, "MAX_VALIDATION", 50)
    X, y = rings(900)
    model = BoostedTreesClassifier(random_state=0).fit(X, y)
    assert np.isfinite(model.out_of_sample_proba_).all()
    assert model.score(X, y) > 0.7


def test_one_class_in_a_part_cannot_be_boosted():
    X, y = rings(60)
    y = np.zeros(60, int)
    y[0] = 1
    with pytest.raises(ValueError, match="two classes or more"):
        BoostedTreesClassifier(random_state=0).fit(X, y)


def test_a_class_that_is_rare_or_not_in_every_fold_is_no_obstacle():
    X, y = rings(400)
    y[:2], y[2] = 7, 9
    model = BoostedTreesClassifier(random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.isfinite(model.out_of_sample_proba_).all()


# ---- one-hot encoded columns


def one_hot_table(seed=0, n=900):
    """Return a number, a category in columns 1 to 6, its codes, and labels that need both."""
    rng = np.random.default_rng(seed)
    category, number = rng.integers(6, size=n), rng.normal(size=n)
    y = (number + np.array([-2.0, 2.0, 0.0, 1.5, -1.5, 0.0])[category] > 0).astype(int)
    return np.column_stack([number, np.eye(6)[category]]), category, y


def test_neighbouring_columns_are_joined_if_no_row_has_two_ones():
    a, b, c = np.array([1, 0, 0, 0.0]), np.array([0, 1, 0, 0.0]), np.array([0, 1, 1, 0.0])
    numbers = np.array([0.5, 1, 0, 0])
    X = np.column_stack([a, b, numbers, c, a, b])
    starts, factors = find_one_hot(X, one_hot(np.array([0, 1, 1, 0]), 2))
    assert starts.tolist() == [0, 2, 3, 5]
    assert factors[[2, 5]].tolist() == [1, 1]
    assert_array_equal(join_one_hot(X, starts, factors)[:, 1], numbers)


def test_a_category_becomes_the_smoothed_share_of_a_class():
    X, category, y = one_hot_table()
    starts, factors = find_one_hot(X, one_hot(y, 2))
    known = np.array([(y[category == each].sum() + 10 * y.mean()) for each in range(6)])
    known /= np.bincount(category) + 10
    joined = join_one_hot(np.vstack([X, np.zeros(7)]), starts, factors)[:, 1]
    unknown, sign = joined[-1], np.sign(factors[2])
    assert_allclose(sign * (joined[:-1] - unknown), known[category] - y.mean(), atol=1e-12)


def test_the_order_of_categories_does_not_matter():
    X, _, y = one_hot_table()
    order = [0, 4, 2, 6, 1, 3, 5]
    model = BoostedTreesClassifier(random_state=0).fit(X, y)
    other = BoostedTreesClassifier(random_state=0).fit(X[:, order], y)
    assert model.score(X, y) > 0.95
    assert_allclose(model.predict_proba(X), other.predict_proba(X[:, order]))
    assert_allclose(model.feature_importances_[order], other.feature_importances_, atol=1e-12)
    assert (model.feature_importances_[[1, 2]] > model.feature_importances_[[3, 6]].max()).all()


# ---- trees as arrays


@pytest.fixture(params=[2, 3])
def fitted(request):
    X, y = overlapping_classes(request.param, n_samples=400)
    booster = HistGradientBoostingClassifier(max_iter=12, early_stopping=False).fit(X, y)
    d = X.shape[1]
    return X, y, boosting._Fit(booster, booster.classes_, [], np.arange(d), np.ones(d))


def test_the_first_rounds_predict_as_the_staged_booster(fitted):
    X, y, fit = fitted
    n_classes, staged = len(np.unique(y)), list(fit.booster.staged_predict_proba(X))
    for n_rounds in (1, 7, 12):
        proba = trees_of(fit, n_rounds).proba(X, n_classes)
        assert_allclose(proba, staged[n_rounds - 1], atol=1e-6)
    frequencies = np.bincount(y) / len(y)
    found = trees_of(fit, 0).proba(X[:2], n_classes)
    assert_allclose(found, np.tile(frequencies, (2, 1)), atol=1e-2)


def test_a_class_that_was_not_seen_has_no_probability(fitted):
    X, y, fit = fitted
    proba = trees_of(fit, 12).proba(X, len(np.unique(y)) + 1)
    assert_allclose(proba[:, -1], 0)
    assert_allclose(proba.sum(axis=1), 1)
