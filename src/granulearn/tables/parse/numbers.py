"""Numbers as people write them: 1.169,00 €, $17,000,000, 62.0%, (120), 100 min."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.parse.cells import by_different_text, characters
from granulearn.tables.parse.json_entries import check_entries, is_text

# Squares of larger numbers are none that a float can hold: no mean or distance could be computed.
LARGEST_NUMBER = 1e150
DECIMALS = (".", ",")
"""Signs that stand before decimals."""
# Only plain numbers may be longer.
_LONGEST_NUMBER = 64
_LONGEST_UNIT = 16
_LOOKED_AT_FIRST = 512
_FEW_CELLS = 32

_BLANK = "[ \u00a0\u2009\u202f]"
_CURRENCY = (
    "(?:US|CA|AU|A|C|R|HK|NZ)?[$€£¥₹₩₽₺₫฿]"
    r"|EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|CAD|AUD|PLN|CZK|HUF|SEK|NOK|DKK|Fr\.|Rs\.?|kr\.?|zł|Kč"
)
# A unit has no digits and none of the signs that numbers, dates and codes are made of.
# Letters are written as [^\W\d_]; ² and µ are among them, and may not be listed twice: a match
# that fails would try all ways to tell them apart.
_UNIT = r"(?:[^\W\d_]|[%‰°€$£¥₹₩₽₺₫฿/·])+\.?(?: (?:[^\W\d_]|[/%])+\.?)?"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−]?){_BLANK}*(?P<prefix>{_CURRENCY})?{_BLANK}*(?P<inner>[-+−]?)"
    rf"(?P<body>[0-9](?:[0-9.,'’]|{_BLANK}[0-9])*|[.,][0-9]+)(?P<exponent>[eE][-+]?[0-9]+)?"
    rf"{_BLANK}*(?P<suffix>{_UNIT})?(?P<close>\))?"
)
_PLAIN = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_CODE = re.compile("0[0-9]+")
# A plain number that thousands in groups may be, too.
_PLAIN_GROUPS = re.compile(r"[-+]?[1-9][0-9]{0,2}\.[0-9]{3}")
# What a body can be read as, by the sign before its decimals: without groups of thousands,
# which is all that an exponent allows, and with them.
_UNGROUPED = {
    ".": re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"),
    ",": re.compile(r"[0-9]+(?:,[0-9]*)?|,[0-9]+"),
}
_NEUTRAL = "['’ \u00a0\u2009\u202f]"


def _with_groups(mark: str, decimal: str) -> re.Pattern:
    """Return the form of a number whose thousands are grouped by a sign."""
    digits = "[1-9][0-9]{0,2}"
    groups = [f"{digits}(?:{mark}[0-9]{{3}})+", f"{digits}(?:{_NEUTRAL}[0-9]{{3}})+"]
    return re.compile(f"(?:{'|'.join(groups)})(?:{decimal}[0-9]*)?")


_GROUPED = {".": _with_groups(",", "[.]"), ",": _with_groups("[.]", ",")}
_TO_PLAIN = {
    ".": str.maketrans("", "", ",'’ \u00a0\u2009\u202f"),
    ",": str.maketrans(",", ".", ".'’ \u00a0\u2009\u202f"),
}


class NumberClass(NamedTuple):
    """What kind of number a cell holds, as far as the cell alone tells."""

    unit: str
    point: bool
    """Whether it can be read with a point before the decimals."""
    comma: bool
    """Whether it can be read with a comma before the decimals."""
    code: bool
    """Whether it is a whole number with a zero in front, as codes have it."""
    doubtful: bool = False
    """Whether it is one number with a point before the decimals, and another with a comma."""

    @property
    def is_plain(self) -> bool:
        """Whether it is a number without a unit, read with a point, and no code."""
        return self.point and not self.unit and not self.code


_POINT_ONLY = NumberClass("", point=True, comma=False, code=False)
_EITHER = NumberClass("", point=True, comma=True, code=False)
_CODED = NumberClass("", point=True, comma=True, code=True)
_DOUBTFUL = NumberClass("", point=True, comma=True, code=False, doubtful=True)


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of one column are written."""

    decimal: str = "."
    unit: str = ""

    @classmethod
    def from_json(cls, content: Any) -> NumberForm:
        """Return the form that a model file has; anything else raises TypeError."""
        entries = {"decimal": lambda sign: sign in DECIMALS, "unit": is_text}
        check_entries(content, entries, "a form of numbers")
        return cls(**content)


