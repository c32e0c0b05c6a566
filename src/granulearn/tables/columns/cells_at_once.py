"""Many cells of a column read at once: a few texts by a table of them, numbers by Arrow.

What is read here is what `written_cells` reads one by one. Where that would not be so, or not
be faster, there is no answer, and the caller reads them there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from granulearn.tables.columns.cells import characters, without_marks
from granulearn.tables.columns.lookups import FEWEST_CELLS, Lookup
from granulearn.tables.columns.numbers import NumberForm, is_plain, plain_numbers, read_numbers
from granulearn.tables.columns.written_cells import USUAL_MARKS, with_rest

Reader = Callable[..., tuple[np.ndarray, np.ndarray | None]]
_LOOKED_AT_FIRST = 8
# Of longer numbers only plain ones are numbers.
_LONGEST_WITH_COMMA = 64
# A column has a few texts if so many cells have no more.
_LOOKED_FOR_FEW, _FEW_TEXTS, _SHORT = 64, 16, 8
# Where more cells than one in so many are words, Arrow reads little.
_SHARE_OF_WORDS = 4
_MARKS_OF_A_COLUMN = 2
_BYTES_OF_AN_OFFSET = 4


def few_at_once(
    text: pa.Array, read: Reader, *arguments: Hashable
) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return what many cells become, if the first ones say that they have a few texts; else None.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    read : callable
        `written_numbers` or `written_truths`.
    *arguments : object
        What it is told besides the text.
    """
    if len(text) < FEWEST_CELLS:
        return None
    first = frozenset(text[:_LOOKED_FOR_FEW].to_pylist()) - {None}
    if len(first) > _FEW_TEXTS or max(map(len, first), default=0) > _SHORT:
        return None
    return _looked_up(_lookup(read, arguments, first), text, read, *arguments)


def _looked_up(
    lookup: Lookup, text: pa.Array, read: Reader, *arguments: Hashable
) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return what cells become by a table, and others by its reader; None if these are many."""
    found = lookup.find(text)
    if found is None:
        return None
    values, others = found
    if not len(others):
        return values, None
    own, wrong = read(text.take(pa.array(others)), *arguments)
    values[others], misfit = own, np.zeros(len(text), bool)
    misfit[others] = False if wrong is None else wrong
    return values, misfit


@lru_cache(256)
def _lookup(read: Reader, arguments: tuple, texts: frozenset[str]) -> Lookup:
    """Return a table of what texts become; columns come again and again with the same ones."""
    return _table(sorted(texts), read, *arguments)


def _table(texts: Sequence[str], read: Reader, *arguments: Hashable) -> Lookup:
    """Return a table of what texts, and marks of missing cells, become by a reader."""
    marks = [mark for mark in USUAL_MARKS if len(mark.encode()) <= _SHORT]
    each = list(dict.fromkeys([*texts, *marks]))
    values, misfit = read(pa.array(each, pa.string()), *arguments)
    fits = np.ones(len(each), bool) if misfit is None else ~misfit
    return Lookup([each[k] for k in np.flatnonzero(fits)], values[fits], np.nan)


def numbers_at_once(
    text: pa.Array, form: NumberForm, values_like_marks: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return what `written_numbers` does if Arrow can read all numbers of a column; else None.

    Among many cells, those that do not end in a digit are hidden from Arrow: most are marks of
    missing cells. No mark is a number. Arrow takes longer to say of a text that it is none than
    to read thirty.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : NumberForm
        How the column writes its numbers.
    values_like_marks : sequence of str, default=()
        Texts that elsewhere stand for a missing cell.
    """
    if form.unit or not (form == NumberForm() or len(text) >= FEWEST_CELLS):
        return None
    plain = text if form == NumberForm() else _with_points(text)
    if plain is None:
        return None
    shown = _that_end_in_digits(plain) if len(text) >= FEWEST_CELLS else None
    if shown is not None:
        plain = _only(plain, shown)
    if len(text) > _LOOKED_AT_FIRST and not _may_be_plain(plain[:_LOOKED_AT_FIRST]):
        return None
    values = plain_numbers(plain)
    if values is None or shown is None:
        return None if values is None else (values, None)
    others = _that_are_no_marks(text, ~shown, values_like_marks)
    if len(others) * _SHARE_OF_WORDS > len(text):
        return None
    return with_rest(text, values, others, values_like_marks, lambda rest: read_numbers(rest, form))


def _may_be_plain(text: pa.Array) -> bool:
    return all(cell is None or is_plain(cell) for cell in text.to_pylist())


def _with_points(text: pa.Array) -> pa.Array | None:
    """Return numbers with a comma before the decimals as plain ones; None if points group them."""
    every, offsets = characters(text)
    every = every[offsets[0] : offsets[-1]]
    if (every == ord(".")).any() or (offsets[1:] - offsets[:-1]).max() > _LONGEST_WITH_COMMA:
        return None
    commas = every == ord(",")
    if not commas.any():
        return text
    data = pa.py_buffer(np.where(commas, np.uint8(ord(".")), every))
    known = _bits(text.is_valid().to_numpy(zero_copy_only=False)) if text.null_count else None
    return pa.Array.from_buffers(
        pa.string(), len(text), [known, pa.py_buffer(offsets - offsets[0]), data]
    )


def _that_end_in_digits(text: pa.Array) -> np.ndarray | None:
    """Return where cells end in a digit; None if all do."""
    every, offsets = characters(text)
    if offsets[0] == offsets[-1]:
        return np.zeros(len(text), bool)
    found = every.take(offsets[1:] - 1, mode="clip") - np.uint8(ord("0")) <= 9
    lengths = offsets[1:] - offsets[:-1]
    if not lengths.min():
        found &= lengths > 0
    if text.null_count:
        found &= text.is_valid().to_numpy(zero_copy_only=False)
    return None if found.all() else found


def _only(text: pa.Array, shown: np.ndarray) -> pa.Array:
    """Return the same texts with null for some, without a copy of the others."""
    _, offsets, data = text.buffers()
    begin, size = text.offset * _BYTES_OF_AN_OFFSET, (len(text) + 1) * _BYTES_OF_AN_OFFSET
    own = offsets.slice(begin, size)
    return pa.Array.from_buffers(pa.string(), len(text), [_bits(shown), own, data])


def _bits(known: np.ndarray) -> pa.Buffer:
    return pa.py_buffer(np.packbits(known, bitorder="little"))


def _that_are_no_marks(
    text: pa.Array, hidden: np.ndarray, values_like_marks: Sequence[str]
) -> np.ndarray:
    """Return the hidden rows that may hold something else than a mark of a missing cell.

    A column has one or two marks: the first hidden cell has one, and others are compared with it.
    """
    if text.null_count:
        hidden &= text.is_valid().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(hidden)
    for _ in range(_MARKS_OF_A_COLUMN):
        first = text[int(rows[0]) :][:1] if len(rows) else None
        if first is None or not without_marks(first, values_like_marks).null_count:
            break
        rows = rows[~_are_equal(text, rows, first[0].as_py().encode())]
    return rows


def _are_equal(text: pa.Array, rows: np.ndarray, mark: bytes) -> np.ndarray:
    """Return which rows have a text, byte by byte: marks are short."""
    every, offsets = characters(text)
    begins = offsets[:-1].take(rows)
    same = offsets[1:].take(rows) - begins == len(mark)
    for place, letter in enumerate(mark):
        same &= every.take(begins + place, mode="clip") == letter
    return same
