"""Columns of every kind to survey, and surveys in a form that can be compared."""

import datetime
import decimal
import string
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from granulearn.tables import profile as sketches
from granulearn.tables import profile as survey
from granulearn.tables import profile as survey_looks
from granulearn.tables import profile as survey_records
from granulearn.tables.parse.dates import date_class
from granulearn.tables.parse.numbers import number_class
from granulearn.tables.profile import WORD, ColumnProfile

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
small_sketches = mock.patch.multiple(sketches, _REMEMBERED=6)


@contextmanager
def few_are_remembered():
    """Lower the limits, so that columns of some cells go beyond them."""
    with (
        mock.patch.multiple(survey_records, MAX_WORDS=4, MAX_UNITS=2, REMEMBERED_CELLS=3),
        mock.patch.multiple(survey_looks, MAX_WORDS=4, REMEMBERED_CELLS=3, LONGEST_CATEGORY=3),
        mock.patch.object(survey, "_THREADS", 1),
    ):
        yield


def content(column: ColumnProfile) -> dict:
    """Return all that a survey holds, in a form that can be compared."""
    held = {name: getattr(column, name) for name in ColumnProfile.__dataclass_fields__}
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
