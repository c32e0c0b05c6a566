"""What the search for a split looks at: rows, thresholds, features that are not constant."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls import _forest_split_kernels
from tests.balls import forest_reference as reference


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


def test_thresholds_are_values_of_rows_and_the_rest_is_infinite():
    projection, thresholds = np.array([3.0, 1.0, 2.0, 9.0]), np.full(8, -1.0)
    counter = _forest_split_kernels.draw_thresholds(
        np.uint64(5), 10, 8, projection, 3, 1, thresholds
    )
    assert counter == 11  # three rows have two gaps, and the first threshold was there
    assert thresholds[0] == -1
    assert thresholds[1] in (1, 2, 3)
    assert (thresholds[2:] == np.inf).all()
