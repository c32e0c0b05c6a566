"""Numbers as people write them: 1.169,00 €, $17,000,000, 62.0%, (120), 100 min."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_BLANK = r"[ \x{00A0}\x{2009}\x{202F}]"
_CURRENCIES = (
    r"(?:US|CA|AU|A|C|R|HK|NZ)?[$€£¥₹₩₽₺₫฿]"
    r"|EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|CAD|AUD|PLN|CZK|HUF|SEK|NOK|DKK|Fr\.|Rs\.?|kr\.?|zł|Kč"
)
# A unit has no digits and none of the signs that numbers, dates and codes are made of.
_UNIT = r"[\p{L}%‰°€$£¥₹₩₽₺₫฿µμ²³/·]+\.?(?: [\p{L}/²³%]+\.?)?"
_NUMBER = (
    rf"^(?P<open>\()?(?P<sign>[-+−]?){_BLANK}*(?P<prefix>{_CURRENCIES})?{_BLANK}*(?P<inner>[-+−]?)"
    rf"(?P<body>[0-9](?:[0-9.,'’]|{_BLANK}[0-9])*|[.,][0-9]+)(?P<exponent>[eE][-+]?[0-9]{{1,3}})?"
    rf"{_BLANK}*(?P<suffix>{_UNIT})?(?P<close>\))?$"
)
# Squares of larger numbers are none that a float can hold: no mean or distance could be computed.
LARGEST_NUMBER = 1e150
_LONGEST_NUMBER = 64
_LONGEST_UNIT = 16
_PLAIN = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
_CODE = r"^0[0-9]+$"
# What a body can be read as, if the sign before the decimals is a point, or a comma.
_READABLE = {
    ".": rf"^(?:[0-9]*\.?[0-9]+|[0-9]+\.|[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+(?:\.[0-9]*)?"
    rf"|[1-9][0-9]{{0,2}}(?:(?:['’]|{_BLANK})[0-9]{{3}})+(?:\.[0-9]*)?)$",
    ",": rf"^(?:[0-9]*,?[0-9]+|[0-9]+,|[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}})+(?:,[0-9]*)?"
    rf"|[1-9][0-9]{{0,2}}(?:(?:['’]|{_BLANK})[0-9]{{3}})+(?:,[0-9]*)?)$",
}
_WITH_EXPONENT = {".": r"^(?:[0-9]*\.?[0-9]+|[0-9]+\.)$", ",": r"^(?:[0-9]*,?[0-9]+|[0-9]+,)$"}
_GROUPING = {".": rf"[,'’]|{_BLANK}", ",": rf"[.'’]|{_BLANK}"}


class NumberClass(NamedTuple):
    """What kind of number a cell holds, as far as the cell alone tells."""

    unit: str
    point: bool
    """Whether it can be read with a point before the decimals."""
    comma: bool
    """Whether it can be read with a comma before the decimals."""
    code: bool
    """Whether it is a whole number with a zero in front, as codes have it."""


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of one column are written."""

    decimal: str = "."
    unit: str = ""


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
    if np.count_nonzero(is_usable(numbers)) + text.null_count != len(text):
        return None  # "inf" and "nan" are words
    return numbers


def is_usable(values: np.ndarray) -> np.ndarray:
    """Return where a number is one that can be computed with.

    Parameters
    ----------
    values : ndarray of float64
        Any numbers; NaN and infinity are none that can.
    """
    return np.abs(values) <= LARGEST_NUMBER


def is_plain(text: pa.Array) -> np.ndarray:
    """Return where a text is a plain number, such as -3.5e4.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them, none null.
    """
    found = _true(pc.match_substring_regex(text, _PLAIN))
    places = np.flatnonzero(found)
    values = text.take(pa.array(places)).cast(pa.float64()).to_numpy(zero_copy_only=False)
    found[places[~is_usable(values)]] = False
    return found


def classes_of_plain(text: pa.Array) -> dict[NumberClass, np.ndarray]:
    """Return the rows of each class among plain numbers; much faster than `number_classes`.

    Parameters
    ----------
    text : pyarrow Array of strings
        Plain numbers, none null.
    """
    if text.offset:
        text = pa.concat_arrays([text])
    ends = np.frombuffer(text.buffers()[1], dtype=np.int32)[: len(text) + 1]
    characters = np.frombuffer(text.buffers()[2], dtype=np.uint8)
    begins, ends = ends[:-1], ends[1:]
    pointed = _true(pc.match_substring(text, "."))
    comma = ~pointed
    # What ends in a point and three digits may be a group of thousands.
    rows = np.flatnonzero(pointed & (characters[np.maximum(ends - 4, 0)] == ord(".")))
    if len(rows):
        begin, end = begins[rows], ends[rows]
        sign = characters[begin]
        begin = begin + ((sign == ord("+")) | (sign == ord("-")))
        before = end - 4 - begin
        leading = characters[begin]
        digits = (characters[end - 2] <= ord("9")) & (characters[end - 3] <= ord("9"))
        comma[rows] = (before >= 1) & (before <= 3) & digits & (leading > ord("0"))
        comma[rows] &= leading <= ord("9")
    code = ~pointed & (characters[begins] == ord("0")) & (ends - begins > 1)
    rows = np.flatnonzero(code)
    code[rows] = _true(pc.match_substring_regex(text.take(pa.array(rows)), _CODE))
    return _grouped(pa.array([""]), np.zeros(len(text), int), np.ones(len(text), bool), comma, code)


