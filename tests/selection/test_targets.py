"""What ridges are fitted to, and what is predicted for a row that is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.estimators import RVFLClassifier, RVFLRegressor
from granulearn.selection.leave_one_out import predict_left_out
from granulearn.selection.targets import ClassTargets, NumberTargets, targets_of
from tests.estimators.test_regression import smooth_function
from tests.selection.searches import noisy_classes


def test_classes_are_ones_and_zeros():
    model = RVFLClassifier()
    rows, _ = model._prepare(*noisy_classes(n_classes=3), None, None)
    targets = targets_of(model, rows)
    assert isinstance(targets, ClassTargets)
    assert_array_equal(targets.Y.argmax(axis=1), rows.codes)
    assert_array_equal(targets.Y.sum(axis=1), 1)
    assert not targets.offset.any()
    assert targets.to_leave_out().dtype == np.float64


def test_numbers_are_taken_around_their_weighted_mean():
    model, (X, Y) = RVFLRegressor(), smooth_function(n_outputs=2)
    weights = np.random.default_rng(0).uniform(0.1, 2, len(X))
    rows, _ = model._prepare(X, Y, weights)
    targets = targets_of(model, rows)
    assert isinstance(targets, NumberTargets)
    assert_allclose(targets.offset, np.average(Y, axis=0, weights=weights))
    assert_allclose(targets.Y + targets.offset, Y)
    assert_allclose(weights @ targets.Y, 0, atol=1e-10)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
    st.integers(1, 6),
    st.integers(1, 3),
    st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_leaving_out_a_row_leaves_it_out_of_the_mean_too(seed, n_rows, p, n_outputs, C):
    rng = np.random.default_rng(seed)
    H, Y = rng.normal(size=(n_rows, p)), 5 + rng.normal(size=(n_rows, n_outputs))
    weights = rng.uniform(0.2, 2, n_rows)
    offset = np.average(Y, axis=0, weights=weights)
    targets = NumberTargets(Y - offset, offset)
    predictions = predict_left_out(H, targets.to_leave_out(), weights, [C])
    found = targets.left_out(predictions, weights)[0] + offset
    for i in range(n_rows):
        rest = np.arange(n_rows) != i
        mean = np.average(Y[rest], axis=0, weights=weights[rest])
        A = H[rest].T * weights[rest]
        theta = np.linalg.solve(A @ H[rest] + np.eye(p) / C, A @ (Y[rest] - mean))
        assert_allclose(found[i], H[i] @ theta + mean, rtol=1e-6, atol=1e-6)


def test_nothing_is_left_without_the_only_row():
    targets = NumberTargets(np.zeros((1, 1)), np.ones(1))
    with pytest.raises(ValueError, match="needs two or more"):
        targets.left_out(np.zeros((1, 1, 2)), np.ones(1))


def test_own_scores_are_not_those_of_the_other_kind():
    assert set(ClassTargets.own_scores) & set(NumberTargets.own_scores) == {None}
