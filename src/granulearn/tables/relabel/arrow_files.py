"""Parquet and Arrow files with some labels changed: same types, stretches of rows and packing."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from granulearn.tables.io.arrow import ArrowTable, ParquetTable
from granulearn.tables.relabel.arrow_cells import LabelColumn

_DICTIONARIES = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
# What a packed buffer begins with, after eight bytes that hold its length.
_PACKINGS = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_LONGEST_BUFFER = 2**40


def rewrite_parquet(
    table: ParquetTable,
    path: Path,
    draft: Path,
    column: str,
    cells: Mapping[int, str],
    drop: Collection[int],
) -> None:
    """Write a Parquet file with some cells of one column changed.

    Parameters
    ----------
    table : ParquetTable
        The table; one file.
    path : Path
        The file.
    draft : Path
        Where to write.
    column : str
        The column.
    cells : mapping of int to str
        New texts by row.
    drop : collection of int
        Rows to leave out.
    """
    cells = _that_differ(table, column, cells)
    if not cells and not drop:
        shutil.copyfile(path, draft)
        return
    place = table.names.index(column)
    with parquet.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
        schema = file.schema_arrow
        changed = LabelColumn(table, column, schema.field(place).type, cells)
        with parquet.ParquetWriter(draft, schema, **_settings(file)) as writer:
            first_row = 0
            for number in range(file.num_row_groups):
                rows = file.read_row_group(number)
                n_rows = rows.num_rows
                labels = changed.of(rows.column(place).combine_chunks(), first_row)
                rows = rows.set_column(place, schema.field(place), labels)
                rows = _without(rows, drop, first_row)
                if rows.num_rows:
                    writer.write_table(rows, row_group_size=rows.num_rows)
                first_row += n_rows


def rewrite_arrow(
    table: ArrowTable,
    path: Path,
    draft: Path,
    column: str,
    cells: Mapping[int, str],
    drop: Collection[int],
) -> None:
    """Write a file of Arrow record batches with some cells of one column changed.

    Parameters
    ----------
    table : ArrowTable
        The table.
    path : Path
        The file.
    draft : Path
        Where to write.
    column : str
        The column.
    cells : mapping of int to str
        New texts by row.
    drop : collection of int
        Rows to leave out.
    """
    cells = _that_differ(table, column, cells)
    if not cells and not drop:
        shutil.copyfile(path, draft)
        return
    place = table.names.index(column)
    with pa.memory_map(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        options = pa.ipc.IpcWriteOptions(compression=_packing(file, is_file))
        file.seek(0)
        reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
        changed = LabelColumn(table, column, reader.schema.field(place).type, cells)
        new = pa.ipc.new_file if is_file else pa.ipc.new_stream
        metadata = {"metadata": reader.metadata} if is_file and reader.metadata else {}
        with (
            pa.OSFile(str(draft), "wb") as target,
            new(target, reader.schema, options=options, **metadata) as writer,
        ):
            first_row = 0
            for batch in _batches(reader, is_file):
                labels = changed.of(batch.column(place), first_row)
                columns = [*batch.columns[:place], labels, *batch.columns[place + 1 :]]
                rows = pa.RecordBatch.from_arrays(columns, schema=reader.schema)
                writer.write_batch(_without(rows, drop, first_row))
                first_row += batch.num_rows


def _that_differ(
    table: ParquetTable | ArrowTable, column: str, cells: Mapping[int, str]
) -> dict[int, str]:
    """Return the cells whose text is another one now."""
    differing: dict[int, str] = {}
    if not cells:
        return differing
    wanted = np.array(sorted(cells))
    first_row = 0
    for batch in table.batches([column]):
        end = first_row + batch.num_rows
        numbers = wanted[slice(*np.searchsorted(wanted, [first_row, end]))]
        if len(numbers):
            old = LabelColumn.texts(batch.column(0).take(pa.array(numbers - first_row)))
            pairs = zip(numbers.tolist(), old, strict=True)
            differing |= {row: cells[row] for row, text in pairs if text != cells[row]}
        first_row = end
    return differing


def _without(rows, drop: Collection[int], first_row: int):
    """Return a table or batch without some rows."""
    kept = [place for place in range(rows.num_rows) if first_row + place not in drop]
    return rows if len(kept) == rows.num_rows else rows.take(pa.array(kept, pa.int64()))


def _settings(file: parquet.ParquetFile) -> dict:
    """Return how a Parquet file was written, as far as it tells."""
    metadata = file.metadata
    group = metadata.row_group(0)
    stored = [group.column(place) for place in range(group.num_columns)]
    kinds = {file.schema.column(place).physical_type for place in range(len(stored))}
    return {
        "version": "1.0" if metadata.format_version == "1.0" else "2.6",
        "compression": {one.path_in_schema: _codec(one.compression) for one in stored},
        "use_dictionary": [
            one.path_in_schema for one in stored if _DICTIONARIES & set(one.encodings)
        ],
        "write_statistics": [one.path_in_schema for one in stored if one.is_stats_set],
        "store_schema": b"ARROW:schema" in (metadata.metadata or {}),
        "use_deprecated_int96_timestamps": "INT96" in kinds,
        # Arrow used to call the elements of lists "item".
        "use_compliant_nested_type": not any(".list.item" in one.path_in_schema for one in stored),
    }


def _codec(name: str) -> str:
    return "NONE" if name == "UNCOMPRESSED" else name


def _batches(reader, is_file: bool) -> Iterator[pa.RecordBatch]:
    if is_file:
        return (reader.get_batch(number) for number in range(reader.num_record_batches))
    return iter(reader)


def _packing(file: pa.NativeFile, is_file: bool) -> str | None:
    """Return how the first batch that holds anything is packed; None if it is not.

    Arrow reads it without saying. A packed buffer is its length and then the packed bytes,
    which begin with the mark of their format.
    """
    file.seek(8 if is_file else 0)
    for message in pa.ipc.MessageReader.open_stream(file):
        if message.type != "record batch" or not message.body.size:
            continue
        body = message.body.to_pybytes()
        for mark, name in _PACKINGS.items():
            found = body.find(mark)
            while found >= 0:
                length = int.from_bytes(body[max(found - 8, 0) : found], "little", signed=True)
                if found % 8 == 0 and 0 < length < _LONGEST_BUFFER:
                    return name
                found = body.find(mark, found + 1)
        return None
    return None
