"""Wilcoxon, Holm and win-tie-loss against scipy, statsmodels and all sign patterns."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from granulearn.bench import holm_adjust, paper_accuracy_table, wilcoxon_p_value, win_tie_loss
from tests.bench.statistics.score_tables import score_tables

p_value_lists = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(p_value_lists)
def test_holm_agrees_with_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(holm_adjust(p_values), expected, atol=1e-12)


@settings(deadline=None)
@given(p_value_lists, st.randoms(use_true_random=False))
def test_holm_does_not_depend_on_the_order(p_values, random):
    order = list(range(len(p_values)))
    random.shuffle(order)
    shuffled = [p_values[i] for i in order]
    np.testing.assert_allclose(holm_adjust(shuffled), holm_adjust(p_values)[order])


def test_holm_refuses_what_is_no_probability():
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        holm_adjust([0.5, 1.5])


def exact_signed_rank_p(differences):
    """Try every assignment of signs: the definition of the exact test."""
    ranks = stats.rankdata(np.abs(differences))
    observed = ranks[np.asarray(differences) > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product((0, 1), repeat=len(ranks))]
    below = np.mean([total <= observed for total in sums])
    above = np.mean([total >= observed for total in sums])
    return min(1.0, 2 * min(below, above))


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_few_distinct_differences_give_the_exact_p(n_sets, seed):
    rng = np.random.default_rng(seed)
    differences = rng.permutation(np.arange(1, n_sets + 1)) * rng.choice([-1, 1], n_sets)
    second = rng.integers(50, 90, n_sets)
    p_value = wilcoxon_p_value(second + differences, second)
    assert p_value == pytest.approx(exact_signed_rank_p(differences))


@pytest.mark.slow  # scipy tries all signs of up to thirteen differences
@settings(deadline=None, max_examples=8)
@given(score_tables(max_sets=30, max_models=2))
def test_whole_scores_agree_with_scipy(table):
    difference = table[:, 0] - table[:, 1]
    expected = stats.wilcoxon(difference, zero_method="zsplit").pvalue if difference.any() else 1.0
    assert wilcoxon_p_value(table[:, 0], table[:, 1]) == pytest.approx(expected)


@pytest.mark.slow  # scipy tries all signs of up to thirteen differences
@settings(deadline=None, max_examples=8)
@given(score_tables(max_sets=30, max_models=2))
def test_ties_in_decimals_are_ties_in_binary(table):
    in_percent = wilcoxon_p_value(table[:, 0], table[:, 1])
    as_shares = wilcoxon_p_value(table[:, 0] / 100, table[:, 1] / 100)
    assert as_shares == pytest.approx(in_percent, abs=1e-12)


@pytest.mark.slow  # scipy tries all signs of up to thirteen differences
@settings(deadline=None, max_examples=8)
@given(score_tables(max_models=2))
def test_exchanging_the_models_changes_nothing_but_the_side(table):
    first, second = table.T
    assert wilcoxon_p_value(first, second) == pytest.approx(wilcoxon_p_value(second, first))
    assert win_tie_loss(first, second) == win_tie_loss(second, first)[::-1]
    assert win_tie_loss(first, second, higher_is_better=False) == win_tie_loss(second, first)


def test_equal_models_have_p_one():
    assert wilcoxon_p_value([1.0, 2.0], [1.0, 2.0]) == 1


def test_zero_scores_are_scores():
    assert wilcoxon_p_value([0.0, 0.0], [0.0, 0.0]) == 1


def test_wins_ties_losses_in_the_paper():
    table = paper_accuracy_table()
    wins, ties, losses = win_tie_loss(table["SDAP-GBRVFL"], table["RVFL"])
    assert (wins, ties, losses) == (30, 3, 4)
