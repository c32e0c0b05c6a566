"""Features of a ball's rows, read from columns of numbers and of codes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls import _column_kernels as kernels
from granulearn.balls._compiled import uniform


@given(st.lists(st.integers(0, 2), min_size=1, max_size=9))
def test_a_column_is_copied_and_seen_to_be_constant_or_not(cells):
    column, perm = np.array(cells, float), np.arange(len(cells), dtype=np.int32)[::-1].copy()
    values, again = np.empty((2, len(cells)))
    differs = kernels.take_column(column, perm, 0, len(cells), values)
    kernels.take_plain(column, perm, 0, len(cells), again)
    assert_array_equal(values, column[::-1])
    assert_array_equal(again, column[::-1])
    assert differs == (len(set(cells)) > 1)


@given(st.integers(0, 10**6))
def test_rows_that_are_on_have_the_high_value_and_are_counted_class_by_class(seed):
    rng = np.random.default_rng(seed)
    codes, perm = rng.integers(4, size=20).astype(np.uint8), rng.permutation(20).astype(np.int32)
    bounds, weights = np.array([3, 9, 9, 16]), rng.random(20)
    mark, present = np.uint8(2), np.array([0, 2])
    values = np.empty(13)
    kernels.take_marked(codes, mark, -1.5, 2.5, perm, 3, 16, values)
    is_on = codes[perm[3:16]] == mark
    assert_array_equal(values, np.where(is_on, 2.5, -1.5))
    rows, sums = np.zeros((3, 8), np.int64), np.zeros((3, 8))
    n_on = kernels.count_on(codes, mark, perm, bounds, weights, present, rows, sums)
    assert n_on == is_on.sum()
    for k in present:
        own = perm[bounds[k] : bounds[k + 1]]
        own = own[codes[own] == mark]
        assert rows[k, 0] == len(own)
        np.testing.assert_allclose(sums[k, 0], weights[own].sum())


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_random_rows_are_those_that_thresholds_are_drawn_from(seed, n_draws):
    rng, key = np.random.default_rng(seed), np.uint64(seed)
    codes, perm = rng.integers(2, size=9).astype(np.uint8), rng.permutation(9).astype(np.int32)
    drawn = [perm[2 + int(uniform(key, counter) * 5)] for counter in range(7, 7 + n_draws)]
    found = kernels.draws_off(key, 7, n_draws, codes, np.uint8(1), perm, 2, 5)
    assert found == (codes[drawn] != 1).any()


def test_a_bucket_holds_the_rows_of_a_ball_side_by_side():
    rng = np.random.default_rng(0)
    marks, places = np.array([0, 2, 1, 0], np.uint8), np.array([0, 0, 0, 1], np.int32)
    columns = kernels.Columns(
        rng.normal(size=(2, 9)), rng.integers(3, size=(1, 9)).astype(np.uint8), places, marks,
        np.zeros(4), np.ones(4),
    )  # fmt: skip
    bucket = columns._replace(plain=np.zeros((2, 4)), codes=np.zeros((1, 4), np.uint8))
    perm, weights, own = rng.permutation(9).astype(np.int32), rng.random(9), np.empty(4)
    rows = perm[3:7].copy()
    live = np.array([3, 1], np.int32)
    kernels.fill_bucket(columns, weights, live, perm, 3, 7, bucket, own)
    assert_array_equal(bucket.codes, columns.codes[:, rows])
    assert_array_equal(bucket.plain[1], columns.plain[1, rows])
    assert not bucket.plain[0].any()  # it is not live
    assert_array_equal(own, weights[rows])
    assert_array_equal(perm[3:7], np.arange(4))
