"""The weighted ridge against scikit-learn, its two forms, its bounds."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from granulearn.rvfl import (
    IllConditionedWarning,
    RandomFeatures,
    draw_random_features,
    one_hot,
    predict_scores,
    solve_graph_ridge,
    solve_weighted_ridge,
)
from granulearn.rvfl.ridge import (
    NormalEquations,
    factor_spectral_ridge,
)
from tests.rvfl.problems import Identity, ridge_problems


@given(ridge_problems())
def test_the_solution_is_that_of_scikit_learn(problem):
    H, Y, w, C = problem
    oracle = Ridge(alpha=1 / C, fit_intercept=False, solver="svd").fit(H, Y, sample_weight=w)
    found = solve_weighted_ridge(Identity(H.shape[1]), H, Y, w, C)
    assert_allclose(found, oracle.coef_.T, rtol=1e-6, atol=1e-8)


@given(ridge_problems(), st.integers(0, 2**32 - 1))
def test_complex_rows_solve_the_hermitian_normal_equations(problem, seed):
    H, Y, w, C = problem
    H = H + 1j * np.random.default_rng(seed).normal(size=H.shape)
    features = Identity(H.shape[1], dtype=np.dtype(np.complex128))
    found = solve_weighted_ridge(features, H, Y, w, C)
    system = H.conj().T @ (w[:, None] * H) + np.eye(H.shape[1]) / C
    expected = np.linalg.solve(system, H.conj().T @ (w[:, None] * Y))
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, codes, w = rng.normal(size=(500, 3)), rng.integers(0, 4, 500), rng.uniform(size=500)
    features = draw_random_features(3, 20, "tanh", direct_link=True, seed=1)
    Y = one_hot(codes, 4)
    whole = solve_weighted_ridge(features, X, Y, w, 2.0)
    scores = predict_scores(features, X, whole)
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 7 * 24 * 8)
    assert_allclose(solve_weighted_ridge(features, X, Y, w, 2.0), whole, rtol=1e-9)
    assert_allclose(predict_scores(features, X, whole), scores, rtol=1e-12)


def test_memory_is_bounded_by_blocks_not_by_rows_times_columns(monkeypatch):
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 2**20)
    X = np.random.default_rng(0).normal(size=(40_000, 4))
    Y = one_hot((X[:, 0] > 0).astype(int), 2)
    w = np.full(len(X), 0.5)
    features = draw_random_features(4, 150, "relu", direct_link=True, seed=1)
    bytes_of_H = len(X) * features.n_columns * 8
    tracemalloc.start()
    coef = solve_weighted_ridge(features, X, Y, w, 1.0)
    predict_scores(features, X, coef)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert bytes_of_H > 45 * 2**20
    assert peak < 8 * 2**20


def test_a_singular_system_warns_and_gives_the_least_norm_solution():
    rng = np.random.default_rng(0)
    column = rng.normal(size=(30, 1))
    H = np.hstack([column, column, rng.normal(size=(30, 1))])
    Y = rng.normal(size=(30, 2))
    with pytest.warns(IllConditionedWarning, match="C=1e\\+20.*Lower C"):
        found = solve_weighted_ridge(Identity(3), H, Y, None, 1e20)
    assert_allclose(found, np.linalg.pinv(H) @ Y, atol=1e-8)


def test_features_too_large_to_square_say_so():
    H = np.full((3, 2), 1e200)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="StandardScaler"):
        solve_weighted_ridge(Identity(2), H, np.ones((3, 1)), None, 1.0)


@given(ridge_problems(), st.integers(0, 2**32 - 1), st.booleans())
def test_graph_ridge_solves_its_equation(problem, seed, symmetric):
    H, Y, _, C = problem
    root = np.random.default_rng(seed).normal(size=(H.shape[1],) * 2)
    G = root @ root.T if symmetric else root @ root.T + 0.1 * (root - root.T)
    equations = NormalEquations(H.T @ H, H.T @ Y)
    found = solve_graph_ridge(equations, G, C)
    left = (equations.gram + (np.eye(len(G)) + G) / C) @ found
    assert_allclose(left, equations.moment, rtol=1e-6, atol=1e-6)


def test_a_singular_graph_system_warns():
    equations = NormalEquations(np.zeros((2, 2)), np.ones((2, 1)))
    G = np.array([[-1.0, 1.0], [0.0, -1.0]])
    with pytest.warns(IllConditionedWarning):
        solve_graph_ridge(equations, G, 1.0)


# ---- By eigenvectors, with a free and with a penalised intercept ----

CS = [1e-3, 1.0, 1e3]
BIAS = 3


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
    ours = predict_scores(features, X, factor_spectral_ridge(features, X, Y, w).coef(C, BIAS))
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
            expected = predict_scores(features, X[[i]], without.coef(C, BIAS if free else None))[0]
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
    expected = predict_scores(
        features, X[[4]], factor_spectral_ridge(features, X, Y, w).coef(1.0, BIAS)
    )
    assert_allclose(found[0, 4], expected[0], rtol=1e-8)


def test_blocks_change_no_leave_one_out(monkeypatch):
    features, X, Y, w = problem(60)
    whole = factor_spectral_ridge(features, X, Y, w)
    ((_, expected),) = whole.leave_out(X, Y, w, CS)
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 7 * 8 * features.n_columns)
    pieces = factor_spectral_ridge(features, X, Y, w)
    found = list(pieces.leave_out(X, Y, w, CS))
    assert len(found) == 9
    assert_allclose(pieces.coef(1.0, BIAS), whole.coef(1.0, BIAS), rtol=1e-8, atol=1e-10)
    assert_allclose(np.concatenate([p for _, p in found], axis=1), expected, rtol=1e-8)


def test_a_far_away_origin_costs_no_digits():
    features, X, Y, w = problem()
    shifted = RandomFeatures(
        features.weights,
        features.biases - features.weights @ np.full(3, 1e6),
        "sine",
        direct_link=True,
    )
    near = predict_scores(features, X, factor_spectral_ridge(features, X, Y, w).coef(1.0, BIAS))
    far = factor_spectral_ridge(shifted, X + 1e6, Y, w)
    assert_allclose(predict_scores(shifted, X + 1e6, far.coef(1.0, BIAS)), near, atol=1e-5)
