"""Arrow columns in the few types that later stages meet."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn._words import quoted
from granulearn.tables.errors import TableError

_LARGEST_OFFSET = 2**31 - 1
_LONG_TEXTS = (pa.large_string(), pa.string_view())


def usual_type(column: pa.Array) -> pa.Array:
    """Return a column with one type for text, and without runs; all others stay.

    Parameters
    ----------
    column : pyarrow Array or ChunkedArray
        Cells of any type; a dictionary stays one.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return usual_type(_storage(column))
    if pa.types.is_run_end_encoded(kind):
        return usual_type(pc.run_end_decode(column))
    if kind in _LONG_TEXTS:
        short = _with_short_offsets(column)
        return column.cast(pa.string()) if short is None else short
    if pa.types.is_dictionary(kind) and kind.value_type in _LONG_TEXTS:
        return column.cast(pa.dictionary(kind.index_type, pa.string(), kind.ordered))
    return column


def _with_short_offsets(column: pa.Array) -> pa.Array | None:
    """Return large texts as texts, in a third of Arrow's time; None where that is not so simple."""
    if type(column) is not pa.LargeStringArray or column.null_count or not len(column):
        return None
    _, offsets, data = column.buffers()
    begins = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    if begins[-1] > _LARGEST_OFFSET or data is None:
        return None
    short = pa.py_buffer(begins.astype(np.int32))
    return pa.Array.from_buffers(pa.string(), len(column), [None, short, data], null_count=0)


def _storage(column: pa.Array) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        pieces = [piece.storage for piece in column.chunks]
        return pa.chunked_array(pieces, column.type.storage_type)
    return column.storage


def usual_batch(
    shown: Path, batch: pa.RecordBatch, fields: list[int], names: list[str]
) -> pa.RecordBatch:
    """Return some columns of a batch, in their usual types, under new names.

    Parameters
    ----------
    shown : Path
        The table, for messages.
    batch : pyarrow RecordBatch
        Any batch.
    fields : list of int
        The positions of the columns.
    names : list of str
        Their new names.
    """
    if not fields:
        return batch.select([])
    columns = [usual_type(batch.column(i)) for i in fields]
    for name, column in zip(names, columns, strict=True):
        _check_zone(shown, name, column.type)
    return pa.RecordBatch.from_arrays(columns, names=names)


def _check_zone(shown: Path, name: str, kind: pa.DataType) -> None:
    """Raise if the clock of a column cannot be told; another one would be another column."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_timestamp(kind) and kind.tz and not _is_known_zone(kind.tz):
        raise TableError(
            f"{shown}: column {name!r} has times of the zone {quoted(kind.tz)}, which this system "
            "does not know; install its time zones (tzdata), or store the column in UTC."
        )


@lru_cache(100)
def _is_known_zone(zone: str) -> bool:
    try:
        pc.local_timestamp(pa.array([0], pa.timestamp("s", tz=zone)))
    except pa.ArrowInvalid:
        return False
    return True
