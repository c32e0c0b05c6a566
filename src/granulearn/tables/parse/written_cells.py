"""What texts become: numbers and dates, many of a shape at once, truths and categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.parse.cells import (
    as_text,
    by_different_text,
    is_number_type,
    without_null_tokens,
)
from granulearn.tables.parse.date_shapes import moments_by_shape
from granulearn.tables.parse.dates import DateForm, numbers_of_moments, read_moments
from granulearn.tables.parse.number_shapes import numbers_by_shape
from granulearn.tables.parse.numbers import NumberForm, is_plain, read_numbers

_TRUTHS = {
    **dict.fromkeys(("yes", "y", "true", "t", "on"), 1.0),
    **dict.fromkeys(("no", "n", "false", "f", "off"), 0.0),
    **dict.fromkeys(("ja", "j", "oui", "si", "sí", "sì", "sim", "tak", "да"), 1.0),
    **dict.fromkeys(("nein", "nee", "non", "não", "nie", "нет"), 0.0),
    **dict.fromkeys(("wahr", "vrai", "vero"), 1.0),
    **dict.fromkeys(("falsch", "faux", "falso"), 0.0),
}
# Texts repeat if half of so many cells have come before: those of some eighty texts have.
_LOOKED_FOR_REPEATS, _FEWEST_REPEATS = 128, 64
# So many texts are read before it is found out which shapes they have; plain numbers by Arrow.
_FEW_CELLS, _FEW_PLAIN = 32, 2048
_MANY_CELLS = 1000


def are_repeated(text: pa.Array) -> bool:
    """Return whether a column seems to hold the same texts many times; the first cells tell.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells.
    """
    if len(text) < _MANY_CELLS:
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
        return read_numbers(without_null_tokens(text, values_like_marks), form)
    values, known = numbers_by_shape(text, form)
    others = np.flatnonzero(~known)
    return with_rest(text, values, others, values_like_marks, lambda rest: read_numbers(rest, form))


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
        moments, misfit = read_moments(without_null_tokens(text, values_like_marks), form)
        return numbers_of_moments(moments, form), misfit
    moments, known = moments_by_shape(text, form)
    others = np.flatnonzero(~known)
    moments, rest = with_rest(
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
    found = by_different_text(without_null_tokens(text, values_like_marks), truth)
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
    """
    kind = cells.type
    if pa.types.is_dictionary(kind) and len(cells.dictionary) > len(cells):
        cells = cells.dictionary_decode()  # most of its texts are those of other rows
    if not (pa.types.is_dictionary(cells.type) or pa.types.is_string(cells.type)):
        cells = as_text(cells)
    given = cells.dictionary_encode()
    text = without_null_tokens(as_text(given.dictionary), values_like_marks)
    if of_numbers and not is_number_type(kind):
        text = _as_if_stored(text)
    elif text is given.dictionary and given is not cells:
        return given  # each text was meant as it is written, and is there once
    # Arrow's own codes: those of the table may be too small for one more, or for joined tables.
    different = text.dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        different.indices.take(given.indices), different.dictionary
    )


def _as_if_stored(text: pa.Array) -> pa.Array:
    """Return texts that are numbers as the text of the number: 4.0 and 4 are one category."""
    found = by_different_text(text, lambda cell: float(cell) if is_plain(cell) else None)
    numbers = as_text(pa.array(found.values, pa.float64())).take(pa.array(found.codes))
    return pc.if_else(numbers.is_valid(), numbers, text)


def with_rest(
    text: pa.Array,
    values: np.ndarray,
    rows: np.ndarray,
    values_like_marks: Sequence[str],
    read: Callable[[pa.Array], tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the values of all texts: some rows, that are not known yet, are read one by one.

    What is known is a number, a date or yes or no, and so no mark of a missing cell.

    Parameters
    ----------
    text : pyarrow Array of strings
        All cells.
    values : ndarray
        What they become; those of the rows are overwritten.
    rows : ndarray of int
        Those that are not known yet.
    values_like_marks : sequence of str
        Texts that elsewhere stand for a missing cell.
    read : callable
        Returns the values of texts, and which of them do not fit.
    """
    if not len(rows):
        return values, None
    if len(rows) == len(text):
        return read(without_null_tokens(text, values_like_marks))
    misfit = np.zeros(len(text), bool)
    rest = without_null_tokens(text.take(pa.array(rows)), values_like_marks)
    values[..., rows], misfit[rows] = read(rest)
    return values, misfit
