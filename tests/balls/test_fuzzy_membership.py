"""Fuzzy memberships against the formula, point by point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.balls import FuzzyMembership
from tests.balls.ball_sets import ball_set, random_ball_sets


def slow_closeness(points, labels):
    """Apply the formula of the paper, one point at a time."""
    result = []
    for point, label in zip(points, labels, strict=True):
        own = points[labels == label]
        mean = own.mean(axis=0)
        radius = max(np.linalg.norm(other - mean) for other in own)
        result.append(1 - np.linalg.norm(point - mean) / (radius + 1e-5))
    return np.array(result)


@given(random_ball_sets())
def test_ball_level_is_the_formula_on_the_centres(balls):
    expected = slow_closeness(balls.centers, balls.labels)
    assert_allclose(FuzzyMembership(level="ball")(balls), expected, atol=1e-10)


@given(st.integers(0, 2**32 - 1))
def test_sample_level_is_the_ball_mean_of_the_formula_on_the_samples(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 2)), np.array(["a", "b", "c"] * 4)
    assignment = rng.permutation(np.repeat([0, 1, 2, 3], 3))
    centers = [X[assignment == ball].mean(axis=0) for ball in range(4)]
    balls = ball_set(centers, [0, 1, 2, 0], assignment=assignment)
    mu = slow_closeness(X, y)
    expected = [mu[assignment == ball].mean() for ball in range(4)]
    assert_allclose(FuzzyMembership()(balls, X, y), expected, atol=1e-10)


@given(random_ball_sets())
def test_the_levels_agree_when_every_ball_is_one_sample(balls):
    by_sample = FuzzyMembership()(balls, balls.centers, balls.labels)
    assert_allclose(by_sample, FuzzyMembership(level="ball")(balls), atol=1e-12)


def test_a_class_of_one_point_is_trusted_fully():
    balls = ball_set([[0.0], [4.0], [5.0]], [0, 1, 1])
    assert FuzzyMembership(level="ball")(balls)[0] == 1


def test_sample_level_without_samples_says_what_to_do():
    with pytest.raises(ValueError, match="level='ball'"):
        FuzzyMembership()(ball_set([[0.0], [1.0]], [0, 1]))


def test_an_unknown_level_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'sample', 'ball'|'ball', 'sample'"):
        FuzzyMembership(level="class")(ball_set([[0.0], [1.0]], [0, 1]))
