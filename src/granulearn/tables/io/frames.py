"""Tables in memory: frames, dicts of columns, lists of rows, arrays."""

from __future__ import annotations

import datetime
import decimal
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from granulearn.tables.io.arrow import standard_batches
from granulearn.tables.io.files import open_table
from granulearn.tables.io.table_file import (
    ReadOptions,
    TableFile,
    check_width,
    column_indices,
    named_columns,
    rows_per_batch,
)
from granulearn.tables.messages import TableError
from granulearn.tables.parse.cells import value_type
from granulearn.utils.text import quoted

_MISSING = ("NoneType", "NAType", "NaTType")
_OBJECT = np.dtype(object)
_SHOWN = Path("the table")


class FrameTable(TableFile):
    """An Arrow table in memory; columns keep their types.

    Parameters
    ----------
    table : pyarrow Table
        The columns, under any names.
    shown : Path, optional
        What to call it in messages.
    """

    def __init__(self, table: pa.Table, shown: Path = _SHOWN):
        names, notes = named_columns(shown, table.column_names)
        if not names:
            raise TableError(f"{shown} has no columns.")
        super().__init__(shown, names, notes, table.num_rows)
        self._table = table.rename_columns(names)

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        fields = column_indices(self.names, wanted)
        for batch in self._table.to_batches(rows_per_batch(len(wanted))):
            yield from standard_batches(self.path, batch, fields, wanted)


def table_of(data: Any, options: ReadOptions | None = None) -> TableFile:
    """Return a table in any form as a `TableFile`.

    Parameters
    ----------
    data : path, frame of pandas or polars, Arrow table, dict of columns, list of rows, or array
        The table. The index of a pandas frame is left out; columns of an array without names
        are called ``x0``, ``x1``, ...
    options : ReadOptions, default=None
        Options for reading a file.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.tables import table_of
    >>> table_of(np.zeros((4, 2))).names
    ['x0', 'x1']
    """
    if isinstance(data, TableFile):
        return data
    if isinstance(data, (str, os.PathLike)):
        return open_table(data, options)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return FrameTable(data)
    package = type(data).__module__.partition(".")[0]
    if package == "pandas" and hasattr(data, "iloc") and getattr(data, "ndim", 0) == 2:
        check_width(_SHOWN, data.shape[1])
        keys = (" ".join(map(str, key)) if isinstance(key, tuple) else key for key in data)
        cells = (data.iloc[:, index] for index in range(data.shape[1]))
        return FrameTable(_table(keys, cells))
    if package == "polars" and hasattr(data, "collect"):
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__") and package != "pandas":
        return FrameTable(pa.table(data))
    return FrameTable(_of_values(data))


def array_of(data: Any) -> np.ndarray | None:
    """Return rows without column names as an array; None for anything else.

    Parameters
    ----------
    data : object
        An array, a list of lists or tuples, or what NumPy can turn into an array.
    """
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, (list, tuple)) and data and not isinstance(data[0], Mapping):
        # As objects: NumPy would turn numbers beside text into text.
        array = np.array(data, dtype=object)
        if array.ndim == 1 and all(isinstance(row, (list, tuple, np.ndarray)) for row in data):
            number = next(n for n, row in enumerate(data) if len(row) != len(data[0]))
            raise TableError(
                f"row {number + 1} has {len(data[number])} cells, and row 1 has {len(data[0])}; "
                "give all rows equal lengths."
            )
        return array
    if hasattr(data, "__array__") and not hasattr(data, "columns"):
        return np.asarray(data)
    return None


def _table(keys: Iterable[Any], columns: Iterable[Any]) -> pa.Table:
    names = [*map(str, keys)]
    try:
        arrays = [_column(cells, name) for name, cells in zip(names, columns, strict=True)]
        lengths = dict(zip(names, map(len, arrays), strict=True))
        if len(set(lengths.values())) > 1:
            raise TableError(f"the columns differ in length: {lengths}; give them equal lengths.")
        return pa.Table.from_arrays(arrays, names=names)
    except UnicodeEncodeError as error:
        raise TableError(
            f"the text {quoted(error.object)} holds half a surrogate pair, which is no character; "
            "correct it."
        ) from error


