"""What every scheme shares: checks of its numbers, distances to the class mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.memberships import Membership
from granulearn.memberships.base import check_memberships, distance_to_own_class_mean
from tests.memberships.ball_sets import ball_set


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
