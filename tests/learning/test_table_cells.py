"""Cells are read the same way by every verb."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.learning.table_cells import (
    NotANumberError,
    as_categories,
    as_numbers,
    as_text,
    holds_dates,
    is_stored_as_numbers,
    spells_number,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1))
def test_numbers_written_by_python_come_back_exactly(values):
    text = pa.array([f" {value!r} " for value in values])
    assert_array_equal(as_numbers(text), values)
    assert_array_equal(as_numbers(text.dictionary_encode()), values)


@pytest.mark.parametrize("mark", ["", "?", "NA", "NaN", "nan", "null", "None", " "])
def test_the_usual_marks_are_missing(mark):
    column = pa.array([mark, "1"])
    assert as_text(column).to_pylist() == [None, "1"]
    assert_array_equal(as_numbers(column), [np.nan, 1])
    assert list(as_categories(column).codes) == [-1, 0]


@pytest.mark.parametrize("wrong", ["one", "1,5", "inf", "-inf", "0x10", "1 2"])
def test_the_first_cell_that_is_no_number_is_named(wrong):
    with pytest.raises(NotANumberError) as caught:
        as_numbers(pa.array(["1", None, f" {wrong}", "two"]))
    assert (caught.value.position, caught.value.cell.strip()) == (2, wrong)


def test_stored_numbers_of_every_type_are_numbers():
    for values in (
        pa.array([1, None], pa.int8()),
        pa.array([1.0, None], pa.float32()),
        pa.array([decimal.Decimal("1.00"), None]),
    ):
        assert is_stored_as_numbers(values)
        assert_array_equal(as_numbers(values), [1.0, np.nan])


def test_whole_numbers_are_the_same_category_in_csv_and_parquet():
    for column in (pa.array(["1", None]), pa.array([1, None]), pa.array([1.0, None])):
        assert as_text(column).to_pylist() == ["1", None]
    assert as_text(pa.array([1.5, 2.0])).to_pylist() == ["1.5", "2"]


def test_dates_are_neither_kind():
    assert holds_dates(pa.array(pd.to_datetime(["2020-01-01"])))
    assert not holds_dates(pa.array(["2020-01-01"]))


def test_spelled_numbers():
    assert [spells_number(text) for text in ("1", "-1e5", "x", "inf")] == [True, True, False, False]