class NumberParts(NamedTuple):
    """What a number consists of, as far as its text alone tells."""

    negative: bool
    body: str
    exponent: str
    unit: str


def is_usable(values: np.ndarray) -> np.ndarray:
    """Return where a number is one that can be computed with.

    Parameters
    ----------
    values : ndarray of float64
        Any numbers; NaN and infinity are none that can.
    """
    return np.abs(values) <= LARGEST_NUMBER


def is_plain(text: str) -> bool:
    """Return whether a text is a plain number, such as -3.5e4.

    Parameters
    ----------
    text : str
        A cell without blanks around it.
    """
    return _PLAIN.fullmatch(text) is not None and abs(float(text)) <= LARGEST_NUMBER


def number_class(text: str) -> NumberClass | None:
    """Return what kind of number a text is; None if it is none.

    Parameters
    ----------
    text : str
        A cell without blanks around it.
    """
    # Long texts are not remembered: very many of them would be a lot of memory.
    look = _remembered_class if len(text) <= _LONGEST_NUMBER else _remembered_class.__wrapped__
    return look(text)


def read_number(text: str, form: NumberForm) -> float | None:
    """Return the number that a text is in a column's form; None if it is none.

    Parameters
    ----------
    text : str
        A cell without blanks around it.
    form : NumberForm
        How the column writes its numbers.
    """
    parts = number_parts(text)
    if parts is None or parts.unit != form.unit:
        return None
    return _value(parts, form.decimal)


def number_parts(text: str) -> NumberParts | None:
    """Return what a text consists of, if it may be a number; None if it is none.

    Parameters
    ----------
    text : str
        A cell without blanks around it.
    """
    if len(text) > _LONGEST_NUMBER and not is_plain(text):
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    found = match.groupdict(default="")
    signs = found["open"] + found["sign"] + found["inner"]
    unit = found["prefix"] + found["suffix"]
    if len(signs) > 1 or bool(found["open"]) != bool(found["close"]) or len(unit) > _LONGEST_UNIT:
        return None
    return NumberParts(signs not in ("", "+"), found["body"], found["exponent"], unit)


def has_groups(body: str, decimal: str) -> bool | None:
    """Return whether the thousands of a number are grouped; None if it is no number.

    Parameters
    ----------
    body : str
        Of `NumberParts`.
    decimal : str
        The sign before its decimals.
    """
    if _UNGROUPED[decimal].fullmatch(body) is not None:
        return False
    return None if _GROUPED[decimal].fullmatch(body) is None else True


def plain_numbers(text: pa.Array) -> np.ndarray | None:
    """Return texts as floats if every one is a plain number; NaN stands for null.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them.
    """
    try:
        values = text.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    numbers = values.to_numpy(zero_copy_only=False)
    if text.null_count:
        usable = np.count_nonzero(is_usable(numbers)) + text.null_count == len(text)
    else:
        usable = not len(numbers) or is_usable(np.array([numbers.min(), numbers.max()])).all()
    return numbers if usable else None  # "inf" and "nan" are words


def read_numbers(text: pa.Array, form: NumberForm) -> tuple[np.ndarray, np.ndarray]:
    """Return texts as floats, and where a text is none in this form.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : NumberForm
        How the column writes its numbers.

    Returns
    -------
    values : ndarray of float64
        NaN where a cell is missing or no number in this form.
    misfit : ndarray of bool
        True where a cell is there, but no number in this form.
    """
    if form == NumberForm():
        values = plain_numbers(text)
        if values is not None:
            return values, np.zeros(len(text), bool)
    found = by_different_text(text, lambda cell: read_number(cell, form))
    values = np.array([np.nan if value is None else value for value in found.values])[found.codes]
    return values, np.isnan(values) & found.known


