"""A survey is the same for any partition of the rows, and counts what is there."""

import csv
import datetime
import decimal
import string
import tempfile
from collections import Counter
from functools import reduce
from itertools import islice, pairwise, product
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from granulearn.tables import open_table
from granulearn.tables.columns import sketch as sketches
from granulearn.tables.columns import survey
from granulearn.tables.columns.cells import as_text, is_mark, is_nested
from granulearn.tables.columns.dates import DateClass, date_class
from granulearn.tables.columns.decisions import decide_schema
from granulearn.tables.columns.numbers import NumberClass, is_plain, number_class
from granulearn.tables.columns.survey import (
    CODES,
    WORD,
    ColumnSurvey,
    Steps,
    is_number_type,
    join_columns,
    join_surveys,
    stored_numbers,
    survey_batches,
    survey_column,
)
from granulearn.tables.readers import text_scan

texts = st.one_of(
    st.none(),
    st.sampled_from(["", "?", "NA", "-", "+", " 7 ", "1", "2", "3", "4", "+5", "007", "1.234"]),
    st.sampled_from(["1,5", "1.5", "5 kg", "7 kg", "3 lb", "9B", "4C", "1D", "2 €", "1e0005"]),
    st.sampled_from(["2024-02-29", "1/2/2024", "13/2/2024", "10:30", "a b c", "yes", "no", "Ä"]),
    st.sampled_from(["x" * 300, "1" * 80, "1" * 200, "9007199254740993", "1e200", "inf", "-0"]),
    st.text(max_size=4),
)
columns = st.one_of(
    st.lists(texts, max_size=30),
    st.lists(st.sampled_from(["1", "2.50", "3", "-4", "0.5", "?", "1.234"]), max_size=30),
    st.integers(-3, 10**16).flatmap(
        lambda first: st.integers(0, 30).map(lambda n: [str(first + row) for row in range(n)])
    ),
)
cuts = st.lists(st.integers(0, 30), max_size=6).map(sorted)
few_are_remembered = mock.patch.multiple(
    survey, MAX_WORDS=4, MAX_UNITS=2, _REMEMBERED_CELLS=3, _THREADS=1
)
small_sketches = mock.patch.multiple(sketches, _REMEMBERED=6)


def content(column: ColumnSurvey) -> dict:
    """Return all that a survey holds, in a form that can be compared."""
    held = {name: getattr(column, name) for name in ColumnSurvey.__dataclass_fields__}
    sketch = held.pop("sketch")
    return held | {"lowest hashes": sketch.lowest.tolist(), "distinct": column.distinct}


def pieces_of(column: pa.Array, places: list[int]) -> list[tuple[int, pa.Array]]:
    """Return slices of a column with the row at which each begins."""
    ends = [min(place, len(column)) for place in places]
    return [
        (begin, column[begin:end])
        for begin, end in zip([0, *ends], [*ends, len(column)], strict=True)
    ]


def batches_of(column: pa.Array, places: list[int]) -> list[pa.RecordBatch]:
    return [pa.record_batch({"c": piece}) for _, piece in pieces_of(column, places)]


def class_of(text: str):
    return number_class(text) or date_class(text) or WORD


TYPED = {
    "integer": pa.array([3, None, 4, 5, 2**62, 2**62 + 1]),
    "steps": pa.array(range(7, 27)),
    "large steps": pa.array(range(2**53 - 3, 2**53 + 4)),
    "float": pa.array([1.5, float("nan"), None, -0.0, 0.0, float("inf"), 1e200, 2.0]),
    "half": pa.array(np.array([1, np.nan, 2], np.float16)),
    "decimal": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.00")]),
    "truth": pa.array([True, False, None, True]),
    "duration": pa.array([1, None, 1500, 10**15], pa.duration("ns")),
    "date": pa.array([datetime.date(2024, 1, day) for day in (1, 2, 2)] + [None]),
    "timestamp": pa.array([1, None, -1, 10**18], pa.timestamp("ns")),
    "zoned": pa.array([0, None, 10**9], pa.timestamp("s", "Europe/Berlin")),
    "time": pa.array([5, None, 5], pa.time32("s")),
    "category": pa.array(["a", "1", None, "a", "?"]).dictionary_encode(),
    "category of numbers": pa.array([1.0, 2.5, None, 1.0]).dictionary_encode(),
    "nothing": pa.nulls(5),
    "list": pa.array([[1], None, []]),
    "binary": pa.array([b"\xff", None]),
    "binary view": pa.array([b"\xff", None], pa.binary_view()),
    "uuid": pa.array([b"\xff" * 16, None], pa.uuid()),
    "interval": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
    "json": pa.array(['{"a": 1}', None], pa.json_()),
    "text view": pa.array(["a", None, "1"], pa.string_view()),
}


