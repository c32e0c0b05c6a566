"""Random features: nesting, columns, distributions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from granulearn.rvfl import activate, draw_random_features


@given(st.integers(1, 30), st.integers(0, 30), st.integers(1, 6), st.integers(0, 2**31 - 2))
def test_widths_are_nested(narrow, extra, n_features, seed):
    X = np.random.default_rng(0).normal(size=(5, n_features))
    draw = {"activation": "sine", "direct_link": True, "seed": seed}
    narrow_H = draw_random_features(n_features, narrow, **draw)(X)
    wide_H = draw_random_features(n_features, narrow + extra, **draw)(X)
    assert_allclose(wide_H[:, : narrow_H.shape[1]], narrow_H, rtol=1e-12, atol=1e-12)


def test_columns_are_direct_link_then_bias_then_hidden_layer():
    X = np.random.default_rng(1).normal(size=(8, 3))
    features = draw_random_features(3, 4, "tanh", direct_link=True, seed=5)
    H = features(X)
    assert H.shape == (8, features.n_columns) == (8, 8)
    assert_array_equal(H[:, :3], X)
    assert_array_equal(H[:, features.bias_column], np.ones(8))
    assert_allclose(H[:, 4:], np.tanh(X @ features.weights.T + features.biases))


def test_the_input_is_not_changed_and_float32_is_computed_in_double():
    X = np.random.default_rng(1).normal(size=(8, 3)).astype(np.float32)
    before = X.copy()
    features = draw_random_features(3, 4, "sigmoid", direct_link=True, seed=5)
    assert_array_equal(features(X), features(X.astype(np.float64)))
    assert_array_equal(X, before)


POINTS = np.array([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0])

FORMULAS = {
    "hardlim": lambda z: (np.sign(z) + 1) / 2,
    "leaky_relu": lambda z: np.where(z > 0, z, 0.1 * z),
    "radbas": lambda z: np.exp(-(z**2)),
    "relu": lambda z: z * (z > 0),
    "selu": lambda z: 1.05070098 * np.where(z > 0, z, 1.67326324 * (np.exp(z) - 1)),
    "sigmoid": expit,
    "sign": lambda z: (z > 0) * 1.0 - (z < 0) * 1.0,
    "sine": np.sin,
    "tanh": np.tanh,
    "tribas": lambda z: np.where(np.abs(z) <= 1, 1 - np.abs(z), 0),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_the_formula(name):
    assert_allclose(activate(name, POINTS.copy()), FORMULAS[name](POINTS), atol=1e-8)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_largest_inputs_do_not_overflow(name):
    extreme = np.array([-1e300, -1e155, -800.0, 800.0, 1e155, 1e300])
    assert np.isfinite(activate(name, extreme)).all()
