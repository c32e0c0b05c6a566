"""What a column is and becomes: the rules, one by one, and what the user says."""

import datetime
import random

import pyarrow as pa
import pytest

from granulearn.tables.infer import ColumnOptions, leave_out
from granulearn.tables.messages import Setting
from granulearn.tables.parse.dates import DateForm
from granulearn.tables.parse.numbers import NumberForm
from granulearn.tables.schema import (
    CATEGORY,
    DATE,
    EMPTY,
    NESTED,
    NUMBER,
    TEXT,
    YES_NO,
    Cell,
    Column,
    read_column,
)
from tests.tables.decided_columns import INCLUDED, N, column_of, cycle, schema_of


class TestNumbers:
    @pytest.mark.parametrize(
        ("cells", "form"),
        [
            (["1.169,00 €", "2,50 €"], NumberForm(",", "€")),
            (["$17,000,000", "$2,500,000.50"], NumberForm(".", "$")),
            (["62.0%", "7%"], NumberForm(".", "%")),
            (["1,525", "2,500,000"], NumberForm(".", "")),
            (["-3.5e4", "0.5"], NumberForm(".", "")),
            (["(120)", "35"], NumberForm(".", "")),
            (["100 min", "45 min"], NumberForm(".", "min")),
            (["1.1 ct", "2.35 ct"], NumberForm(".", "ct")),
            (["1'234.50", "2'000.00"], NumberForm(".", "")),
        ],
    )
    def test_numbers_have_the_form_in_which_people_write_them(self, cells, form):
        column = column_of(cycle(*cells, "?"))
        assert (column.kind, column.number, column.dropped) == (NUMBER, form, "")
        assert (column.failures.first, column.failures.count, column.notes) == ((), 0, ())
        assert column.advice == (Setting("categorical", ("c",)),)

    @pytest.mark.parametrize(("n", "allowed"), [(100, 1), (200, 2), (1000, 10), (50, 0)])
    def test_ninety_nine_percent_of_the_cells_must_fit(self, n, allowed):
        numbers = [str(row * 0.5) for row in range(n)]
        for n_misfits in (allowed, allowed + 1):
            cells = ["many", "few", "some"] * n
            column = column_of(
                numbers[n_misfits:] + cells[:n_misfits], ColumnOptions(include=("c",))
            )
            assert column.kind == (NUMBER if n_misfits == allowed else CATEGORY)
            assert column.failures.count == n_misfits

    def test_missing_cells_count_neither_for_nor_against_a_form(self):
        assert column_of(cycle("1.5", "?", None, "NA", "2.5")).kind == NUMBER
        cells = [*cycle("?", n=500), *cycle("1", "2.5", n=50), "x"]
        assert column_of(cells).kind == CATEGORY

    def test_misfits_are_named_with_their_rows(self):
        cells = cycle("1.5", "2.5", "3", n=1000)
        cells[17], cells[500] = "about 3", "3 kg"
        column = column_of(cells)
        assert column.kind == NUMBER
        assert column.failures.first == (Cell(17, "about 3"), Cell(500, "3 kg"))
        assert column.failures.count == 2

    def test_misfits_of_what_is_nearly_numbers_are_named_and_all_is_a_category(self):
        cells = cycle("1.5", "2.5", "3")
        for row in (5, 50, 100):
            cells[row] = "many"
        column = column_of(cells)
        assert (column.kind, column.failures.count) == (CATEGORY, 3)
        assert column.failures.first == (Cell(5, "many"), Cell(50, "many"), Cell(100, "many"))
        assert column.notes == (
            "197 cells are numbers of one form, but 3 are not, so all are categories",
        )

    def test_zeros_in_front_are_codes(self):
        column = column_of(cycle("01067", "80331", "10115"))
        assert column.kind == CATEGORY
        assert column.notes == (
            "written with zeros in front, as codes are, so they are categories",
        )
        one_in_a_hundred = ["01067", *cycle("80331", "10115", n=99)]
        assert column_of(one_in_a_hundred).kind == NUMBER

    def test_a_zero_and_decimals_are_no_codes(self):
        assert column_of(cycle("0", "0.5", "10")).kind == NUMBER

    def test_cells_without_a_unit_are_not_read_in_that_of_the_others(self):
        column = column_of(cycle("62%", "41%", "0.41", "15%"))
        assert column.kind == CATEGORY
        (odd,) = column.notes
        assert "2 units, % (150), none (50)" in odd
        nearly = column_of(["7", *cycle("100 min", "45 min", n=199)])
        assert (nearly.kind, nearly.number.unit) == (NUMBER, "min")
        assert nearly.failures.first == (Cell(0, "7"),)

    def test_one_cell_with_a_unit_is_a_misfit_among_bare_numbers(self):
        column = column_of(["3 kg", *cycle("1.5", "2.5", "4")])
        assert (column.kind, column.number, column.notes) == (NUMBER, NumberForm(), ())
        assert column.failures.first == (Cell(0, "3 kg"),)

    def test_two_units_are_said_with_both_and_are_not_compared(self):
        column = column_of(cycle("5 kg", "11 lb", "6 kg"))
        assert column.kind == CATEGORY
        (odd,) = column.notes
        assert "2 units, kg (133), lb (67)" in odd

    def test_a_wish_decides_what_the_cells_leave_open_and_nothing_else(self):
        schema = schema_of(
            ColumnOptions(decimal=","), a=cycle("1,234", "2,500"), b=cycle("1.5", "2.25")
        )
        assert schema["a"].number == NumberForm(",")
        assert schema["b"].number == NumberForm(".")

    @pytest.mark.parametrize("before", [0, 40])
    def test_a_sign_that_could_be_two_things_is_said_with_such_a_cell(self, before):
        column = column_of([*cycle("5", "7", n=before), *cycle("1,234", "2,500", n=N)])
        (odd,) = column.notes
        assert odd.startswith("'1,234' could be read in two ways; '.' is taken")
        assert "decimal=',' for the other" in odd

    def test_whole_numbers_and_certain_signs_are_in_no_doubt(self):
        assert column_of(cycle("5", "7")).notes == ()
        assert column_of(cycle("1,234", "1,234.5")).notes == ()

    def test_stored_numbers_are_numbers_and_what_cannot_be_used_is_a_misfit(self):
        stored = [float(row % 7) for row in range(N)]
        stored[3] = float("inf")
        column = column_of(pa.array(stored))
        assert (column.kind, column.failures.count) == (NUMBER, 1)
        assert column.failures.first == (Cell(3, "inf"),)


