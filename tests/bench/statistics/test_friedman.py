"""Friedman and Iman-Davenport against scipy, counting and analysis of variance."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from granulearn.bench import (
    friedman_test,
    iman_davenport_test,
    paper_accuracy_table,
    rank_models,
)
from tests.bench.statistics.score_tables import score_tables


def has_a_difference(table):
    return not (table == table[:, :1]).all()


@settings(deadline=None)
@given(score_tables(min_models=3))
def test_tie_corrected_chi2_agrees_with_scipy(table):
    assume(has_a_difference(table))
    ours = friedman_test(table, tie_corrected=True)
    theirs = stats.friedmanchisquare(*table.T)
    assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_without_ties_plain_and_corrected_agree_with_scipy(n_sets, n_models, seed):
    table = np.random.default_rng(seed).permuted(np.tile(np.arange(n_models), (n_sets, 1)), axis=1)
    theirs = stats.friedmanchisquare(*table.T)
    for tie_corrected in (False, True):
        ours = friedman_test(table, tie_corrected=tie_corrected)
        assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)


@settings(deadline=None)
@given(score_tables())
def test_plain_chi2_is_the_papers_formula(table):
    n_sets, n_models = table.shape
    mean_ranks = rank_models(table).mean(axis=0)
    expected = (
        12
        * n_sets
        / (n_models * (n_models + 1))
        * (np.sum(mean_ranks**2) - n_models * (n_models + 1) ** 2 / 4)
    )
    assert friedman_test(table).statistic == pytest.approx(expected, abs=1e-8)


@settings(deadline=None)
@given(score_tables(max_models=2))
def test_two_models_make_a_sign_test(table):
    # scipy wants three models; for two, chi2 is known by counting.
    wins = np.sum(table[:, 0] > table[:, 1])
    losses = np.sum(table[:, 0] < table[:, 1])
    plain = friedman_test(table)
    assert plain.statistic == pytest.approx((wins - losses) ** 2 / len(table))
    if wins + losses:
        corrected = friedman_test(table, tie_corrected=True)
        assert corrected.statistic == pytest.approx((wins - losses) ** 2 / (wins + losses))


def test_models_that_never_differ_give_no_evidence():
    for tie_corrected in (False, True):
        test = friedman_test(np.ones((5, 4)), tie_corrected=tie_corrected)
        assert (test.statistic, test.p_value) == (0, 1)


def test_full_agreement_makes_f_infinite():
    table = np.tile([3, 2, 1], (7, 1))
    chi2 = friedman_test(table).statistic
    assert chi2 == pytest.approx(14)
    test = iman_davenport_test(chi2, 7, 3)
    assert (test.statistic, test.p_value) == (np.inf, 0)


@settings(deadline=None)
@given(score_tables(min_models=3))
def test_f_is_the_variance_ratio_of_the_ranks_when_nothing_ties(table):
    """Independent route: a two-way analysis of variance of the ranks."""
    table = table + np.arange(table.shape[1]) * 0.01
    ranks = rank_models(table)
    n_sets, n_models = ranks.shape
    between = n_sets * np.sum((ranks.mean(axis=0) - ranks.mean()) ** 2) / (n_models - 1)
    residual = ranks - ranks.mean(axis=0)
    within = np.sum(residual**2) / ((n_sets - 1) * (n_models - 1))
    assume(within > 1e-9)
    test = iman_davenport_test(friedman_test(table).statistic, n_sets, n_models)
    assert test.statistic == pytest.approx(between / within, abs=1e-8)
    expected = stats.f.sf(between / within, n_models - 1, (n_models - 1) * (n_sets - 1))
    assert test.p_value == pytest.approx(expected, abs=1e-8)


def test_chi2_and_f_of_the_paper():
    chi2 = friedman_test(paper_accuracy_table())
    assert round(chi2.statistic, 2) == 66.21
    assert chi2.degrees_of_freedom == (7,)
    f_test = iman_davenport_test(chi2.statistic, 37, 8)
    assert round(f_test.statistic, 2) == 12.36
    assert f_test.degrees_of_freedom == (7, 252)


@pytest.mark.parametrize("chi2", [-1.0, 30.0, float("nan")])
def test_an_impossible_chi2_is_refused(chi2):
    with pytest.raises(ValueError, match="between 0 and 14"):
        iman_davenport_test(chi2, 7, 3)
