"""What a user says about a column counts for that column, and for no other."""

import pyarrow as pa
import pytest

from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.schema import ASKED, CATEGORY, NO_CELLS, NO_SINGLE_VALUE, NUMBER
from tests.tables.columns.decided_columns import N, column_of, cycle, schema_of


class TestWishes:
    def test_a_stored_category_is_a_category_whatever_it_looks_like(self):
        column = column_of(pa.array(cycle("1", "2")).dictionary_encode())
        assert (column.kind, column.left_out) == (CATEGORY, "")

    @pytest.mark.parametrize("cells", [cycle("1", "2"), [str(row) for row in range(N)], ["x"] * N])
    def test_what_is_wished_to_be_categories_is_used_as_categories(self, cells):
        column = column_of(cells, ColumnOptions(categorical=("c",)))
        assert (column.kind, column.left_out) == (CATEGORY, "")

    def test_what_is_wished_to_be_ignored_is_left_out(self):
        column = column_of(cycle("1", "2"), ColumnOptions(ignore=("c",)))
        assert (column.kind, column.left_out, column.remedy) == (NUMBER, ASKED, ())

    @pytest.mark.parametrize(
        ("cells", "kind"),
        [
            ([str(row) for row in range(N)], NUMBER),
            ([f"K{row}x" for row in range(N)], CATEGORY),
            (["x"] * N, CATEGORY),
            ([f"The house number {row} is for sale" for row in range(N)], CATEGORY),
        ],
    )
    def test_what_is_wished_to_be_included_is_used(self, cells, kind):
        column = column_of(cells, ColumnOptions(include=("c",)))
        assert (column.kind, column.left_out) == (kind, "")

    def test_what_has_no_value_cannot_be_included(self):
        assert column_of([None] * 30, ColumnOptions(include=("c",))).left_out == NO_CELLS
        assert (
            column_of(pa.array([[1]] * 30), ColumnOptions(include=("c",))).left_out
            == NO_SINGLE_VALUE
        )

    def test_a_wish_about_one_column_changes_no_other(self):
        columns = {"a": cycle("1", "2"), "b": cycle("x", "y")}
        options = ColumnOptions(categorical=("a",), ignore=("z",))
        assert schema_of(options, **columns)["b"] == schema_of(**columns)["b"]