class TestDates:
    @pytest.mark.parametrize(
        ("cells", "form"),
        [
            (["2024-02-29", "2023-12-31"], DateForm("year first")),
            (["2024-02-29T10:30:00Z", "2023-12-31"], DateForm("year first", has_clock=True)),
            (["29.02.2024", "1.3.24"], DateForm("dotted")),
            (["13/02/2024", "01/03/2024"], DateForm("year last", day_first=True)),
            (["02/13/2024", "03/01/2024"], DateForm("year last", day_first=False)),
            (["3 May 2024", "14. März 2023"], DateForm("day, name")),
            (["May 3, 2024", "Mar 14, 2023"], DateForm("name, day")),
            (["10:30", "9:15 pm"], DateForm("clock", has_clock=True)),
        ],
    )
    def test_dates_have_the_form_in_which_people_write_them(self, cells, form):
        column = column_of(cycle(*cells, "?"))
        assert (column.kind, column.date, column.dropped) == (DATE, form, "")
        assert column.failures.count == 0

    def test_ninety_nine_percent_of_the_dates_must_fit_and_misfits_are_named(self):
        days = [str(datetime.date(2024, 1, 1) + datetime.timedelta(row)) for row in range(100)]
        days[7] = "2024-02-31"
        column = column_of(days)
        assert (column.kind, column.failures.first) == (DATE, (Cell(7, "2024-02-31"),))
        days[8] = "soon"
        column = column_of(days, ColumnOptions(include=("c",)))
        assert (column.kind, column.failures.count) == (CATEGORY, 2)
        assert column.notes == (
            "98 cells are dates of one form, but 2 are not, so all are categories",
        )

    def test_dates_against_the_order_of_the_others_are_misfits(self):
        cells = cycle("13/02/2024", "01/03/2024", n=300)
        cells[9] = "02/13/2024"
        column = column_of(cells)
        assert column.date == DateForm("year last", day_first=True)
        assert column.failures.first == (Cell(9, "02/13/2024"),)

    def test_dates_that_nothing_decides_are_asked_about(self):
        column = column_of(cycle("01/02/2024", "03/04/2024"))
        assert (column.kind, column.dropped) == (DATE, "ambiguous date")
        assert column.advice == (Setting("day_first", True), Setting("day_first", False))
        assert column.notes[0].startswith("'01/02/2024'")

    def test_a_wish_does_not_overrule_what_the_cells_say(self):
        column = column_of(cycle("13/02/2024", "01/01/2024"), ColumnOptions(day_first=False))
        assert column.date.day_first

    def test_stored_dates_are_dates(self):
        days = [datetime.date(2024, 1, 1 + row % 28) for row in range(N)]
        assert column_of(pa.array(days)).date == DateForm("year first")
        midnights = pa.array(days).cast(pa.timestamp("ns"))
        assert column_of(midnights).date == DateForm("year first")
        noon = pa.array([datetime.datetime(2024, 1, 1, 12)], pa.timestamp("ns"))
        times = pa.concat_arrays([midnights, noon])
        assert column_of(times).date == DateForm("year first", has_clock=True)

    @pytest.mark.parametrize("clock", [" 00:00", " 00:00:00", "T00:00:00.000", " 12:00 am"])
    def test_midnight_beside_every_date_is_no_time(self, clock):
        days = [f"2024-01-{1 + row % 28:02d}{clock}" for row in range(N)]
        assert column_of(days).date == DateForm("year first")
        assert column_of([*days, "2024-01-01 00:01"]).date.has_clock


