"""Boosted trees as arrays predict what scikit-learn's booster does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier

from granulearn.ensemble.boosted_trees import gains_of, trees_of
from tests.rvfl.families import overlapping_classes


@pytest.fixture(params=[2, 3])
def fitted(request):
    X, y = overlapping_classes(request.param, n_samples=400)
    booster = HistGradientBoostingClassifier(max_iter=12, early_stopping=False)
    return X, y, booster.fit(X, y)


def test_the_first_rounds_predict_as_the_staged_booster(fitted):
    X, y, booster = fitted
    n_classes, staged = len(np.unique(y)), list(booster.staged_predict_proba(X))
    for n_rounds in (1, 7, 12):
        trees = trees_of(booster, n_rounds, booster.classes_)
        assert_allclose(trees.proba(X, n_classes), staged[n_rounds - 1], atol=1e-6)
    frequencies = np.bincount(y) / len(y)
    found = trees_of(booster, 0, booster.classes_).proba(X[:2], n_classes)
    assert_allclose(found, np.tile(frequencies, (2, 1)), atol=1e-2)


def test_a_class_that_was_not_seen_has_no_probability(fitted):
    X, y, booster = fitted
    proba = trees_of(booster, 12, booster.classes_).proba(X, len(np.unique(y)) + 1)
    assert_allclose(proba[:, -1], 0)
    assert_allclose(proba.sum(axis=1), 1)


def test_gains_are_of_each_feature_and_not_negative(fitted):
    X, _, booster = fitted
    gains = gains_of(booster, 12, X.shape[1])
    assert gains.shape == (X.shape[1],)
    assert gains[0] > 0
    assert gains.min() >= 0
