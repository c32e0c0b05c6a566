"""What the loops find in a table, against the columns themselves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls import _narrow_kernels as kernels

tables = st.tuples(st.integers(0, 10**6), st.integers(1, 4))


def drawn(table):
    seed, n_values = table
    return np.random.default_rng(seed).integers(n_values, size=(12, 5)).astype(float)


@given(tables)
def test_columns_of_one_and_two_values_are_found_with_their_values(table):
    X = drawn(table)
    lows, highs, kinds = np.empty(5), np.empty(5), np.empty(5, np.uint8)
    kernels.count_values(X, lows, highs, kinds)
    for j, column in enumerate(X.T):
        n_values = len(np.unique(column))
        assert kinds[j] == min(n_values, kernels.MORE_VALUES)
        if n_values <= 2:
            assert (lows[j], highs[j]) == (column.min(), column.max())


@given(st.integers(0, 10**6))
def test_the_nearest_column_that_is_on_together_is_found(seed):
    on = np.random.default_rng(seed).random((6, 5)) < 0.3
    columns, nearest = np.array([0, 1, 3, 4]), np.empty(5, np.int64)
    kernels.find_neighbours_on(on.astype(float), columns, np.ones(5), nearest)
    for j in columns:
        together = [i for i in columns if i < j and (on[:, i] & on[:, j]).any()]
        assert nearest[j] == max(together, default=-1)


def test_codes_have_the_mark_of_the_column_that_is_on():
    X = np.array([[1.0, 0, 9], [0, 1, 9], [0, 0, 9]])
    codes = np.zeros((3, 1), np.uint8)
    places, marks = np.zeros(3, np.int32), np.array([2, 1, 0], np.uint8)
    kernels.fill_codes(X, np.array([0, 1]), np.ones(3), places, marks, codes)
    assert_array_equal(codes[:, 0], [2, 1, 0])
