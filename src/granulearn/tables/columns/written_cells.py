"""What texts become: numbers and dates, many of a shape at once, truths and categories."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.columns.cells import (
    MISSING_MARKS,
    as_text,
    by_different_text,
    characters,
    is_number_type,
    without_marks,
)
from granulearn.tables.columns.date_shapes import moments_by_shape
from granulearn.tables.columns.dates import DateForm, numbers_of_moments, read_moments
from granulearn.tables.columns.lookups import FEWEST_CELLS, Found, Lookup
from granulearn.tables.columns.number_shapes import numbers_by_shape
from granulearn.tables.columns.numbers import NumberForm, is_plain, plain_numbers, read_numbers

# Marks of missing cells as they are mostly spelt.
_MARKS = (*MISSING_MARKS, *map(str.upper, MISSING_MARKS))
Reader = Callable[..., tuple[np.ndarray, np.ndarray | None]]
_TRUTHS = {
    **dict.fromkeys(("yes", "y", "true", "t", "on"), 1.0),
    **dict.fromkeys(("no", "n", "false", "f", "off"), 0.0),
    **dict.fromkeys(("ja", "j", "oui", "si", "sí", "sì", "sim", "tak", "да"), 1.0),
    **dict.fromkeys(("nein", "nee", "non", "não", "nie", "нет"), 0.0),
    **dict.fromkeys(("wahr", "vrai", "vero"), 1.0),
    **dict.fromkeys(("falsch", "faux", "falso"), 0.0),
}
_LOOKED_AT_FIRST = 8
# Among so many cells of a thousand different texts, eight have come before, on average; of ten
# thousand different ones, not one.
_LOOKED_FOR_REPEATS, _FEWEST_REPEATS = 128, 64
# So many texts are read before it is found out which shapes they have; plain numbers by Arrow.
_FEW_CELLS, _FEW_PLAIN = 32, 2048
# Of longer numbers only plain ones are numbers.
_LONGEST_WITH_COMMA = 64
# A column has a few texts if so many cells have no more.
_LOOKED_FOR_FEW, _FEW_TEXTS, _SHORT = 64, 16, 8
# Where more cells than one in so many are words, Arrow reads little.
_SHARE_OF_WORDS = 4
_MARKS_OF_A_COLUMN = 2
_BYTES_OF_AN_OFFSET, _MISSING = 4, -1


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
    marks = [mark for mark in _MARKS if len(mark.encode()) <= _SHORT]
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
    return _with_rest(
        text, values, others, values_like_marks, lambda rest: read_numbers(rest, form)
    )


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


def are_repeated(text: pa.Array) -> bool:
    """Return whether a column seems to hold the same texts many times; the first cells tell.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells.
    """
    if len(text) < FEWEST_CELLS:
        return False
    first = text[:_LOOKED_FOR_REPEATS]
    return len(first) - len(first.unique()) >= _FEWEST_REPEATS


def written_numbers(
    text: pa.Array, form: NumberForm, values_like_marks: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the numbers that texts are, and where one is none; NaN for a missing cell.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : NumberForm
        How the column writes its numbers.
    values_like_marks : sequence of str, default=()
        Texts that elsewhere stand for a missing cell.
    """
    if len(text) <= (_FEW_PLAIN if form == NumberForm() else _FEW_CELLS):
        return read_numbers(without_marks(text, values_like_marks), form)
    values, known = numbers_by_shape(text, form)
    others = np.flatnonzero(~known)
    return _with_rest(
        text, values, others, values_like_marks, lambda rest: read_numbers(rest, form)
    )


def written_dates(
    text: pa.Array, form: DateForm, values_like_marks: Sequence[str] = ()
) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Return what dates become, by what it is, and where a text is none.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : DateForm
        How the column writes its dates.
    values_like_marks : sequence of str, default=()
        Texts that elsewhere stand for a missing cell.
    """
    if len(text) <= _FEW_CELLS:
        moments, misfit = read_moments(without_marks(text, values_like_marks), form)
        return numbers_of_moments(moments, form), misfit
    moments, known = moments_by_shape(text, form)
    others = np.flatnonzero(~known)
    moments, rest = _with_rest(
        text, moments, others, values_like_marks, lambda rest: read_moments(rest, form)
    )
    return numbers_of_moments(moments, form), rest


def written_truths(
    text: pa.Array, values_like_marks: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 for yes, 0 for no and NaN for a missing cell, and where a text is neither.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    values_like_marks : sequence of str, default=()
        Texts that elsewhere stand for a missing cell.
    """
    found = by_different_text(without_marks(text, values_like_marks), truth)
    values = np.array([np.nan if value is None else value for value in found.values])
    return values[found.codes], np.isnan(values[found.codes]) & found.known


