"""The scikit-learn face of the engine."""

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks.speed import noisy_table
from granulearn import GranularBalls, generate_balls


@parametrize_with_checks([GranularBalls(), GranularBalls(init="class-means", purity=0.8)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_fit_makes_the_balls_of_the_function():
    X, y = noisy_table(500)
    model = GranularBalls(purity=0.9, min_ball_size=2, random_state=3).fit(X, y)
    balls = generate_balls(X, y, purity=0.9, min_ball_size=2, random_state=3)
    assert_array_equal(model.balls_.assignment, balls.assignment)
    assert_array_equal(clone(model).fit(X, y).balls_.centers, balls.centers)


def test_resampling_returns_centres_and_labels_in_the_types_that_came_in():
    X, y = noisy_table(200)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(20)])
    labels = pd.Series(np.where(y, "yes", "no"), name="answer", dtype="category")
    model = GranularBalls(random_state=0)
    plain_X, plain_y = model.fit_resample(X, y)
    frame_X, series_y = model.fit_resample(frame, labels)
    assert isinstance(plain_X, np.ndarray)
    assert list(frame_X.columns) == list(frame.columns)
    assert_array_equal(frame_X.to_numpy(), plain_X)
    assert series_y.name == "answer"
    assert series_y.dtype == labels.dtype
    assert_array_equal(series_y == "yes", plain_y == 1)
    assert_array_equal(model.feature_names_in_, frame.columns)


def test_lists_come_back_as_arrays():
    centers, labels = GranularBalls().fit_resample([[0.0], [1.0], [9.0]], ["a", "a", "b"])
    assert_array_equal(np.sort(centers, axis=0), [[0.5], [9.0]])
    assert_array_equal(np.sort(labels), ["a", "b"])
