"""Numbers in all common forms: 1.169,00 €, $17,000,000, 62.0%, (120), 100 min."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from granulearn.tables.parse.masks import MaskedTexts

# Squares of larger numbers overflow, so that no mean or distance could be computed.
LARGEST_NUMBER = 1e150
# Only plain numbers may be longer.
_LONGEST_NUMBER = 64
_LONGEST_UNIT = 16

_BLANK = "[ \u00a0\u2009\u202f]"
_CURRENCY = (
    "(?:US|CA|AU|A|C|R|HK|NZ)?[$€£¥₹₩₽₺₫฿]"
    r"|EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|CAD|AUD|PLN|CZK|HUF|SEK|NOK|DKK|Fr\.|Rs\.?|kr\.?|zł|Kč"
)
# A unit has no digits and no characters of numbers, dates and codes.
# Letters are written as [^\W\d_]; ² and µ are among them, and may not be listed twice: a match
# that fails would try all ways to tell them apart.
_UNIT = r"(?:[^\W\d_]|[%‰°€$£¥₹₩₽₺₫฿/·])+\.?(?: (?:[^\W\d_]|[/%])+\.?)?"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−]?){_BLANK}*(?P<prefix>{_CURRENCY})?{_BLANK}*(?P<inner>[-+−]?)"
    rf"(?P<body>[0-9](?:[0-9.,'’]|{_BLANK}[0-9])*|[.,][0-9]+)(?P<exponent>[eE][-+]?[0-9]+)?"
    rf"{_BLANK}*(?P<suffix>{_UNIT})?(?P<close>\))?"
)
PLAIN_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_PLAIN = re.compile(PLAIN_NUMBER)
_CODE = re.compile("0[0-9]+")
# What a body can be read as, by the sign before its decimals: without groups of thousands,
# which is all that an exponent allows, and with them.
_UNGROUPED = {
    ".": re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"),
    ",": re.compile(r"[0-9]+(?:,[0-9]*)?|,[0-9]+"),
}
# A number has one separator of thousands.
_GROUPED = {
    decimal: re.compile(
        f"[1-9][0-9]{{0,2}}([{other}'’ \u00a0\u2009\u202f])[0-9]{{3}}(?:\\1[0-9]{{3}})*"
        f"(?:[{decimal}][0-9]*)?"
    )
    for decimal, other in (".,", ",.")
}


class NumberClass(NamedTuple):
    """Form of a number, as far as one cell tells."""

    unit: str
    point: bool
    """Whether it can be read with a decimal point."""
    comma: bool
    """Whether it can be read with a decimal comma."""
    code: bool
    """Whether it is a whole number with a zero in front, as codes have it."""
    doubtful: bool = False
    """Whether it is one number with a point before the decimals, and another with a comma."""


class NumberForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the numbers of one column are written."""

    decimal: Annotated[str, msgspec.Meta(pattern=r"\A[.,]\Z")] = "."
    unit: str = ""


def is_usable(values: np.ndarray) -> np.ndarray:
    """Return a mask of numbers that can be computed with, not NaN, infinite or huge."""
    return np.abs(values) <= LARGEST_NUMBER


@lru_cache(2**14)
def number_class(mask: str) -> NumberClass | None:
    """Return the form of numbers of a digit mask; None if they are no numbers.

    Very large numbers are of the same kind as others: `is_usable` tells.
    """
    match = _match(mask)
    if match is None:
        return None
    point, comma = _is_grouped(match, "."), _is_grouped(match, ",")
    if point is None and comma is None:
        return None
    doubtful = point is not None and comma is not None and point != comma
    is_code = _CODE.fullmatch(mask) is not None
    return NumberClass(_unit(match), point is not None, comma is not None, is_code, doubtful)


def is_plain(mask: str) -> bool:
    """Return whether a digit mask is of plain numbers, such as -3.5e4."""
    return _PLAIN.fullmatch(mask) is not None


def parse_numbers(text: pa.Array, form: NumberForm) -> tuple[np.ndarray, np.ndarray]:
    """Parse numbers; return them, NaN for null and failures, with a mask of failures."""
    values, masked = np.full(len(text), np.nan), MaskedTexts(text)
    for number, mask in masked.candidates():
        positions, negative = _digit_positions(mask, form.decimal, form.unit)
        if positions is None:
            continue
        rows = masked.rows(number)
        plain = masked.characters(rows, positions)
        plain[plain == ord(",")] = ord(".")
        offsets = np.arange(len(rows) + 1, dtype=np.int32) * len(positions)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(plain)]
        texts = pa.Array.from_buffers(pa.string(), len(rows), buffers)
        values[rows] = texts.cast(pa.float64()).to_numpy() * (-1 if negative else 1)
    values[~is_usable(values)] = np.nan
    return values, np.isnan(values) & text.is_valid().to_numpy(zero_copy_only=False)


def parse_plain_numbers(text: pa.Array) -> np.ndarray | None:
    """Return texts as floats if every one is a plain number that is usable; NaN for null."""
    try:
        values = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    # Arrow reads "inf" and "nan", too.
    all_usable = np.count_nonzero(is_usable(values)) + text.null_count == len(text)
    return values if all_usable else None


def _match(mask: str) -> re.Match | None:
    """Return the parts of a number, if there may be one."""
    if len(mask) > _LONGEST_NUMBER and not is_plain(mask):
        return None
    match = _NUMBER.fullmatch(mask)
    if match is None or len(_unit(match)) > _LONGEST_UNIT:
        return None
    one_sign = len((match["open"] or "") + match["sign"] + match["inner"]) <= 1
    return match if one_sign and bool(match["open"]) == bool(match["close"]) else None


def _unit(match: re.Match) -> str:
    return (match["prefix"] or "") + (match["suffix"] or "")


def _is_grouped(match: re.Match, decimal: str) -> bool | None:
    """Return whether thousands are grouped; None if this is no number with that decimal sign."""
    if _UNGROUPED[decimal].fullmatch(match["body"]):
        return False
    return True if _GROUPED[decimal].fullmatch(match["body"]) and not match["exponent"] else None


@lru_cache(2**14)
def _digit_positions(mask: str, decimal: str, unit: str) -> tuple[np.ndarray | None, bool]:
    """Return the bytes that make up the plain number, and whether it is negative."""
    match = _match(mask)
    if match is None or _unit(match) != unit or _is_grouped(match, decimal) is None:
        return None, False
    begin = match.start("body")
    number = mask[begin : max(match.end("body"), match.end("exponent"))]
    kept = f"{decimal}eE+-0123456789"
    widths = np.cumsum([len(mask[:begin].encode()), *(len(sign.encode()) for sign in number)])
    positions = np.array([at for at, sign in zip(widths[:-1], number, strict=True) if sign in kept])
    return positions, bool(match["open"] or match["sign"] + match["inner"] in ("-", "−"))
