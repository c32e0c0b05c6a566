"""Which scores count: those that rounding cannot change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, r2_score

from granulearn.estimators import RVFLClassifier, RVFLRegressor
from granulearn.network import NormalEquations, one_hot
from granulearn.selection.fold import OutcomeTable
from granulearn.selection.judging import (
    Accuracy,
    ClassTargets,
    Judged,
    NumberTargets,
    RSquared,
    add_certain,
    certain_of_all,
    class_contrasts,
    decide,
    largest_change,
    rounding_error,
    targets_of,
)
from granulearn.selection.leave_one_out import predict_left_out
from granulearn.selection.ridge_path import factor_ridge
from tests.estimators.test_regression import smooth_function
from tests.selection.searches import noisy_classes

JUDGED = {
    "test_scores": Judged(np.array([0.1, 0.2, 0.3]), np.array([True, False, True])),
    "train_scores": Judged(np.array([0.4, 0.5, 0.6]), np.array([True, True, False])),
}


def test_rounding_grows_with_the_condition_number():
    assert rounding_error(1e10) > 1e4 * rounding_error(1.0)
    assert np.isnan(rounding_error(np.nan))


def test_a_network_is_certain_where_all_its_scores_are():
    assert certain_of_all(JUDGED).tolist() == [True, False, False]


def test_only_what_is_certain_is_added():
    table = OutcomeTable(JUDGED)
    assert add_certain(np.array([7, 8, 9]), JUDGED, table).tolist() == [True, False, False]
    assert table.places == [7]
    assert table.columns["test_scores"] == [0.1]
    assert table.columns["train_scores"] == [0.4]


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
    assert_allclose(take(case).largest, max(largest, 1), rtol=1e-6)
    assert_allclose(take(case).margins, np.array(leads) / max(largest, 1), rtol=1e-6, atol=1e-12)


@given(case=decisions_to_take())
def test_accuracy_in_blocks_of_rows_is_the_same(case):
    whole = take(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("granulearn.network.ridge.BLOCK_BYTES", 1)
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


@given(decisions_to_take())
def test_a_lead_that_its_own_row_cannot_lose_is_certain(case):
    path, columns, H, labels, n_classes, _ = case
    judge = Accuracy(labels == np.arange(n_classes)[:, None], weights=None)
    leads = [np.sort(scores, axis=1) for scores in scores_one_by_one(case)]
    smallest = np.array([(each[:, -1] - each[:, -2]).min() for each in leads])
    lost = path.moved_by_rounding(H, columns).max()
    clear = smallest > 1e-15 * n_classes * lost + 1e-12 * max(np.abs(leads).max(), 1)
    with_doubt = judge.of_widths(path, columns, H, error=0.5)
    assert with_doubt.certain[clear].all()
    assert not judge.of_widths(path, columns, H, error=np.inf).certain.any()
    assert_array_equal(with_doubt.scores, judge.of_widths(path, columns, H, error=0.0).scores)


def test_a_lead_within_the_rounding_of_its_row_is_not_certain():
    gram, moment = np.diag([1.0, 1e-9]), np.array([[1.0, 0.0], [0.0, 1e-8]])
    path = factor_ridge(NormalEquations(gram, moment), C=1e9)
    judge = Accuracy(np.array([[True, False], [False, True]]), weights=None)
    # In the second row two scores of about 1e5 nearly cancel.
    theta = path.coefficients(np.array([2]))[:, 0]
    contrast = theta[:, 1] - theta[:, 0]
    nearly = np.array([1.0, -contrast[0] / contrast[1] * (1 + 1e-15)])
    H = np.asfortranarray([[1.0, 0.0], 1e5 * nearly])
    assert judge.of_widths(path, np.array([2]), H, error=0.01).certain.tolist() == [False]


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
def test_r_squared_in_blocks_of_rows_is_the_same(case):
    judge, *network = case
    whole = judge.of_widths(*network, error=SMALL_ERROR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("granulearn.network.ridge.BLOCK_BYTES", 1)
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


def test_classes_are_ones_and_zeros():
    model = RVFLClassifier()
    rows, _ = model._prepare(model._check(*noisy_classes(n_classes=3)))
    targets = targets_of(model, rows)
    assert isinstance(targets, ClassTargets)
    assert_array_equal(targets.Y.argmax(axis=1), rows.codes)
    assert_array_equal(targets.Y.sum(axis=1), 1)
    assert not targets.offset.any()
    assert targets.to_leave_out().dtype == np.float64


def test_numbers_are_taken_around_their_weighted_mean():
    model, (X, Y) = RVFLRegressor(), smooth_function(n_outputs=2)
    weights = np.random.default_rng(0).uniform(0.1, 2, len(X))
    rows, _ = model._prepare(model._check(X, Y, weights))
    targets = targets_of(model, rows)
    assert isinstance(targets, NumberTargets)
    assert_allclose(targets.offset, np.average(Y, axis=0, weights=weights))
    assert_allclose(targets.Y + targets.offset, Y)
    assert_allclose(weights @ targets.Y, 0, atol=1e-10)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
    st.integers(1, 6),
    st.integers(1, 3),
    st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_leaving_out_a_row_leaves_it_out_of_the_mean_too(seed, n_rows, p, n_outputs, C):
    rng = np.random.default_rng(seed)
    H, Y = rng.normal(size=(n_rows, p)), 5 + rng.normal(size=(n_rows, n_outputs))
    weights = rng.uniform(0.2, 2, n_rows)
    offset = np.average(Y, axis=0, weights=weights)
    targets = NumberTargets(Y - offset, offset)
    predictions = predict_left_out(H, targets.to_leave_out(), weights, [C])
    found = targets.left_out(predictions, weights)[0] + offset
    for i in range(n_rows):
        rest = np.arange(n_rows) != i
        mean = np.average(Y[rest], axis=0, weights=weights[rest])
        A = H[rest].T * weights[rest]
        theta = np.linalg.solve(A @ H[rest] + np.eye(p) / C, A @ (Y[rest] - mean))
        assert_allclose(found[i], H[i] @ theta + mean, rtol=1e-6, atol=1e-6)


def test_nothing_is_left_without_the_only_row():
    targets = NumberTargets(np.zeros((1, 1)), np.ones(1))
    with pytest.raises(ValueError, match="needs two or more"):
        targets.left_out(np.zeros((1, 1, 2)), np.ones(1))


def test_own_scores_are_not_those_of_the_other_kind():
    assert set(ClassTargets.own_scores) & set(NumberTargets.own_scores) == {None}