def truth(text: str) -> float | None:
    """Return 1 for yes and 0 for no, in the usual languages; None for anything else.

    Parameters
    ----------
    text : str
        A cell without blanks around it.
    """
    return _TRUTHS.get(text.casefold())


def written_categories(
    cells: pa.Array,
    values_like_marks: Sequence[str] = (),
    of_numbers: bool = False,
    usual: UsualCategories | None = None,
) -> pa.DictionaryArray:
    """Return the text of each cell; what a text means is found out once for each different one.

    The dictionary may hold texts that no row has.

    Parameters
    ----------
    cells : pyarrow Array
        Of any plain type.
    values_like_marks : sequence of str, default=()
        Texts that elsewhere stand for a missing cell.
    of_numbers : bool, default=False
        Whether training had categories that were stored as numbers.
    usual : UsualCategories, optional
        Those of training, read in the same way.
    """
    kind = cells.type
    if usual is not None and pa.types.is_string(kind) and len(cells) >= FEWEST_CELLS:
        found = usual.lookup.find(cells)
        if found is not None:
            rest = (
                written_categories(
                    cells.take(pa.array(found.others)), values_like_marks, of_numbers
                )
                if len(found.others)
                else None
            )
            return usual.dictionary(found, rest)
    if pa.types.is_dictionary(kind) and len(cells.dictionary) > len(cells):
        cells = cells.dictionary_decode()  # most of its texts are those of other rows
    if not (pa.types.is_dictionary(cells.type) or pa.types.is_string(cells.type)):
        cells = as_text(cells)
    given = cells.dictionary_encode()
    text = without_marks(as_text(given.dictionary), values_like_marks)
    if of_numbers and not is_number_type(kind):
        text = _as_if_stored(text)
    elif text is given.dictionary and given is not cells:
        return given  # each text was meant as it is written, and is there once
    # Arrow's own codes: those of the table may be too small for one more, or for joined tables.
    different = text.dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        different.indices.take(given.indices), different.dictionary
    )


class UsualCategories:
    """The categories that a column had in training, to be looked up; never changes.

    Parameters
    ----------
    categories : sequence of str
        Their texts.
    values_like_marks, of_numbers
        As for `written_categories`.
    """

    def __init__(
        self, categories: Sequence[str], values_like_marks: Sequence[str], of_numbers: bool
    ):
        number_of = {category: number for number, category in enumerate(categories)}
        texts = list(dict.fromkeys([*categories, *_MARKS]))
        become = written_categories(pa.array(texts, pa.string()), values_like_marks, of_numbers)
        numbers = [
            _MISSING if text is None else number_of.get(text)
            for text in become.dictionary_decode().to_pylist()
        ]
        known = [place for place, number in enumerate(numbers) if number is not None]
        values = np.array([numbers[place] for place in known], np.int32)
        self._texts = pa.array(categories, pa.string())
        self.lookup = Lookup([texts[place] for place in known], values, _MISSING)

    def dictionary(self, found: Found, others: pa.DictionaryArray | None) -> pa.DictionaryArray:
        """Return the text of each cell.

        Parameters
        ----------
        found : Found
            By the lookup.
        others : DictionaryArray, optional
            The texts of cells that were not found.
        """
        numbers, texts = found.values, self._texts
        if others is not None:
            joined = pa.concat_arrays([texts, others.dictionary]).dictionary_encode()
            own = joined.indices[len(texts) :].take(others.indices).fill_null(_MISSING)
            numbers[found.others], texts = own.to_numpy(zero_copy_only=False), joined.dictionary
        missing = numbers < 0
        indices = pa.array(numbers, mask=missing if missing.any() else None)
        return pa.DictionaryArray.from_arrays(indices, texts, safe=False)


def _as_if_stored(text: pa.Array) -> pa.Array:
    """Return texts that are numbers as the text of the number: 4.0 and 4 are one category."""
    found = by_different_text(text, lambda cell: float(cell) if is_plain(cell) else None)
    numbers = as_text(pa.array(found.values, pa.float64())).take(pa.array(found.codes))
    return pc.if_else(numbers.is_valid(), numbers, text)


def _with_rest(
    text: pa.Array,
    values: np.ndarray,
    rows: np.ndarray,
    values_like_marks: Sequence[str],
    read: Callable[[pa.Array], tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the values of all texts: some rows, that are not known yet, are read one by one.

    What is known is a number, a date or yes or no, and so no mark of a missing cell.
    """
    if not len(rows):
        return values, None
    if len(rows) == len(text):
        return read(without_marks(text, values_like_marks))
    misfit = np.zeros(len(text), bool)
    rest = without_marks(text.take(pa.array(rows)), values_like_marks)
    values[..., rows], misfit[rows] = read(rest)
    return values, misfit
