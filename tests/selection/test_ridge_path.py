"""The law of leading blocks, against an SVD solution of each width on its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.network import NormalEquations
from granulearn.selection.ridge_path import (
    ROW_FACTOR,
    RidgePath,
    _running_sums,
    factor_ridge,
    leading_lengths,
    weight_lengths,
)


@st.composite
def nested_problems(draw):
    """Return A, B, rows to score, C and ascending numbers of leading columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, p, n_scored = (
        draw(st.integers(1, 12)),
        draw(st.integers(1, 10)),
        draw(st.integers(1, 9)),
    )
    A, H = rng.normal(size=(n_rows, p)), rng.normal(size=(n_scored, p))
    if draw(st.booleans()):
        A, H = A + 1j * rng.normal(size=A.shape), H + 1j * rng.normal(size=H.shape)
    B = rng.normal(size=(n_rows, draw(st.integers(1, 3))))
    columns = draw(st.lists(st.integers(1, p), min_size=1, max_size=12).map(sorted))
    return A, B, H, draw(st.floats(1e-4, 1e4)), np.array(columns)


def ridge_path(A, B, C):
    return factor_ridge(NormalEquations(A.conj().T @ A, A.conj().T @ B), C)


def by_svd(A, B, C):
    """Return the ridge as least squares on rows that pull every weight to zero."""
    pull = np.eye(A.shape[1]) / np.sqrt(C)
    targets = np.vstack([B, np.zeros((A.shape[1], B.shape[1]))])
    return np.linalg.lstsq(np.vstack([A, pull]), targets, rcond=None)[0]


@given(nested_problems())
def test_coefficients_are_the_ridge_on_the_leading_columns(problem):
    A, B, _, C, columns = problem
    coefficients = ridge_path(A, B, C).coefficients(columns)
    for at, p in enumerate(columns):
        assert_allclose(coefficients[:p, at], by_svd(A[:, :p], B, C), rtol=1e-6, atol=1e-8)
        assert not coefficients[p:, at].any()


@given(nested_problems())
def test_partial_sums_are_the_scores_of_every_width(problem):
    A, B, H, C, columns = problem
    path = ridge_path(A, B, C)
    expected = [(H[:, :p] @ by_svd(A[:, :p], B, C)).real for p in columns]
    for ways in (path._scores_by_sums, path._scores_by_coefficients, path.scores):
        scores = ways(np.asfortranarray(H), columns)
        assert_allclose(scores.transpose(1, 2, 0), expected, rtol=1e-6, atol=1e-8)


@given(nested_problems())
def test_the_condition_number_is_estimated_and_that_of_fewer_columns_is_no_larger(problem):
    A, B, _, C, columns = problem
    system = A.conj().T @ A + np.eye(A.shape[1]) / C
    found = ridge_path(A, B, C).condition(np.abs(system).sum(axis=0).max())
    exact = np.linalg.cond(system, 1)
    assert exact / 10 < found < exact * 1.001
    for p in columns:
        assert np.linalg.cond(system[:p, :p]) < np.linalg.cond(system) * 1.001


@given(nested_problems(), st.integers(0, 2**32 - 1))
def test_a_disturbed_system_moves_a_score_by_less_than_its_sensitivity_allows(problem, seed):
    A, B, H, C, columns = problem
    path = ridge_path(A, B, C)
    found = path.sensitivities(H, columns)
    coefficients = path.coefficients(columns)
    rng = np.random.default_rng(seed)
    for at, p in enumerate(columns):
        system = A[:, :p].conj().T @ A[:, :p] + np.eye(p) / C
        disturbance = rng.normal(size=(p, p))
        share = np.linalg.norm(disturbance, 2) / np.trace(system).real
        theta = coefficients[:p, at]
        moved = np.abs(H[:, :p] @ np.linalg.solve(system, disturbance @ theta)).max(axis=1)
        allowed = share * found[at] * np.linalg.norm(theta)
        assert (moved <= allowed * (1 + 1e-6) + 1e-12).all()


@given(nested_problems())
def test_what_rounding_may_move_grows_with_the_weights(problem):
    A, B, H, C, columns = problem
    path = ridge_path(A, B, C)
    lengths = [np.linalg.norm(by_svd(A[:, :p], B, C)) + 1 for p in columns]
    assert_allclose(weight_lengths(path.coefficients(columns)), lengths, rtol=1e-6)
    expected = ROW_FACTOR * np.array(lengths)[:, None] * path.sensitivities(H, columns)
    assert_allclose(path.moved_by_rounding(H, columns), expected, rtol=1e-6)


@given(nested_problems())
def test_traces_and_lengths_are_those_of_leading_columns(problem):
    A, B, H, C, columns = problem
    system = A.conj().T @ A + np.eye(A.shape[1]) / C
    traces = [np.trace(system[:p, :p]).real for p in columns]
    assert_allclose(ridge_path(A, B, C).traces(columns), traces)
    lengths = [np.linalg.norm(H[:, :p], axis=1) for p in columns]
    assert_allclose(leading_lengths(H.T, columns), lengths)


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_running_sums_are_cumulative_sums(n_rows, n_columns, seed):
    terms = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    assert_allclose(_running_sums(terms.copy()), terms.cumsum(axis=0), atol=1e-12)


def test_no_path_where_the_matrix_is_not_positive_definite():
    equations = NormalEquations(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones((2, 1)))
    assert factor_ridge(equations, C=1e5) is None
    assert isinstance(factor_ridge(equations, C=0.1), RidgePath)


@pytest.mark.parametrize("order", ["C", "F"])
def test_factoring_leaves_the_equations_alone(order):
    gram = np.array([[2.0, 1.0], [1.0, 3.0]], order=order)
    factor_ridge(NormalEquations(gram, np.ones((2, 1))), C=1.0)
    assert gram.tolist() == [[2.0, 1.0], [1.0, 3.0]]
