"""Laws of windows of a file with many doubted labels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.audit import LabelAudit
from granulearn.audit.scan_statistic import BLOCK, Strata, _log_likelihood_ratio, find_blocks, scan
from tests.audit.tables import three_clouds


def one_stratum(n):
    return Strata(np.zeros(n, dtype=int), np.zeros(n, dtype=int))


def doubts(n=600, start=200, stop=250, inside=0.6, outside=0.05, seed=0):
    rng = np.random.default_rng(seed)
    share = np.full(n, outside)
    share[start:stop] = inside
    return rng.random(n) < share


@pytest.mark.parametrize("n", [200, 600, 5000, 60_000])
def test_a_block_is_found_about_where_it_is(n):
    (block,) = scan([doubts(n, n // 3, n // 3 + 50)], one_stratum(n))
    assert abs(block.start - n // 3) <= 8
    assert abs(block.stop - (n // 3 + 50)) <= 8
    assert block.doubted > 20
    assert block.expected < 8


def test_two_blocks_are_both_found():
    doubted = doubts(2000, 100, 150) | doubts(2000, 1500, 1560, outside=0.0, seed=1)
    blocks = scan([doubted], one_stratum(2000))
    assert sorted(round(block.start, -2) for block in blocks) == [100, 1500]


def test_files_without_a_block_hardly_ever_have_one():
    found = [
        len(scan([doubts(800, 0, 0, outside=share, seed=seed)], one_stratum(800)))
        for seed in range(60)
        for share in (0.02, 0.1, 0.3)
    ]
    assert sum(found) <= 1


def test_a_hard_class_that_stands_together_is_no_block():
    n = 900
    codes = np.repeat([0, 1, 2], 300)
    doubted = np.random.default_rng(0).random(n) < np.array([0.02, 0.4, 0.05])[codes]
    assert scan([doubted], Strata(np.zeros(n, dtype=int), codes)) == []
    assert scan([doubted], one_stratum(n)) != []


@settings(max_examples=60)
@given(found=st.integers(1, 40), n=st.integers(1, 60), share=st.floats(0.01, 0.9))
def test_the_bound_is_not_below_the_binomial_probability(found, n, share):
    from scipy.stats import binom

    exact = binom.sf(found - 1, n, share)
    assert np.exp(-_log_likelihood_ratio(found, n * share)) >= exact * (1 - 1e-9)


def wrong_window(sort=False):
    X, y, _ = three_clouds(600, rate=0.02)
    if sort:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    rng = np.random.default_rng(3)
    rows = 300 + np.flatnonzero(rng.random(50) < 0.6)
    y[rows] = np.where(y[rows] == "cat", "dog", "cat")
    return X, y


@pytest.mark.parametrize("sort", [False, True])
def test_a_window_of_wrong_labels_is_found_in_an_audit(sort):
    X, y = wrong_window(sort)
    ratings = LabelAudit(random_state=0).fit(X, y).ratings_
    (issue,) = find_blocks(ratings)
    assert issue.kind == BLOCK
    assert len(set(issue.rows) & set(range(300, 350))) >= 40
    assert len(issue.rows) <= 70
    assert issue.score > 0.5


def test_positions_give_the_order_and_unknown_rows_are_passed_over():
    X, y = wrong_window()
    ratings = LabelAudit(random_state=0).fit(X, y).ratings_
    (plain,) = find_blocks(ratings)
    order = np.random.default_rng(1).permutation(len(y))
    moved = replace(
        ratings,
        given=ratings.given[order],
        proba=ratings.proba[order],
        label_quality=ratings.label_quality[order],
        error_proba=ratings.error_proba[order],
        predicted=ratings.predicted[order],
    )
    (same,) = find_blocks(moved, positions=order)
    assert sorted(order[list(same.rows)].tolist()) == list(plain.rows)
    assert same.message == plain.message
    assert find_blocks(moved) == []
    assert find_blocks(replace(ratings, error_proba=np.full(len(y), np.nan))) == []
