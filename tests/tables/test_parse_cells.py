"""A cell's text depends on the cell alone; null tokens, and yes and no in any language."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse.cells import (
    EXACT_NULL_TOKENS,
    LABEL_NULL_TOKENS,
    NULL_TOKENS,
    as_text,
    is_null_token,
    parse_booleans,
    without_null_tokens,
)

TOKENS = [*NULL_TOKENS, *EXACT_NULL_TOKENS]
cells = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.sampled_from([*TOKENS, " na ", "N/A", "none", "\u00a0x\u2003", "\t"]),
)
columns = st.lists(cells, max_size=12)

TYPED = {
    "string": (["b ", None, " 1.0", "é\u3000"], pa.string(), ["b", None, "1.0", "é"]),
    "large string": (["b ", None], pa.large_string(), ["b", None]),
    "string view": (["b ", None], pa.string_view(), ["b", None]),
    "integer": ([1, None, -(2**63)], pa.int64(), ["1", None, "-9223372036854775808"]),
    "unsigned": ([2**64 - 1], pa.uint64(), ["18446744073709551615"]),
    "half": (np.array([1, 2.5, np.nan], np.float16), pa.float16(), ["1", "2.5", None]),
    "double": ([0.1, float("nan"), 12345678901.0], pa.float64(), ["0.1", None, "12345678901"]),
    "decimal": ([decimal.Decimal("1.50")], pa.decimal128(5, 2), ["1.50"]),
    "boolean": ([True, None, False], pa.bool_(), ["true", None, "false"]),
    "date": ([datetime.date(2024, 2, 29)], pa.date32(), ["2024-02-29"]),
    "timestamp": ([0], pa.timestamp("ns"), ["1970-01-01 00:00:00.000000000"]),
    "zoned": ([0], pa.timestamp("s", "Europe/Berlin"), ["1970-01-01 01:00:00+0100"]),
    "time": ([1], pa.time32("s"), ["00:00:01"]),
    "duration": ([1800, None, 5400], pa.duration("s"), ["0.5", None, "1.5"]),
    "nothing": ([None], pa.null(), [None]),
    "extension": (['{"a": 1}', None], pa.json_(), ['{"a": 1}', None]),
}


@pytest.mark.parametrize("kind", TYPED)
def test_texts_of_all_types_are_what_people_write_and_depend_on_the_cell_alone(kind):
    values, stored, texts = TYPED[kind]
    column = pa.array(values, stored)
    assert as_text(column).type == pa.string()
    assert as_text(column).to_pylist() == texts
    for start in range(len(column)):
        assert as_text(column[start : start + 1]).to_pylist() == [texts[start]]
    if kind not in ("nothing", "extension", "string view", "half"):
        assert as_text(column.dictionary_encode()).to_pylist() == texts


@given(columns, st.booleans())
def test_null_tokens_are_known_in_any_case(texts, of_labels):
    text = as_text(pa.array(texts, pa.string()))
    tokens = LABEL_NULL_TOKENS if of_labels else NULL_TOKENS
    exact = () if of_labels else EXACT_NULL_TOKENS  # "None" may well be a class
    # Arrow's small letter of İ is not Python's.
    expected = [
        cell is None or cell.replace("İ", "i").lower() in tokens or cell in exact
        for cell in text.to_pylist()
    ]
    assert is_null_token(text, of_labels=of_labels).to_pylist() == expected


@given(columns)
def test_what_is_no_null_token_stays_and_null_tokens_can_be_values(texts):
    text = as_text(pa.array(texts, pa.string()))
    pairs = zip(text.to_pylist(), is_null_token(text).to_pylist(), strict=True)
    expected = [None if is_null else cell for cell, is_null in pairs]
    assert without_null_tokens(text).to_pylist() == expected
    values = sorted({cell for cell in text.to_pylist() if cell is not None})
    assert without_null_tokens(text, values) == text


def test_yes_and_no_in_any_language_are_one_and_zero():
    values, failed = parse_booleans(pa.array(["Ja", "NEIN", "oui", "нет", "f", None, "maybe"]))
    assert values[:5].tolist() == [1, 0, 1, 0, 0]
    assert np.isnan(values[5:]).all()
    assert failed.tolist() == [False] * 6 + [True]
