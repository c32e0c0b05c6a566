"""The shared fit: one class left, seeds, and what a fit leaves behind."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_sample_weight

import granulearn
from granulearn.rvfl import (
    ELMClassifier,
    ELMRegressor,
    GBRVFLClassifier,
    IllConditionedWarning,
    RVFLClassifier,
    RVFLRegressor,
    draw_random_features,
    solve_weighted_ridge,
)
from granulearn.rvfl.base import TrainingRows, multiply_weights, with_class_weight
from granulearn.utils.estimator import Seeds, draw_seeds
from granulearn.utils.validation import LARGEST_WEIGHT
from tests.rvfl.families import BALL_CLASSIFIERS, overlapping_classes


def test_fit_is_the_weighted_ridge_on_random_features():
    X, y = overlapping_classes(3)
    w = np.random.default_rng(0).uniform(size=len(X))
    model = RVFLClassifier(n_hidden=9, C=0.5, random_state=0).fit(X, y, sample_weight=w)
    H, Y = model.features_(X), np.eye(3)[y]
    system = H.T @ (w[:, None] * H) + np.eye(H.shape[1]) / 0.5
    assert_allclose(model.coef_, np.linalg.solve(system, H.T @ (w[:, None] * Y)), rtol=1e-6)
    assert_allclose(model.decision_function(X), H @ model.coef_, atol=1e-9)
    assert_allclose(model.predict_proba(X), softmax(H @ model.coef_, axis=1))


def test_a_membership_is_the_root_of_a_weight():
    X, y = overlapping_classes()
    delta = np.random.default_rng(0).uniform(size=len(X))
    by_membership = RVFLClassifier(random_state=0).fit(X, y, sample_membership=delta)
    by_weight = RVFLClassifier(random_state=0).fit(X, y, sample_weight=delta**2)
    assert_allclose(by_membership.coef_, by_weight.coef_, rtol=1e-8)


def test_only_one_class_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"only one class \('yes'\)"):
        RVFLClassifier().fit(np.zeros((3, 1)), ["yes"] * 3)


def test_only_one_class_of_positive_weight_is_an_error():
    X, y = overlapping_classes()
    with pytest.raises(ValueError, match="only one class has samples of positive sample_weight"):
        RVFLClassifier().fit(X, y, sample_weight=y)


@pytest.mark.parametrize("classifier", BALL_CLASSIFIERS)
def test_a_purity_that_leaves_one_ball_predicts_the_majority_and_warns(classifier):
    X, y = overlapping_classes(3)
    y = np.array(["often", "rare", "seldom"])[np.where(np.arange(len(y)) % 3 == 0, y, 0)]
    with pytest.warns(UserWarning, match="'often'.*raise purity"):
        model = classifier(purity=0.1, random_state=0).fit(X, y)
    assert len(model.balls_) == 1
    far_away = np.vstack([X, -1e6 * X, 1e6 * X])
    assert set(model.predict(far_away)) == {"often"}
    assert_array_equal(model.decision_function(X), np.tile([1.0, 0.0, 0.0], (len(X), 1)))


def test_the_network_does_not_depend_on_the_balls():
    X, y = overlapping_classes()
    networks = [
        RVFLClassifier(random_state=7).fit(X, y),
        GBRVFLClassifier(random_state=7, purity=0.7).fit(X, y),
        GBRVFLClassifier(random_state=7, purity=1.0).fit(X, y),
    ]
    for other in networks[1:]:
        assert_array_equal(other.features_.weights, networks[0].features_.weights)


def test_a_hopelessly_large_inverse_penalty_warns_and_still_predicts():
    X, y = overlapping_classes()
    X = np.hstack([X, X])
    with pytest.warns(IllConditionedWarning, match="Lower C"):
        model = RVFLClassifier(C=1e25, random_state=0, n_hidden=20).fit(X, y)
    assert model.score(X, y) > 0.7


def test_a_usual_fit_does_not_warn():
    X, y = overlapping_classes(3)
    with warnings.catch_warnings(action="error"):
        RVFLClassifier(C=1e5, random_state=0).fit(X, y)


ROWS = SimpleNamespace(X=np.random.default_rng(0).normal(size=(30, 3)), weights=None)


@pytest.mark.parametrize(
    ("estimator", "direct_link"),
    [
        (RVFLClassifier, True),
        (RVFLRegressor, True),
        (ELMClassifier, False),
        (ELMRegressor, False),
    ],
)
def test_classifier_and_regressor_draw_and_solve_alike(estimator, direct_link):
    model = estimator(n_hidden=4, activation="sine", C=3.0)
    features = model._features(ROWS, Seeds(network=5, balls=6))
    drawn = draw_random_features(3, 4, "sine", direct_link=direct_link, seed=5)
    assert_array_equal(features(ROWS.X), drawn(ROWS.X))
    Y = np.random.default_rng(1).normal(size=(30, 2))
    expected = solve_weighted_ridge(drawn, ROWS.X, Y, None, 3.0)
    assert_array_equal(model._solve(features, ROWS, Y), expected)


@pytest.mark.parametrize("estimator", [RVFLClassifier, RVFLRegressor])
def test_what_is_missing_before_fit_is_the_fit(estimator):
    with pytest.raises(NotFittedError):
        estimator().predict(ROWS.X)


X = np.arange(10.0).reshape(5, 2)
CODES = np.array([0, 1, 0, 1, 2])


def test_no_factor_at_all_stays_no_weights():
    assert multiply_weights(None, None) is None
    assert_array_equal(multiply_weights(None, np.array([2.0, 3.0])), [2, 3])
    assert_array_equal(multiply_weights(np.array([2.0, 3.0]), np.array([5.0, 7.0])), [10, 21])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 2.5, 2: 0.0}])
def test_class_weights_are_scikit_learns(class_weight):
    rows = with_class_weight(TrainingRows(X, CODES, None), class_weight, np.arange(3))
    assert_allclose(rows.weights, compute_sample_weight(class_weight, CODES))


def test_balanced_gives_every_class_the_same_total_weight():
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    rows = with_class_weight(TrainingRows(X, CODES, weights), "balanced", np.arange(3))
    assert_allclose(np.bincount(CODES, rows.weights), np.full(3, 5.0))


def test_seeds_depend_on_the_random_state_alone():
    assert draw_seeds(3) == draw_seeds(3)
    assert draw_seeds(3) != draw_seeds(4)
    assert draw_seeds(3).network != draw_seeds(3).balls
    state = np.random.RandomState(0)
    assert draw_seeds(state) != draw_seeds(state)


WITH_CLASS_WEIGHT = [
    getattr(granulearn, name)
    for name in granulearn.__all__
    if name.endswith("Classifier") and "class_weight" in getattr(granulearn, name)().get_params()
]


@pytest.mark.parametrize("classifier", WITH_CLASS_WEIGHT)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.nan, r"class_weight must give numbers from 0 to 1e\+100, got nan for class 1"),
        (np.inf, "got inf for class 1"),
        (1e308, r"got 1e\+308 for class 1"),
        (-1.0, "got -1.0 for class 1; use 0"),
        ("much", "got 'much' for class 1"),
        (None, "got None for class 1"),
    ],
)
def test_a_class_weight_that_is_no_weight_is_refused(classifier, weight, message):
    with pytest.raises(ValueError, match=message):
        classifier(class_weight={0: 1.0, 1: weight}).fit(*overlapping_classes())


@pytest.mark.filterwarnings("ignore::granulearn.rvfl.IllConditionedWarning")
# Boosted trees sum weights in single precision.
@pytest.mark.parametrize(
    "classifier",
    [kind for kind in WITH_CLASS_WEIGHT if not kind.__module__.startswith("granulearn.ensemble")],
)
def test_the_largest_class_weights_give_probabilities(classifier):
    X, y = overlapping_classes()
    model = classifier(class_weight={0: LARGEST_WEIGHT, 1: LARGEST_WEIGHT}, random_state=0)
    probabilities = model.fit(X, y).predict_proba(X)
    assert (probabilities >= 0).all()
    assert_allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("classifier", WITH_CLASS_WEIGHT)
def test_class_weights_that_leave_nothing_are_refused(classifier):
    with pytest.raises(ValueError, match="class_weight is zero for every class"):
        classifier(class_weight={0: 0.0, 1: 0}).fit(*overlapping_classes())
