"""The confident joint, against cleanlab's."""

import numpy as np
import pytest
from cleanlab.count import estimate_joint
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.audit import LabelAudit, estimate_noise
from tests.audit.tables import three_clouds


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4))
def test_the_joint_is_cleanlabs(seed, n_classes):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(n_classes), rng.integers(n_classes, size=80)]
    proba = rng.dirichlet(np.ones(n_classes), len(codes))
    proba[np.arange(len(codes)), codes] += 0.7
    proba /= proba.sum(axis=1, keepdims=True)
    theirs = estimate_joint(codes, proba)
    assert_allclose(estimate_noise(proba, codes), theirs, atol=0.02)


def test_it_sums_to_one_and_its_rows_to_the_given_shares():
    X, y, _ = three_clouds()
    audit = LabelAudit(random_state=0).fit(X, y)
    assert audit.noise_matrix_.sum() == pytest.approx(1)
    _, counts = np.unique(y, return_counts=True)
    assert_allclose(audit.noise_matrix_.sum(axis=1), counts / len(y))


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_where_classes_are_apart_the_rate_is_found(rate):
    X, y, wrong = three_clouds(400, rate)
    assert LabelAudit(random_state=0).fit(X, y).noise_rate_ == pytest.approx(wrong.mean(), abs=0.02)


def test_a_pair_of_classes_that_is_mixed_up_is_named():
    X, y, _ = three_clouds(300, 0.0)
    dogs = np.flatnonzero(y == "dog")[:20]
    y = y.copy()
    y[dogs] = "emu"
    matrix = LabelAudit(random_state=0).fit(X, y).noise_matrix_
    off = matrix - np.diag(np.diag(matrix))
    assert off[2, 1] == pytest.approx(20 / 300, abs=0.01)  # given emu, likely dog
    assert off.sum() - off[2, 1] < 0.01


def test_rows_without_probabilities_are_left_out():
    proba = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [np.nan, np.nan]])
    expected = [[0.5, 0], [0, 0.5]]
    assert_allclose(estimate_noise(proba, np.array([0, 0, 1, 1, 1])), expected)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n_alone=st.integers(1, 4))
def test_classes_of_one_sample_do_not_move_the_estimate(seed, n_alone):
    rng = np.random.default_rng(seed)
    codes = np.r_[0, 0, 1, 1, rng.integers(2, size=40)]
    # No tree that did not see the only sample of a class gives that class anything much.
    rare = rng.uniform(0, 0.05, size=(len(codes) + n_alone, n_alone))
    proba = np.column_stack([rng.dirichlet([1, 1], len(rare)), rare])
    with_rare = estimate_noise(proba, np.r_[codes, 2 + np.arange(n_alone)])
    without = estimate_noise(proba[: len(codes), :2], codes)
    assert_allclose(with_rare[:2, :2], without)
    assert with_rare[2:].sum() == with_rare[:, 2:].sum() == 0


def test_misspelt_labels_do_not_move_the_rate_of_an_audit():
    X, y, wrong = three_clouds(300, 0.1)
    y = y.astype(object)
    y[np.flatnonzero(~wrong)[:4]] = ["Cat", "CAT", "dgo", "Emu"]
    with pytest.warns(UserWarning, match="4 of 300 labels is unknown"):
        audit = LabelAudit(random_state=0).fit(X, y)
    assert audit.noise_rate_ == pytest.approx(wrong.mean(), abs=0.02)
    assert audit.alone_.sum() == 4


def test_where_every_label_occurs_once_the_rate_is_unknown():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(UserWarning, match="20 of 20 labels is unknown"):
        audit = LabelAudit(random_state=0).fit(X, np.arange(20))
    assert np.isnan(audit.noise_rate_)
    assert audit.alone_.all()
    assert not audit.flagged_.any()
