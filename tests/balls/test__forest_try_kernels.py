"""Evidence, draws and counts of one try, against formulas and slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from granulearn.balls import _forest_try_kernels as kernels
from granulearn.balls.evidence_table import evidence_table
from tests.balls import forest_reference as reference

alphas = st.sampled_from([0.5, 0.1, 0.005])


@given(
    values=arrays(float, st.integers(0, 40), elements=st.floats(-3, 3).map(lambda v: round(v, 1))),
    thresholds=arrays(float, kernels.MAX_THRESHOLDS, elements=st.floats(-3, 3)),
)
def test_values_beyond_all_thresholds_are_counted_in_one_pass(values, thresholds):
    found = np.empty(kernels.MAX_THRESHOLDS, np.int64)
    kernels.count_beyond(values, thresholds, found)
    assert_array_equal(found, (values[:, None] > thresholds).sum(axis=0))


@given(
    sides=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=5),
    alpha=alphas,
)
def test_both_ways_to_count_give_the_evidence_of_both_sides(sides, alpha):
    left, right = np.array(sides).T
    bounds = np.concatenate([[0], np.cumsum(left + right)])
    present = np.flatnonzero(left + right)
    right_rows, counts = np.repeat(right[:, None], 8, axis=1), (left + right).astype(float)
    table = evidence_table(100, len(sides), alpha)
    expected = reference.log_evidence(left, alpha) + reference.log_evidence(right, alpha)
    right_counts = right_rows.astype(float)
    for weights in (np.empty(0), np.ones(1)):
        at, evidence = kernels.best_threshold(
            True, 0.0, 8, bounds, weights, present, right_rows, right_counts, counts, table
        )
        if 0 < right.sum() < (left + right).sum():
            assert at == 0  # of equal ones the first
            assert evidence == pytest.approx(expected, abs=1e-9)
        else:
            assert at == -1


def test_a_threshold_must_have_more_evidence_than_the_most_so_far():
    bounds, present = np.array([0, 4, 8]), np.arange(2)
    right_rows = np.array([[0, 1, 4, 2], [4, 4, 4, 2]])
    table, nothing = evidence_table(100, 2, 0.5), np.empty(0)
    same = (bounds, nothing, present, right_rows, right_rows.astype(float), np.full(2, 4.0), table)
    at, most = kernels.best_threshold(True, 0.0, 4, *same)
    assert at == 0
    assert kernels.best_threshold(False, most, 4, *same)[0] == -1
    assert kernels.best_threshold(False, most - 1, 4, *same)[0] == 0


def test_the_second_class_is_never_the_first_and_classes_come_by_their_weight():
    counts = np.array([6.0, 0.0, 3.0, 1.0])
    pairs = [kernels.draw_classes(np.uint64(key * 7919), 0, counts) for key in range(4000)]
    assert all(first != second for first, second in pairs)
    firsts = np.bincount([first for first, _ in pairs], minlength=4) / 4000
    assert firsts == pytest.approx(counts / 10, abs=0.03)


def test_drawn_features_are_distinct_and_of_every_number_up_to_the_most():
    numbers, live = set(), np.arange(9, dtype=np.int32)
    for key in range(200):
        features = np.empty(4, np.int32)
        n_used, _ = kernels.draw_features(np.uint64(key * 7919), 0, live, 6, features)
        assert len(set(features[:n_used])) == n_used
        assert features[:n_used].max() < 6
        numbers.add(n_used)
    assert numbers == {1, 2, 3, 4}
