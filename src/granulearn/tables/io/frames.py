"""Tables that are in memory already: frames, dicts, lists of dicts, arrays."""

from __future__ import annotations

import datetime
import decimal
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from granulearn._words import quoted
from granulearn.tables.errors import TableError
from granulearn.tables.io.arrow import usual_batch, usual_type
from granulearn.tables.io.files import open_table
from granulearn.tables.io.table_file import (
    ReadOptions,
    TableFile,
    TablePart,
    check_width,
    column_indices,
    known_columns,
    named_columns,
    rows_per_batch,
)

_MISSING = ("NoneType", "NAType", "NaTType")
_OBJECT = np.dtype(object)
_PART_ROWS = 2**18
# Of fewer objects, the calls cost more than is saved; of more, their text takes memory twice.
_CELLS_OF_ONE_TEXT = range(64, 2**18)
_BETWEEN, _LARGEST_TEXT = "\0", 2**31 - 1
_SHOWN = Path("the table")


@dataclass(frozen=True)
class FramePart:
    """Some rows of a table in memory."""

    table: pa.Table
    first_row: int

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        names = self.table.column_names
        wanted = known_columns(_SHOWN, names, names if columns is None else columns)
        fields = column_indices(names, wanted)
        for batch in self.table.to_batches(rows_per_batch(len(wanted))):
            yield usual_batch(_SHOWN, batch, fields, wanted)

    def __reduce__(self):
        # Arrow would send the rows of the other parts along.
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        return _received, (sink.getvalue().to_pybytes(), self.first_row)


def _received(content: bytes, first_row: int) -> FramePart:
    return FramePart(pa.ipc.open_stream(content).read_all(), first_row)


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
        names, remarks = named_columns(shown, table.column_names)
        if not names or not table.num_rows:
            raise TableError(f"{shown} has no {'data rows' if names else 'columns'}.")
        super().__init__(shown, names, remarks, table.num_rows)
        self._table = table.rename_columns(names)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        return FramePart(self._table, 0).batches(self._wanted(columns))

    def parts(self) -> tuple[TablePart, ...]:
        """Return stretches of rows."""
        begins = range(0, self._table.num_rows, _PART_ROWS)
        return tuple(FramePart(self._table.slice(begin, _PART_ROWS), begin) for begin in begins)


