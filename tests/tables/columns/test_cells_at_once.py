"""What is read at once is what is read cell by cell."""

from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.columns import cells_at_once
from granulearn.tables.columns.cells_at_once import numbers_at_once
from granulearn.tables.columns.numbers import NumberForm, plain_numbers, read_number
from granulearn.tables.columns.schema import YES_NO, Column, Schema
from tests.tables.columns.cell_texts import NUMBERS, columns_of
from tests.tables.columns.read_columns import (
    assert_same,
    numbers,
    read_one_by_one,
    yes_or_no,
)


@given(
    st.tuples(numbers, columns_of(NUMBERS)) | st.tuples(st.just(Column("c", YES_NO)), yes_or_no),
    st.integers(0, 3),
)
def test_what_is_read_at_once_is_read_as_one_by_one(case, begin):
    column, cells = case
    text = pa.array(cells, pa.string()) if isinstance(cells, list) else cells
    expected = read_one_by_one(column, text)
    padded = pa.concat_arrays([pa.array(["x", "1", None][:begin], pa.string()), text])[begin:]
    with (
        mock.patch.object(cells_at_once, "FEWEST_CELLS", 1),
        mock.patch.object(cells_at_once, "_SHARE_OF_WORDS", 0.5),
    ):
        assert_same(Schema((column,)).read({"c": padded}), expected)


@given(st.lists(st.sampled_from(["1", "2.5", "-", "x", None, "1e3"]), max_size=6))
def test_a_few_numbers_are_read_at_once_if_all_are_plain(cells):
    text = pa.array(cells, pa.string())
    for first in (1, 100):
        with mock.patch.object(cells_at_once, "_LOOKED_AT_FIRST", first):
            found = numbers_at_once(text, NumberForm())
        expected = plain_numbers(text)
        assert (found is None) == (expected is None)
        if found is not None:
            assert np.array_equal(found[0], expected, equal_nan=True)
            assert found[1] is None


@given(st.text("0123456789+-.,eE_ 'xXinfa\u2212", max_size=70), st.sampled_from(".,"))
def test_what_arrow_takes_for_a_number_is_the_same_number_here(text, decimal):
    text, form = text.strip(), NumberForm(decimal)
    with mock.patch.object(cells_at_once, "FEWEST_CELLS", 1):
        found = numbers_at_once(pa.array([text]), form)
    if found is not None and not np.isnan(found[0][0]):
        assert float(found[0][0]).hex() == read_number(text, form).hex()
