"""Laws of the boosted member: which rows a booster sees, and when it stops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.datasets import flip_labels
from granulearn.ensemble import BoostedTreesClassifier, boosting
from granulearn.ensemble.boosting import n_leaves


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
    # A label of one's own never reaches one's own prediction.
    own = model.out_of_sample_proba_[np.arange(len(y)), y]
    assert own.mean() < model.predict_proba(X)[np.arange(len(y)), y].mean()


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
    two = np.where(y == 2, 2, 0)
    assert BoostedTreesClassifier(random_state=0).fit(X, two).score(X, two) > 0.8