@given(columns, cuts)
@example(["x" * 300] + ["a"] * 5, [1])
@example([f"{n} u{chr(97 + n)}" for n in range(6)] + ["word", "1 ua"], [3, 7])
@example(["1 kg", "2 lb", "1 kg", "3 h", "5 m"], [2])
@example(["9007199254740992", "9007199254740993"], [1])
def test_any_partition_gives_the_same_survey(cells, places):
    column = pa.array(cells, pa.string())
    with few_are_remembered, small_sketches:
        whole = content(survey_column("c", column))
        in_batches = survey_batches(batches_of(column, places))["c"]
        parts = [survey_column("c", piece, row) for row, piece in pieces_of(column, places)]
        from_the_end = reduce(lambda later, earlier: join_columns(earlier, later), parts[::-1])
        assert content(in_batches) == whole
        assert content(from_the_end) == whole


@pytest.mark.parametrize("kind", TYPED)
@settings(max_examples=10)
@given(places=cuts)
def test_any_partition_of_stored_cells_gives_the_same_survey(kind, places):
    column = TYPED[kind]
    whole = content(survey_column("c", column))
    assert content(survey_batches(batches_of(column, places))["c"]) == whole


@given(columns, cuts)
def test_any_partition_gives_the_same_schema(cells, places):
    column = pa.array(cells, pa.string())
    whole = decide_schema(survey_batches([pa.record_batch({"c": column})]))
    assert decide_schema(survey_batches(batches_of(column, places))) == whole


@given(columns)
def test_a_survey_does_not_depend_on_how_text_is_stored(cells):
    column = pa.array(cells, pa.string())
    expected = content(survey_column("c", column))
    for stored in (column.cast(pa.large_string()), column.dictionary_encode()):
        found = content(survey_column("c", stored))
        assert found.pop("stored") - expected["stored"] <= {"category"}
        assert found == {key: value for key, value in expected.items() if key != "stored"}


@given(columns, st.integers(0, 100))
def test_a_survey_counts_what_a_slow_look_at_each_cell_counts(cells, first_row):
    text = as_text(pa.array(cells, pa.string()))
    marks = is_mark(text).to_pylist()
    rows = list(zip(text.to_pylist(), marks, strict=True))
    known = [(row, cell) for row, (cell, mark) in enumerate(rows, first_row) if not mark]
    found = survey_column("c", pa.array(cells, pa.string()), first_row)
    counts = Counter(class_of(cell) for _, cell in known)
    words = Counter(cell for _, cell in known if class_of(cell) == WORD)
    plain = [float(cell) for _, cell in known if is_plain(cell)]
    assert found.rows == len(cells)
    assert found.known == len(known)
    assert found.missing == Counter(cell or "" for cell, mark in rows if mark)
    assert {kind: tally.count for kind, tally in found.classes.items()} == counts
    for kind, tally in found.classes.items():
        own = [cell for cell in known if class_of(cell[1]) == kind][: len(tally.first)]
        assert [row for row, _ in tally.first] == [row for row, _ in own]
        assert len(tally.first) == min(tally.count, survey._REMEMBERED_CELLS)
    assert found.words == (None if any(len(word) > 200 for word in words) else words)
    assert found.letters == sum(len(word) * n for word, n in words.items())
    assert found.blanks == sum(word.count(" ") * n for word, n in words.items())
    assert found.lowest == min(plain, default=np.inf)
    assert found.highest == max(plain, default=-np.inf)
    assert found.all_whole == all(value == int(value) for value in plain)
    # Floats cannot tell all whole numbers apart from here on.
    different = {
        float(cell) if is_plain(cell) and abs(float(cell)) < 2**53 else cell for _, cell in known
    }
    assert found.distinct == len(different)
    stepwise = len(plain) == len(cells) > 0 and plain[0] == int(plain[0])
    stepwise = stepwise and all(b - a == 1 for a, b in pairwise(plain))
    assert found.steps == (Steps(plain[0], plain[-1]) if stepwise else None)
    kinds = (NumberClass, DateClass, WORD)
    assert [found.count(kind) for kind in kinds] == [
        sum(n for own, n in counts.items() if own == kind or isinstance(own, other))
        for kind, other in zip(kinds, (NumberClass, DateClass, ()), strict=True)
    ]


