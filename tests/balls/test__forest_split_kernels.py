"""Evidence, draws and counts of one split, against formulas and slow twins."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.special import gammaln

from granulearn.balls import _forest_split_kernels
from tests.balls import forest_reference as reference


def tables(n_rows, n_classes):
    whole = np.arange(n_rows + 1)
    return gammaln(whole + 0.5), gammaln(whole + 0.5 * n_classes)


@given(st.lists(st.one_of(st.integers(0, 30), st.floats(0, 30)), min_size=2, max_size=6))
def test_evidence_equals_the_formula_for_whole_and_broken_counts(counts):
    found = _forest_split_kernels.log_evidence(np.array(counts, float), *tables(20, len(counts)))
    assert found == pytest.approx(reference.log_evidence(counts), rel=1e-12, abs=1e-11)


def test_evidence_is_the_probability_of_the_labels_one_by_one():
    """By the chain rule: each label, given those before it, is (count + 1/2)/(n + K/2)."""
    labels, n_classes = [0, 2, 0, 0, 1, 2], 3
    log_probability, seen = 0.0, np.zeros(n_classes)
    for label in labels:
        log_probability += np.log((seen[label] + 0.5) / (seen.sum() + n_classes / 2))
        seen[label] += 1
    assert _forest_split_kernels.log_evidence(seen, *tables(6, 3)) == pytest.approx(log_probability)


@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 40), min_size=2, max_size=4), n_wanted=st.integers(1, 30))
def test_thinned_rows_are_the_twins_and_every_class_keeps_a_row(sizes, n_wanted):
    y = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.arange(len(y), dtype=np.int32)
    assume(len(y) > n_wanted)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    thinned, thinned_bounds = np.empty(n_wanted + len(sizes), np.int32), np.empty_like(bounds)
    _forest_split_kernels.thin_rows(rows, bounds, thinned, thinned_bounds)
    taken = thinned[: thinned_bounds[-1]]
    assert_array_equal(taken, reference.thinned(y, rows, n_wanted, len(sizes)))
    assert set(y[taken]) == set(y)


def test_the_second_class_is_never_the_first_and_classes_come_by_their_weight():
    counts = np.array([6.0, 0.0, 3.0, 1.0])
    pairs = [
        _forest_split_kernels.draw_classes(np.uint64(key * 7919), 0, counts) for key in range(4000)
    ]
    assert all(first != second for first, second in pairs)
    firsts = np.bincount([first for first, _ in pairs], minlength=4) / 4000
    assert firsts == pytest.approx(counts / 10, abs=0.03)


def test_drawn_features_are_distinct_and_of_every_number_up_to_the_most():
    numbers = set()
    for key in range(200):
        features = np.empty(4, np.int32)
        n_used, _ = _forest_split_kernels.draw_features(np.uint64(key * 7919), 0, 6, features)
        assert len(set(features[:n_used])) == n_used
        assert features[:n_used].max() < 6
        numbers.add(n_used)
    assert numbers == {1, 2, 3, 4}
