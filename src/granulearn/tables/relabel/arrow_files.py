"""Parquet and Arrow files with some labels changed: same types, metadata and row groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from granulearn.tables.io.arrow import ArrowTable, ParquetTable, open_arrow, stored_batches
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.messages import TableError
from granulearn.tables.parse.cells import is_nested, storage_type, value_type
from granulearn.tables.relabel.edits import Changes

# What a compressed buffer begins with.
_COMPRESSIONS = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}


def rewrite_parquet(table: ParquetTable, temporary: Path, changes: Changes) -> None:
    """Write a Parquet file with some cells of one column changed, without some rows."""
    with parquet.ParquetFile(table.path, memory_map=True, pre_buffer=False) as file:
        changed = _ChangedColumn(table, file.schema_arrow, changes)
        group = file.metadata.row_group(0)
        stored = [group.column(number) for number in range(group.num_columns)]
        settings = {
            "compression": {
                one.path_in_schema: one.compression.replace("UNCOMPRESSED", "NONE")
                for one in stored
            },
            "use_deprecated_int96_timestamps": any(one.physical_type == "INT96" for one in stored),
            # Arrow used to call the elements of lists "item".
            "use_compliant_nested_type": not any(
                ".list.item" in one.path_in_schema for one in stored
            ),
        }
        with parquet.ParquetWriter(temporary, file.schema_arrow, **settings) as writer:
            for number in range(file.num_row_groups):
                rows = changed.next_rows(file.read_row_group(number).combine_chunks())
                if rows.num_rows:
                    writer.write_table(rows, row_group_size=rows.num_rows)


def rewrite_arrow(table: ArrowTable, temporary: Path, changes: Changes) -> None:
    """Write a file of Arrow batches with some cells of one column changed, without some rows."""
    with pa.memory_map(str(table.path)) as file:
        options = pa.ipc.IpcWriteOptions(compression=_compression(file))
        file.seek(0)
        reader = open_arrow(file)
        changed = _ChangedColumn(table, reader.schema, changes)
        is_file = isinstance(reader, pa.RecordBatchFileReader)
        new = pa.ipc.new_file if is_file else pa.ipc.new_stream
        metadata = {"metadata": reader.metadata} if is_file and reader.metadata else {}
        with new(str(temporary), reader.schema, options=options, **metadata) as writer:
            for batch in stored_batches(reader):
                writer.write_batch(changed.next_rows(batch))


def _compression(file: pa.NativeFile) -> str | None:
    """Return how the first batch that holds anything is compressed; Arrow does not say."""
    file.seek(8 if file.read(6) == b"ARROW1" else 0)
    for message in pa.ipc.MessageReader.open_stream(file):
        if message.type == "record batch" and message.body.size:
            body = message.body.to_pybytes()
            return next((name for mark, name in _COMPRESSIONS.items() if mark in body), None)
    return None


class _ChangedColumn:
    """A column, some of whose cells are changed, and rows that are left out."""

    def __init__(self, table: TableFile, schema: pa.Schema, changes: Changes):
        name, cells, self._drop = changes
        self._index = table.names.index(name)
        self._field = schema.field(self._index)
        self._shown = f"{table.path}: column {name!r} is of the type {self._field.type}"
        self._first_row = 0
        self._rows = np.array(sorted(cells), dtype=np.int64)
        kind = value_type(storage_type(self._field.type))
        if cells and (is_nested(kind) or pa.types.is_null(kind) or pa.types.is_duration(kind)):
            raise TableError(
                f"{self._shown}, whose cells cannot be changed; write the labels as text or as "
                "numbers."
            )
        texts = [cells[row] for row in self._rows.tolist()]
        value_of = {text: self._value(text, kind) for text in dict.fromkeys(texts)}
        self._labels = pa.array([value_of[text] for text in texts], kind)

    def _value(self, text: str, kind: pa.DataType) -> pa.Scalar:
        try:
            # Arrow takes blanks around a number for part of it, and "1" for a truth value.
            if pa.types.is_boolean(kind) and text not in ("true", "false"):
                raise ValueError("it is neither true nor false")
            return pa.array([text], pa.string()).cast(kind)[0]
        except (pa.ArrowException, ValueError, UnicodeEncodeError) as error:
            raise TableError(
                f"{self._shown}, which cannot hold the label {text!r} ({error}); spell it as one, "
                "or write the column as text."
            ) from error

    def next_rows(self, rows: Any) -> Any:
        """Return the next table or batch of the file with its new cells."""
        first_row, self._first_row = self._first_row, self._first_row + rows.num_rows
        begin, end = np.searchsorted(self._rows, [first_row, self._first_row])
        column = rows.column(self._index)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        positions, labels = self._rows[begin:end] - first_row, self._labels[int(begin) : int(end)]
        storage = column.storage if isinstance(column, pa.ExtensionArray) else column
        if pa.types.is_dictionary(storage.type):
            new = self._with_labels(storage, positions, labels)
        else:
            new = _with_values(storage, positions, labels)
        if isinstance(column, pa.ExtensionArray):
            new = pa.ExtensionArray.from_storage(column.type, new)
        rows = rows.set_column(self._index, self._field, new)
        kept = [row for row in range(rows.num_rows) if first_row + row not in self._drop]
        return rows if len(kept) == rows.num_rows else rows.take(pa.array(kept, pa.int64()))

    def _with_labels(
        self, column: pa.DictionaryArray, positions: np.ndarray, labels: pa.Array
    ) -> pa.DictionaryArray:
        # Values are added at the end, and none is taken away: an order of classes is kept.
        # All batches get the same ones, since a file of Arrow has one dictionary for all.
        known, every = column.dictionary, self._labels.unique()
        dictionary = pa.concat_arrays([known, every.filter(pc.invert(pc.is_in(every, known)))])
        try:
            codes = pc.index_in(labels, dictionary).cast(column.type.index_type)
        except pa.ArrowInvalid as error:
            raise TableError(
                f"{self._shown}, which has no room for more different labels ({error}); write the "
                "column as text."
            ) from error
        codes = _with_values(column.indices, positions, codes)
        return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=column.type.ordered)


def _with_values(column: pa.Array, positions: np.ndarray, values: pa.Array) -> pa.Array:
    """Return a column with other values at some positions, which are in order."""
    if not len(positions):
        return column
    if pa.types.is_string_view(column.type):  # whose rows Arrow cannot take
        text = pa.large_string()
        return _with_values(column.cast(text), positions, values.cast(text)).cast(column.type)
    # Arrow replaces no values in columns of all types; taking rows works for all.
    sources = np.arange(len(column))
    sources[positions] = len(column) + np.arange(len(positions))
    return pa.concat_arrays([column, values]).take(pa.array(sources))
