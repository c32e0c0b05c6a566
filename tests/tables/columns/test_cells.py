"""A cell's text depends on the cell alone, however it is stored and batched."""

import datetime
import decimal
from itertools import pairwise
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse import cells as module_of_cells
from granulearn.tables.parse.cells import (
    EXACT_MARKS,
    LABEL_NULL_TOKENS,
    NULL_TOKENS,
    as_text,
    by_different_text,
    characters,
    in_hours,
    is_null_token,
    stored_numbers,
    without_null_tokens,
)
from granulearn.tables.parse.numbers import plain_numbers

cells = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.sampled_from([*NULL_TOKENS, *EXACT_MARKS, " na ", "N/A", "none", "\u00a0x\u2003", "\t"]),
)
columns = st.lists(cells, max_size=12)

TYPED = {
    "string": pa.array(["b ", None, " 1.0", "", "é"]),
    "large string": pa.array(["b ", None, " 1.0"], pa.large_string()),
    "string view": pa.array(["b ", None, " 1.0"], pa.string_view()),
    "category": pa.array(["b", None, "a", "b"]).dictionary_encode(),
    "category of numbers": pa.array([2.0, float("nan"), 2.0, 0.5]).dictionary_encode(),
    "integer": pa.array([1, None, -(2**63)]),
    "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
    "half": pa.array(np.array([1, 2.5, np.nan], np.float16)),
    "single": pa.array([0.1, None, 3], pa.float32()),
    "double": pa.array([0.1, float("nan"), -0.0, 1e300, float("inf")]),
    "decimal": pa.array([decimal.Decimal("1.50"), None]),
    "truth": pa.array([True, None, False]),
    "date": pa.array([datetime.date(2024, 2, 29), None]),
    "timestamp": pa.array([0, None, -1], pa.timestamp("ns")),
    "zoned": pa.array([0, None], pa.timestamp("s", "Europe/Berlin")),
    "time": pa.array([1, None], pa.time32("s")),
    "duration": pa.array([1800, None, 5400], pa.duration("s")),
    "nothing": pa.nulls(3),
    "extension": pa.array(['{"a": 1}', None], pa.json_()),
}


@pytest.mark.parametrize("kind", TYPED)
def test_a_text_depends_on_the_cell_alone(kind):
    column = TYPED[kind]
    texts = as_text(column).to_pylist()
    for start in range(len(column) + 1):
        assert as_text(column[start:]).to_pylist() == texts[start:]
        assert as_text(column[start : start + 1]).to_pylist() == texts[start : start + 1]
    assert as_text(column).type == pa.string()


@given(columns, st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
def test_text_is_trimmed_as_python_trims_it_and_else_untouched(texts, kind):
    column = pa.array(texts, kind)
    # Python trims four separators that Unicode counts as no blanks.
    trimmed = [None if text is None else text.strip() for text in texts]
    separators = "\x1c\x1d\x1e\x1f"
    if not any(sign in (text or "") for text in texts for sign in separators):
        assert as_text(column).to_pylist() == trimmed
    assert as_text(column, trimmed=False).to_pylist() == texts


@given(columns)
def test_text_of_categories_is_text_of_cells(texts):
    column = pa.array(texts, pa.string())
    assert as_text(column.dictionary_encode()) == as_text(column)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_the_text_of_a_number_is_that_number(values):
    texts = as_text(pa.array(values)).to_pylist()
    assert [float(text) for text in texts] == values
    for value, text in zip(values, texts, strict=True):
        assert not (value == int(value) and abs(value) < 1e6) or "." not in text


def test_missing_numbers_have_no_text_whatever_their_bits():
    payload = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001], np.uint64)
    assert as_text(pa.array(payload.view(float), from_pandas=False)).null_count == 3


