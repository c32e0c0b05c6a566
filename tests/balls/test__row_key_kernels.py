"""Compiled loops over keys of rows, against plain Python."""

import numpy as np
from numpy.testing import assert_array_equal

from granulearn.balls import _row_key_kernels as kernels
from granulearn.balls._compiled import mixed


def test_a_hash_mixes_all_values_of_a_row_in_their_order():
    bits = np.array([[1, 2], [2, 1], [1, 2]], dtype=np.uint64)
    hashes = np.empty(3, dtype=np.uint64)
    kernels.hash_rows(bits, hashes)
    state = mixed(np.uint64(2))
    for word in bits[0]:
        state = mixed(np.uint64(state) ^ word)
    assert hashes[0] == hashes[2] == state != hashes[1]


def test_sums_of_hashes_wrap_and_count_copies():
    hashes, codes = np.array([2**63, 2**63, 5], dtype=np.uint64), np.array([0, 0, 1])
    sums = np.zeros(2, dtype=np.uint64)
    kernels.add_hashes(hashes, codes, np.empty(0, dtype=np.intp), sums)
    assert sums.tolist() == [0, 5]
    kernels.add_hashes(hashes, codes, np.array([1, 0, 3]), sums)
    assert sums.tolist() == [2**63, 20]


def test_rows_below_their_limits_are_those_that_a_draw_marks():
    keys = np.random.default_rng(0).integers(2**63, size=500).astype(np.uint64)
    codes = (np.arange(500) % 2).astype(np.int32)
    rows, draws = np.empty(500, dtype=np.intp), np.empty(500, dtype=np.uint64)
    limits = np.array([2**62, 2**63], dtype=np.uint64)
    found = kernels.rows_below(keys, codes, np.uint64(7), limits, rows, draws)
    own = np.array([mixed(np.uint64(7) ^ key) for key in keys], dtype=np.uint64)
    assert_array_equal(rows[:found], np.flatnonzero(own <= limits[codes]))
    assert_array_equal(draws[:found], own[rows[:found]])
    marked = np.empty(500, dtype=bool)
    kernels.mark_drawn(keys, np.uint64(7), np.uint64(2**62), marked)
    assert_array_equal(marked, own <= 2**62)


def test_a_key_of_a_hash_and_a_number_differs_with_both():
    hashes, keys = np.array([3, 3, 4], dtype=np.uint64), np.empty(3, dtype=np.uint64)
    kernels.mix_keys(hashes, np.array([0, 1, 0]), keys)
    assert len(set(keys.tolist())) == 3


def test_exact_sums_hold_the_least_and_the_largest_numbers():
    values = np.array([[1.7e308], [-1.7e308], [5e-324], [0.1], [-0.3], [0.0]])
    sums = np.zeros((1, kernels.LIMBS), dtype=np.int64)
    copies = np.array([1, 1, 3, 1, 1, 9])
    kernels.add_exactly(values.view(np.uint64), copies, sums)
    total = sum(int(limb) << 32 * at for at, limb in enumerate(sums[0]))
    unit = 2**1074
    wanted = 3 + sum(n * (unit // d) for n, d in ((x).as_integer_ratio() for x in (0.1, -0.3)))
    assert total == wanted
