"""Keys of parts, and rows sorted by their part."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls import _parts_kernels
from tests.balls import reference


@given(parts=st.lists(st.integers(0, 4), min_size=1, max_size=40), before=st.integers(0, 5))
def test_rows_are_sorted_by_their_part_and_keep_their_order_within(parts, before):
    n = len(parts)
    perm = np.random.RandomState(n).permutation(before + n + 3)
    expected = perm.copy()
    own = np.array(parts)
    expected[before : before + n] = perm[before : before + n][np.argsort(own, kind="stable")]
    bounds, spare = np.empty(6, np.int64), np.empty(n, np.int64)
    n_filled = _parts_kernels.sort_by_part(perm, before, before + n, own, bounds, spare)
    assert_array_equal(perm, expected)
    assert n_filled == len(set(parts))
    assert bounds[0] == before
    assert_array_equal(np.diff(bounds), np.bincount(own, minlength=5))


@given(key=st.integers(0, 2**64 - 1), part=st.integers(0, 1000))
def test_the_key_of_a_part_is_that_of_the_slow_twin(key, part):
    expected = reference.mixed(key ^ reference.mixed(part))
    assert int(_parts_kernels.part_key(np.uint64(key), part)) == expected
