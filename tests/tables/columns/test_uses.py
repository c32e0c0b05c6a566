"""The rules by which a column is of no use, one by one."""

import random

import pyarrow as pa
import pytest

from granulearn.tables.infer import leave_out
from granulearn.tables.messages import Setting
from granulearn.tables.schema import (
    ASKED,
    CATEGORY,
    CONSTANT,
    EMPTY,
    FREE_TEXT,
    ID,
    NESTED,
    NO_CELLS,
    NO_SINGLE_VALUE,
    NUMBER,
    ROW_NUMBER,
    TEXT,
    YES_NO,
    Column,
    read_column,
)
from tests.tables.columns.decided_columns import INCLUDED, N, column_of, cycle, schema_of


class TestWithoutMeaning:
    @pytest.mark.parametrize("cells", [["x"], ["7"], ["2024-01-01"], ["yes"]])
    def test_constants_are_left_out(self, cells):
        column = column_of(cycle(*cells))
        assert (column.left_out, column.remedy) == (CONSTANT, INCLUDED)

    @pytest.mark.parametrize("cells", [["x", None], ["7", "-", "NA"]])
    def test_a_box_that_is_ticked_or_not_is_read_as_such(self, cells):
        column = column_of(cycle(*cells))
        assert (column.kind, column.filled, column.left_out) == (YES_NO, True, "")
        found, _ = read_column(column, pa.array(cells))
        assert found["c"].tolist() == [1.0, *[0.0] * (len(cells) - 1)]

    def test_one_cell_that_is_missing_makes_no_box_of_a_constant(self):
        assert column_of([None, *cycle("x", n=199)]).left_out == CONSTANT

    def test_one_row_is_no_constant(self):
        assert column_of(["x"]).left_out == ""

    @pytest.mark.parametrize("first", [0, 1, 5000])
    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("beside", ["2.5", "2,5"])
    def test_row_numbers_are_left_out_in_order_and_shuffled(self, first, stored, beside):
        numbers = list(range(first, first + N))
        shuffled = random.Random(0).sample(numbers, N)
        for order in (numbers, shuffled):
            cells = pa.array(order) if stored else list(map(str, order))
            schema = schema_of(c=cells, other=cycle(beside, "7"))
            assert (schema["c"].kind, schema["c"].left_out) == (NUMBER, ROW_NUMBER)

    def test_numbers_with_gaps_or_decimals_or_signs_are_no_row_numbers(self):
        for cells in (
            [str(2 * row) for row in range(N)],
            [str(row + 0.5) for row in range(N)],
            [str(row - 5) for row in range(N)],
            [f"{row} kg" for row in range(N)],
            cycle("1", "2", "3"),
        ):
            assert column_of(cells).left_out == ""

    @pytest.mark.parametrize(
        "name",
        [
            "id",
            "customer_id",
            "CustomerID",
            "customerid",
            "Kunden-Nr",
            "Kundennummer",
            "orderNumber",
        ],
    )
    def test_numbers_are_an_id_by_their_name_and_by_being_different(self, name):
        different = [str(row * 37 % 9973) for row in range(1, N + 1)]
        schema = schema_of(
            **{name: different, "paid": different, "nrw": different, f"{name} ": cycle("3", "5")}
        )
        assert schema[name].left_out == ID
        assert schema["paid"].left_out == schema["nrw"].left_out == ""
        assert schema[f"{name} "].left_out == ""

    def test_texts_that_are_nearly_all_different_are_an_id(self):
        column = column_of([f"K{row:05}x" for row in range(N)])
        assert (column.kind, column.left_out, column.remedy) == (TEXT, ID, INCLUDED)
        assert column_of([f"K{row // 2}x" for row in range(N)]).left_out == ""

    def test_sentences_are_free_text(self):
        column = column_of([f"The house number {row} is for sale" for row in range(N)])
        assert (column.kind, column.left_out) == (TEXT, FREE_TEXT)
        long = column_of(["word" * 20 + str(row // 2) for row in range(N)])
        assert long.left_out == FREE_TEXT
        repeated = column_of(cycle("no tax is due at all", "the full tax is due"))
        assert (repeated.kind, repeated.left_out) == (CATEGORY, "")

    def test_few_rows_tell_nothing_about_ids(self):
        assert column_of([f"K{row}x" for row in range(19)]).left_out == ""
        assert column_of([str(row) for row in range(19)]).left_out == ""
        assert column_of([f"K{row}x" for row in range(20)]).left_out == ID

    @pytest.mark.parametrize("cells", [[None] * 30, ["", "?", "NA"] * 10, pa.nulls(30)])
    def test_empty_columns_are_left_out(self, cells):
        column = column_of(cells)
        assert (column.kind, column.left_out, column.remedy) == (EMPTY, NO_CELLS, ())

    @pytest.mark.parametrize("cell", [[1], {"a": 1}, b"\xff"])
    def test_nested_columns_are_left_out(self, cell):
        column = column_of(pa.array([cell, None] * 20))
        assert (column.kind, column.left_out, column.remedy) == (NESTED, NO_SINGLE_VALUE, ())


def test_a_column_is_left_out_with_the_setting_that_brings_it_back():
    column = Column("my column", NUMBER, remedy=(Setting("categorical", ("my column",)),))
    assert leave_out(column, ID).remedy == (Setting("include", ("my column",)),)
    assert leave_out(column, ASKED).remedy == ()
    assert leave_out(column, ID).becomes == "left out: ID"


@pytest.mark.parametrize(
    "name", ["num_votes", "number of visitors", "price index", "humid", "paid"]
)
def test_quantities_are_no_ids_by_their_name(name):
    values = [str(1000 + 37 * row % 9973) for row in range(200)]
    assert schema_of(**{name: values})[name].left_out == ""


def test_long_whole_numbers_that_floats_cannot_tell_apart_are_different():
    column = column_of([str(1234567890123456000 + row) for row in range(200)])
    assert column.left_out != CONSTANT
