"""Uniform memberships are one."""

import numpy as np
from numpy.testing import assert_array_equal

from granulearn.balls import UniformMembership
from tests.balls.ball_sets import ball_set


def test_every_ball_is_trusted_fully():
    balls = ball_set([[0.0], [1.0], [9.0]], [0, 1, 1], radii=[0, 5, 1])
    assert_array_equal(UniformMembership()(balls), np.ones(3))