def big_column(kind: str) -> pa.Array:
    n, abc = 20_000, string.ascii_lowercase
    cells = {
        "different words": (f"word {row}" for row in range(n)),
        "different numbers": (str(row * 0.5) for row in range(n)),
        "codes of many units": (f"{row} {abc[row % 26]}{abc[row % 23]}" for row in range(n)),
        "dates": (str(datetime.date(2000, 1, 1) + datetime.timedelta(row)) for row in range(n)),
        "numbers, then words": (str(row) if row < 15_000 else f"w{row}" for row in range(n)),
        "missing, then numbers": ("?" if row < 100 else str(row) for row in range(n)),
    }  # fmt: skip
    return pa.array(cells[kind], pa.string())


BIG = ["different words", "different numbers", "codes of many units", "dates",
       "numbers, then words", "missing, then numbers"]  # fmt: skip


@pytest.mark.parametrize("kind", BIG)
@pytest.mark.parametrize("size", [700, 6000])
def test_beyond_all_limits_a_partition_changes_nothing(kind, size):
    column = big_column(kind)
    whole = content(survey_column("c", column))
    places = list(range(size, len(column), size))
    assert content(survey_batches(batches_of(column, places))["c"]) == whole
    parts = [survey_column("c", piece, row) for row, piece in pieces_of(column, places)]
    assert content(reduce(join_columns, parts)) == whole


@pytest.mark.parametrize("kind", BIG)
def test_different_cells_are_counted_within_five_percent(kind):
    column = big_column(kind)
    n_different = len(set(column.to_pylist()) - {"?"})
    assert survey_column("c", column).distinct == pytest.approx(n_different, rel=0.05)


def test_numbers_of_many_units_are_words():
    column = pa.array([f"{row} {chr(97 + row)}{chr(98 + row)}" for row in range(24)] * 2)
    with mock.patch.object(survey, "MAX_UNITS", 23):
        found = survey_column("c", column)
    assert found.stored == {"text", CODES}
    assert found.count(WORD) == 48
    assert [cell.row for cell in found.classes[WORD].first] == list(range(12))
    assert found.words is None
    assert survey_column("c", column).count(NumberClass) == 48


def test_a_column_of_ten_thousand_units_is_looked_at_as_fast_as_any():
    # A pass over all rows for each unit would take minutes.
    units = map("".join, islice(product(string.ascii_lowercase, repeat=3), 10_000))
    column = pa.array([f"{row} {unit}" for unit in units for row in range(10)])
    found = survey_column("c", column)
    assert found.classes[WORD].count == len(column)


def test_a_survey_of_no_batch_is_none_and_of_no_rows_has_columns():
    assert survey_batches([]) is None
    found = survey_batches([pa.record_batch({"a": pa.array([], pa.string()), "b": pa.nulls(0)})])
    assert [(column.name, column.rows) for column in found.columns] == [("a", 0), ("b", 0)]


@pytest.mark.parametrize("kind", TYPED)
def test_columns_of_no_rows_are_surveyed_and_change_nothing(kind):
    column = TYPED[kind]
    nothing = survey_column("c", column[:0])
    own = survey_column("c", column)
    assert (nothing.rows, nothing.known, nothing.distinct) == (0, 0, 0)
    assert content(join_columns(nothing, own)) == content(own)
    assert content(join_columns(own, nothing)) == content(own)


def test_the_first_batch_is_looked_at_before_the_next_ones_are_read():
    plain: set[str] = set()
    told = []

    def batches():
        yield pa.record_batch({"a": ["1.5"], "b": ["red"]})
        told.append(set(plain))
        yield pa.record_batch({"a": [2.5], "b": ["blue"]})

    assert survey_batches(batches(), plain=plain)["a"].rows == 2
    assert told == [{"a"}]


