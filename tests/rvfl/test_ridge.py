"""The weighted ridge against scikit-learn, its two forms, its bounds."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from granulearn.rvfl import (
    IllConditionedWarning,
    draw_random_features,
    one_hot,
    predict_scores,
    solve_graph_ridge,
    solve_weighted_ridge,
)
from granulearn.rvfl.ridge import (
    NormalEquations,
    normal_equations,
    row_blocks,
    solve_dual,
    solve_primal,
    solve_shifted,
    weighted_rows,
)
from tests.rvfl.problems import Identity, ridge_problems


@given(ridge_problems())
def test_the_solution_is_that_of_scikit_learn(problem):
    H, Y, w, C = problem
    oracle = Ridge(alpha=1 / C, fit_intercept=False, solver="svd").fit(H, Y, sample_weight=w)
    found = solve_weighted_ridge(Identity(H.shape[1]), H, Y, w, C)
    assert_allclose(found, oracle.coef_.T, rtol=1e-6, atol=1e-8)


@given(ridge_problems())
def test_primal_equals_dual(problem):
    H, Y, w, C = problem
    features = Identity(H.shape[1])
    primal = solve_primal(normal_equations(features, H, Y, w), C)
    dual = solve_dual(*weighted_rows(features, H, Y, w), C)
    assert_allclose(primal, dual, rtol=1e-6, atol=1e-8)


@given(ridge_problems(), st.integers(0, 2**32 - 1))
def test_integer_weight_is_repetition(problem, seed):
    H, Y, _, C = problem
    w = np.append(np.random.default_rng(seed).integers(0, 4, len(H) - 1), 1)
    features = Identity(H.shape[1])
    weighted = solve_weighted_ridge(features, H, Y, w, C)
    repeated = solve_weighted_ridge(
        features, np.repeat(H, w, axis=0), np.repeat(Y, w, axis=0), None, C
    )
    assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-8)


@given(ridge_problems())
def test_no_weights_are_weights_of_one(problem):
    H, Y, _, C = problem
    features = Identity(H.shape[1])
    plain = solve_weighted_ridge(features, H, Y, None, C)
    assert_allclose(plain, solve_weighted_ridge(features, H, Y, np.ones(len(H)), C))


@given(ridge_problems(), st.integers(0, 2**32 - 1))
def test_complex_rows_solve_the_hermitian_normal_equations(problem, seed):
    H, Y, w, C = problem
    H = H + 1j * np.random.default_rng(seed).normal(size=H.shape)
    features = Identity(H.shape[1], dtype=np.dtype(np.complex128))
    found = solve_weighted_ridge(features, H, Y, w, C)
    system = H.conj().T @ (w[:, None] * H) + np.eye(H.shape[1]) / C
    expected = np.linalg.solve(system, H.conj().T @ (w[:, None] * Y))
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@given(ridge_problems())
def test_a_leading_block_of_columns_has_the_leading_block_of_the_gram_matrix(problem):
    H, Y, w, _ = problem
    narrow = max(1, H.shape[1] // 2)
    whole = normal_equations(Identity(H.shape[1]), H, Y, w)
    part = normal_equations(Identity(narrow), H[:, :narrow], Y, w)
    assert_allclose(whole.gram[:narrow, :narrow], part.gram, atol=1e-12)


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


def test_one_hot_marks_each_rows_class():
    assert_array_equal(one_hot(np.array([2, 0]), 3), [[0, 0, 1], [1, 0, 0]])


def test_a_singular_system_warns_and_gives_the_least_norm_solution():
    rng = np.random.default_rng(0)
    column = rng.normal(size=(30, 1))
    H = np.hstack([column, column, rng.normal(size=(30, 1))])
    Y = rng.normal(size=(30, 2))
    with pytest.warns(IllConditionedWarning, match="C=1e\\+20.*Lower C"):
        found = solve_weighted_ridge(Identity(3), H, Y, None, 1e20)
    assert_allclose(found, np.linalg.pinv(H) @ Y, atol=1e-8)


def test_a_system_that_factors_but_is_singular_to_working_precision_warns_too():
    with pytest.warns(IllConditionedWarning):
        found = solve_shifted(np.diag([1.0, 1e-17]), np.ones((2, 1)), 1e18)
    assert_allclose(found, [[1.0], [0.0]])


def test_a_well_conditioned_system_does_not_warn():
    with warnings.catch_warnings(action="error"):
        solve_shifted(np.diag([1.0, 1e-6]), np.ones((2, 1)), 1e5)


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


@pytest.mark.parametrize("n_rows", [0, 1, 7, 100_003])
@pytest.mark.parametrize("bytes_per_row", [1, 8_000, 10**9])
def test_blocks_cover_every_row_once_and_in_order(n_rows, bytes_per_row):
    if n_rows > 1000 and bytes_per_row == 10**9:
        n_rows = 50  # a block per row: enough of them
    rows = np.arange(n_rows)
    blocks = [rows[block] for block in row_blocks(n_rows, bytes_per_row)]
    assert_array_equal(np.concatenate([*blocks, []]), rows)


def test_a_block_stays_within_its_bytes(monkeypatch):
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 1000)
    sizes = [block.stop - block.start for block in row_blocks(95, 100)]
    assert sizes == [10] * 9 + [5]
