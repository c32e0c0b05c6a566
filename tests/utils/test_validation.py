"""What the engine takes and what it refuses; what it makes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from granulearn import GranularBalls, generate_balls
from granulearn.utils.validation import LARGEST_WEIGHT, check_samples, check_weights, repetitions

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])


def with_value(value):
    changed = X.copy()
    changed[2, 1] = value
    return changed


BAD_INPUT = {
    "NaN": (with_value(np.nan), Y, ValueError, "contains NaN"),
    "infinity": (with_value(np.inf), Y, ValueError, "infinity"),
    "no labels": (X, None, ValueError, "y"),
    "one class": (X, np.zeros(6), ValueError, r"only one class \(0.0\), and there must be"),
    "missing label": (X, np.array([0, 0, 1, 1, np.nan, 0]), ValueError, "y contains NaN"),
    "labels are measurements": (X, np.arange(6) + 0.5, ValueError, "continuous"),
    "lengths differ": (X, Y[:5], ValueError, "inconsistent numbers of samples"),
    "empty table": (np.empty((0, 2)), [], ValueError, "0 sample"),
    "no columns": (np.empty((6, 0)), Y, ValueError, "0 feature"),
    "one dimension": (X[:, 0], Y, ValueError, "Expected 2D array"),
    "text": (
        pd.DataFrame({"age": X[:, 0], "city": list("abcdef")}),
        Y,
        ValueError,
        "column 'city' of X holds text, and inputs must be numbers.*TablePrep.*TableClassifier",
    ),
    "text array": (X.astype(str).astype(object) + "x", Y, ValueError, "could not convert string"),
    "complex": (X + 1j, Y, ValueError, "Complex data not supported"),
    "sparse": (csr_array(X), Y, TypeError, "dense data is required.*toarray"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_named(case):
    bad_X, bad_y, error, message = BAD_INPUT[case]
    with pytest.raises(error, match=message):
        generate_balls(bad_X, bad_y)


BAD_SETTINGS = [
    ({"purity": 0.0}, r"purity=0\.0 must lie in \(0, 1\]"),
    ({"purity": 1.01}, r"purity=1\.01 must lie in \(0, 1\]"),
    ({"purity": "high"}, "purity='high' must lie in"),
    ({"purity": float("nan")}, "purity=nan must lie in"),
    ({"min_ball_size": 0}, "min_ball_size=0 must be a whole number from 1 up"),
    ({"min_ball_size": 1.5}, r"min_ball_size=1\.5 must be a whole number"),
    ({"min_ball_size": 7}, "min_ball_size=7 drops every ball.*lower min_ball_size"),
    ({"init": "random"}, "init='random' is not known; use one of 'k-means\\+\\+', 'class-means'"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
@pytest.mark.parametrize(
    "make", [generate_balls, lambda X, y, **settings: GranularBalls(**settings).fit(X, y)]
)
def test_bad_settings_are_named(settings, message, make):
    with pytest.raises(ValueError, match=message):
        make(X, Y, **settings)


@pytest.fixture
def balls():
    X = [[0.0, 1.0], [0.2, 1.0], [9.0, 5.0], [9.4, 5.0], [30.0, 7.0]]
    return generate_balls(X, ["no", "no", "yes", "yes", "no"], random_state=0)


def test_arrays_are_read_only(balls):
    with pytest.raises(ValueError, match="read-only"):
        balls.centers[0, 0] = 1.0
    with pytest.raises(AttributeError):
        balls.centers = np.zeros((3, 2))


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


TABLE = np.arange(10.0).reshape(5, 2)
CODES = np.array([0, 1, 0, 1, 2])


def test_samples_of_weight_zero_are_left_out_with_their_memberships():
    samples = check_samples(
        TABLE, CODES, sample_weight=[1, 0, 2, 1, 0], sample_membership=[0.1, 0.2, 0.3, 0.4, 0.5]
    ).that_count()
    assert_array_equal(samples.X, TABLE[[0, 2, 3]])
    assert_array_equal(samples.codes, [0, 0, 1])
    assert_array_equal(samples.weights, [1, 2, 1])
    assert_array_equal(samples.memberships, [0.1, 0.3, 0.4])
    assert_array_equal(samples.positions, [0, 2, 3])
    assert samples.n_passed == 5


def test_taking_samples_twice_keeps_their_positions():
    samples = check_samples(TABLE, CODES).take(np.array([4, 2, 2]))
    again = samples.take(np.array([2, 0]))
    assert_array_equal(again.positions, [2, 4])
    assert_array_equal(again.X, TABLE[[2, 4]])


def test_two_dimensional_weights_are_an_error():
    with pytest.raises(ValueError, match=r"got shape \(5, 1\)"):
        check_samples(TABLE, CODES, sample_weight=np.ones((5, 1)))


def test_labels_are_encoded_once_and_classes_sorted():
    samples = check_samples(TABLE, list("bacab"))
    assert_array_equal(samples.classes, ["a", "b", "c"])
    assert_array_equal(samples.classes[samples.codes], list("bacab"))
    assert samples.that_count() is samples


def test_samples_for_balls_have_only_the_classes_that_count():
    samples = check_samples(TABLE, list("bacab"), sample_weight=[1, 0.4, 0, 3, 1])
    ordered = samples.for_balls()
    assert_array_equal(ordered.classes, ["a", "b"])
    assert_array_equal(np.sort(ordered.positions), [0, 1, 3, 3, 3, 4])
    assert_array_equal(ordered.classes[ordered.codes], np.array(list("bacab"))[ordered.positions])


def test_a_weight_is_a_number_of_repetitions():
    assert_array_equal(repetitions(np.array([0.0, 0.2, 1.0, 1.4, 2.6])), [0, 1, 1, 1, 3])


def test_weights_whose_sums_could_be_infinite_are_refused():
    assert check_weights(LARGEST_WEIGHT, 2).tolist() == [LARGEST_WEIGHT] * 2
    with pytest.raises(ValueError, match=r"must be at most 1e\+100, got 1e\+308; divide it"):
        check_weights([1.0, 1e308], 2)


def test_weights_far_above_one_are_a_mistake():
    with pytest.raises(ValueError, match="its mean is 1000; divide it"):
        repetitions(np.array([1e3, 1e3]))


def test_balls_below_the_least_size_are_dropped_and_the_others_renumbered(balls):
    kept = balls.without_small(2)
    assert_array_equal(kept.counts, balls.counts[balls.counts >= 2])
    assert_array_equal(kept.assignment < 0, balls.counts[balls.assignment] < 2)
    assert_array_equal(kept.centers[kept.assignment[:4]], balls.centers[balls.assignment[:4]])
    assert balls.without_small(1) is balls
