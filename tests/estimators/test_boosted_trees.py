"""Boosted trees as arrays predict what scikit-learn's booster does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier

from granulearn.estimators.boosted_trees import gains_of, mean_proba, trees_of
from granulearn.estimators.bundles import find_bundles
from tests.rvfl.families import overlapping_classes


@pytest.fixture(params=[2, 3])
def fitted(request):
    X, y = overlapping_classes(request.param, n_samples=400)
    X = np.column_stack([X, (X[:, :1] > 0), (X[:, :1] < -1)]).astype(float)
    bundles = find_bundles(X, (y == 0).astype(float), np.ones(len(y)))
    booster = HistGradientBoostingClassifier(max_iter=12, early_stopping=False)
    return X, y, bundles, booster.fit(bundles.inputs(X), y)


def test_all_trees_predict_as_the_booster(fitted):
    X, y, bundles, booster = fitted
    assert bundles.n_bundles == 1
    proba = trees_of(booster, bundles).proba(X, len(np.unique(y)))
    assert_allclose(proba, booster.predict_proba(bundles.inputs(X)), atol=1e-6)


def test_the_first_rounds_predict_as_the_staged_booster(fitted):
    X, y, bundles, booster = fitted
    staged = list(booster.staged_predict_proba(bundles.inputs(X)))
    for last in (1, 7):
        trees = trees_of(booster, bundles, 0, last)
        assert_allclose(trees.proba(X, len(np.unique(y))), staged[last - 1], atol=1e-6)


def test_rounds_add_up(fitted):
    X, _, bundles, booster = fitted
    raw, Z = trees_of(booster, bundles, 0, 0).raw(X), bundles.inputs(X)
    for number in range(booster.n_iter_):
        trees_of(booster, bundles, number, number + 1).add_raw(Z, raw)
    assert_allclose(raw, trees_of(booster, bundles).raw(X), atol=1e-9)


def test_a_class_that_was_not_seen_has_no_probability(fitted):
    X, y, bundles, booster = fitted
    n_classes = len(np.unique(y)) + 1
    proba = mean_proba([trees_of(booster, bundles)] * 2, X, n_classes)
    assert_allclose(proba[:, -1], 0)
    assert_allclose(proba.sum(axis=1), 1)


def test_features_that_say_nothing_save_no_loss(fitted):
    X, _, bundles, booster = fitted
    gains = bundles.spread(gains_of(booster, 12, booster.n_features_in_))
    assert gains.shape == (X.shape[1],)
    assert gains[0] > 0
    assert gains.min() >= 0