def table_of(data: Any, reading: ReadOptions | None = None) -> TableFile:
    """Return whatever holds a table as a `TableFile`.

    Parameters
    ----------
    data : path, frame of pandas or polars, Arrow table, dict of columns, list of rows, or array
        The table. The index of a pandas frame is left out; columns of an array without names
        are called ``x0``, ``x1``, ...
    reading : ReadOptions, default=None
        What is known about the file, if it is one.

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
        return open_table(data, reading)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return FrameTable(data)
    package = type(data).__module__.partition(".")[0]
    if package == "pandas" and hasattr(data, "iloc") and getattr(data, "ndim", 0) == 2:
        return FrameTable(_of_pandas(data))
    if package == "polars":
        data = data.collect() if hasattr(data, "collect") else data
    if hasattr(data, "__arrow_c_stream__") and package != "pandas":
        return FrameTable(pa.table(data))
    return FrameTable(_of_values(data))


def array_of(data: Any) -> np.ndarray | None:
    """Return rows whose columns have no names as an array; None for anything else.

    Parameters
    ----------
    data : object
        An array, a list of lists or tuples, or what NumPy can turn into an array.
    """
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, (list, tuple)) and data:
        return None if isinstance(data[0], Mapping) else _array_of_rows(data)
    if hasattr(data, "__array__") and not hasattr(data, "columns") and not _is_arrow(data):
        return np.asarray(data)
    return None


def _array_of_rows(rows: Sequence) -> np.ndarray:
    if not all(hasattr(row, "__len__") and not isinstance(row, (str, bytes)) for row in rows):
        return np.array([None] * len(rows))  # cells, not rows: the shape tells
    lengths = Counter(map(len, rows))
    if len(lengths) > 1:
        usual = lengths.most_common(1)[0][0]
        first = next(place for place, row in enumerate(rows) if len(row) != usual)
        raise TableError(
            f"the rows differ in length: row {first + 1} has {len(rows[first])} cells, and most "
            f"have {usual}; give them equal lengths."
        )
    # As objects, since NumPy would turn numbers beside a text into texts.
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        array[place] = list(row)
    return array


def _is_arrow(data: Any) -> bool:
    return isinstance(data, (pa.Table, pa.RecordBatch))


def _of_pandas(frame: Any) -> pa.Table:
    check_width(_SHOWN, frame.shape[1])
    names, columns = [], []
    for key, series in frame.items():
        names.append(_name(" ".join(map(str, key)) if isinstance(key, tuple) else key))
        columns.append(_column_of_pandas(series, names[-1]))
    return pa.Table.from_arrays(columns, names=names)


def _column_of_pandas(series: Any, name: str) -> pa.Array:
    from pandas.api.types import infer_dtype

    cells = series
    if series.dtype == _OBJECT:
        # Objects are taken out of the frame first, which hands them over one at a time.
        cells = series.to_numpy()
        texts = _texts(cells.tolist())
        if texts is not None:
            return texts
        if infer_dtype(cells, skipna=False) != "string" and _are_mixed(cells):
            return _mixed(series, name)
    try:
        column = pa.array(cells, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _shown(series, name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _shown(series, name)  # periods and intervals: what pandas shows says more
    return column


def _texts(cells: list) -> pa.Array | None:
    """Return many objects as a column if each is a text; else None, mostly at the first one.

    One long text is made of them and cut: Arrow would look at each of the objects twice.
    """
    if len(cells) not in _CELLS_OF_ONE_TEXT:
        return None
    try:
        joined = _BETWEEN.join(cells).encode()
    except (TypeError, UnicodeEncodeError):  # not all are texts, or one is no Unicode
        return None
    ends = np.flatnonzero(np.frombuffer(joined, np.uint8) == ord(_BETWEEN))
    if len(ends) != len(cells) - 1 or len(joined) > _LARGEST_TEXT:
        return None
    offsets = np.empty(len(cells) + 1, np.int32)
    offsets[0], offsets[-1] = 0, len(joined) - len(ends)
    offsets[1:-1] = ends - np.arange(len(ends))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(joined.translate(None, _BETWEEN.encode()))]
    return pa.Array.from_buffers(pa.string(), len(cells), buffers, null_count=0)


def _shown(series: Any, name: str) -> pa.Array:
    """Return the text of values that Arrow does not know; categories stay categories."""
    if not hasattr(series, "cat"):
        return _mixed(series, name)
    # By category: among the cells, a missing one makes floats of the whole bounds of others.
    codes = series.cat.codes.to_numpy()
    indices = pa.array(codes, mask=codes < 0)
    cells = pa.DictionaryArray.from_arrays(indices, _mixed(series.cat.categories, name))
    return cells.dictionary_decode().dictionary_encode()  # 1 and "1" have one text


def _are_mixed(values: Any) -> bool:
    """Return whether objects differ in type; Arrow takes a number among dates for a date."""
    kinds = {kind for kind in set(map(type, values)) if kind.__name__ not in _MISSING}
    if kinds <= {str, float}:  # a float may be the mark of a missing text, or an error
        return False
    are_numbers = all(issubclass(kind, (int, float, np.number)) for kind in kinds - {bool})
    return len(kinds) > 1 and (bool in kinds or not are_numbers)


def _mixed(values: Any, name: str) -> pa.Array:
    """Return values of several types, or of one that Arrow does not know, as text."""
    texts = [text_of(value) for value in values]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        wrong = next(text for text in texts if text and _is_no_text(text))
        raise TableError(
            f"column {quoted(name)} holds {quoted(wrong)}, with half a surrogate pair, which is no "
            "character; correct the cell."
        ) from error


def _name(key: Any) -> str:
    """Return what a column is called."""
    name = str(key)
    if _is_no_text(name):
        raise TableError(
            f"the name of a column, {quoted(name)}, has half a surrogate pair, which is no "
            "character; correct the name."
        )
    return name


def _is_no_text(text: str) -> bool:
    """Return whether a text, as JSON may spell it, cannot be written as Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _of_values(data: Any) -> pa.Table:
    if type(data).__module__.startswith("scipy.sparse"):
        raise TableError(
            "Sparse data was passed, but dense data is required: use .toarray() to convert it."
        )
    if isinstance(data, Mapping):
        given = {_name(key): cells for key, cells in data.items()}
        columns = {name: _column(cells, name) for name, cells in given.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise TableError(f"the columns differ in length: {lengths}; give them equal lengths.")
        return pa.table(columns)
    if isinstance(data, Sequence) and data and _are_mappings(data):
        given = {_name(key): cells for key, cells in _columns_of(data).items()}
        return pa.table({name: _column(cells, name) for name, cells in given.items()})
    if isinstance(data, Sequence) and any(isinstance(row, Mapping) for row in data):
        place, wrong = next(
            (place, row) for place, row in enumerate(data, 1) if not isinstance(row, Mapping)
        )
        raise TableError(
            f"row {place} of the {type(data).__name__} is no dict, as others are, but of type "
            f"{type(wrong).__name__}; give one dict per row."
        )
    if isinstance(data, (list, tuple)) and not data:
        raise TableError(f"the {type(data).__name__} has no rows; give at least one.")
    array = array_of(data)
    if array is not None and array.ndim == 2:
        return _of_array(array)
    if array is not None and array.ndim == 1:
        raise TableError(
            f"Expected rows and columns, got {type(data).__name__} of one dimension. Reshape your "
            "data: .reshape(-1, 1) if it is one column, .reshape(1, -1) if it is one row."
        )
    raise TableError(
        f"{type(data).__name__} is no table; give a path, a frame of pandas or polars, an Arrow "
        "table, a dict of columns, a list of dicts or of lists, or an array of two dimensions."
    )


def _are_mappings(rows: Sequence) -> bool:
    return all(issubclass(kind, Mapping) for kind in set(map(type, rows)))


def _columns_of(rows: Sequence[Mapping]) -> dict[Any, list]:
    """Return what every row has under each key; None where a row lacks it."""
    if set(map(type, rows)) == {dict} and len(set(map(len, rows))) == 1:
        with suppress(KeyError):  # equally many keys, and all of the first row: the same ones
            return _columns_of_equal(rows)
    every = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in every}