class TestYesNo:
    @pytest.mark.parametrize("pair", ["yes no", "Ja Nein", "oui non", "TRUE false", "J N", "sí no"])
    def test_yes_and_no_in_any_language_are_one_and_zero(self, pair):
        column = column_of(cycle(*pair.split(), None))
        assert (column.kind, column.dropped) == (YES_NO, "")

    def test_stored_truths_are_yes_and_no(self):
        assert column_of(pa.array(cycle(True, False, None))).kind == YES_NO

    @pytest.mark.parametrize("cells", [["yes", "no", "maybe"], ["yes"], ["a", "b"], ["f", "m"]])
    def test_other_words_are_categories(self, cells):
        assert column_of(cycle(*cells)).kind == CATEGORY


@pytest.mark.parametrize(
    "cells", [["2024-01-05"] * 9 + ["05.01.2024"], ["1.5"] * 9 + ["1,5"], ["7"] * 9 + ["x"]]
)
def test_a_mixture_of_forms_is_said_with_its_rows(cells):
    column = column_of(cycle(*cells))
    assert column.kind == CATEGORY
    assert column.failures.first[0] == Cell(9, cells[-1])
    assert "are not, so all are categories" in column.notes[0]


def test_one_word_among_truths_is_a_misfit():
    column = column_of(["maybe", *cycle("yes", "no", n=299)])
    assert (column.kind, column.failures.count) == (YES_NO, 1)
    assert column.failures.first == (Cell(0, "maybe"),)


def test_categories_that_were_stored_as_numbers_are_found_again_in_text():
    stored = pa.array([4.0, None, 5.0, 123456789012.0, 1.5])
    column = column_of(stored, ColumnOptions(categorical=("c",)))
    text = pa.array(["4.0", "", "5", "123456789012.0", "1.50"])
    first, second = (read_column(column, cells)[0][0].to_pylist() for cells in (stored, text))
    assert first == second == ["4", None, "5", "123456789012", "1.5"]


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
        assert column.dropped == ""


def test_a_minus_is_a_value_where_a_plus_is_one():
    column = column_of(cycle("+", "-", "-", "?"))
    assert column.values_like_nulls == ("-",)
    assert (column.kind, column.missing, column.distinct) == (CATEGORY, {"?": 50}, 2)
    other = column_of(cycle("a", "-"))
    assert (other.values_like_nulls, other.missing) == ((), {"-": 100})


def test_missing_marks_examples_and_different_cells_are_told():
    column = column_of(cycle("b", "?", "a", None, "NA"))
    assert column.missing == {"?": 40, "": 40, "NA": 40}
    assert column.examples == ("b", "a")
    assert column.distinct == 2


def test_a_table_without_rows_has_empty_columns():
    assert column_of([]).kind == EMPTY


def test_a_stray_date_decides_nothing():
    schema = schema_of(d=cycle("01/02/2024", "03/04/2024"), note=["25/12/2019", *cycle("x", n=199)])
    assert schema["d"].dropped == "ambiguous date"


