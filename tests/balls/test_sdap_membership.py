"""SDAPM against its equations, ball by ball."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.balls import SDAPMembership
from granulearn.balls.memberships import local_dissimilarity
from tests.balls.ball_sets import ball_set, random_ball_sets

EPSILON = 1e-8


def slow_scores(balls, n_neighbors, closeness, spread):
    """Apply the equations of the paper, one ball at a time."""
    k = len(balls)
    scores = []
    for i in range(k):
        own = balls.centers[balls.labels == balls.labels[i]]
        distances = np.linalg.norm(own - own.mean(axis=0), axis=1)
        rms = np.sqrt((distances**2).mean())
        all_equally_far = distances.std() <= EPSILON * rms
        sigma = rms if spread == "rms" or all_equally_far else distances.std()
        lam = np.sqrt(k / len(own))
        gap = np.linalg.norm(balls.centers[i] - own.mean(axis=0))
        mu = np.exp(-(gap**2) / (2 * ((sigma + EPSILON) * lam) ** 2))
        others = [j for j in range(k) if j != i]
        others.sort(key=lambda j: np.linalg.norm(balls.centers[i] - balls.centers[j]))
        nearest = others[:n_neighbors]
        lsi = np.mean([balls.labels[j] != balls.labels[i] for j in nearest])
        nu = np.sqrt((1 - mu**2) * lsi)
        omega = np.exp(-balls.radii[i] / (balls.radii.mean() + EPSILON))
        numerator = nu**2 if closeness == "scripts" else 1 - nu**2
        ratio = numerator / (2 - mu**2 - nu**2 + EPSILON)
        theta = 1 - ratio if closeness == "scripts" else ratio
        scores.append(omega * mu + (1 - omega) * theta)
    return np.array(scores)


@given(
    random_ball_sets(),
    st.integers(1, 50),
    st.sampled_from(["scripts", "zhang-xu"]),
    st.sampled_from(["std", "rms"]),
)
def test_scores_are_the_equations_ball_by_ball(balls, n_neighbors, closeness, spread):
    scheme = SDAPMembership(n_neighbors=n_neighbors, closeness=closeness, spread=spread)
    expected = slow_scores(balls, n_neighbors, closeness, spread)
    assert_allclose(scheme(balls), expected, atol=1e-7)


@given(random_ball_sets(grid=True))
def test_scores_stay_in_the_unit_interval_when_centres_coincide(balls):
    scores = SDAPMembership()(balls)
    assert scores.min() >= 0
    assert scores.max() <= 1


@given(random_ball_sets())
def test_the_two_closenesses_differ_by_the_ignorance(balls):
    """With radii far above the mean, the score is the closeness itself."""
    radii = np.zeros(len(balls))
    radii[0] = 1.0
    one_large = ball_set(balls.centers, balls.labels, radii=radii)
    scripts = SDAPMembership(closeness="scripts")(one_large)
    zhang_xu = SDAPMembership(closeness="zhang-xu")(one_large)
    assert (scripts >= zhang_xu - 1e-12).all()
    assert_allclose(scripts[1:], zhang_xu[1:])


def test_a_ball_of_one_sample_scores_its_place_in_the_class():
    """Radius zero gives omega one, whatever the neighbours say."""
    centers = np.random.default_rng(0).normal(size=(20, 2))
    few = ball_set(centers, [0] * 10 + [1] * 10)
    assert_allclose(SDAPMembership(n_neighbors=1)(few), SDAPMembership(n_neighbors=9)(few))


def test_a_class_of_two_balls_keeps_its_weight():
    """Two balls are equally far from their mean; the published spread of that is zero."""
    balls = ball_set([[0.0, 0.3], [1.0, 0.1], [5.0, 2.0], [7.0, 1.0], [8.0, 4.0]], [0, 0, 1, 1, 1])
    of_two_among_five = np.exp(-0.5 * 2 / 5)
    assert_allclose(SDAPMembership()(balls)[:2], of_two_among_five, rtol=1e-6)


def test_rms_spread_keeps_the_weights_that_std_loses_in_many_dimensions():
    rng = np.random.default_rng(0)
    balls = ball_set(rng.normal(size=(200, 30)), rng.integers(0, 2, 200))
    assert np.median(SDAPMembership(spread="std")(balls)) < 1e-3
    assert np.median(SDAPMembership(spread="rms")(balls)) > 0.5


def test_fewer_balls_than_neighbours_divides_by_those_there_are():
    share = local_dissimilarity(np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1]), 10)
    assert_allclose(share, [0.5, 0.5, 1.0])


def test_a_single_ball_has_no_differing_neighbour():
    assert_allclose(local_dissimilarity(np.zeros((1, 2)), np.array([0]), 3), [0.0])


def test_a_ball_is_never_its_own_neighbour_even_among_duplicates():
    """Two classes on one spot: each ball's only other ball differs in label."""
    assert_allclose(local_dissimilarity(np.zeros((2, 2)), np.array([0, 1]), 1), [1.0, 1.0])


def test_values_that_overflow_when_squared_are_rated():
    balls = ball_set(np.array([[0.0], [1.0], [3.0], [4.0], [9.0]]) * 1e140, [0, 0, 0, 1, 1])
    assert np.isfinite(SDAPMembership()(balls)).all()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"closeness": "mine"}, "zhang-xu"),
        ({"spread": "iqr"}, "rms"),
        ({"n_neighbors": 0}, "n_neighbors"),
    ],
)
def test_a_wrong_setting_names_the_valid_ones(settings, named):
    with pytest.raises(ValueError, match=named):
        SDAPMembership(**settings)(ball_set([[0.0], [1.0]], [0, 1]))
