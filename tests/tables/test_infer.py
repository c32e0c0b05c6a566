"""What a column is and becomes: the rules, one by one, and what the user says."""

import datetime
import random

import pyarrow as pa
import pytest

from granulearn.tables.infer import ColumnOptions
from granulearn.tables.messages import Setting
from granulearn.tables.parse.dates import DateForm
from granulearn.tables.parse.numbers import NumberForm
from granulearn.tables.schema import CATEGORY, DATE, NUMBER, TEXT, YES_NO, Cell, read_column
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
        assert (column.type, column.number, column.dropped) == (NUMBER, form, "")
        assert (column.failures.first, column.failures.count, column.notes) == ((), 0, ())
        assert column.advice == (Setting("categorical", ("c",)),)

    @pytest.mark.parametrize(("n", "allowed"), [(100, 1), (200, 2), (1000, 10), (50, 0)])
    def test_ninety_nine_percent_of_the_cells_must_fit(self, n, allowed):
        numbers = [str(row * 0.5) for row in range(n)]
        for n_failures in (allowed, allowed + 1):
            cells = ["many", "few", "some"] * n
            column = column_of(
                numbers[n_failures:] + cells[:n_failures], ColumnOptions(include=("c",))
            )
            assert column.type == (NUMBER if n_failures == allowed else CATEGORY)
            assert column.failures.count == n_failures

    def test_failures_of_what_is_nearly_numbers_are_named_and_all_is_a_category(self):
        cells = cycle("1.5", "2.5", "3")
        for row in (5, 50, 100):
            cells[row] = "many"
        column = column_of(cells)
        assert (column.type, column.failures.count) == (CATEGORY, 3)
        assert column.failures.first == (Cell(5, "many"), Cell(50, "many"), Cell(100, "many"))
        assert column.notes == (
            "197 cells are numbers of one form, but 3 are not, so all are categories",
        )

    def test_zeros_in_front_are_codes(self):
        column = column_of(cycle("01067", "80331", "10115"))
        assert column.type == CATEGORY
        assert column.notes == (
            "written with zeros in front, as codes are, so they are categories",
        )
        one_in_a_hundred = ["01067", *cycle("80331", "10115", n=99)]
        assert column_of(one_in_a_hundred).type == NUMBER

    def test_cells_without_a_unit_are_not_read_in_that_of_the_others(self):
        column = column_of(cycle("62%", "41%", "0.41", "15%"))
        assert column.type == CATEGORY
        (odd,) = column.notes
        assert "2 units, % (150), none (50)" in odd
        nearly = column_of(["7", *cycle("100 min", "45 min", n=199)])
        assert (nearly.type, nearly.number.unit) == (NUMBER, "min")
        assert nearly.failures.first == (Cell(0, "7"),)

    def test_an_option_decides_what_the_cells_leave_open_and_nothing_else(self):
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
        assert (column.type, column.date, column.dropped) == (DATE, form, "")
        assert column.failures.count == 0

    def test_ninety_nine_percent_of_the_dates_must_fit_and_failures_are_named(self):
        days = [str(datetime.date(2024, 1, 1) + datetime.timedelta(row)) for row in range(100)]
        days[7] = "2024-02-31"
        column = column_of(days)
        assert (column.type, column.failures.first) == (DATE, (Cell(7, "2024-02-31"),))
        days[8] = "soon"
        column = column_of(days, ColumnOptions(include=("c",)))
        assert (column.type, column.failures.count) == (CATEGORY, 2)
        assert column.notes == (
            "98 cells are dates of one form, but 2 are not, so all are categories",
        )

    def test_dates_that_nothing_decides_are_asked_about(self):
        column = column_of(cycle("01/02/2024", "03/04/2024"))
        assert (column.type, column.dropped) == (DATE, "ambiguous date")
        assert column.advice == (Setting("day_first", True), Setting("day_first", False))
        assert column.notes[0].startswith("'01/02/2024'")

    @pytest.mark.parametrize("clock", [" 00:00", " 00:00:00", "T00:00:00.000", " 12:00 am"])
    def test_midnight_beside_every_date_is_no_time(self, clock):
        days = [f"2024-01-{1 + row % 28:02d}{clock}" for row in range(N)]
        assert column_of(days).date == DateForm("year first")
        assert column_of([*days, "2024-01-01 00:01"]).date.has_clock


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        *((pair, YES_NO) for pair in ("yes no", "Ja Nein", "oui non", "TRUE false", "J N")),
        *((words, CATEGORY) for words in ("yes no maybe", "yes", "a b", "f m")),
    ],
)
def test_yes_and_no_in_any_language_are_one_and_zero_and_other_words_categories(cells, kind):
    column = column_of(cycle(*cells.split(), None), ColumnOptions(include=("c",)))
    assert (column.type, column.dropped) == (kind, "")


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


