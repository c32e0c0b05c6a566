"""Ridges of deep networks: against one ridge at a time, and within bounded memory."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from granulearn.rvfl import draw_deep_features, one_hot, solve_weighted_ridge
from granulearn.rvfl.deep_features import (
    layer_scores,
    layer_solvers,
    solve_layers,
    solve_stages,
    stage_scores,
)


@st.composite
def deep_problems(draw):
    """Draw features, X, Y, w and C with more, as many or fewer rows than columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    X, Y = rng.normal(size=(n_rows, n_features)), rng.normal(size=(n_rows, 2))
    weights = rng.uniform(0.1, 2, n_rows) if draw(st.booleans()) else None
    widths = draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    features = draw_deep_features(
        X, weights, widths, "sigmoid", feeds_inputs=draw(st.booleans()), normalize=True, seed=3
    )
    return features, X, Y, weights, 10.0 ** draw(st.integers(-2, 2))


def by_scikit_learn(H, Y, weights, C):
    model = Ridge(alpha=1 / C, fit_intercept=False, solver="svd")
    return model.fit(H, Y, sample_weight=weights).coef_.T


@given(deep_problems())
def test_each_stage_is_the_ridge_on_its_leading_columns(problem):
    features, X, Y, weights, C = problem
    H = features(X)
    found = solve_stages(features, X, Y, weights, C)
    for p, theta in zip(features.stage_columns, found, strict=True):
        assert_allclose(theta, by_scikit_learn(H[:, :p], Y, weights, C), rtol=1e-5, atol=1e-7)
    scores = stage_scores(features, X, found)
    for theta, stage in zip(found, scores, strict=True):
        assert_allclose(stage, H[:, : len(theta)] @ theta, atol=1e-8)


@given(deep_problems())
def test_each_layer_has_the_ridge_on_its_own_columns(problem):
    features, X, Y, weights, C = problem
    found = solve_layers(features, X, Y, weights, C)
    scores = layer_scores(features, X, found)
    for columns, theta, layer in zip(features.layers(X), found, scores, strict=True):
        expected = by_scikit_learn(columns, Y, weights, C)
        assert_allclose(theta, expected, rtol=1e-5, atol=1e-7)
        assert_allclose(layer, columns @ theta, atol=1e-8)


@given(deep_problems())
def test_the_first_layer_is_solved_as_a_network_of_one_layer_to_the_last_bit(problem):
    features, X, Y, weights, C = problem
    alone = replace(features, deeper=())
    expected = solve_weighted_ridge(alone.first, X, Y, weights, C)
    assert_array_equal(solve_stages(alone, X, Y, weights, C)[0], expected)
    assert_array_equal(solve_layers(alone, X, Y, weights, C)[0], expected)


@given(deep_problems())
def test_one_pass_over_the_rows_serves_every_penalty(problem):
    features, X, Y, weights, C = problem
    solvers = layer_solvers(features, X, Y, weights)
    for factor in (1, 10):
        expected = solve_layers(features, X, Y, weights, factor * C)
        for solve, theta in zip(solvers, expected, strict=True):
            assert_array_equal(solve(factor * C), theta)


@pytest.mark.parametrize("solve", [solve_stages, solve_layers])
def test_blocks_change_nothing(solve, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y, w = rng.normal(size=(500, 3)), rng.normal(size=(500, 2)), rng.uniform(size=500)
    features = draw_deep_features(X, w, (20, 15), "tanh", feeds_inputs=True, normalize=True, seed=1)
    whole = solve(features, X, Y, w, 2.0)
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 7 * 24 * 8)
    for pieces, expected in zip(solve(features, X, Y, w, 2.0), whole, strict=True):
        assert_allclose(pieces, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("solve", [solve_stages, solve_layers])
def test_memory_is_bounded_by_blocks_not_by_rows_times_nodes(solve, monkeypatch):
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 2**20)
    X = np.random.default_rng(0).normal(size=(40_000, 4))
    Y = one_hot((X[:, 0] > 0).astype(int), 2)
    w = np.full(len(X), 0.5)
    tracemalloc.start()
    features = draw_deep_features(
        X, w, (50, 50, 50), "relu", feeds_inputs=True, normalize=True, seed=1
    )
    solve(features, X, Y, w, 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(X) * features.n_columns * 8 > 45 * 2**20
    assert peak < 16 * 2**20
