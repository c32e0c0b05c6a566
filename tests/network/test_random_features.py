"""Random features: nesting, columns, distributions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from granulearn.network import draw_random_features


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


def test_without_the_direct_link_only_bias_and_hidden_layer_remain():
    X = np.random.default_rng(1).normal(size=(8, 3))
    linked = draw_random_features(3, 4, "relu", direct_link=True, seed=5)(X)
    unlinked = draw_random_features(3, 4, "relu", direct_link=False, seed=5)
    assert unlinked.bias_column == 0
    assert_array_equal(unlinked(X), linked[:, 3:])


@pytest.mark.parametrize(("part", "low", "width"), [("weights", -1.0, 2.0), ("biases", 0.0, 0.1)])
def test_draws_are_uniform_on_their_interval(part, low, width):
    features = draw_random_features(1, 5000, "relu", direct_link=True, seed=3)
    sample = getattr(features, part).ravel()
    assert stats.kstest(sample, stats.uniform(low, width).cdf).pvalue > 1e-3


def test_the_input_is_not_changed_and_float32_is_computed_in_double():
    X = np.random.default_rng(1).normal(size=(8, 3)).astype(np.float32)
    before = X.copy()
    features = draw_random_features(3, 4, "sigmoid", direct_link=True, seed=5)
    assert_array_equal(features(X), features(X.astype(np.float64)))
    assert_array_equal(X, before)


@pytest.mark.parametrize("direct_link", [True, False])
def test_scores_are_the_features_times_the_weights(direct_link):
    X = np.random.default_rng(1).normal(size=(8, 3))
    features = draw_random_features(3, 4, "tanh", direct_link=direct_link, seed=5)
    theta = np.random.default_rng(2).normal(size=(features.n_columns, 2))
    assert_allclose(features.scores(X, theta), features(X) @ theta, atol=1e-12)
