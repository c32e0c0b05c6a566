"""Regressors selected by leave-one-out, against fitting them again without each sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.model_selection import PathSearchCV
from granulearn.rvfl import (
    DeepRVFLRegressor,
    ELMRegressor,
    EnsembleDeepRVFLRegressor,
    RVFLEnsembleRegressor,
    RVFLRegressor,
)
from tests.rvfl.test_regression import smooth_function

pytestmark = pytest.mark.slow

# Features that do not depend on the samples, so that the fits share them.
MODELS = [
    RVFLRegressor(activation="sine", random_state=0),
    ELMRegressor(activation="sigmoid", random_state=0),
    DeepRVFLRegressor(activation="sine", normalize=False, random_state=0),
    EnsembleDeepRVFLRegressor(activation="sine", normalize=False, random_state=0),
]
every_regressor = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
DEEP_MODELS = [DeepRVFLRegressor, EnsembleDeepRVFLRegressor]


def grid_of(model):
    """Return penalties and sizes, some of more columns than there are samples."""
    if type(model) in DEEP_MODELS:
        return {"C": [1e-2, 1.0, 1e2], "n_hidden": [2, 15], "n_layers": [1, 3]}
    return {"C": [1e-2, 1.0, 1e2], "n_hidden": [2, 30]}


def error_by_fitting(model, X, y, weights):
    """Return the squared error over the samples that count, each predicted without it."""
    error = 0.0
    for i in np.flatnonzero(weights):
        rest = np.arange(len(X)) != i
        fitted = clone(model).fit(X[rest], y[rest], sample_weight=weights[rest])
        error += weights[i] * np.square(fitted.predict(X[[i]])[0] - y[i]).sum()
    return error / weights.sum()


def check_against_fitting(model, grid, X, y, weights=None):
    passed = {} if weights is None else {"sample_weight": weights}
    search = PathSearchCV(model, grid, selection="loo", refit=False).fit(X, y, **passed)
    weights = np.ones(len(X)) if weights is None else weights
    expected = [
        -error_by_fitting(clone(model).set_params(**parameters), X, y, weights)
        for parameters in search.cv_results_["params"]
    ]
    assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-7)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@every_regressor
@given(
    seed=st.integers(0, 2**32 - 1),
    n_samples=st.integers(2, 14),
    n_outputs=st.sampled_from([None, 1, 3]),
    weighted=st.booleans(),
)
@settings(max_examples=10)
def test_scores_are_errors_of_fits_without_each_sample(model, seed, n_samples, n_outputs, weighted):
    X, y = smooth_function(n_samples, n_outputs, seed)
    weights = np.random.default_rng(seed).uniform(0.2, 2, n_samples) if weighted else None
    check_against_fitting(model, grid_of(model), X, y, weights)


@every_regressor
def test_samples_of_weight_zero_do_not_count(model):
    X, y = smooth_function(20)
    weights = np.append(np.random.default_rng(0).uniform(0.2, 2, 17), [0, 0, 0])
    check_against_fitting(model, grid_of(model), X, y, weights)


def ridge_around_mean(H, Y, weights, C):
    """Return the function that predicts, fitted in the slow, obvious way."""
    mean = np.average(Y, axis=0, weights=weights)
    A = H.T * weights
    theta = np.linalg.solve(A @ H + np.eye(H.shape[1]) / C, A @ (Y - mean))
    return lambda h: h @ theta + mean


@pytest.mark.parametrize("Regressor", DEEP_MODELS)
def test_normalised_layers_stay_those_of_all_samples(Regressor):
    X, Y = smooth_function(30, n_outputs=2)
    weights = np.random.default_rng(0).uniform(0.2, 2, 30)
    model = Regressor(3, n_hidden=8, random_state=0)
    search = PathSearchCV(model, {"C": [0.1, 10.0]}, selection="loo", refit=False)
    scores = search.fit(X, Y, sample_weight=weights).cv_results_["mean_test_score"]
    features = clone(model).fit(X, Y, sample_weight=weights).features_
    parts = [features(X)] if Regressor is DeepRVFLRegressor else list(features.layers(X))
    for C, score in zip([0.1, 10.0], scores, strict=True):
        left_out = np.empty_like(Y)
        for i in range(30):
            rest = np.arange(30) != i
            left_out[i] = np.mean(
                [ridge_around_mean(H[rest], Y[rest], weights[rest], C)(H[i]) for H in parts], axis=0
            )
        errors = np.square(left_out - Y).sum(axis=1)
        assert score == pytest.approx(-np.average(errors, weights=weights), rel=1e-7)


@every_regressor
def test_shifting_the_targets_changes_no_score(model):
    X, y = smooth_function(40)
    scores = [
        PathSearchCV(model, grid_of(model), selection="loo", refit=False)
        .fit(X, targets)
        .cv_results_["mean_test_score"]
        for targets in (y, y + 1e4)
    ]
    assert_allclose(*scores, rtol=1e-7)


@every_regressor
def test_several_targets_add_their_errors(model):
    X, Y = smooth_function(40, n_outputs=3)

    def scores(targets):
        search = PathSearchCV(model, grid_of(model), selection="loo", refit=False)
        return search.fit(X, targets).cv_results_["mean_test_score"]

    assert_allclose(scores(Y), np.sum([scores(y) for y in Y.T], axis=0), rtol=1e-7)


def test_a_pipeline_is_fitted_to_all_samples_before():
    X, y = smooth_function(40)
    X = 1000 * X + 5
    model = MODELS[0]
    pipeline = make_pipeline(StandardScaler(), model)
    in_pipeline = {f"rvflregressor__{name}": values for name, values in grid_of(model).items()}
    whole = PathSearchCV(pipeline, in_pipeline, selection="loo").fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = PathSearchCV(model, grid_of(model), selection="loo").fit(scaled, y)
    assert_allclose(whole.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert_array_equal(whole.predict(X), alone.predict(scaled))


def test_the_only_sample_that_counts_cannot_be_left_out():
    search = PathSearchCV(RVFLRegressor(), {"C": [1.0]}, selection="loo")
    with pytest.raises(ValueError, match="leave-one-out needs two or more"):
        search.fit(np.ones((2, 2)), [1.0, 2.0], sample_weight=[1.0, 0.0])


def test_an_ensemble_that_tunes_itself_is_refused_with_the_regressors_that_are_not():
    offered = "DeepRVFLRegressor, .*ELMRegressor, .*EnsembleDeepRVFLRegressor, .* RVFLRegressor, .*"
    search = PathSearchCV(RVFLEnsembleRegressor(), {"random_state": [0, 1]}, selection="loo")
    with pytest.raises(ValueError, match=f"is not offered for .* {offered}"):
        search.fit(*smooth_function())
