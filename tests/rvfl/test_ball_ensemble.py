"""The ball ensemble: means of members, seeds, weights and memberships."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from granulearn.rvfl import BallEnsembleClassifier, GBRVFLClassifier, SDAPGBRVFLClassifier
from tests.rvfl.families import overlapping_classes

every_class_count = pytest.mark.parametrize("n_classes", [2, 3])


@every_class_count
def test_scores_are_the_mean_over_members(n_classes):
    X, y = overlapping_classes(n_classes)
    model = BallEnsembleClassifier(random_state=0).fit(X, y)
    assert len(model.estimators_) == 15
    expected = np.mean([member.decision_function(X) for member in model.estimators_], axis=0)
    assert_allclose(model.decision_function(X), expected, atol=1e-12)
    assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("seed", [3, np.random.RandomState(5)])
def test_the_number_of_jobs_changes_nothing(seed):
    X, y = overlapping_classes(3)
    alone = BallEnsembleClassifier(n_estimators=5, random_state=clone(seed, safe=False)).fit(X, y)
    model = BallEnsembleClassifier(n_estimators=5, random_state=clone(seed, safe=False), n_jobs=2)
    assert_array_equal(model.fit(X, y).decision_function(X), alone.decision_function(X))


def test_integer_weights_are_repeated_rows_and_memberships_reach_the_members():
    X, y = overlapping_classes(3, n_samples=60)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = BallEnsembleClassifier(SDAPGBRVFLClassifier(n_hidden=20), 3, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weights).decision_function(X)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(weighted, repeated.decision_function(X), rtol=1e-6, atol=1e-7)
    trust = np.random.default_rng(1).uniform(0.2, 1, len(X))
    trusted = clone(model).fit(X, y, sample_membership=trust).estimators_[0]
    alone = clone(trusted).fit(X, y, sample_membership=trust)
    assert_array_equal(trusted.membership_, alone.membership_)


def test_many_members_are_steadier_than_one():
    """Accuracy over draws varies less, and is no worse on average."""
    X, y = overlapping_classes(3, n_samples=400)
    train, test = slice(0, 200), slice(200, 400)
    one, many = (
        [
            model(random_state=seed).fit(X[train], y[train]).score(X[test], y[test])
            for seed in range(8)
        ]
        for model in (GBRVFLClassifier, BallEnsembleClassifier)
    )
    assert np.std(many) < np.std(one)
    assert np.mean(many) > np.mean(one) - 0.01
