"""Columns of numbers and dates in text: many cells of a few shapes, whole and damaged."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from unittest import mock

import pyarrow as pa
from hypothesis import strategies as st

from granulearn.tables.parse import masks as shapes
from granulearn.tables.parse import written_cells
from granulearn.tables.parse.cells import EXACT_MARKS, NULL_TOKENS

UNITS = ["", "$", "€", "%", "kg", "CHF", "km/h", "m²", "Kč", "fl. oz."]
BLANKS = ["", " ", "\u00a0", "\u202f", "\u2009", "\t", "\u3000"]
# Where each number stands, with {} for its unit.
NUMBERS = [
    "{}1,234.50", "1.234,50 {}", "12,5 {}", "45 {}", "-{}7.25", "({}1,000)", "−{}0.5", "+3{}",
    "{}-3", "1'234'567.8{}", "1 234,5\u00a0{}", "0,123{}", "1,234{}", "1.234{}", ".5{}", "5.{}",
    "1e5{}", "12.5E-3{}", "0.8823529411764706{}", "12345678901234567.25{}", "9007199254740993{}",
    "0.000000000000000000000001{}", "123456789012345678901234567890{}", "00017{}", "1,23,456{}",
    "1.234.567,891{}", "--5{}", "5-{}", "{0}5{0}", "٣{}", "1 1{}", "1\u202f000\u202f000{}",
]  # fmt: skip
DATES = [
    "2024-02-29", "2024/12/31", "2024.1.5", "2024-05", "29.02.2024", "1. 5. 99", "31.12.68",
    "3/4/2024", "31-12-1999", "12/31/99", "5 Mar 2024", "05. März 2024", "Fri, 01-Dec-2023",
    "7 Foo 2024", "May 5, 2024", "déc. 25th 2023", "10:30", "9:05 pm", "23:59:59.123456789",
    "12:00 a.m.", "2024-02-29T10:30:15.5Z", "2024-02-29 10:30+05:30", "1.2.2024, 7:08 PM -0330",
    "2024-02-29 10:30:00,25 +02", "0001-01-01", "9999-12-31", "٢٠٢٤-٠١-٠١", "2024-1",
]  # fmt: skip
OTHERS = [*NULL_TOKENS, *EXACT_MARKS, "word", "1,2,3", "#1", "ä" * 70, "1" * 70, "\u0661", "0"]


@st.composite
def columns_of(draw, patterns: list[str]) -> pa.Array:
    """Draw a column in which some shapes come often, a slice of a longer one."""
    texts = draw(st.lists(st.sampled_from(patterns), min_size=1, max_size=4))
    unit = draw(st.sampled_from(UNITS))
    texts = [text.format(unit) for text in texts]
    cells = [draw(_with_other_digits(text)) for text in texts for _ in range(draw(_COUNTS))]
    cells += draw(st.lists(st.one_of(st.none(), st.sampled_from(OTHERS)), max_size=5))
    cells += [draw(_damaged(text)) for text in texts[:2]]
    blank = draw(st.sampled_from(BLANKS))
    cells = draw(st.permutations(cells))
    cells = [cell if cell is None or at % 3 else blank + cell for at, cell in enumerate(cells)]
    begin = draw(st.integers(0, min(3, len(cells) - 1)))
    return pa.array(cells, pa.string())[begin:]


_COUNTS = st.integers(1, 6)
_DIGITS = st.sampled_from("0123456789")


@st.composite
def _with_other_digits(draw, text: str) -> str:
    return re.sub("[0-9]", lambda _: draw(_DIGITS), text)


@st.composite
def _damaged(draw, text: str) -> str:
    """Draw a text in which one sign is another one, missing, or too much."""
    place = draw(st.integers(0, max(len(text) - 1, 0)))
    sign = draw(st.sampled_from(["", ".", ",", " ", "-", "x", "€", "5", "\u00a0", "/", ":", "\0"]))
    return text[:place] + sign + text[place + draw(st.integers(0, 1)) :]


@contextmanager
def shapes_of_few(fewest: int = 1):
    """Have a few texts read by their shapes, too, and in small pieces."""
    with ExitStack() as stack:
        for module, name, value in (
            (written_cells, "_FEW_CELLS", 0),
            (shapes, "_FEWEST", fewest),
            (shapes, "_ROWS_PER_PIECE", 3),
            (written_cells, "_FEW_PLAIN", 0),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield
