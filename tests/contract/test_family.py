"""Laws that every classifier of the family keeps."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.utils import shuffle
from threadpoolctl import threadpool_limits

from granulearn.balls import SDAPMembership
from tests.rvfl.families import (
    ALL_CLASSIFIERS,
    BALL_CLASSIFIERS,
    DEEP_BALL_CLASSIFIERS,
    DEEP_CLASSIFIERS,
    overlapping_classes,
)

ON_BALLS = BALL_CLASSIFIERS + DEEP_BALL_CLASSIFIERS

every_classifier = pytest.mark.parametrize("classifier", ALL_CLASSIFIERS + DEEP_CLASSIFIERS)
every_ball_classifier = pytest.mark.parametrize("classifier", ON_BALLS)
every_class_count = pytest.mark.parametrize("n_classes", [2, 3])


def separated_classes(n_classes):
    """Return two well separated arcs of samples per class, in four features."""
    rng = np.random.default_rng(n_classes)
    centres = rng.uniform(-1, 1, (n_classes, 4))
    y = rng.permutation(np.arange(100 * n_classes) % n_classes)
    return centres[y] + rng.normal(scale=0.08, size=(len(y), 4)), y


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_many_classes_are_learnt(classifier, n_classes):
    X, y = separated_classes(n_classes)
    names = np.array([f"class {code}" for code in range(n_classes)])
    X_train, X_test, y_train, y_test = train_test_split(X, names[y], random_state=0)
    model = classifier(C=100, random_state=0).fit(X_train, y_train)
    probabilities = model.predict_proba(X_test)
    assert probabilities.shape == (len(X_test), n_classes)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X_test))
    assert accuracy_score(y_test, model.predict(X_test)) > 0.9


@every_classifier
@every_class_count
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_integer_sample_weights_equal_repeated_rows(classifier, n_classes, class_weight):
    X, y = overlapping_classes(n_classes, n_samples=60)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = classifier(random_state=0, class_weight=class_weight, n_hidden=20)
    repeated = shuffle(np.repeat(X, weights, axis=0), np.repeat(y, weights), random_state=0)
    weighted_scores = clone(model).fit(X, y, sample_weight=weights).decision_function(X)
    repeated_scores = clone(model).fit(*repeated).decision_function(X)
    assert_allclose(weighted_scores, repeated_scores, rtol=1e-6, atol=1e-7)


@every_classifier
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_weights_and_order_do_not_matter_where_rows_and_distances_coincide(classifier, seed):
    """On a grid, samples are duplicates of each other and every distance is shared by many."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (40, 2)).astype(float)
    y = np.append(rng.integers(0, 3, 37), [0, 1, 2])
    weights = np.append(rng.integers(0, 4, 37), [1, 1, 1])
    repeated = shuffle(np.repeat(X, weights, axis=0), np.repeat(y, weights), random_state=seed)
    model = classifier(random_state=0, n_hidden=5)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a class without balls
        weighted_scores = clone(model).fit(X, y, sample_weight=weights).decision_function(X)
        repeated_scores = clone(model).fit(*repeated).decision_function(X)
    assert_allclose(weighted_scores, repeated_scores, rtol=1e-6, atol=1e-7)


@every_classifier
@every_class_count
def test_a_permutation_of_rows_changes_nothing(classifier, n_classes):
    X, y = overlapping_classes(n_classes)
    membership = np.random.default_rng(1).uniform(size=len(X))
    order = np.random.default_rng(0).permutation(len(X))
    model = classifier(random_state=3)
    for trust in (None, membership):
        straight = clone(model).fit(X, y, sample_membership=trust)
        permuted = clone(model).fit(
            X[order], y[order], sample_membership=None if trust is None else trust[order]
        )
        assert_allclose(
            permuted.decision_function(X), straight.decision_function(X), rtol=1e-6, atol=1e-7
        )


