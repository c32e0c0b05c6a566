"""Complex random features: encoding, nesting, real pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.rvfl import ComplexFeatures, complex_activation_names, draw_complex_features

X = np.random.default_rng(0).normal(size=(20, 3)) * [1, 100, 0.01] + [0, 5, 9]


def draw(n_hidden, *, as_real_pairs=False, rows=X, activation="asinh", seed=4) -> ComplexFeatures:
    return draw_complex_features(rows, n_hidden, activation, as_real_pairs=as_real_pairs, seed=seed)


def test_columns_are_encoded_features_then_bias_then_hidden_layer():
    features = draw(5)
    H = features(X)
    scaled = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    Z = np.exp(1j * np.pi * scaled)
    assert H.shape == (20, features.n_columns) == (20, 9)
    assert_allclose(H[:, :3], Z)
    assert_array_equal(H[:, features.bias_column], np.ones(20))
    assert_allclose(H[:, 4:], np.arcsinh(Z @ features.weights.T + features.biases))


@given(st.integers(1, 20), st.integers(0, 20), st.booleans())
def test_widths_are_nested(narrow, extra, as_real_pairs):
    narrow_H = draw(narrow, as_real_pairs=as_real_pairs)(X)
    wide_H = draw(narrow + extra, as_real_pairs=as_real_pairs)(X)
    assert_allclose(wide_H[:, : narrow_H.shape[1]], narrow_H, rtol=1e-12, atol=1e-12)


def test_real_pairs_are_the_parts_of_each_column_side_by_side():
    H, pairs = draw(5)(X), draw(5, as_real_pairs=True)
    assert pairs(X).shape == (20, pairs.n_columns)
    assert_array_equal(pairs(X)[:, 0::2], H.real)
    assert_array_equal(pairs(X)[:, 1::2], H.imag)
    assert_array_equal(pairs(X)[:, pairs.bias_column], np.ones(20))


def test_both_parts_of_weights_and_biases_have_their_range():
    features = draw(2000)
    for part in (features.weights.real, features.weights.imag):
        assert -1 <= part.min() < -0.99
        assert 0.99 < part.max() <= 1
    for part in (features.biases.real, features.biases.imag):
        assert 0 <= part.min() < 0.001
        assert 0.099 < part.max() <= 0.1


def test_a_constant_feature_is_encoded_as_one():
    rows = np.column_stack([X[:, 0], np.full(20, 7.0)])
    assert_array_equal(draw(2, rows=rows)(rows)[:, 1], np.ones(20))


@pytest.mark.parametrize("activation", complex_activation_names())
def test_values_far_outside_the_training_range_stay_finite(activation):
    H = draw(5, activation=activation)(np.array([[1e300, -1e300, 0.0]]))
    assert np.isfinite(H.view(float)).all()


def test_an_unknown_activation_lists_the_known_ones():
    with pytest.raises(ValueError, match="'acos', 'asin', 'asinh'"):
        draw(2, activation="relu")


@pytest.mark.parametrize("as_real_pairs", [True, False])
def test_scores_are_the_real_part_of_features_times_weights(as_real_pairs):
    features = draw(5, as_real_pairs=as_real_pairs)
    theta = np.random.default_rng(2).normal(size=(features.n_columns, 2))
    assert_allclose(features.scores(X, theta), features(X).real @ theta, atol=1e-12)
