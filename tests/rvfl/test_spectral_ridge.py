"""Laws of the ridge by eigenvectors, with a free and with a penalised intercept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from granulearn.rvfl import RandomFeatures, predict_scores, solve_weighted_ridge, spectral_ridge
from granulearn.rvfl import ridge as ridge_module
from granulearn.rvfl.spectral_ridge import factor_spectral_ridge

CS = [1e-3, 1.0, 1e3]


def problem(n=40, d=3, n_hidden=5, n_outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    features = RandomFeatures(
        rng.uniform(-1, 1, (n_hidden, d)), rng.uniform(-1, 1, n_hidden), "sine", direct_link=True
    )
    X, Y = rng.normal(size=(n, d)) + 3, rng.normal(size=(n, n_outputs))
    return features, X, Y, rng.uniform(0.2, 2, n)


primal_and_dual = pytest.mark.parametrize("n", [40, 7], ids=["primal", "dual"])


every_intercept = pytest.mark.parametrize("free", [True, False], ids=["free", "penalised"])


@primal_and_dual
@pytest.mark.parametrize("C", CS)
def test_predictions_are_those_of_scikit_learns_ridge(n, C):
    features, X, Y, w = problem(n)
    ours = predict_scores(features, X, factor_spectral_ridge(features, X, Y, w).coef(C))
    H = np.delete(features(X), features.bias_column, axis=1)
    theirs = Ridge(alpha=1 / C, solver="svd").fit(H, Y, sample_weight=w).predict(H)
    assert_allclose(ours, theirs, rtol=1e-7, atol=1e-8)


@primal_and_dual
@pytest.mark.parametrize("C", CS)
def test_a_penalised_bias_is_a_column_like_others(n, C):
    features, X, Y, w = problem(n)
    ridge = factor_spectral_ridge(features, X, Y, w, free_intercept=False)
    assert_allclose(ridge.coef(C), solve_weighted_ridge(features, X, Y, w, C), atol=1e-8)


@primal_and_dual
@every_intercept
def test_leave_one_out_equals_refitting_without_each_row(n, free):
    features, X, Y, w = problem(n)
    found = np.empty((len(CS), *Y.shape))
    ridge = factor_spectral_ridge(features, X, Y, w, free_intercept=free)
    for block, predictions in ridge.leave_out(X, Y, w, CS):
        found[:, block] = predictions
    for i in range(n):
        rest = np.arange(n) != i
        without = factor_spectral_ridge(features, X[rest], Y[rest], w[rest], free_intercept=free)
        for c, C in enumerate(CS):
            expected = predict_scores(features, X[[i]], without.coef(C))[0]
            assert_allclose(found[c, i], expected, rtol=1e-6, atol=1e-8)


@every_intercept
@pytest.mark.parametrize("scale", [1e3, 1e5])
def test_where_every_target_is_reached_leave_one_out_is_that_of_the_smallest_norm(scale, free):
    features, X, Y, _ = problem(12)
    X *= scale
    w = np.ones(len(X))
    ridge = factor_spectral_ridge(features, X, Y, w, free_intercept=free)
    ((_, found),) = ridge.leave_out(X, Y, w, [1e3, 1e5])
    H = features(X)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        mean_h, mean_y = (H[rest].mean(axis=0), Y[rest].mean(axis=0)) if free else (0, 0)
        theta = np.linalg.pinv(H[rest] - mean_h, rcond=1e-13) @ (Y[rest] - mean_y)
        expected = (H[i] - mean_h) @ theta + mean_y
        assert_allclose(found[1, i], expected, rtol=1e-2, atol=1e-2 * np.abs(expected).max())


@pytest.mark.parametrize("n", [40, 12])
def test_a_row_that_alone_decides_its_fit_is_predicted_by_the_mean(n):
    features, X, Y, w = problem(n)
    X[3] *= 1e12
    ridge = factor_spectral_ridge(features, X, Y, w)
    found = np.concatenate([part for _, part in ridge.leave_out(X, Y, w, [1e5])], axis=1)
    assert np.abs(found[0, 3] - Y[3]).max() > 1e-3
    assert np.isfinite(found).all()


def test_leaving_one_unit_out_of_a_weight_equals_refitting_with_the_rest_of_it():
    features, X, Y, _ = problem(30)
    w = np.ones(30)
    w[4] = 3.0
    ((_, found),) = factor_spectral_ridge(features, X, Y, w).leave_out(X, Y, np.ones(30), [1.0])
    w[4] = 2.0
    expected = predict_scores(features, X[[4]], factor_spectral_ridge(features, X, Y, w).coef(1.0))
    assert_allclose(found[0, 4], expected[0], rtol=1e-8)


def test_integer_weights_are_repeated_rows():
    features, X, Y, _ = problem(30)
    w = np.random.default_rng(1).integers(1, 4, 30)
    weighted = factor_spectral_ridge(features, X, Y, w.astype(float)).coef(1.0)
    X, Y = np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0)
    assert_allclose(weighted, factor_spectral_ridge(features, X, Y, np.ones(len(X))).coef(1.0))


def test_blocks_change_nothing(monkeypatch):
    features, X, Y, w = problem(60)
    whole = factor_spectral_ridge(features, X, Y, w)
    ((_, expected),) = whole.leave_out(X, Y, w, CS)
    monkeypatch.setattr(ridge_module, "BLOCK_BYTES", 7 * 8 * features.n_columns)
    pieces = factor_spectral_ridge(features, X, Y, w)
    found = list(pieces.leave_out(X, Y, w, CS))
    assert len(found) == 9
    assert_allclose(pieces.coef(1.0), whole.coef(1.0), rtol=1e-8, atol=1e-10)
    assert_allclose(np.concatenate([p for _, p in found], axis=1), expected, rtol=1e-8)


def test_many_columns_are_factored_in_halves_to_the_same_predictions(monkeypatch):
    features, X, Y, w = problem(40)
    plain = factor_spectral_ridge(features, X, Y, w)
    monkeypatch.setattr(spectral_ridge, "MANY_COLUMNS", 1)
    halves = factor_spectral_ridge(features, X, Y, w)
    for C in CS:
        assert_allclose(halves.coef(C), plain.coef(C), rtol=1e-6, atol=1e-9)


def test_a_far_away_origin_costs_no_digits():
    features, X, Y, w = problem()
    shifted = RandomFeatures(
        features.weights,
        features.biases - features.weights @ np.full(3, 1e6),
        "sine",
        direct_link=True,
    )
    near = predict_scores(features, X, factor_spectral_ridge(features, X, Y, w).coef(1.0))
    far = factor_spectral_ridge(shifted, X + 1e6, Y, w)
    assert_allclose(predict_scores(shifted, X + 1e6, far.coef(1.0)), near, atol=1e-5)


def test_too_large_features_are_an_error_that_says_so():
    features, X, Y, w = problem()
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match="scale them first"),
    ):
        factor_spectral_ridge(features, X * 1e200, Y, w)
