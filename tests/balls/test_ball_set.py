"""The record that stages exchange."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn import BallSet, generate_balls


@pytest.fixture
def balls():
    X = [[0.0, 1.0], [0.2, 1.0], [9.0, 5.0], [9.4, 5.0], [30.0, 7.0]]
    return generate_balls(X, ["no", "no", "yes", "yes", "no"], random_state=0)


def test_arrays_are_read_only(balls):
    with pytest.raises(ValueError, match="read-only"):
        balls.centers[0, 0] = 1.0
    with pytest.raises(AttributeError):
        balls.centers = np.zeros((3, 2))


def test_repr_counts_balls_samples_features_and_classes(balls):
    assert repr(balls) == "<BallSet: 3 balls of 5 samples, 2 features, 2 classes>"
    assert len(balls) == 3


def test_frame_has_a_row_per_ball_with_the_users_labels(balls):
    frame = balls.to_frame()
    assert frame.index.name == "ball"
    assert list(frame.columns) == ["label", "count", "purity", "radius", "center_0", "center_1"]
    assert sorted(frame["label"]) == ["no", "no", "yes"]
    assert_array_equal(frame["count"], balls.counts)
    assert_allclose(frame["center_1"], balls.centers[:, 1])


def test_sample_mean_is_the_mean_over_each_balls_samples(balls):
    values = np.array([1.0, 3.0, 10.0, 30.0, 7.0])
    expected = [values[balls.assignment == ball].mean() for ball in range(len(balls))]
    assert_allclose(balls.sample_mean(values), expected)


def test_sample_mean_leaves_out_samples_of_dropped_balls():
    balls = BallSet(
        centers=np.zeros((1, 1)),
        radii=np.zeros(1),
        labels=np.zeros(1, int),
        purities=np.ones(1),
        counts=np.array([2]),
        class_counts=np.array([[2, 0]]),
        assignment=np.array([0, -1, 0]),
        classes=np.array([0, 1]),
    )
    assert_allclose(balls.sample_mean(np.array([1.0, 99.0, 2.0])), [1.5])