def test_texts_of_all_types_are_what_people_write():
    found = {kind: as_text(column).to_pylist() for kind, column in TYPED.items()}
    assert found["truth"] == ["true", None, "false"]
    assert found["date"] == ["2024-02-29", None]
    assert found["timestamp"][0] == "1970-01-01 00:00:00.000000000"
    assert found["zoned"] == ["1970-01-01 01:00:00+0100", None]
    assert found["time"] == ["00:00:01", None]
    assert found["duration"] == ["0.5", None, "1.5"]
    assert found["decimal"] == ["1.50", None]
    assert found["category of numbers"] == ["2", None, "2", "0.5"]
    assert found["extension"] == ['{"a": 1}', None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_lengths_of_time_are_seconds_in_every_unit(unit):
    column = pa.array([datetime.timedelta(hours=30), None], pa.duration(unit))
    assert in_hours(column).to_pylist() == [30.0, None]


@given(columns, st.integers(0, 12), st.integers(0, 12))
def test_characters_of_a_slice_are_its_own(texts, start, length):
    column = pa.array([text or "" for text in texts], pa.string())[start : start + length]
    every, begins = characters(column)
    found = [every[begin:end].tobytes().decode() for begin, end in pairwise(begins)]
    assert found == column.to_pylist()


def test_characters_of_a_column_without_memory_are_none():
    nothing = pa.py_buffer(b"")
    column = pa.StringArray.from_buffers(0, nothing, nothing)
    every, begins = characters(column)
    assert len(every) == 0
    assert begins.tolist() == [0]
    assert as_text(column).to_pylist() == []


@given(columns, st.booleans())
def test_marks_are_known_one_by_one_in_any_case(texts, of_labels):
    text = as_text(pa.array(texts, pa.string()))
    marks = LABEL_NULL_TOKENS if of_labels else NULL_TOKENS
    exact = () if of_labels else EXACT_MARKS  # "None" may well be a class
    expected = [cell is None or cell.lower() in marks or cell in exact for cell in text.to_pylist()]
    assert is_null_token(text, of_labels=of_labels).to_pylist() == expected


@pytest.mark.parametrize("mark", ["?", "NA", "n/a", "-", "#N/A", "null", "unknown", "None", "NaN"])
def test_the_usual_marks_stand_for_a_missing_cell(mark):
    assert without_null_tokens(pa.array([mark, "x"])).to_pylist() == [None, "x"]


@pytest.mark.parametrize("value", ["none", "no", "0", "nano", "x" * 100, "na" * 50])
def test_values_that_resemble_marks_are_values(value):
    assert without_null_tokens(pa.array([value])).to_pylist() == [value]


@given(columns)
def test_what_is_no_mark_stays_and_marks_can_be_values(texts):
    text = as_text(pa.array(texts, pa.string()))
    found = without_null_tokens(text).to_pylist()
    for cell, left, mark in zip(
        text.to_pylist(), found, is_null_token(text).to_pylist(), strict=True
    ):
        assert left == (None if mark else cell)
    values = sorted({cell for cell in text.to_pylist() if cell is not None})
    assert without_null_tokens(text, values) == text


@given(columns, st.lists(st.sampled_from(NULL_TOKENS), max_size=2))
def test_long_columns_lose_the_marks_that_short_ones_lose(texts, values):
    text = as_text(pa.array(texts, pa.string()))
    times = 2000 // max(len(text), 1)
    long = pa.concat_arrays([text] * times)
    assert (
        without_null_tokens(long, values).to_pylist()
        == without_null_tokens(text, values).to_pylist() * times
    )


@pytest.mark.parametrize(
    "text", ["NİL", "missİng", "\u212a.A.", "NONE", "None", "N/A", "ẞ", "x" * 50]
)
def test_few_cells_lose_the_marks_that_many_lose(text):
    """Few are looked at one by one, with the small letters of Python."""
    others = [f"value {number}" for number in range(100)]
    assert (
        without_null_tokens(pa.array([text]))[0]
        == without_null_tokens(pa.array([text, *others]))[0]
    )


@pytest.mark.parametrize("mark", [*NULL_TOKENS, *EXACT_MARKS])
def test_no_mark_is_a_plain_number(mark):
    for text in (mark, mark.upper()):
        assert plain_numbers(pa.array([text])) is None
        assert plain_numbers(pa.array([text, "1", None])) is None


def test_every_sign_that_is_a_blank_to_arrow_is_taken_away_at_either_end():
    signs = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    trimmed = pc.utf8_trim_whitespace(pa.array(signs)).to_pylist()
    blanks = [sign for sign, rest in zip(signs, trimmed, strict=True) if not rest]
    assert len(blanks) == 29
    for blank in blanks:
        for text in (f"{blank}a b", f"a b{blank}"):
            assert as_text(pa.array(["", None, text, "", "€"])[1:])[1].as_py() == "a b"


@given(columns, st.integers(0, 12))
def test_texts_are_trimmed_as_arrow_does_it(texts, start):
    text = pa.array(texts, pa.string())[start:]
    assert as_text(text).equals(pc.utf8_trim_whitespace(text))


@pytest.mark.parametrize("few", [0, 100])
@given(columns, st.integers(0, 12))
def test_a_function_is_called_once_for_each_different_text(few, texts, start):
    text = pa.array(texts, pa.string())[start:]
    told = []
    with mock.patch.object(module_of_cells, "_FEW_CELLS", few):
        found = by_different_text(text, lambda cell: told.append(cell) or f"<{cell}>")
    assert sorted(told) == sorted(set(text.drop_null().to_pylist()))
    expected = [None if cell is None else f"<{cell}>" for cell in text.to_pylist()]
    assert [found.values[code] for code in found.codes] == expected
    assert found.known.tolist() == [cell is not None for cell in text.to_pylist()]


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
        (pa.array(np.array([0.5], np.float16)), 0.5),
    ],
)
def test_stored_numbers_of_all_types_are_the_nearest_floats(column, expected):
    assert stored_numbers(column)[0] == pytest.approx(expected, rel=1e-15)