@pytest.mark.parametrize("day_first", [True, False])
def test_dates_in_doubt_are_decided_by_another_column_or_an_option(day_first):
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
    assert (column.type, column.missing, column.distinct) == (CATEGORY, {"?": 50}, 2)
    other = column_of(cycle("a", "-"))
    assert (other.values_like_nulls, other.missing) == ((), {"-": 100})


class TestWithoutMeaning:
    @pytest.mark.parametrize("cells", [["x"], ["7"], ["2024-01-01"], ["yes"]])
    def test_constants_are_left_out(self, cells):
        column = column_of(cycle(*cells))
        assert (column.dropped, column.advice) == ("constant", INCLUDED)

    @pytest.mark.parametrize("cells", [["x", None], ["7", "-", "NA"]])
    def test_a_box_that_is_ticked_or_not_is_read_as_such(self, cells):
        column = column_of(cycle(*cells))
        assert (column.type, column.filled, column.dropped) == (YES_NO, True, "")
        (found,), _ = read_column(column, pa.array(cells))
        assert found.tolist() == [1.0, *[0.0] * (len(cells) - 1)]

    @pytest.mark.parametrize("first", [0, 1, 5000])
    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("beside", ["2.5", "2,5"])
    def test_row_numbers_are_left_out_in_order_and_shuffled(self, first, stored, beside):
        numbers = list(range(first, first + N))
        shuffled = random.Random(0).sample(numbers, N)
        for order in (numbers, shuffled):
            cells = pa.array(order) if stored else list(map(str, order))
            schema = schema_of(c=cells, other=cycle(beside, "7"))
            assert (schema["c"].type, schema["c"].dropped) == (NUMBER, "row number")

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
        assert (column.type, column.dropped, column.advice) == (TEXT, "ID", INCLUDED)
        assert column_of([f"K{row // 2}x" for row in range(N)]).dropped == ""

    def test_sentences_are_free_text(self):
        column = column_of([f"The house number {row} is for sale" for row in range(N)])
        assert (column.type, column.dropped) == (TEXT, "free text")
        long = column_of(["word" * 20 + str(row // 2) for row in range(N)])
        assert long.dropped == "free text"
        repeated = column_of(cycle("no tax is due at all", "the full tax is due"))
        assert (repeated.type, repeated.dropped) == (CATEGORY, "")


@pytest.mark.parametrize(
    "name", ["num_votes", "number of visitors", "price index", "humid", "paid"]
)
def test_quantities_are_no_ids_by_their_name(name):
    values = [str(1000 + 37 * row % 9973) for row in range(200)]
    assert schema_of(**{name: values})[name].dropped == ""


class TestColumnOptions:
    @pytest.mark.parametrize("cells", [cycle("1", "2"), [str(row) for row in range(N)], ["x"] * N])
    def test_categorical_columns_are_used_as_categories(self, cells):
        column = column_of(cells, ColumnOptions(categorical=("c",)))
        assert (column.type, column.dropped) == (CATEGORY, "")

    def test_ignored_columns_are_dropped(self):
        column = column_of(cycle("1", "2"), ColumnOptions(ignore=("c",)))
        assert (column.type, column.dropped, column.advice) == (NUMBER, "asked", ())

    @pytest.mark.parametrize(
        ("cells", "kind"),
        [
            ([str(row) for row in range(N)], NUMBER),
            ([f"K{row}x" for row in range(N)], CATEGORY),
            (["x"] * N, CATEGORY),
            ([f"The house number {row} is for sale" for row in range(N)], CATEGORY),
        ],
    )
    def test_included_columns_are_used(self, cells, kind):
        column = column_of(cells, ColumnOptions(include=("c",)))
        assert (column.type, column.dropped) == (kind, "")
