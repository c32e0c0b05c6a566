"""R squared of all widths at once, against scikit-learn's of each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import r2_score

from granulearn.network import NormalEquations
from granulearn.selection.r_squared import RSquared, largest_change
from granulearn.selection.ridge_path import factor_ridge

SMALL_ERROR = 1e-13


@st.composite
def networks_to_judge(draw):
    """Return a judge, a path, numbers of columns and the features of the samples."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p, n_scored, n_outputs = (
        draw(st.integers(1, 6)),
        draw(st.integers(2, 9)),
        draw(st.integers(1, 3)),
    )
    A, B = rng.normal(size=(15, p)), rng.normal(size=(15, n_outputs))
    path = factor_ridge(
        NormalEquations(A.T @ A, A.T @ B), C=draw(st.sampled_from([1e-3, 1.0, 1e3]))
    )
    offset = draw(st.sampled_from([0.0, -40.0])) + rng.normal(size=n_outputs)
    Y = offset + rng.normal(size=(n_scored, n_outputs))
    weights = rng.uniform(0.1, 2, n_scored) if draw(st.booleans()) else np.ones(n_scored)
    judge = RSquared(Y, weights, offset, largest_target=np.abs(B).max(axis=0))
    return judge, path, np.arange(1, p + 1), np.asfortranarray(rng.normal(size=(n_scored, p)))


def outputs_one_by_one(case):
    judge, path, columns, H = case
    coefficients = path.coefficients(columns)
    return [H @ coefficients[:, at] + judge.offset for at in range(len(columns))]


def expected_scores(case):
    judge, *_ = case
    return [
        r2_score(judge.Y, outputs, sample_weight=judge.weights)
        for outputs in outputs_one_by_one(case)
    ]


@given(networks_to_judge())
def test_scores_of_widths_are_those_of_scikit_learn(case):
    judge, *network = case
    found = judge.of_widths(*network, error=SMALL_ERROR)
    assert_allclose(found.scores, expected_scores(case), rtol=1e-9, atol=1e-9)


@given(networks_to_judge())
def test_scores_of_outputs_are_those_of_scikit_learn(case):
    judge, *_ = case
    found = judge.of_layers(np.array(outputs_one_by_one(case)))
    assert_allclose(found.scores, expected_scores(case), rtol=1e-12, atol=1e-12)
    assert found.certain.all()


@given(case=networks_to_judge())
def test_working_in_blocks_of_rows_changes_nothing(case):
    judge, *network = case
    whole = judge.of_widths(*network, error=SMALL_ERROR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("granulearn.network.blocks.BLOCK_BYTES", 1)
        in_blocks = judge.of_widths(*network, error=SMALL_ERROR)
    assert_allclose(in_blocks.scores, whole.scores, rtol=1e-9, atol=1e-9)
    assert_array_equal(in_blocks.certain, whole.certain)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 20),
    st.floats(-9, 3).map(lambda exponent: 10**exponent),
)
def test_predictions_that_move_so_far_change_it_by_no_more(seed, n_samples, moved):
    rng = np.random.default_rng(seed)
    y, predicted = rng.normal(size=(2, n_samples))
    weights = rng.uniform(0.1, 2, n_samples)
    variance = np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
    before = np.average((y - predicted) ** 2, weights=weights) / variance
    for direction in (rng.uniform(-1, 1, n_samples), np.sign(predicted - y)):
        after = np.average((y - predicted - moved * direction) ** 2, weights=weights) / variance
        limit = largest_change(before, variance, moved)
        assert abs(after - before) <= limit * (1 + 1e-9) + 1e-12 * before


@pytest.mark.parametrize(
    ("Y", "offset", "error"),
    [
        (np.arange(6.0), 0.0, 1e-3),
        (1e12 + np.arange(6.0), 1e12, SMALL_ERROR),
        (np.full(6, 3.0), 3.0, SMALL_ERROR),
        (np.array([0, 1, np.nan, 3, 4, 5]), 0.0, SMALL_ERROR),
    ],
    ids=["condition", "far from zero", "constant", "not a number"],
)
def test_what_rounding_could_change_is_not_certain(Y, offset, error):
    path = factor_ridge(NormalEquations(np.eye(1), np.ones((1, 1))), C=1.0)
    judge = RSquared(Y[:, None], np.ones(6), np.array([offset]), largest_target=np.full(1, 3.0))
    H = np.asfortranarray(np.linspace(-1, 1, 6)[:, None])
    assert not judge.of_widths(path, np.array([1]), H, error).certain.any()


def test_targets_that_do_not_vary_are_left_to_scikit_learn():
    judge = RSquared(np.full((4, 1), 3.0), np.ones(4), np.array([3.0]), largest_target=np.zeros(1))
    assert judge.of_layers(np.array([judge.Y, judge.Y + 1])).certain.tolist() == [False, False]
