"""Decisions of all widths at once, against scikit-learn's accuracy of each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score

from granulearn.network import NormalEquations, one_hot
from granulearn.selection.accuracy import class_contrasts, decide
from granulearn.selection.ridge_path import factor_ridge


@st.composite
def decisions_to_take(draw):
    """Return a path, numbers of columns, rows to score, their labels and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes, p, n_scored = (
        draw(st.integers(2, 4)),
        draw(st.integers(1, 6)),
        draw(st.integers(1, 9)),
    )
    A = rng.normal(size=(15, p))
    Y = one_hot(np.arange(15) % n_classes, n_classes).astype(float)
    path = factor_ridge(
        NormalEquations(A.T @ A, A.T @ Y), C=draw(st.sampled_from([1e-3, 1.0, 1e3]))
    )
    H = np.asfortranarray(rng.normal(size=(n_scored, p)))
    # One label more than classes: a fold's training part may lack a class.
    labels = rng.integers(0, n_classes + 1, size=n_scored)
    weights = rng.uniform(0.1, 2, size=n_scored) if draw(st.booleans()) else None
    return path, np.arange(1, p + 1), H, labels, n_classes, weights


def take(case):
    path, columns, H, labels, n_classes, weights = case
    is_class = labels == np.arange(n_classes)[:, None]
    return decide(class_contrasts(path), columns, H, is_class, weights)


def scores_one_by_one(case):
    path, columns, H, *_ = case
    coefficients = path.coefficients(columns)
    return [H @ coefficients[:, at] for at in range(len(columns))]


@given(decisions_to_take())
def test_accuracies_are_those_of_the_highest_scores(case):
    *_, labels, _, weights = case
    expected = [
        accuracy_score(labels, scores.argmax(axis=1), sample_weight=weights)
        for scores in scores_one_by_one(case)
    ]
    assert_array_equal(take(case).accuracies, expected)


@given(decisions_to_take())
def test_margins_are_the_smallest_leads(case):
    leads, largest = [], 0
    for scores in scores_one_by_one(case):
        ordered = np.sort(scores, axis=1)
        leads.append((ordered[:, -1] - ordered[:, -2]).min())
        contrasts = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
        largest = max(largest, np.abs(contrasts).max())
    assert_allclose(take(case).margins, np.array(leads) / max(largest, 1), rtol=1e-6, atol=1e-12)


@given(case=decisions_to_take())
def test_working_in_blocks_of_rows_changes_nothing(case):
    whole = take(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("granulearn.network.blocks.BLOCK_BYTES", 1)
        in_blocks = take(case)
    assert_array_equal(in_blocks.accuracies, whole.accuracies)
    assert_allclose(in_blocks.margins, whole.margins, rtol=1e-9, atol=1e-12)


def test_what_is_not_a_number_has_no_margin():
    path = factor_ridge(NormalEquations(np.eye(1), np.array([[0.0, 1.0]])), C=1.0)
    case = path, np.array([1]), np.array([[np.inf], [1.0]], order="F"), np.array([0, 1]), 2, None
    with np.errstate(invalid="ignore"):
        assert not (take(case).margins > 0).any()


def test_scores_that_are_all_zero_have_no_margin():
    path = factor_ridge(NormalEquations(np.eye(1), np.zeros((1, 2))), C=1.0)
    case = path, np.array([1]), np.ones((3, 1), order="F"), np.zeros(3, dtype=int), 2, None
    assert take(case).margins.tolist() == [0.0]