def _column(values: Any, name: str) -> pa.Array:
    """Return cells as an Arrow array; as text where they have no Arrow type, or several."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TableError(f"the column {name!r} is no list of cells; give one list per column.")
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if getattr(values, "dtype", _OBJECT) == _OBJECT:
        # Iterating a pandas series is slow.
        values = values.to_numpy() if hasattr(values, "to_numpy") else values
        if _are_mixed(values):
            return _as_texts(values)
    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        column = pa.array(values, from_pandas=True)
        if not isinstance(value_type(column.type), pa.BaseExtensionType):
            return column
    # Periods and intervals become text as pandas shows them. Categories stay categories.
    if not hasattr(values, "cat"):
        return _as_texts(values)
    codes = values.cat.codes.to_numpy()
    cells = pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0), _as_texts(values.cat.categories)
    )
    return cells.dictionary_decode().dictionary_encode()  # 1 and "1" have one text


def _are_mixed(values: Any) -> bool:
    """Return whether objects differ in type; Arrow takes a number among dates for a date."""
    kinds = {kind for kind in set(map(type, values)) if kind.__name__ not in _MISSING}
    if kinds <= {str, float}:  # a float may be a missing text, or an error
        return False
    are_numbers = all(issubclass(kind, (int, float, np.number)) for kind in kinds - {bool})
    return len(kinds) > 1 and (bool in kinds or not are_numbers)


def _as_texts(values: Any) -> pa.Array:
    return pa.array([text_of(value) for value in values], pa.string())


def _of_values(data: Any) -> pa.Table:
    kind = type(data).__name__
    if type(data).__module__.startswith("scipy.sparse"):
        from granulearn.utils.validation import SPARSE

        raise TableError(SPARSE)
    if isinstance(data, Mapping):
        return _table(data.keys(), data.values())
    if isinstance(data, Sequence) and any(isinstance(row, Mapping) for row in data):
        others = [n for n, row in enumerate(data, 1) if not isinstance(row, Mapping)]
        if others:
            raise TableError(f"row {others[0]} of the {kind} is no dict; give one dict per row.")
        keys = dict.fromkeys(chain.from_iterable(data))
        return _table(keys, ([row.get(key) for row in data] for key in keys))
    if isinstance(data, (list, tuple)) and not data:
        raise TableError(f"the {kind} has no rows; give at least one.")
    array = array_of(data)
    if array is not None and array.ndim == 2:
        if not array.shape[1]:
            raise TableError(
                f"{_SHOWN} has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
            )
        return _table((f"x{index}" for index in range(array.shape[1])), array.T)
    if array is not None and array.ndim == 1:
        raise TableError(
            f"Expected rows and columns, got {kind} of one dimension. Reshape your "
            "data: .reshape(-1, 1) if it is one column, .reshape(1, -1) if it is one row."
        )
    raise TableError(
        f"{kind} is no table; give a path, a frame of pandas or polars, an Arrow "
        "table, a dict of columns, a list of dicts or of lists, or an array of two dimensions."
    )


# Above this, not every whole number is a float: digits would be invented.
_EXACT = 2.0**53


def text_of(value: Any) -> str | None:
    """Return a cell as text; None if it is missing.

    Whole numbers have no point, Booleans are ``true`` and ``false``, dates and times are
    those of ISO 8601 with a blank between, without the time where it is midnight. A duration
    is its number of hours: a number can be learnt from, ``26:30:00`` cannot.

    Parameters
    ----------
    value : object
        What a library gives for a cell.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds() / 3600
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value) if value.is_integer() and abs(value) < _EXACT else float(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else format(value, "f")
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # a scalar of NumPy
        plain = value.item()
        return str(value) if type(plain) is type(value) else text_of(plain)
    text = str(value)
    if text in ("NaT", "<NA>"):
        return None
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return text if value.tzinfo else value.date().isoformat()
    return text.lower() if isinstance(value, bool) else text
