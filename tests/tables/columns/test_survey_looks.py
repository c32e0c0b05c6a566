"""What a look at one column counts is what a slow look at each cell counts."""

import string
from collections import Counter
from itertools import islice, pairwise, product
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import profile as survey_looks
from granulearn.tables import profile as survey_records
from granulearn.tables.parse.cells import as_text, is_nested, is_null_token, is_number_type
from granulearn.tables.parse.dates import DateClass
from granulearn.tables.parse.numbers import NumberClass, is_plain
from granulearn.tables.profile import CODES, WORD, Steps, survey_column
from tests.tables.columns.surveyed_columns import BIG, TYPED, big_column, class_of, columns, content


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
    marks = is_null_token(text).to_pylist()
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
        assert len(tally.first) == min(tally.count, survey_records.REMEMBERED_CELLS)
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


@pytest.mark.parametrize("kind", BIG)
def test_different_cells_are_counted_within_five_percent(kind):
    column = big_column(kind)
    n_different = len(set(column.to_pylist()) - {"?"})
    assert survey_column("c", column).distinct == pytest.approx(n_different, rel=0.05)


def test_numbers_of_many_units_are_words():
    column = pa.array([f"{row} {chr(97 + row)}{chr(98 + row)}" for row in range(24)] * 2)
    with mock.patch.object(survey_records, "MAX_UNITS", 23):
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
        assert found.known == is_null_token(as_text(column)).to_pylist().count(False)
        assert 0 < found.distinct <= found.known or kind == "nothing"
    assert sum(tally.count for tally in found.classes.values()) == (0 if nested else found.known)


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
    assert (
        max(len(cell.text) for cell in found.classes[WORD].first) <= survey_looks.LONGEST_WORD + 1
    )
