"""Given memberships are ball means of what the user passed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granulearn.balls import PrecomputedMembership
from tests.balls.ball_sets import ball_set

BALLS = ball_set([[0.0], [1.0]], [0, 1], assignment=[0, 1, 0, -1, 1, 1])


def test_a_ball_gets_the_mean_of_its_own_samples():
    values = [0.2, 0.3, 0.6, 1.0, 0.6, 0.9]
    assert_allclose(PrecomputedMembership(values)(BALLS), [0.4, 0.6])


def test_one_value_per_sample_is_demanded():
    with pytest.raises(ValueError, match="expected 6 memberships"):
        PrecomputedMembership([0.5, 0.5])(BALLS)


def test_without_values_it_says_where_to_pass_them():
    with pytest.raises(ValueError, match=r"fit\(X, y, sample_membership"):
        PrecomputedMembership()(BALLS)


def test_rounding_never_pushes_a_mean_above_one():
    balls = ball_set([[0.0], [1.0]], [0, 1], assignment=np.repeat([0, 1], 1000))
    assert PrecomputedMembership(np.ones(2000))(balls).max() <= 1
