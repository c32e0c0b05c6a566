"""A cell as text, and the texts that stand for a missing one: the same for every way in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# What people and programs write where a value is missing, in small letters.
NULL_TOKENS = (
    "",
    "?",
    "??",
    "-",
    "--",
    "—",
    ".",
    "\\n",
    "na",
    "n/a",
    "n.a.",
    "#n/a",
    "<na>",
    "nan",
    "-nan",
    "null",
    "(null)",
    "nil",
    "missing",
    "unknown",
    "unbekannt",
    "k.a.",
    "not available",
    "#value!",
    "#ref!",
    "#div/0!",
    "#name?",
    "#num!",
    "#null!",
)
# "none" is a value in many tables (no garage); "None" is what Python writes.
EXACT_MARKS = ("None",)
# In a column of labels the other marks may well be classes.
LABEL_NULL_TOKENS = ("", "?", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "(null)")

_MARKS = pa.array(NULL_TOKENS, pa.string())
_EXACT = pa.array(EXACT_MARKS, pa.string())
_OF_LABELS = pa.array(LABEL_NULL_TOKENS, pa.string())
# Arrow writes larger numbers with an exponent; whole ones are exact below the second.
_EXPONENT_FROM, _WHOLE_BELOW = 1e9, 2.0**63
_LONGEST_MARK = max(map(len, NULL_TOKENS))
_MARK_TEXTS = frozenset(NULL_TOKENS)
# Signs beyond ASCII that Arrow takes for blanks, and the bytes that blanks begin and end with.
_WIDE_BLANKS = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BEGINS_BLANK, _ENDS_BLANK = np.arange(256) <= ord(" "), np.arange(256) <= ord(" ")
_BEGINS_BLANK[[sign.encode()[0] for sign in _WIDE_BLANKS]] = True
_ENDS_BLANK[[sign.encode()[-1] for sign in _WIDE_BLANKS]] = True


def is_nested(kind: pa.DataType) -> bool:
    """Return whether cells hold no single value that has a text.

    Parameters
    ----------
    kind : pyarrow DataType
        Of the column.
    """
    if pa.types.is_dictionary(kind):
        return is_nested(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return is_nested(kind.storage_type)
    types = pa.types
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    binary = binary or types.is_fixed_size_binary(kind)
    return types.is_nested(kind) or binary or types.is_interval(kind)


def as_text(column: pa.Array, *, trimmed: bool = True) -> pa.Array:
    """Return the cells as text; whole numbers without a point, dates as ISO 8601, times in seconds.

    A cell's text depends on the cell alone, so that batches of any size give the same.

    Parameters
    ----------
    column : pyarrow Array
        Cells of any plain type.
    trimmed : bool, default=True
        Whether to take away blanks around the text.
    """
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_duration(column.type):
        column = in_hours(column)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    text = column if column.type == pa.string() else column.cast(pa.string())
    if pa.types.is_floating(column.type):
        text = _without_exponents(column, text)
    return pc.utf8_trim_whitespace(text) if trimmed and _may_have_blanks(text) else text


def _without_exponents(column: pa.Array, text: pa.Array) -> pa.Array:
    """Return the text of large whole numbers with all their digits, as whole numbers have it."""
    size = pc.abs(column.cast(pa.float64()))
    large = pc.and_(pc.greater_equal(size, _EXPONENT_FROM), pc.less(size, _WHOLE_BELOW))
    large = pc.fill_null(pc.and_(large, pc.equal(pc.floor(size), size)), False)
    if not pc.any(large).as_py():
        return text
    whole = pc.if_else(large, column.cast(pa.float64()), 0.0).cast(pa.int64()).cast(pa.string())
    return pc.if_else(large, whole, text)


def in_hours(column: pa.Array) -> pa.Array:
    """Return lengths of time as numbers of hours, as workbooks have them.

    Parameters
    ----------
    column : pyarrow Array of durations
        In any unit.
    """
    ticks = column.cast(pa.int64()).cast(pa.float64(), safe=False)
    seconds = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit]
    return pc.divide(ticks, 3600 * seconds)


def is_number_type(kind: pa.DataType) -> bool:
    """Return whether the file itself says that a column holds numbers, or lengths of time.

    Parameters
    ----------
    kind : pyarrow DataType
        Of the column.
    """
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return number or pa.types.is_duration(kind)


def stored_numbers(column: pa.Array) -> np.ndarray:
    """Return numbers that a file stores as such; lengths of time in hours; NaN for null.

    Parameters
    ----------
    column : pyarrow Array
        Of a type that `is_number_type`.
    """
    if pa.types.is_duration(column.type):
        column = in_hours(column)
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def characters(text: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all texts, and where each begins; the last entry is the end.

    Parameters
    ----------
    text : pyarrow Array of strings
        In one piece of memory, as all arrays are.
    """
    if not len(text):  # there may be no buffers at all
        return np.empty(0, np.uint8), np.zeros(1, np.int32)
    offsets, data = text.buffers()[1:]
    begins = np.frombuffer(offsets, dtype=np.int32)[text.offset : text.offset + len(text) + 1]
    return np.frombuffer(b"" if data is None else data, dtype=np.uint8), begins


