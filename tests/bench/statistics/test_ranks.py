"""Ranks against counting and pandas."""

import numpy as np
import pandas as pd
from hypothesis import given, settings

from granulearn.bench import average_ranks, paper_accuracy_table, rank_models
from tests.bench.statistics.score_tables import score_tables


def ranks_by_counting(table):
    """Follow the definition: one plus the better ones, plus half of the other equal ones."""
    ranks = np.empty_like(table)
    for i, row in enumerate(table):
        for j, score in enumerate(row):
            better = sum(other > score for other in row)
            equal = sum(other == score for other in row) - 1
            ranks[i, j] = 1 + better + equal / 2
    return ranks


@settings(deadline=None)
@given(score_tables())
def test_ranks_equal_counting_the_better_ones(table):
    np.testing.assert_array_equal(rank_models(table), ranks_by_counting(table))


@settings(deadline=None)
@given(score_tables())
def test_ranks_agree_with_pandas(table):
    expected = pd.DataFrame(table).rank(axis=1, ascending=False).to_numpy()
    np.testing.assert_array_equal(rank_models(table), expected)


@settings(deadline=None)
@given(score_tables())
def test_turning_the_direction_mirrors_the_ranks(table):
    mirrored = table.shape[1] + 1 - rank_models(table)
    np.testing.assert_array_equal(rank_models(table, higher_is_better=False), mirrored)
    np.testing.assert_array_equal(rank_models(-table, higher_is_better=False), rank_models(table))


def test_average_ranks_of_the_paper():
    ranks = average_ranks(paper_accuracy_table())
    np.testing.assert_array_equal(ranks.round(2), [4.51, 5.22, 4.86, 5.16, 5.72, 5.26, 3.20, 2.07])