def _columns_of_equal(rows: Sequence[Mapping]) -> dict[Any, list]:
    """Return what rows with the keys of the first one have; each row is looked at once."""
    keys = [*rows[0]]
    if len(keys) < 2:
        return {key: [row[key] for row in rows] for key in keys}
    cells = list(chain.from_iterable(map(itemgetter(*keys), rows)))
    return {key: cells[place :: len(keys)] for place, key in enumerate(keys)}


def _of_array(array: np.ndarray) -> pa.Table:
    if not array.shape[1]:
        raise TableError(
            f"{_SHOWN} has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    columns = (array[:, place] for place in range(array.shape[1]))
    return pa.table(
        {f"x{place}": _column(cells, f"x{place}") for place, cells in enumerate(columns)}
    )


def _column(values: Any, name: str) -> pa.Array:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TableError(f"the column {name!r} is no list of cells; give one list per column.")
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if type(values).__module__.startswith("pandas"):
        return _column_of_pandas(values, name)
    if isinstance(values, list):
        texts = _texts(values)
        if texts is not None:
            return texts
    if getattr(values, "dtype", _OBJECT) == _OBJECT and _are_mixed(values):
        return _mixed(values, name)
    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _mixed(values, name)
    return usual_type(column)


# Above this, not every whole number is a float: digits would be invented.
_EXACT = 2.0**53


def text_of(value: Any) -> str | None:
    """Return a cell as text; None if it is missing.

    Whole numbers have no point, truth values are ``true`` and ``false``, dates and times are
    those of ISO 8601 with a blank between, without the time where it is midnight. A duration
    is its number of hours: a number can be learnt from, ``26:30:00`` cannot.

    Parameters
    ----------
    value : object
        What a library gives for a cell.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return _text_of_float(value)
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return _text_of_time(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else format(value, "f")
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # a scalar of NumPy
        plain = value.item()
        return str(value) if type(plain) is type(value) else text_of(plain)
    text = str(value)
    if isinstance(value, bool):
        return text.lower()
    return None if text in ("NaT", "<NA>") else text


def _text_of_float(value: float) -> str | None:
    if math.isnan(value):
        return None
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return repr(float(value))


def _text_of_time(value: datetime.date | datetime.time | datetime.timedelta) -> str | None:
    if isinstance(value, datetime.timedelta):
        return _text_of_float(value.total_seconds() / 3600)
    if str(value) == "NaT":
        return None
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if at_midnight else value.isoformat(" ")
    return value.isoformat()
