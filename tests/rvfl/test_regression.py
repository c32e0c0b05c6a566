"""Laws of the regressors of one layer; scikit-learn's ridge is the oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from granulearn.rvfl import ELMRegressor, RVFLRegressor

both_networks = pytest.mark.parametrize("regressor", [RVFLRegressor, ELMRegressor])


def smooth_function(n_samples=120, n_outputs=None, seed=0):
    """Return inputs and one or several targets far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    Y = 50 + np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2, X.sum(axis=1)])
    Y += rng.normal(scale=0.1, size=Y.shape)
    return X, Y[:, 0] if n_outputs is None else Y[:, :n_outputs]


@st.composite
def problems(draw):
    """Draw X, Y, w and C with more or fewer samples than columns."""
    seed, n_samples = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, 60))
    X, Y = smooth_function(n_samples, draw(st.integers(1, 3)), seed)
    weights = np.random.default_rng(seed).uniform(0.1, 2, n_samples)
    return X, Y, weights if draw(st.booleans()) else None, 10.0 ** draw(st.integers(-3, 3))


@both_networks
@given(problem=problems())
def test_it_is_the_ridge_on_its_features_around_the_mean_of_the_targets(regressor, problem):
    X, Y, weights, C = problem
    model = regressor(n_hidden=20, activation="sigmoid", C=C, random_state=0)
    model.fit(X, Y, sample_weight=weights)
    mean = np.average(Y, axis=0, weights=weights)
    oracle = Ridge(alpha=1 / C, fit_intercept=False, solver="svd")
    H = model.features_(X)
    oracle.fit(H, Y - mean, sample_weight=weights)
    expected = oracle.predict(H).reshape(Y.shape) + mean
    assert_allclose(model.predict(X), expected, rtol=1e-5, atol=1e-5)


@both_networks
def test_a_strong_penalty_pulls_predictions_to_the_weighted_mean_not_to_zero(regressor):
    X, y = smooth_function()
    weights = np.random.default_rng(1).uniform(size=len(X))
    model = regressor(C=1e-9, random_state=0).fit(X, y, sample_weight=weights)
    assert_allclose(model.predict(X), np.average(y, weights=weights), rtol=1e-4)


def test_no_sample_of_positive_weight_is_an_error():
    X, y = smooth_function()
    with pytest.raises(ValueError, match="sample_weight is zero for every sample"):
        RVFLRegressor().fit(X, y, sample_weight=np.zeros(len(X)))


@both_networks
def test_a_smooth_function_is_learnt(regressor):
    X, y = smooth_function(600)
    model = regressor(n_hidden=200, activation="sine", C=10.0, random_state=0)
    assert model.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.9
