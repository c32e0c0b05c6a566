"""From the arguments of fit to weighted rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_sample_weight

from granulearn.estimators.training_rows import (
    TrainingRows,
    check_fit_samples,
    draw_seeds,
    multiply_weights,
    with_class_weight,
)

X = np.arange(10.0).reshape(5, 2)
CODES = np.array([0, 1, 0, 1, 2])


def test_samples_of_weight_zero_are_left_out_with_their_memberships():
    samples = check_fit_samples(X, CODES, [1, 0, 2, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert_array_equal(samples.X, X[[0, 2, 3]])
    assert_array_equal(samples.codes, [0, 0, 1])
    assert_array_equal(samples.weights, [1, 2, 1])
    assert_array_equal(samples.memberships, [0.1, 0.3, 0.4])
    assert_array_equal(samples.positions, [0, 2, 3])
    assert samples.n_passed == 5


def test_taking_samples_twice_keeps_their_positions():
    samples = check_fit_samples(X, CODES, None, None).take(np.array([4, 2, 2]))
    again = samples.take(np.array([2, 0]))
    assert_array_equal(again.positions, [2, 4])
    assert_array_equal(again.X, X[[2, 4]])


def test_a_single_number_is_the_weight_of_every_sample():
    assert_array_equal(check_fit_samples(X, CODES, 2.0, None).weights, np.full(5, 2.0))


def test_two_dimensional_weights_are_an_error():
    with pytest.raises(ValueError, match=r"got shape \(5, 1\)"):
        check_fit_samples(X, CODES, np.ones((5, 1)), None)


def test_no_factor_at_all_stays_no_weights():
    assert multiply_weights(None, None) is None
    assert_array_equal(multiply_weights(None, np.array([2.0, 3.0])), [2, 3])
    assert_array_equal(multiply_weights(np.array([2.0, 3.0]), np.array([5.0, 7.0])), [10, 21])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 2.5, 2: 0.0}])
def test_class_weights_are_scikit_learns(class_weight):
    rows = with_class_weight(TrainingRows(X, CODES, None), class_weight, np.arange(3))
    assert_allclose(rows.weights, compute_sample_weight(class_weight, CODES))


def test_balanced_gives_every_class_the_same_total_weight():
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    rows = with_class_weight(TrainingRows(X, CODES, weights), "balanced", np.arange(3))
    assert_allclose(np.bincount(CODES, rows.weights), np.full(3, 5.0))


def test_seeds_depend_on_the_random_state_alone():
    assert draw_seeds(3) == draw_seeds(3)
    assert draw_seeds(3) != draw_seeds(4)
    assert draw_seeds(3).network != draw_seeds(3).balls
    state = np.random.RandomState(0)
    assert draw_seeds(state) != draw_seeds(state)
