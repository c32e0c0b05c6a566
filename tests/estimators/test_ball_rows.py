"""From samples to weighted balls."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import BallSet
from granulearn.estimators.ball_rows import ball_rows
from granulearn.estimators.training_rows import check_fit_samples
from tests.estimators.families import one_ball_per_sample, overlapping_classes

SETTINGS = {
    "purity": 0.95,
    "min_ball_size": 1,
    "init": "k-means++",
    "random_state": 0,
    "n_jobs": None,
}


def rows_of(X, y, membership="uniform", weight=None, given=None, **settings):
    samples = check_fit_samples(X, y, weight, given)
    return ball_rows(samples, membership, np.unique(y), **SETTINGS | settings)


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


def test_rows_are_the_balls():
    X, y = overlapping_classes(3)
    rows = rows_of(X, y, membership=lambda balls: balls.purities, purity=0.7)
    assert rows.balls.purities.min() < 1
    assert_array_equal(rows.X, rows.balls.centers)
    assert_array_equal(rows.codes, rows.balls.labels)
    assert_allclose(rows.weights, rows.balls.purities**2)


def test_uniform_memberships_need_no_weights():
    assert rows_of(*overlapping_classes()).weights is None


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


def test_given_without_memberships_says_where_to_pass_them():
    with pytest.raises(ValueError, match="sample_membership"):
        rows_of(*overlapping_classes(), membership="given")


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


@pytest.mark.parametrize(
    "settings", [{"purity": 0}, {"purity": 1.5}, {"min_ball_size": 0}, {"init": "random"}]
)
def test_wrong_settings_of_the_engine_are_named(settings):
    (name,) = settings
    with pytest.raises(ValueError, match=name):
        rows_of(*overlapping_classes(), **settings)