class TestWithoutMeaning:
    @pytest.mark.parametrize("cells", [["x"], ["7"], ["2024-01-01"], ["yes"]])
    def test_constants_are_left_out(self, cells):
        column = column_of(cycle(*cells))
        assert (column.dropped, column.advice) == ("constant", INCLUDED)

    @pytest.mark.parametrize("cells", [["x", None], ["7", "-", "NA"]])
    def test_a_box_that_is_ticked_or_not_is_read_as_such(self, cells):
        column = column_of(cycle(*cells))
        assert (column.kind, column.filled, column.dropped) == (YES_NO, True, "")
        (found,), _ = read_column(column, pa.array(cells))
        assert found.tolist() == [1.0, *[0.0] * (len(cells) - 1)]

    def test_one_cell_that_is_missing_makes_no_box_of_a_constant(self):
        assert column_of([None, *cycle("x", n=199)]).dropped == "constant"

    def test_one_row_is_no_constant(self):
        assert column_of(["x"]).dropped == ""

    @pytest.mark.parametrize("first", [0, 1, 5000])
    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("beside", ["2.5", "2,5"])
    def test_row_numbers_are_left_out_in_order_and_shuffled(self, first, stored, beside):
        numbers = list(range(first, first + N))
        shuffled = random.Random(0).sample(numbers, N)
        for order in (numbers, shuffled):
            cells = pa.array(order) if stored else list(map(str, order))
            schema = schema_of(c=cells, other=cycle(beside, "7"))
            assert (schema["c"].kind, schema["c"].dropped) == (NUMBER, "row number")

    def test_numbers_with_gaps_or_decimals_or_signs_are_no_row_numbers(self):
        for cells in (
            [str(2 * row) for row in range(N)],
            [str(row + 0.5) for row in range(N)],
            [str(row - 5) for row in range(N)],
            [f"{row} kg" for row in range(N)],
            cycle("1", "2", "3"),
        ):
            assert column_of(cells).dropped == ""

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
        assert schema[name].dropped == "ID"
        assert schema["paid"].dropped == schema["nrw"].dropped == ""
        assert schema[f"{name} "].dropped == ""

    def test_texts_that_are_nearly_all_different_are_an_id(self):
        column = column_of([f"K{row:05}x" for row in range(N)])
        assert (column.kind, column.dropped, column.advice) == (TEXT, "ID", INCLUDED)
        assert column_of([f"K{row // 2}x" for row in range(N)]).dropped == ""

    def test_sentences_are_free_text(self):
        column = column_of([f"The house number {row} is for sale" for row in range(N)])
        assert (column.kind, column.dropped) == (TEXT, "free text")
        long = column_of(["word" * 20 + str(row // 2) for row in range(N)])
        assert long.dropped == "free text"
        repeated = column_of(cycle("no tax is due at all", "the full tax is due"))
        assert (repeated.kind, repeated.dropped) == (CATEGORY, "")

    def test_few_rows_tell_nothing_about_ids(self):
        assert column_of([f"K{row}x" for row in range(19)]).dropped == ""
        assert column_of([str(row) for row in range(19)]).dropped == ""
        assert column_of([f"K{row}x" for row in range(20)]).dropped == "ID"

    @pytest.mark.parametrize("cells", [[None] * 30, ["", "?", "NA"] * 10, pa.nulls(30)])
    def test_empty_columns_are_left_out(self, cells):
        column = column_of(cells)
        assert (column.kind, column.dropped, column.advice) == (EMPTY, "empty", ())

    @pytest.mark.parametrize("cell", [[1], {"a": 1}, b"\xff"])
    def test_nested_columns_are_left_out(self, cell):
        column = column_of(pa.array([cell, None] * 20))
        assert (column.kind, column.dropped, column.advice) == (NESTED, "nested", ())


def test_a_column_is_left_out_with_the_setting_that_brings_it_back():
    column = Column("my column", NUMBER, advice=(Setting("categorical", ("my column",)),))
    assert leave_out(column, "ID").advice == (Setting("include", ("my column",)),)
    assert leave_out(column, "asked").advice == ()
    assert leave_out(column, "ID").becomes == "left out: ID"


@pytest.mark.parametrize(
    "name", ["num_votes", "number of visitors", "price index", "humid", "paid"]
)
def test_quantities_are_no_ids_by_their_name(name):
    values = [str(1000 + 37 * row % 9973) for row in range(200)]
    assert schema_of(**{name: values})[name].dropped == ""


def test_long_whole_numbers_that_floats_cannot_tell_apart_are_different():
    column = column_of([str(1234567890123456000 + row) for row in range(200)])
    assert column.dropped != "constant"


class TestWishes:
    def test_a_stored_category_is_a_category_whatever_it_looks_like(self):
        column = column_of(pa.array(cycle("1", "2")).dictionary_encode())
        assert (column.kind, column.dropped) == (CATEGORY, "")

    @pytest.mark.parametrize("cells", [cycle("1", "2"), [str(row) for row in range(N)], ["x"] * N])
    def test_what_is_wished_to_be_categories_is_used_as_categories(self, cells):
        column = column_of(cells, ColumnOptions(categorical=("c",)))
        assert (column.kind, column.dropped) == (CATEGORY, "")

    def test_what_is_wished_to_be_ignored_is_left_out(self):
        column = column_of(cycle("1", "2"), ColumnOptions(ignore=("c",)))
        assert (column.kind, column.dropped, column.advice) == (NUMBER, "asked", ())

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
        assert (column.kind, column.dropped) == (kind, "")

    def test_what_has_no_value_cannot_be_included(self):
        assert column_of([None] * 30, ColumnOptions(include=("c",))).dropped == "empty"
        assert column_of(pa.array([[1]] * 30), ColumnOptions(include=("c",))).dropped == "nested"

    def test_a_wish_about_one_column_changes_no_other(self):
        columns = {"a": cycle("1", "2"), "b": cycle("x", "y")}
        options = ColumnOptions(categorical=("a",), ignore=("z",))
        assert schema_of(options, **columns)["b"] == schema_of(**columns)["b"]