def test_rows_are_counted_across_batches():
    column = pa.array(["a", "b", "c", "a"])
    batches = batches_of(column, [1, 3])
    found = survey_batches(batches, first_row=10)
    assert found.rows == 4
    assert [cell.row for cell in found["c"].classes[WORD].first] == [10, 11, 12, 13]
    later = survey_batches(batches, first_row=14)
    assert join_surveys(found, later).rows == 8


@pytest.mark.parametrize("kind", TYPED)
def test_stored_cells_are_counted_by_what_the_file_says(kind):
    column = TYPED[kind]
    found = survey_column("c", column)
    nested = kind in {"list", "binary", "binary view", "uuid", "interval"}
    assert is_nested(column.type) == nested
    numbers = {"integer", "steps", "large steps", "float", "half", "decimal", "duration"}
    assert is_number_type(column.type) == (kind in numbers)
    if nested:
        assert found.stored == {"nested"}
        assert found.known == len(column) - column.null_count
    else:
        assert found.known == is_mark(as_text(column)).to_pylist().count(False)
        assert 0 < found.distinct <= found.known or kind == "nothing"
    assert sum(tally.count for tally in found.classes.values()) == (0 if nested else found.known)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**64 - 1).map(float)), max_size=8))
def test_stored_numbers_are_floats_with_gaps(values):
    found = stored_numbers(pa.array(values, pa.float64()))
    assert np.array_equal(found, np.array(values, float), equal_nan=True)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([2**64 - 1], pa.uint64()), 2.0**64),
        (pa.array([-(2**63)]), -(2.0**63)),
        (pa.array([decimal.Decimal("123456789012345678901234567890.5")]), 123456789012345678901e9),
        (pa.array([5400], pa.duration("s")), 1.5),
        (pa.array([3_600_000_000_000], pa.duration("ns")), 1.0),
        (pa.array([0.5], pa.float16()), 0.5),
    ],
)
def test_stored_numbers_of_all_types_are_the_nearest_floats(column, expected):
    assert stored_numbers(column)[0] == pytest.approx(expected, rel=1e-15)


def test_infinite_and_huge_numbers_are_words_and_zeros_are_one():
    found = survey_column("c", TYPED["float"])
    assert found.count(NumberClass) == 4
    assert found.count(WORD) == 2
    assert [cell.text for cell in found.classes[WORD].first] == ["inf", "1e+200"]
    assert found.distinct == 5  # 1.5, 0, inf, 1e200 and 2
    assert (found.lowest, found.highest) == (0.0, 2.0)


def test_numbered_rows_are_steps_in_text_and_numbers_alike():
    for column in (pa.array(range(7, 27)), pa.array([str(row) for row in range(7, 27)])):
        assert survey_column("c", column).steps == Steps(7, 26)
    for cells in (["1", "3"], ["2", "1"], ["1", "?", "2"], ["0.5", "1.5"], ["a"], ["1", "1"]):
        assert survey_column("c", pa.array(cells)).steps is None


def test_very_long_cells_are_looked_at_as_fast_as_any():
    cells = ["1" * 10**6 + "x", "x" * 10**6, "1 " * 10**5, "µ" * 10**5, "2020-" * 10**5]
    found = survey_column("c", pa.array(cells))
    assert found.count(WORD) == len(cells)
    assert found.words is None
    assert max(len(cell.text) for cell in found.classes[WORD].first) <= survey.LONGEST_WORD + 1


PLAIN_OR_NOT = st.sampled_from(
    [
        "1.5",
        "-2.25",
        "3",
        "1.525",
        "007",
        "",
        "?",
        "nan",
        "inf",
        "1e200",
        " 4.5",
        "+6",
        "1,5",
        "red",
    ]
)


@given(st.lists(st.tuples(PLAIN_OR_NOT, PLAIN_OR_NOT), min_size=1, max_size=40))
def test_reading_plain_numbers_at_once_gives_the_same_schema(rows):
    names = ["a", "b"]
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(text_scan, "CHUNK_BYTES", 24):
        path = Path(folder) / "t.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([names, *rows])
        table = open_table(path)
        plain: set[str] = set()
        at_once = survey_batches(table.batches_for_survey(plain), plain=plain)
        as_text = survey_batches(table.batches())
    assert at_once.rows == as_text.rows == len(rows)
    decided = [decide_schema(survey) for survey in (at_once, as_text)]
    for name in names:
        first, second = (schema[name] for schema in decided)
        assert first.to_json() == second.to_json()
        assert first.n_misfits == second.n_misfits