@every_classifier
def test_the_names_of_classes_change_only_names(classifier):
    X, y = overlapping_classes(3)
    names = np.array(["zebra", "ape", "mole"])
    plain = classifier(random_state=3).fit(X, y)
    named = classifier(random_state=3).fit(X, names[y])
    assert_array_equal(named.classes_, ["ape", "mole", "zebra"])
    assert_allclose(
        named.decision_function(X)[:, [2, 0, 1]], plain.decision_function(X), rtol=1e-6, atol=1e-7
    )
    assert_array_equal(named.predict(X), names[plain.predict(X)])


@pytest.mark.slow
@every_classifier
def test_the_number_of_threads_changes_nothing(classifier):
    X, y = overlapping_classes(3, n_samples=3000)
    alike = {"random_state": 0, "n_hidden": 30}
    many = alike | ({"n_jobs": 2} if classifier in ON_BALLS else {})
    with threadpool_limits(1):
        alone = classifier(**alike).fit(X, y)
    with threadpool_limits(2):
        together = classifier(**many).fit(X, y)
    if classifier in ON_BALLS:
        assert_array_equal(together.balls_.assignment, alone.balls_.assignment)
        assert_array_equal(together.membership_, alone.membership_)
    assert_allclose(together.decision_function(X), alone.decision_function(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("classifier", ALL_CLASSIFIERS)
def test_the_first_hidden_nodes_of_a_wide_network_are_the_narrow_network(classifier):
    X, y = overlapping_classes()
    narrow = classifier(n_hidden=5, random_state=1).fit(X, y).features_(X)
    wide = classifier(n_hidden=12, random_state=1).fit(X, y).features_(X)
    assert_allclose(wide[:, : narrow.shape[1]], narrow, rtol=1e-12, atol=1e-12)


@every_classifier
def test_the_decision_for_two_classes_is_the_sign_and_the_odds(classifier):
    X, y = overlapping_classes()
    model = classifier(random_state=0).fit(X, np.array(["no", "yes"])[y])
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    assert_array_equal(model.predict(X), np.where(decision > 0, "yes", "no"))
    odds = model.predict_proba(X)
    assert_allclose(np.log(odds[:, 1] / odds[:, 0]), decision, atol=1e-9)


@every_ball_classifier
def test_float32_keeps_its_type_in_balls_and_learns_the_same(classifier):
    X, y = separated_classes(3)
    model = classifier(random_state=0, C=100).fit(X.astype(np.float32), y)
    assert model.balls_.centers.dtype == np.float32
    assert model.score(X.astype(np.float32), y) > 0.9


@every_classifier
def test_a_fit_without_random_state_still_differs_from_run_to_run(classifier):
    X, y = overlapping_classes()
    first, second = (classifier().fit(X, y).features_(X) for _ in range(2))
    assert not np.array_equal(first, second)


@every_classifier
@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("sample_weight", np.r_[-1.0, np.ones(149)], "must not be negative, got -1; use 0"),
        ("sample_weight", np.zeros(150), "zero for every sample"),
        ("sample_weight", np.ones(3), "inconsistent numbers of samples"),
        ("sample_weight", np.r_[np.nan, np.ones(149)], "NaN"),
        ("sample_membership", np.r_[-0.1, np.ones(149)], r"must lie in \[0, 1\]"),
        ("sample_membership", np.r_[1.5, np.ones(149)], r"must lie in \[0, 1\]"),
        ("sample_membership", np.ones(3), "expected 150 memberships"),
        ("sample_membership", np.zeros(150), "zero for every sample"),
    ],
)
def test_wrong_weights_and_memberships_are_errors(classifier, name, values, message):
    with pytest.raises(ValueError, match=message):
        classifier().fit(*overlapping_classes(), **{name: values})


@every_ball_classifier
def test_parameters_of_a_membership_can_be_searched_over(classifier):
    X, y = overlapping_classes()
    grid = {"membership__n_neighbors": [1, 5], "purity": [0.9]}
    search = GridSearchCV(classifier(membership=SDAPMembership(), random_state=0), grid, cv=2)
    search.fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert search.best_estimator_.membership.n_neighbors in (1, 5)
