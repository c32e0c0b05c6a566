"""The loops that split one ball."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls import _two_means_kernels


@given(y=st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_top_class_is_the_most_frequent_and_ties_go_to_the_first(y):
    codes = np.array(y, dtype=np.int32)
    tally = np.zeros(5, np.int64)
    best, count = _two_means_kernels.top_class(codes, np.arange(len(y)), 0, len(y), tally)
    expected = np.bincount(codes)
    assert (best, count) == (expected.argmax(), expected.max())
    assert not tally.any()


@given(
    low=st.floats(-1e6, 1e6),
    width=st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1e6]),
    adjacent=st.booleans(),
)
def test_halving_the_widest_feature_leaves_both_sides_a_row(low, width, adjacent):
    high = np.nextafter(low, np.inf) if adjacent else low + width
    rows = np.array([[0.0, low], [0.0, high], [0.0, low]])
    midpoint, direction, side = np.empty(2), np.empty(2), np.empty(3, np.uint8)
    perm = np.arange(3)
    found = _two_means_kernels.halve_widest_feature(rows, perm, 0, 3, midpoint, direction)
    assert found == (high > low)
    if found:
        assert _two_means_kernels.assign_sides(rows, perm, 0, 3, midpoint, direction, side) == 1
        assert_array_equal(side, [0, 1, 0])