def classes_of_plain(
    text: pa.Array, n_rows: int, enough: Collection[object] = ()
) -> dict[NumberClass, tuple[int, np.ndarray]]:
    """Return how many plain numbers are of each class, and the first rows of it.

    That is what `number_class` tells, without looking at each number as a whole.

    Parameters
    ----------
    text : pyarrow Array of strings
        Plain numbers, none null.
    n_rows : int
        How many rows of each class are to be returned, at least.
    enough : collection, default=()
        Classes of which no rows need to be returned.
    """
    if len(text) <= _FEW_CELLS:
        return _classes_of_few(text)
    every, offsets = characters(text)
    with_point = int(np.count_nonzero(every[offsets[0] : offsets[-1]] == ord(".")))
    special = {_DOUBTFUL: _possible_groups(text), _CODED: _codes(text)}
    counts = {
        _POINT_ONLY: with_point - len(special[_DOUBTFUL]),
        _EITHER: len(text) - with_point - len(special[_CODED]),
    }
    wanted = {kind: min(n_rows, n) for kind, n in counts.items() if kind not in enough}
    start = dict.fromkeys(counts, np.empty(0, np.intp))
    for part in (text[:_LOOKED_AT_FIRST], text):
        if any(len(start[kind]) < count for kind, count in wanted.items()):
            start = _rows_of_the_rest(part, np.concatenate(list(special.values())))
    found = {kind: (count, start[kind]) for kind, count in counts.items()}
    found |= {kind: (len(rows), rows) for kind, rows in special.items()}
    return {kind: (count, rows) for kind, (count, rows) in found.items() if count}


def _classes_of_few(text: pa.Array) -> dict[NumberClass, tuple[int, np.ndarray]]:
    """Return the same cell by cell: calls for a whole column take as long as dozens of cells."""
    rows: dict[NumberClass, list[int]] = {
        kind: [] for kind in (_POINT_ONLY, _EITHER, _DOUBTFUL, _CODED)
    }
    for row, cell in enumerate(text.to_pylist()):
        if "." in cell:
            kind = _POINT_ONLY if _PLAIN_GROUPS.fullmatch(cell) is None else _DOUBTFUL
        else:
            kind = _EITHER if _CODE.fullmatch(cell) is None else _CODED
        rows[kind].append(row)
    return {kind: (len(own), np.array(own)) for kind, own in rows.items() if own}


def _rows_of_the_rest(text: pa.Array, others: np.ndarray) -> dict[NumberClass, np.ndarray]:
    """Return the rows of the numbers with a point and without one, but for some others."""
    with_point = pc.match_substring(text, ".").to_numpy(zero_copy_only=False)
    rest = np.ones(len(text), bool)
    rest[others[others < len(text)]] = False
    return {
        _POINT_ONLY: np.flatnonzero(with_point & rest),
        _EITHER: np.flatnonzero(~with_point & rest),
    }


def _possible_groups(text: pa.Array) -> np.ndarray:
    """Return the rows of plain numbers that end in a point and three digits, as thousands do."""
    every, offsets = characters(text)
    begins, ends = offsets[:-1], offsets[1:]
    rows = np.flatnonzero(every[np.maximum(ends - 4, begins)] == ord("."))
    begins, ends = begins[rows], ends[rows]
    sign = every[begins]
    begins = begins + ((sign == ord("+")) | (sign == ord("-")))
    before = ends - 4 - begins
    leading = every[begins]
    found = (before >= 1) & (before <= 3) & (leading > ord("0")) & (leading <= ord("9"))
    return rows[found & (every[ends - 2] <= ord("9")) & (every[ends - 3] <= ord("9"))]


def _codes(text: pa.Array) -> np.ndarray:
    """Return the rows of plain numbers that are whole, with a zero in front."""
    every, offsets = characters(text)
    begins, lengths = offsets[:-1], np.diff(offsets)
    rows = np.flatnonzero((every[begins] == ord("0")) & (lengths > 1))
    second = every[begins[rows] + 1]
    rows = rows[(second >= ord("0")) & (second <= ord("9"))]
    texts = text.take(pa.array(rows)).to_pylist()
    return rows[[_CODE.fullmatch(code) is not None for code in texts]]


@lru_cache(2**16)
def _remembered_class(text: str) -> NumberClass | None:
    parts = number_parts(text)
    if parts is None:
        return None
    point, comma = (_value(parts, mark) for mark in ".,")
    if point is None and comma is None:
        return None
    both = point is not None and comma is not None
    is_code = _CODE.fullmatch(text) is not None
    return NumberClass(
        parts.unit, point is not None, comma is not None, is_code, both and point != comma
    )


def _value(parts: NumberParts, decimal: str) -> float | None:
    grouped = has_groups(parts.body, decimal)
    if grouped is None or (grouped and parts.exponent):
        return None
    value = float(parts.body.translate(_TO_PLAIN[decimal]) + parts.exponent)
    if value > LARGEST_NUMBER:
        return None
    return -value if parts.negative else value
