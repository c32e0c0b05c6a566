"""Laws of the GBG++ generator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import GBGPlusPlusBalls, generate_balls
from granulearn.balls.gbg_plus_plus import groups_around_majorities
from granulearn.utils.validation import check_samples


@settings(max_examples=50)
@given(n=st.integers(4, 120), seed=st.integers(0, 10**6), purity=st.sampled_from([0.6, 0.9, 1.0]))
def test_balls_are_pure_before_outliers_join_the_nearest_surface(n, seed, purity):
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((n, 2)), rng.randint(3, size=n)
    y[:2] = 0, 1
    samples = check_samples(X, y)
    groups = groups_around_majorities(samples, purity)
    balls = generate_balls(X, y, balls=GBGPlusPlusBalls(purity))
    inside = groups >= 0
    assert_array_equal(balls.assignment[inside], groups[inside])
    for ball in range(len(balls)):
        own = X[groups == ball]
        counts = np.bincount(samples.codes[groups == ball])
        assert counts.max() / len(own) >= purity
        assert balls.labels[ball] == counts.argmax()
        assert_allclose(balls.centers[ball], own.mean(axis=0), atol=1e-12)
        away = np.linalg.norm(own - own.mean(axis=0), axis=1)
        assert_allclose(balls.radii[ball], away.mean(), atol=1e-12)
    to_surface = np.linalg.norm(X[:, None] - balls.centers, axis=2) - balls.radii
    assert_array_equal(balls.assignment[~inside], to_surface[~inside].argmin(axis=1))


def test_no_class_is_lost():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((300, 2)), np.zeros(300, int)
    y[:2] = 1, 2  # one sample each, in the middle of the others
    X[:2] = [[0.01, 0.0], [0.0, 0.01]]
    balls = generate_balls(X, y, balls=GBGPlusPlusBalls(purity=1.0))
    assert set(balls.labels) == {0, 1, 2}


def test_samples_left_over_are_many_and_all_are_kept():
    """The script of the paper loses these."""
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((1000, 5)), rng.randint(2, size=1000)
    groups = groups_around_majorities(check_samples(X, y), 1.0)
    assert np.mean(groups < 0) > 0.1
    assert generate_balls(X, y, balls="gbg++").counts.sum() == 1000


def test_a_sample_of_another_class_between_two_is_found():
    """All three lie within the mean distance of the majority: the script loses them all."""
    balls = generate_balls([[-1.0], [0.0], [1.0]], [0, 1, 0], balls=GBGPlusPlusBalls(purity=1.0))
    assert_array_equal(np.sort(balls.centers[:, 0]), [-1, 0, 1])


def test_a_purity_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"purity=0 must lie in \(0, 1\]"):
        generate_balls([[0.0], [1.0]], [0, 1], balls=GBGPlusPlusBalls(purity=0))
