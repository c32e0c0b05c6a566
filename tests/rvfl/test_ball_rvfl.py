"""GB-RVFL, F-GBRVFL and SDAP-GBRVFL."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import (
    BallSet,
    TwoMeansBalls,
    balls_from_labels,
)
from granulearn.balls.generators import generator_names
from granulearn.rvfl import (
    FGBRVFLClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.utils.estimator import Seeds
from granulearn.utils.validation import check_samples
from tests.rvfl.families import BALL_CLASSIFIERS, one_ball_per_sample, overlapping_classes


@pytest.mark.parametrize("classifier", [FGBRVFLClassifier, SDAPGBRVFLClassifier])
def test_memberships_of_one_equal_gb_rvfl(classifier):
    X, y = overlapping_classes(3)
    plain = GBRVFLClassifier(purity=0.9, random_state=0).fit(X, y)
    by_samples = classifier(purity=0.9, random_state=0).fit(X, y, sample_membership=np.ones(len(X)))
    by_name = classifier(purity=0.9, membership="uniform", random_state=0).fit(X, y)
    for model in (by_samples, by_name):
        assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
        assert_array_equal(model.membership_, np.ones(len(model.balls_)))


@pytest.mark.parametrize("classifier", [GBRVFLClassifier, FGBRVFLClassifier, SDAPGBRVFLClassifier])
def test_a_ball_per_sample_equals_rvfl_weighted_the_same(classifier):
    X, y = one_ball_per_sample()
    model = classifier(purity=1.0, random_state=5).fit(X, y)
    assert len(model.balls_) == len(X)
    delta = model.membership_[model.balls_.assignment]
    rvfl = RVFLClassifier(random_state=5).fit(X, y, sample_weight=delta**2)
    assert_allclose(model.coef_, rvfl.coef_, rtol=1e-6, atol=1e-9)


def test_down_weighted_noise_pulls_less_than_trusted_noise():
    """Flipped labels that are known to be doubtful should not cost accuracy."""
    X, y = overlapping_classes(n_samples=400)
    flipped = np.random.default_rng(0).uniform(size=len(y)) < 0.3
    noisy = np.where(flipped, 1 - y, y)
    doubts = np.where(flipped, 0.05, 1.0)
    told = FGBRVFLClassifier(random_state=0).fit(X, noisy, sample_membership=doubts)
    untold = FGBRVFLClassifier(random_state=0, membership="uniform").fit(X, noisy)
    assert told.score(X, y) > untold.score(X, y)


def rows_of(X, y, weight=None, given=None, **settings):
    model = GBRVFLClassifier(**{"purity": 0.95, **settings})
    return model._rows(check_samples(X, y, "test", weight, given), Seeds(network=0, balls=0))


def check_description(balls: BallSet, X, y, samples):
    """Recompute what the record says of each ball from the samples assigned to it."""
    for ball in range(len(balls)):
        members = samples[balls.assignment[samples] == ball]
        assert len(members) == balls.counts[ball]
        centre = X[members].mean(axis=0)
        assert_allclose(balls.centers[ball], centre, atol=1e-9)
        distances = np.linalg.norm(X[members] - centre, axis=1)
        assert_allclose(balls.radii[ball], distances.mean(), atol=1e-9)
        assert balls.labels[ball] == np.bincount(y[members]).argmax()


def test_balls_describe_the_samples_in_the_order_of_the_user():
    X, y = overlapping_classes(3)
    balls = rows_of(X, y).balls
    assert len(balls) > 10
    check_description(balls, X, y, np.arange(len(X)))


def test_samples_of_weight_zero_belong_to_no_ball():
    X, y = overlapping_classes(3)
    weight = (np.arange(len(X)) % 4 > 0).astype(float)
    balls = rows_of(X, y, weight=weight).balls
    assert_array_equal(balls.assignment == -1, weight == 0)
    check_description(balls, X, y, np.flatnonzero(weight))


def test_weights_below_one_reach_a_ball_as_their_mean():
    X, y = overlapping_classes()
    weight = np.random.default_rng(0).uniform(0.1, 1, len(X))
    rows = rows_of(X, y, weight=weight)
    expected = [weight[rows.balls.assignment == ball].mean() for ball in range(len(rows.X))]
    assert_allclose(rows.weights, expected)
    assert_array_equal(rows.balls.assignment, rows_of(X, y).balls.assignment)


def test_weights_above_one_count_inside_the_ball_only():
    X, y = overlapping_classes()
    rows = rows_of(X, y, weight=np.full(len(X), 3.0))
    assert_allclose(rows.weights, 1)
    assert rows.balls.counts.sum() == 3 * len(X)


def test_weights_that_mean_endless_repetition_are_an_error():
    X, y = overlapping_classes()
    with pytest.raises(ValueError, match="divide it so that a typical weight is near one"):
        rows_of(X, y, weight=np.full(len(X), 1e6))


def test_memberships_of_samples_overrule_the_scheme():
    X, y = overlapping_classes()
    given = np.random.default_rng(0).uniform(size=len(X))
    rows = rows_of(X, y, membership="sdap", given=given)
    expected = [given[rows.balls.assignment == ball].mean() for ball in range(len(rows.X))]
    assert_allclose(rows.membership, expected)
    assert_allclose(rows.weights, np.square(expected))


def test_a_class_that_loses_every_ball_is_an_error_that_names_it():
    X = np.vstack([np.zeros((20, 1)), np.ones((20, 1)), [[50.0]]])
    y = np.array([0] * 20 + [1] * 20 + [2])
    with pytest.raises(ValueError, match=r"every ball of class \[2\].*lower min_ball_size"):
        rows_of(X, y, min_ball_size=2)


def test_a_class_that_is_majority_nowhere_is_a_warning():
    X = np.repeat([[0.0], [10.0]], 20, axis=0)
    y = np.array([0] * 20 + [1] * 19 + [2])
    with pytest.warns(UserWarning, match=r"class \[2\] is the majority of no ball"):
        rows_of(X, y, purity=0.9)


def test_a_scheme_that_trusts_no_ball_is_an_error():
    with pytest.raises(ValueError, match=r"gives every one of the \d+ balls membership zero"):
        rows_of(*one_ball_per_sample(), membership=lambda balls: np.zeros(len(balls)))


@pytest.mark.parametrize("classifier", BALL_CLASSIFIERS)
def test_a_generator_is_given_by_name_by_instance_or_as_a_function(classifier):
    X, y = overlapping_classes(3)
    by_name = classifier(balls="two-means", purity=0.8, random_state=0).fit(X, y)
    by_instance = classifier(balls=TwoMeansBalls(purity=0.8), random_state=0).fit(X, y)
    assert_array_equal(by_name.predict_proba(X), by_instance.predict_proba(X))

    def one_ball_per_class(samples):
        return balls_from_labels(samples, samples.codes)

    by_function = classifier(balls=one_ball_per_class, random_state=0).fit(X, y)
    assert len(by_function.balls_) == 3
    assert_allclose(by_function.balls_.centers[1], X[y == 1].mean(axis=0))


@pytest.mark.parametrize("name", generator_names())
def test_every_generator_serves_every_membership(name):
    X, y = overlapping_classes(3)
    for classifier in (GBRVFLClassifier, FGBRVFLClassifier, SDAPGBRVFLClassifier):
        model = classifier(balls=name, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.5
        assert model.balls_.counts.sum() == len(X)


def test_a_class_without_weight_has_no_balls_and_no_column():
    X, y = overlapping_classes(3)
    model = GBRVFLClassifier(random_state=0).fit(X, y, sample_weight=(y != 1).astype(float))
    assert_array_equal(model.balls_.classes, [0, 2])
    assert model.balls_.class_counts.shape[1] == 2
    assert_array_equal(model.classes_, [0, 1, 2])
    assert 1 not in model.predict(X)
