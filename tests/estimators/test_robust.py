"""Laws of the robust classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier

from granulearn.balls import check_samples
from granulearn.datasets import flip_labels
from granulearn.estimators import (
    BallForestClassifier,
    RobustClassifier,
    RVFLCommitteeClassifier,
)
from granulearn.estimators.estimator import fit_part
from granulearn.estimators.robust import best_share
from tests.estimators.families import overlapping_classes

SMALL = {"n_trees": 60, "n_layers": 3, "n_hidden": 15, "random_state": 0}


def test_scores_are_the_mean_of_both_parts():
    X, y = overlapping_classes(3)
    model = RobustClassifier(mix=0.3, **SMALL).fit(X, y)
    expected = 0.7 * model.committee_.decision_function(X) + 0.3 * model.forest_.predict_proba(X)
    assert_allclose(model.decision_function(X), expected)
    assert_array_equal(model.predict(X), expected.argmax(axis=1))
    assert_array_equal(model.predict_proba(X).argmax(axis=1), expected.argmax(axis=1))
    assert_array_equal(model.reliability_, model.forest_.reliability_)


@pytest.mark.parametrize(("mix", "part"), [(0.0, "committee_"), (1.0, "forest_")])
def test_the_ends_of_the_mix_are_the_parts_alone(mix, part):
    X, y = overlapping_classes(2)
    model = RobustClassifier(mix=mix, **SMALL).fit(X, y)
    assert_allclose(model.predict_proba(X), getattr(model, part).predict_proba(X))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_share_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    first, second, Y = rng.random((3, 30, 2))
    second += seed * (Y - second) / 5
    weights = rng.random(30)
    grid = np.linspace(0, 1, 1001)
    errors = [weights @ np.square((1 - s) * first + s * second - Y).sum(axis=1) for s in grid]
    assert best_share(first, second, Y, weights) == pytest.approx(grid[np.argmin(errors)], abs=1e-3)
    second[3] = np.nan
    assert np.isfinite(best_share(first, second, Y, weights))
    assert best_share(first, first, Y, weights) == 0.5


def test_the_chosen_mix_leans_to_the_part_that_predicts_unseen_samples_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    linear = (X.sum(axis=1) > 0).astype(int)
    boxes = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    for y, favours_forest in ((linear, False), (boxes, True)):
        model = RobustClassifier(mix="auto", **SMALL).fit(X[:, : 12 if y is linear else 2], y)
        assert (model.mix_ > 0.5) == favours_forest
        assert 0.25 <= model.mix_ <= 0.75
    with pytest.raises(ValueError, match="another forest was passed"):
        RobustClassifier("auto", RandomForestClassifier()).fit(X, linear)


def test_the_parts_are_fitted_from_independent_seeds():
    X, y = overlapping_classes(2)
    network, forest = np.random.RandomState(0).randint(2**31 - 1, size=2)
    model = RobustClassifier(**SMALL).fit(X, y)
    committee = RVFLCommitteeClassifier(3, 15, random_state=network).fit(X, y)
    trees = BallForestClassifier(60, random_state=forest).fit(X, y)
    assert_allclose(model.committee_.predict_proba(X), committee.predict_proba(X))
    assert_array_equal(model.forest_.predict_proba(X), trees.predict_proba(X))


def test_weights_and_class_weights_reach_both_parts():
    X, y = overlapping_classes(2, n_samples=60)
    plain = RobustClassifier(**SMALL).fit(X, y)
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    weighted = RobustClassifier(**SMALL).fit(X, y, sample_weight=weights)
    classes = RobustClassifier(class_weight={0: 5.0}, **SMALL).fit(X, y)
    for part in ("committee_", "forest_"):
        reference = getattr(plain, part).predict_proba(X)
        assert not np.allclose(getattr(weighted, part).predict_proba(X), reference)
        assert getattr(classes, part).predict_proba(X)[:, 0].mean() > reference[:, 0].mean()


def test_permuted_rows_and_renamed_classes_change_nothing():
    X, y = overlapping_classes(3)
    order = np.random.default_rng(0).permutation(len(X))
    names = np.array(["zebra", "ape", "mole"])
    proba = RobustClassifier(**SMALL).fit(X, y).predict_proba(X)
    other = RobustClassifier(**SMALL).fit(X[order], names[y[order]])
    assert_allclose(other.predict_proba(X)[:, [2, 0, 1]], proba, rtol=1e-6, atol=1e-9)


def test_another_forest_can_take_the_place_and_gets_a_seed():
    X, y = overlapping_classes(2)
    model = RobustClassifier(forest=RandomForestClassifier(10), **SMALL).fit(X, y)
    again = RobustClassifier(forest=RandomForestClassifier(10), **SMALL).fit(X, y)
    assert isinstance(model.forest_, RandomForestClassifier)
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert not hasattr(model, "reliability_")
    with pytest.raises(ValueError, match="'forest' parameter"):
        RobustClassifier(forest="random").fit(X, y)


def test_a_third_of_wrong_labels_costs_little_where_classes_are_apart():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = rng.normal(size=(600, 5))
    X[:, :2] += 5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    noisy, _ = flip_labels(y[:300], 0.3, random_state=0)
    model = RobustClassifier(random_state=0, n_layers=4).fit(X[:300], noisy)
    assert model.score(X[300:], y[300:]) > 0.9


def test_a_share_chosen_of_another_forest_is_refused_wherever_it_is_fitted():
    X, y = overlapping_classes()
    model = RobustClassifier(mix="auto", forest=RandomForestClassifier())
    with pytest.raises(ValueError, match="another forest was passed"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="another forest was passed"):
        fit_part(model, check_samples(X, y))
