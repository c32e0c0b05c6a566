"""What every scheme shares: checks of its numbers, distances to the class mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_classification

from granulearn.balls import (
    FuzzyMembership,
    Membership,
    PrecomputedMembership,
    SDAPMembership,
    UniformMembership,
    generate_balls,
    membership_names,
    resolve_membership,
)
from granulearn.balls.memberships import distance_to_own_class_mean
from granulearn.utils.neighbors import nearest_others, nearest_points
from granulearn.utils.validation import check_memberships
from tests.balls.ball_sets import ball_set


class NumberOfFeatures(Membership):
    def _rate(self, balls, X, y):
        return np.full(len(balls), X.shape[1])


def test_a_scheme_that_leaves_the_unit_interval_is_an_error():
    balls = ball_set([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"NumberOfFeatures: .*\[0, 1\].*got 3 at position 0"):
        NumberOfFeatures()(balls, np.zeros((2, 3)))


@pytest.mark.parametrize("values", [[0.5], [0.5, 0.5, 0.5], [[0.5, 0.5]]])
def test_memberships_of_the_wrong_length_are_an_error(values):
    with pytest.raises(ValueError, match="expected 2 memberships"):
        check_memberships(values, 2, "mine")


@pytest.mark.parametrize("bad", [-0.01, 1.01, np.nan, np.inf])
def test_memberships_outside_the_unit_interval_are_an_error(bad):
    with pytest.raises(ValueError, match="position 1"):
        check_memberships([0.5, bad], 2, "mine")


@given(st.integers(0, 2**32 - 1))
def test_distance_to_class_mean_equals_the_loop_over_classes(seed):
    rng = np.random.default_rng(seed)
    points, codes = rng.normal(size=(20, 3)), rng.choice([0, 2, 3], size=20)
    expected = np.empty(20)
    for code in np.unique(codes):
        own = codes == code
        expected[own] = np.linalg.norm(points[own] - points[own].mean(axis=0), axis=1)
    assert_allclose(distance_to_own_class_mean(points, codes), expected, atol=1e-12)


BALLS = ball_set([[0.0], [1.0], [5.0]], [0, 1, 1], radii=[0.5, 1.0, 0.0])


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("fuzzy", FuzzyMembership),
        ("precomputed", PrecomputedMembership),
        ("sdap", SDAPMembership),
        ("uniform", UniformMembership),
    ],
)
def test_a_name_stands_for_its_scheme(name, scheme):
    assert type(resolve_membership(name)) is scheme
    assert name in membership_names()


def test_an_instance_stands_for_itself():
    scheme = SDAPMembership(n_neighbors=5)
    assert resolve_membership(scheme) is scheme


def test_a_function_is_called_with_the_balls():
    assert_allclose(resolve_membership(lambda balls: balls.radii / 2)(BALLS), [0.25, 0.5, 0.0])


def test_a_function_is_held_to_one_number_in_the_unit_interval_per_ball():
    with pytest.raises(ValueError, match="expected 3 memberships"):
        resolve_membership(lambda balls: np.ones(2))(BALLS)


@pytest.mark.parametrize("wrong", ["fuzzi", None, 3, SDAPMembership])
def test_what_is_not_known_lists_what_is(wrong):
    with pytest.raises(ValueError, match=r"'fuzzy', 'precomputed', 'sdap', 'uniform'"):
        resolve_membership(wrong)


def test_schemes_have_parameters_like_estimators():
    scheme = clone(SDAPMembership(n_neighbors=5)).set_params(spread="rms")
    assert scheme.get_params() == {"n_neighbors": 5, "closeness": "scripts", "spread": "rms"}
    assert repr(scheme) == "SDAPMembership(n_neighbors=5, spread='rms')"


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_nearest_others_are_as_near_as_brute_force_finds(seed, n_neighbors, on_grid):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 2, (15, 2)).astype(float) if on_grid else rng.normal(size=(15, 2))
    distances = cdist(points, points)
    found = nearest_others(points, n_neighbors)
    np.fill_diagonal(distances, np.inf)
    expected = np.sort(distances, axis=1)[:, :n_neighbors]
    found_distances = np.take_along_axis(distances, found, axis=1)
    assert_allclose(np.sort(found_distances, axis=1), expected)
    assert (found != np.arange(15)[:, None]).all()


def test_nearest_points_of_another_set():
    points, queries = np.array([[0.0], [10.0], [20.0]]), np.array([[9.0], [21.0]])
    assert_array_equal(nearest_points(points, queries, 1), [[1], [2]])


@pytest.mark.parametrize("name", sorted(set(membership_names()) - {"precomputed"}))
@pytest.mark.parametrize("factor", [2.0**660, 2.0**1000])
def test_numbers_too_large_to_be_squared_are_rated_like_others(name, factor):
    X, y = make_classification(90, random_state=0, n_features=4)
    plain, huge = (generate_balls(X * unit, y, random_state=0) for unit in (1.0, factor))
    scheme = resolve_membership(name)
    assert_allclose(scheme(huge, X * factor, y), scheme(plain, X, y), atol=1e-4)


def test_uniform_memberships_are_one():
    assert_array_equal(UniformMembership()(BALLS), np.ones(3))


SIX_SAMPLES = ball_set([[0.0], [1.0]], [0, 1], assignment=[0, 1, 0, -1, 1, 1])


def test_a_ball_gets_the_mean_of_its_own_samples():
    values = [0.2, 0.3, 0.6, 1.0, 0.6, 0.9]
    assert_allclose(PrecomputedMembership(values)(SIX_SAMPLES), [0.4, 0.6])


def test_one_value_per_sample_is_demanded():
    with pytest.raises(ValueError, match="expected 6 memberships"):
        PrecomputedMembership([0.5, 0.5])(SIX_SAMPLES)


def test_without_values_it_says_where_to_pass_them():
    with pytest.raises(ValueError, match=r"fit\(X, y, sample_membership"):
        PrecomputedMembership()(SIX_SAMPLES)


def test_rounding_never_pushes_a_mean_above_one():
    balls = ball_set([[0.0], [1.0]], [0, 1], assignment=np.repeat([0, 1], 1000))
    assert PrecomputedMembership(np.ones(2000))(balls).max() <= 1