def _may_have_blanks(text: pa.Array) -> bool:
    """Return whether blanks may stand around a text: a cheap look at the bytes.

    Most columns have none at all. Of the others, the first and the last byte of each cell tell;
    those of an empty cell are those of another one, which does no harm.
    """
    every, begins = characters(text)
    part = every[begins[0] : begins[-1]]
    if not len(part) or (part.min() > ord(" ") and part.max() <= ord("~")):
        return False
    first, last = begins[:-1] - begins[0], begins[1:] - begins[0] - 1
    first_bytes, last_bytes = part.take(first, mode="clip"), part.take(last, mode="clip")
    return bool((_BEGINS_BLANK[first_bytes] | _ENDS_BLANK[last_bytes]).any())


def _longest(text: pa.Array) -> int:
    """Return the bytes of the longest text."""
    _, begins = characters(text)
    return int((begins[1:] - begins[:-1]).max(initial=0))


def is_null_token(text: pa.Array, *, of_labels: bool = False) -> pa.Array:
    """Return where a text stands for a missing cell; null counts as one.

    Parameters
    ----------
    text : pyarrow Array of strings
        What `as_text` returned.
    of_labels : bool, default=False
        Whether only the marks count that are no class.
    """
    short = text
    if _longest(text) > 2 * _LONGEST_MARK:
        short = pc.if_else(pc.less_equal(pc.binary_length(text), 2 * _LONGEST_MARK), text, "long")
    small = pc.utf8_lower(short)
    found = pc.is_in(small, _OF_LABELS if of_labels else _MARKS)
    if not of_labels:
        found = pc.or_(found, pc.is_in(text, _EXACT))
    return pc.or_(found, text.is_null())


def without_null_tokens(text: pa.Array, values: Sequence[str] = ()) -> pa.Array:
    """Return texts with null for those that stand for a missing cell.

    Parameters
    ----------
    text : pyarrow Array of strings
        What `as_text` returned.
    values : sequence of str, default=()
        Marks that are values in this column.
    """
    if len(text) >= _MANY_CELLS:
        encoded = text.dictionary_encode()
        if 2 * len(encoded.dictionary) <= len(text):  # each different text is looked at once
            known = _without_marks(encoded.dictionary, values)
            return known.take(encoded.indices) if known.null_count else text
    return _without_marks(text, values)


def _without_marks(text: pa.Array, values: Sequence[str]) -> pa.Array:
    if len(text) <= _FEW_CELLS:  # a call of Arrow costs more than to look at each
        texts = text.to_pylist()
        known = [None if _stands_for_none(cell) and cell not in values else cell for cell in texts]
        return text if known == texts else pa.array(known, pa.string())
    mark = is_null_token(text)
    if values:
        mark = pc.and_(mark, pc.invert(pc.is_in(text, pa.array(values, pa.string()))))
    return pc.if_else(mark, pa.scalar(None, pa.string()), text)


def _stands_for_none(text: str | None) -> bool:
    """Return whether one text is a mark; `is_null_token` says it of a column."""
    if text is None or text in EXACT_MARKS:
        return True
    # The only letter whose small form in Arrow, i, is not the one in Python.
    return len(text) <= _LONGEST_MARK and text.replace("İ", "i").lower() in _MARK_TEXTS


_MANY_CELLS, _FEW_CELLS = 1000, 32


class ByText(NamedTuple):
    """What each different text of a column gives, and where it stands."""

    values: list[Any]
    """One for each different text; the last one, None, for a missing cell."""
    codes: np.ndarray
    """For each row, the number of its value."""

    @property
    def known(self) -> np.ndarray:
        """Where a cell is not missing."""
        return self.codes < len(self.values) - 1


def by_different_text(text: pa.Array, function: Callable[[str], Any]) -> ByText:
    """Call a function once for each different text of a column.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells; null is a missing one.
    function : callable
        Told a text.
    """
    if len(text) <= _FEW_CELLS and not pa.types.is_dictionary(text.type):
        cells = text.to_pylist()  # calls of Arrow cost more
        texts = [cell for cell in dict.fromkeys(cells) if cell is not None]
        code_of = {cell: code for code, cell in enumerate([*texts, None])}
        found = np.array([code_of[cell] for cell in cells], np.intp)
        return ByText([*map(function, texts), None], found)
    encoded = text.dictionary_encode()
    different = encoded.dictionary.to_pylist()
    indices = encoded.indices
    if indices.null_count:
        indices = indices.fill_null(len(different))
    codes = indices.to_numpy(zero_copy_only=False)
    return ByText([*map(function, different), None], codes)
