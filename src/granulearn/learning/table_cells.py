"""Cells of a column as text or as numbers: one reading for `fit` and for `predict`."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.datasets.csv_structure import MISSING_MARKS

_MARKS = pa.array(list(MISSING_MARKS), pa.string())


class NotANumberError(ValueError):
    """A cell in a column of numbers is no number.

    Parameters
    ----------
    position : int
        Place of the first such cell in the column.
    cell : str
        What it holds.
    """

    def __init__(self, position: int, cell: str):
        super().__init__(f"{cell!r} at {position}")
        self.position = position
        self.cell = cell


def holds_dates(column: pa.Array) -> bool:
    """Return whether a column holds dates or times: neither numbers nor categories."""
    return pa.types.is_temporal(column.type)


def is_stored_as_numbers(column: pa.Array) -> bool:
    """Return whether the file itself says that a column holds numbers."""
    kind = column.type
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def as_text(column: pa.Array) -> pa.Array:
    """Return the cells as text without blanks around it; missing ones as null.

    Parameters
    ----------
    column : pyarrow Array
        Cells of any type but dates.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = _whole_numbers_plainly(column)
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return pc.if_else(pc.is_in(text, _MARKS), pa.scalar(None, pa.string()), text)


def as_numbers(column: pa.Array) -> np.ndarray:
    """Return the cells as floats, with NaN for missing ones.

    Parameters
    ----------
    column : pyarrow Array
        Numbers, or text that spells numbers.

    Raises
    ------
    NotANumberError
        For the first cell that is no finite number.
    """
    if is_stored_as_numbers(column):
        numbers = column.cast(pa.float64(), safe=False)
    else:
        text = as_text(column)
        try:
            numbers = text.cast(pa.float64())
        except pa.ArrowInvalid:
            raise _first_wrong(text) from None
    values = numbers.to_numpy(zero_copy_only=False)
    infinite = np.isinf(values)
    if infinite.any():
        position = int(infinite.argmax())
        raise NotANumberError(position, str(column[position].as_py()))
    return values


def as_categories(column: pa.Array) -> pd.Categorical:
    """Return the cells as a pandas Categorical of text.

    Parameters
    ----------
    column : pyarrow Array
        Cells of any type but dates.
    """
    encoded = as_text(column).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(codes, pd.Index(encoded.dictionary.to_pylist(), dtype=object))


def spells_number(text: str) -> bool:
    """Return whether a cell's text is read as a finite number."""
    try:
        return math.isfinite(pa.scalar(text).cast(pa.float64()).as_py())
    except pa.ArrowInvalid:
        return False


def _whole_numbers_plainly(column: pa.Array) -> pa.Array:
    """Return floats that are all whole as integers, so that 1.0 is the category "1"."""
    values = column.drop_null().to_numpy(zero_copy_only=False)
    whole = np.isfinite(values).all() and (values == np.floor(values)).all()
    return column.cast(pa.int64()) if whole else column


def _first_wrong(text: pa.Array) -> NotANumberError:
    wrong = [cell for cell in text.unique().to_pylist() if cell and not spells_number(cell)]
    position = pc.index_in(pa.array(wrong), value_set=text)
    first = int(np.min(position.to_numpy(zero_copy_only=False)))
    return NotANumberError(first, text[first].as_py())
