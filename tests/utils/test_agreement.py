"""Agreement of annotators, against scikit-learn, statsmodels and a slow twin."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from granulearn.utils.agreement import cohen_kappa, krippendorff_alpha

SHAPES = st.tuples(st.integers(0, 8), st.integers(2, 5))
WITH_GAPS = SHAPES.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 3)))


def slow_alpha(codes):
    """Return alpha by its definition: every pair of labels within rows, and of all rows."""
    rows = [[code for code in row if code >= 0] for row in codes.tolist()]
    rows = [row for row in rows if len(row) > 1]
    labels = [code for row in rows for code in row]
    observed = sum(
        sum(a != b for i, a in enumerate(row) for j, b in enumerate(row) if i != j) / (len(row) - 1)
        for row in rows
    )
    by_chance = sum(a != b for a in labels for b in labels)
    return 1 - (len(labels) - 1) * observed / by_chance if by_chance else np.nan


def noisy_labels(rng, n_rows, n_annotators, n_classes=3, wrong=0.2):
    truth = rng.integers(n_classes, size=(n_rows, 1))
    random = rng.integers(n_classes, size=(n_rows, n_annotators))
    return np.where(rng.random((n_rows, n_annotators)) < wrong, random, truth)


@given(WITH_GAPS)
def test_alpha_is_one_minus_observed_over_expected_disagreement(codes):
    found = krippendorff_alpha(codes)
    assert_allclose(found.value, slow_alpha(codes), atol=1e-12)
    assert found.n_rows == np.sum((codes >= 0).sum(axis=1) > 1)


@given(WITH_GAPS, st.randoms(use_true_random=False))
def test_order_names_and_missing_labels_change_nothing(codes, random):
    new = np.array([np.nan, *random.sample([5, 90, 17, 3], 4)])
    renamed = new[codes + 1]
    rows, columns = ([*range(n)] for n in codes.shape)
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = krippendorff_alpha(renamed[rows][:, columns])
    assert_allclose(astuple(shuffled), astuple(krippendorff_alpha(codes)), atol=1e-12)
    a, b = codes.T[:2]
    swapped = cohen_kappa(new[b + 1], new[a + 1])
    assert_allclose(astuple(swapped), astuple(cohen_kappa(a, b)), atol=1e-12)


@given(WITH_GAPS)
def test_kappa_is_that_of_scikit_learn_on_the_rows_of_both(codes):
    a, b = codes.T[:2]
    both = (a >= 0) & (b >= 0)
    single = len({*a[both].tolist(), *b[both].tolist()}) < 2
    expected = np.nan if single else cohen_kappa_score(a[both], b[both])
    found = cohen_kappa(a, b)
    assert_allclose(found.value, expected, atol=1e-12)
    assert found.n_rows == both.sum()


def test_alpha_of_complete_labels_is_the_kappa_of_fleiss_but_for_a_term_of_one_over_n():
    codes = noisy_labels(np.random.default_rng(0), 60, 4)
    fleiss = fleiss_kappa(aggregate_raters(codes)[0])
    assert_allclose(krippendorff_alpha(codes).value, fleiss + (1 - fleiss) / codes.size)


def test_the_range_of_kappa_is_as_wide_as_that_of_statsmodels():
    codes = noisy_labels(np.random.default_rng(1), 400, 2)
    table = np.zeros((3, 3))
    np.add.at(table, tuple(codes.T), 1)
    found, expected = cohen_kappa(*codes.T), cohens_kappa(table)
    assert_allclose(found.value, expected.kappa)
    assert_allclose(found.high - found.low, expected.kappa_upp - expected.kappa_low, rtol=0.05)


@pytest.mark.parametrize("n_annotators", [2, 4])
@pytest.mark.parametrize("wrong", [0.02, 0.3])
def test_the_range_holds_the_true_agreement_nineteen_times_of_twenty(n_annotators, wrong):
    rng = np.random.default_rng(2)
    true = krippendorff_alpha(noisy_labels(rng, 100_000, n_annotators, wrong=wrong)).value
    draws = [noisy_labels(rng, 40, n_annotators, wrong=wrong) for _ in range(300)]
    found = [krippendorff_alpha(draw) for draw in draws]
    assert np.mean([one.low <= true <= one.high for one in found]) > 0.92
    assert all(one.low <= one.value <= one.high for one in found)


def test_full_agreement_on_few_rows_is_no_proof_of_it():
    labels = np.arange(10) % 2
    found = cohen_kappa(labels, labels)
    assert (found.value, found.high) == (1, 1)
    assert found.low < 0.5


@pytest.mark.parametrize("codes", [np.zeros((5, 2)), np.full((5, 2), -1), np.empty((0, 3))])
def test_agreement_on_one_label_or_none_is_undefined(codes):
    assert np.isnan(krippendorff_alpha(codes).value)
    assert np.isnan(cohen_kappa(*codes.T[:2]).value)


def test_codes_that_are_no_matrix_are_refused():
    with pytest.raises(ValueError, match=r"must have shape \(n_rows, n_annotators\)"):
        krippendorff_alpha([0, 1])


def test_labels_that_are_no_codes_are_refused_in_words():
    with pytest.raises(TypeError, match=r"make codes of them by pandas\.factorize"):
        cohen_kappa(["a", "b"], ["a", "a"])
