"""Nemenyi against printed quantiles and scikit-posthocs."""

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.bench import (
    average_ranks,
    critical_difference,
    nemenyi_p_values,
    paper_accuracy_table,
)
from tests.bench.statistics.score_tables import score_tables

# q at 5 % and 10 % for 2 to 10 models, from Demsar (JMLR 2006), Table 5.
PRINTED_Q = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


@pytest.mark.parametrize("alpha", [0.05, 0.10])
@pytest.mark.parametrize("n_models", range(2, 11))
def test_critical_difference_uses_the_printed_quantiles(alpha, n_models):
    n_sets = 30
    difference = critical_difference(n_models, n_sets, alpha=alpha)
    q = difference / np.sqrt(n_models * (n_models + 1) / (6 * n_sets))
    # Demsar's table was rounded from a rounded one: the last digit may be off by one.
    assert q == pytest.approx(PRINTED_Q[alpha][n_models - 2], abs=1.2e-3)


def test_critical_difference_of_the_paper():
    assert round(critical_difference(8, 37), 3) == 1.726


@settings(deadline=None, max_examples=25)
@given(score_tables())
def test_p_values_agree_with_scikit_posthocs(table):
    ours = nemenyi_p_values(average_ranks(table), len(table))
    theirs = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(score_tables(), st.sampled_from([0.01, 0.05, 0.1, 0.2]))
def test_p_is_below_alpha_exactly_beyond_the_critical_difference(table, alpha):
    ranks = average_ranks(table)
    gaps = np.abs(ranks[:, None] - ranks[None, :])
    difference = critical_difference(table.shape[1], len(table), alpha=alpha)
    clear = np.abs(gaps - difference) > 1e-6
    below = nemenyi_p_values(ranks, len(table)) < alpha
    np.testing.assert_array_equal(below[clear], (gaps > difference)[clear])


def test_pairs_the_paper_separates():
    table = paper_accuracy_table()
    p_values = nemenyi_p_values(average_ranks(table), len(table))
    first, second = np.nonzero(np.triu(p_values < 0.05))
    found = {(table.columns[i], table.columns[j]) for i, j in zip(first, second, strict=True)}
    others = ["RVFL", "ELM", "GB-RVFL", "GE-GB-RVFL", "CRVFL", "ACRVFL"]
    fuzzy = ["ELM", "GE-GB-RVFL", "CRVFL", "ACRVFL"]
    assert found == {(m, "SDAP-GBRVFL") for m in others} | {(m, "F-GBRVFL") for m in fuzzy}


@pytest.mark.parametrize(
    ("n_models", "n_sets", "alpha", "message"),
    [(1, 5, 0.05, "n_models=1"), (3, 0, 0.05, "n_sets=0"), (3, 5, 0.0, "alpha=0.0")],
)
def test_impossible_sizes_are_refused(n_models, n_sets, alpha, message):
    with pytest.raises(ValueError, match=message):
        critical_difference(n_models, n_sets, alpha=alpha)
