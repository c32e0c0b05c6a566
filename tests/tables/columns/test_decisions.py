"""What one column leaves open, the others decide."""

import pyarrow as pa
import pytest

from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.parse.dates import DateForm
from granulearn.tables.parse.numbers import NumberForm
from granulearn.tables.schema import AMBIGUOUS_DATE, CATEGORY, EMPTY
from tests.tables.columns.decided_columns import N, column_of, cycle, schema_of


def test_a_decimal_comma_in_doubt_is_decided_by_another_column():
    doubtful = cycle("1,234", "2,500")
    assert column_of(doubtful).number == NumberForm(".")
    german = schema_of(a=doubtful, b=cycle("1,5", "22,75"))
    assert german["a"].number == NumberForm(",")
    english = schema_of(a=doubtful, b=cycle("1.5", "22.75"))
    assert english["a"].number == NumberForm(".")


def test_a_word_that_is_a_number_by_chance_decides_nothing():
    doubtful = cycle("1,234", "2,500")
    schema = schema_of(
        a=doubtful, b=cycle("1,5", "22,75"), c=cycle("1.5", "x"), d=cycle("2.5", "y")
    )
    assert schema["a"].number == NumberForm(",")


def test_numbers_that_a_file_stores_decide_no_sign():
    stored = pa.array([row * 0.5 for row in range(N)])
    schema = schema_of(a=cycle("1,234", "2,500"), b=cycle("1,5", "2,75"), c=stored, d=stored)
    assert schema["a"].number == NumberForm(",")
    assert schema["c"].number == NumberForm(".")


@pytest.mark.parametrize("day_first", [True, False])
def test_dates_in_doubt_are_decided_by_another_column_or_a_wish(day_first):
    doubtful = cycle("01/02/2024", "03/04/2024")
    clear = cycle("13/02/2024" if day_first else "02/13/2024", "01/01/2024")
    for column in (
        schema_of(a=doubtful, b=clear)["a"],
        column_of(doubtful, ColumnOptions(day_first=day_first)),
    ):
        assert column.date == DateForm("year last", day_first=day_first)
        assert column.left_out == ""


def test_a_minus_is_a_value_where_a_plus_is_one():
    column = column_of(cycle("+", "-", "-", "?"))
    assert column.values_like_marks == ("-",)
    assert (column.kind, column.missing, column.distinct) == (CATEGORY, {"?": 50}, 2)
    other = column_of(cycle("a", "-"))
    assert (other.values_like_marks, other.missing) == ((), {"-": 100})


def test_missing_marks_examples_and_different_cells_are_told():
    column = column_of(cycle("b", "?", "a", None, "NA"))
    assert column.missing == {"?": 40, "": 40, "NA": 40}
    assert column.examples == ("b", "a")
    assert column.distinct == 2


def test_a_table_without_rows_has_empty_columns():
    assert column_of([]).kind == EMPTY


def test_a_stray_date_decides_nothing():
    schema = schema_of(d=cycle("01/02/2024", "03/04/2024"), note=["25/12/2019", *cycle("x", n=199)])
    assert schema["d"].left_out == AMBIGUOUS_DATE
