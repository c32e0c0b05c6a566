"""Narrow tables: the same values in few columns, and the same order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls.narrow_tables import (
    MAX_BUNDLED,
    NEVER,
    narrow_table,
    plain_table,
)
from granulearn.utils.sorting import order_and_ties, sorted_rows


def mixed_columns(seed, n_rows=40):
    """Return numbers, one-hot columns, pairs that overlap, and constants, in any order."""
    rng = np.random.default_rng(seed)
    blocks = [
        rng.normal(size=(n_rows, 1)),
        rng.integers(4, size=n_rows)[:, None] == np.arange(4),
        rng.random((n_rows, 2)) < 0.5,
        np.full((n_rows, 1), 2.0),
        rng.integers(3, size=n_rows)[:, None] == np.arange(1, 3),
        rng.integers(3, size=(n_rows, 1)),
    ]
    chosen = [blocks[at] for at in rng.permutation(len(blocks))[: rng.integers(1, 7)]]
    return np.column_stack(chosen).astype(float) * rng.choice([1.0, -0.7])


def widened(table):
    """Return the table with a column for every feature, by what the fields say."""
    X = np.empty((len(table), table.n_features))
    for j, (place, mark) in enumerate(zip(table.places, table.marks, strict=True)):
        if mark == 0:
            X[:, j] = table.plain[:, place]
        else:
            X[:, j] = np.where(table.codes[:, place] == mark, table.highs[j], table.lows[j])
    return X


@given(st.integers(0, 10**6))
def test_every_value_can_be_read_from_the_narrow_table(seed):
    X = mixed_columns(seed)
    table = narrow_table(X)
    assert_array_equal(widened(table), X)
    assert narrow_table(table) is table
    assert_array_equal(widened(plain_table(X)), X)
    assert table.extremes() == (X.min(), X.max())
    assert_allclose(table.variances(), X.var(axis=0), atol=1e-12)


@given(st.integers(0, 10**6))
def test_rows_have_the_order_and_the_ties_of_all_columns(seed):
    X = mixed_columns(seed)
    for found, wanted in zip(narrow_table(X).value_order, order_and_ties(X), strict=True):
        assert_array_equal(found, wanted)


def test_columns_of_one_category_are_one_column_of_bytes():
    X = np.eye(5)[[0, 1, 2, 3, 4, 0]]
    table = narrow_table(np.column_stack([np.arange(6.0), X]))
    assert table.plain.shape == (6, 1)
    assert table.codes.shape == (6, 1)
    assert table.codes.dtype == np.uint8
    (bundle,) = table.bundles()
    assert_array_equal(bundle, [1, 2, 3, 4, 5])


def test_columns_that_are_on_together_or_apart_share_no_code():
    together = narrow_table(np.array([[1.0, 1], [1, 0], [0, 0]]))
    assert together.codes.shape[1] == 2
    apart = narrow_table(np.array([[1.0, 5, 0], [0, 6, 1], [0, 7, 0]]))
    assert apart.codes.shape[1] == 2  # a column of numbers stands between them
    assert together.bundles() == apart.bundles() == []


def test_a_constant_is_no_column_and_parts_no_bundle():
    table = narrow_table(np.array([[1.0, 3, 0], [0, 3, 1], [0, 3, 0]]))
    assert table.marks[1] == NEVER
    assert table.codes.shape[1] == 1
    assert narrow_table(np.full((3, 2), 4.0)).codes.shape == (3, 1)


def test_numbers_are_not_copied():
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert narrow_table(X).plain is X


def test_a_code_has_no_more_columns_than_a_byte_and_a_booster_can_tell_apart():
    table = narrow_table(np.eye(600)[:, :590])
    assert max(map(len, table.bundles())) == MAX_BUNDLED
    assert_array_equal(widened(table), np.eye(600)[:, :590])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_more_keys_are_asked_for_than_needed(dtype):
    def keys():
        yield np.array([3, 1, 2], dtype)
        raise AssertionError("the first key tells all rows apart")

    order, place = sorted_rows(keys(), 3)
    assert_array_equal(order, [1, 2, 0])
    assert_array_equal(place, [0, 1, 2])
