"""Columns of numbers, yes and no, and what they become if cells are read one by one."""

from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from granulearn.tables.columns import schema, written_cells
from granulearn.tables.columns.numbers import NumberForm
from granulearn.tables.columns.schema import NUMBER, Column, Schema
from granulearn.tables.columns.typed_rows import TypedRows
from tests.tables.columns.cell_texts import UNITS

numbers = st.builds(
    lambda decimal, unit, marks: Column(
        "c", NUMBER, number=NumberForm(decimal, unit), values_like_marks=marks
    ),
    st.sampled_from([".", ","]),
    st.sampled_from(UNITS),
    st.sampled_from([(), ("-", "NA")]),
)
yes_or_no = st.lists(st.sampled_from(["yes", "Nein", "x", "", None, " JA "]), min_size=1)


def read_one_by_one(column: Column, cells: pa.Array) -> TypedRows:
    with (
        mock.patch.object(written_cells, "_FEW_CELLS", len(cells)),
        mock.patch.object(written_cells, "_FEW_PLAIN", len(cells)),
        mock.patch.object(schema, "_read_at_once", return_value=None),
        mock.patch.object(schema, "are_repeated", return_value=False),
    ):
        return Schema((column,)).read({"c": cells})


def assert_same(found: TypedRows, expected: TypedRows):
    assert found.misfits == expected.misfits
    assert list(found.cells) == list(expected.cells)
    for name, values in expected.cells.items():
        missing = np.isnan(values)
        assert np.isnan(found.cells[name]).tolist() == missing.tolist()
        assert found.cells[name][~missing].tobytes() == values[~missing].tobytes()