def number_classes(text: pa.Array) -> dict[NumberClass, np.ndarray]:
    """Return the rows of each class of numbers; rows that hold no number are in none.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them, none null.
    """
    parts = _parts(text)
    readable = {mark: _readable(parts, mark) for mark in _READABLE}
    code = _true(pc.match_substring_regex(text, _CODE))
    unit = parts["unit"].dictionary_encode()
    units = unit.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return _grouped(unit.dictionary, units, readable["."], readable[","], code)


def _grouped(
    units: pa.Array, unit: np.ndarray, point: np.ndarray, comma: np.ndarray, code: np.ndarray
) -> dict[NumberClass, np.ndarray]:
    """Return the rows of each class, in order; rows that can be read in no way are left out."""
    key = np.where(point | comma, ((unit * 2 + point) * 2 + comma) * 2 + code, -1)
    classes = {}
    for value in np.flatnonzero(np.bincount(key[key >= 0], minlength=1)).tolist():
        rest, coded = divmod(value, 2)
        rest, with_comma = divmod(rest, 2)
        number, with_point = divmod(rest, 2)
        kind = NumberClass(units[number].as_py(), bool(with_point), bool(with_comma), bool(coded))
        classes[kind] = np.flatnonzero(key == value)
    return classes


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
    if form.decimal == ".":
        values = plain_numbers(text)
        if values is not None:
            return values, np.zeros(len(text), bool)
    encoded = text.dictionary_encode()
    different = encoded.dictionary
    parts = _parts(different)
    units = parts["unit"]
    fits = _readable(parts, form.decimal)
    fits &= _true(pc.or_(pc.equal(units, form.unit), pc.equal(units, "")))
    places = np.flatnonzero(fits)
    chosen = {name: part.take(pa.array(places)) for name, part in parts.items()}
    body = pc.replace_substring_regex(chosen["body"], _GROUPING[form.decimal], "")
    body = pc.replace_substring(body, form.decimal, ".")
    negative = pc.binary_length(pc.binary_join_element_wise(chosen["sign"], chosen["open"], ""))
    numbers = pc.binary_join_element_wise(body, chosen["exponent"], "").cast(pa.float64())
    found = numbers.to_numpy(zero_copy_only=False) * np.where(
        negative.to_numpy(zero_copy_only=False) > 0, -1.0, 1.0
    )
    by_text = np.full(len(different) + 1, np.nan)  # the last one is for null
    by_text[places[is_usable(found)]] = found[is_usable(found)]
    codes = encoded.indices.fill_null(len(different)).to_numpy(zero_copy_only=False)
    values = by_text[codes]
    return values, np.isnan(values) & (codes < len(different))


def _parts(text: pa.Array) -> dict[str, pa.Array]:
    """Return sign, body, unit and so on of each text; null where it is no number at all."""
    short = pc.less_equal(pc.binary_length(text), _LONGEST_NUMBER)
    found = pc.extract_regex(pc.if_else(short, text, ""), _NUMBER)
    parts: dict[str, Any] = {
        name: pc.if_else(found.is_valid(), found.field(name), pa.scalar(None, pa.string()))
        for name in ("open", "sign", "prefix", "inner", "body", "exponent", "suffix", "close")
    }
    minus = pc.binary_join_element_wise(parts["sign"], parts["inner"], "")
    both = pc.binary_join_element_wise(parts["prefix"], parts["suffix"], "")
    return {
        "open": parts["open"],
        "close": parts["close"],
        "sign": pc.replace_substring_regex(minus, r"\+", ""),
        "body": parts["body"],
        "exponent": parts["exponent"],
        "unit": both,
    }


def _readable(parts: dict[str, pa.Array], mark: str) -> np.ndarray:
    """Return where a text can be read with this sign before the decimals."""
    readable = pc.if_else(
        pc.equal(pc.binary_length(parts["exponent"]), 0),
        pc.match_substring_regex(parts["body"], _READABLE[mark]),
        pc.match_substring_regex(parts["body"], _WITH_EXPONENT[mark]),
    )
    # A closed bracket means a negative number, and needs no other sign.
    closed = pc.equal(pc.binary_length(parts["open"]), pc.binary_length(parts["close"]))
    signs = pc.add(pc.binary_length(parts["open"]), pc.utf8_length(parts["sign"]))
    one_sign = pc.less_equal(signs, 1)
    short = pc.less_equal(pc.utf8_length(parts["unit"]), _LONGEST_UNIT)
    return _true(pc.and_(pc.and_(readable, closed), pc.and_(one_sign, short)))


def _true(found: pa.Array) -> np.ndarray:
    """Return where the answer is yes; null is none."""
    return found.fill_null(False).to_numpy(zero_copy_only=False).astype(bool)
