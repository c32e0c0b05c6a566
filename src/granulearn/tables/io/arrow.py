"""Parquet files, folders of them, and Arrow files (Feather); columns keep their types."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from granulearn.tables.io.files import PARQUET_ENDINGS
from granulearn.tables.io.stored_sizes import DAMAGED_HEADER, check_messages, check_pages
from granulearn.tables.io.table_file import (
    AS_FOUND,
    LONGEST_ROW,
    Changes,
    Expansion,
    ReadOptions,
    TableFile,
    column_indices,
    named_columns,
    rows_per_batch,
)
from granulearn.tables.messages import TableError
from granulearn.tables.parse.cells import is_nested, value_type
from granulearn.utils.text import quoted

# First bytes of a compressed buffer.
_COMPRESSIONS = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_BATCH_BYTES, _SHORT = 2**26, 2**10
_TEXTS = (
    *(pa.types.is_string, pa.types.is_large_string),
    *(pa.types.is_binary, pa.types.is_large_binary),
)
_LONG_TEXTS = (pa.large_string(), pa.string_view())


def standard_type(column: pa.Array) -> pa.Array:
    """Cast the types of text to one, and decode runs; other columns stay."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return standard_type(column.cast(kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return standard_type(pc.run_end_decode(column))
    if kind in _LONG_TEXTS:
        return column.cast(pa.string())
    if pa.types.is_dictionary(kind) and kind.value_type in _LONG_TEXTS:
        return column.cast(pa.dictionary(kind.index_type, pa.string(), kind.ordered))
    return column


def standard_batches(
    shown: Path,
    batch: pa.RecordBatch,
    indices: list[int],
    names: list[str],
    shared: Collection[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Select columns of a batch, cast them to standard types, and rename them.

    Cells that share a long text are few in a batch. The columns `shared` are decoded.
    """
    longest = max((_longest_text(batch.column(index)) for index in indices), default=0)
    if longest > LONGEST_ROW:
        raise TableError(
            f"{shown} has a cell of {longest / 1e6:,.0f} MB, and at most {LONGEST_ROW / 1e6:,.0f} "
            "MB can be read; store such cells outside of the table."
        )
    rows = max(1, _BATCH_BYTES // max(1, longest * len(indices)))
    for begin in range(0, batch.num_rows, rows):
        yield _standard_batch(shown, batch.slice(begin, rows), indices, names, shared)


def _longest_text(column: pa.Array) -> int:
    """Return the bytes of the longest text, or more if all texts are short."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _longest_text(column.storage)
    if pa.types.is_dictionary(kind):
        return _longest_text(column.dictionary)
    if pa.types.is_run_end_encoded(kind):
        return _longest_text(column.values)
    if pa.types.is_string_view(kind):
        return int(np.frombuffer(column.buffers()[1], np.int32)[::4].max(initial=0))
    if not any(is_kind(kind) for is_kind in _TEXTS):
        return 0
    few = column.nbytes
    return few if few <= _SHORT else pc.max(pc.binary_length(column)).as_py() or 0


def _standard_batch(
    shown: Path,
    batch: pa.RecordBatch,
    indices: list[int],
    names: list[str],
    shared: Collection[str],
) -> pa.RecordBatch:
    if not indices:
        return batch.select([])
    stored = [(batch.schema.field(index).name, batch.column(index)) for index in indices]
    columns = [
        standard_type(column.dictionary_decode() if name in shared else column)
        for name, column in stored
    ]
    for name, column in zip(names, columns, strict=True):
        kind = value_type(column.type)
        if pa.types.is_timestamp(kind) and kind.tz and not _is_known_zone(kind.tz):
            raise TableError(
                f"{shown}: column {name!r} has times of the zone {quoted(kind.tz)}, which this "
                "system does not know; install its time zones (tzdata), or store the column in UTC."
            )
    return pa.RecordBatch.from_arrays(columns, names=names)


@lru_cache(100)
def _is_known_zone(zone: str) -> bool:
    try:
        pc.local_timestamp(pa.array([0], pa.timestamp("s", tz=zone)))
    except pa.ArrowInvalid:
        return False
    return True


class _RowGroup(NamedTuple):
    path: Path
    number: int
    first_row: int


class ParquetTable(TableFile):
    """A Parquet file, or a folder of Parquet files with the same columns.

    Parameters
    ----------
    path : Path
        The file or folder.
    shown : Path
        As the user named it, for messages.
    options : ReadOptions, optional
        Has the largest ratio of decompression.
    """

    def __init__(self, path: Path, shown: Path, options: ReadOptions = AS_FOUND):
        self._root, self._options = path, options
        self._sizes: dict[Path, tuple[list[str], int]] = {}
        self._groups: list[_RowGroup] = []
        names: list[str] = []
        n_rows = 0
        for file in _files_of_folder(path) if path.is_dir() else [path]:
            own_shown = shown if file == path else file
            try:
                with parquet.ParquetFile(file) as opened:
                    metadata, schema = opened.metadata, opened.schema_arrow
                shared, longest = check_pages(file, metadata, self._expansion(file, own_shown))
            except TableError:
                raise
            except (pa.ArrowException, OSError, *DAMAGED_HEADER) as error:
                reason = _reason(error)
                raise TableError(f"{own_shown} is no readable Parquet file: {reason}") from error
            own_names, own_notes = named_columns(own_shown, schema.names)
            coded = {field.name for field in schema if pa.types.is_dictionary(field.type)}
            self._sizes[file] = sorted(shared - coded), longest
            if not names:
                first, names, notes = file, own_names, own_notes
            _check_same_columns(path, file, own_names, first, names)
            for number in range(metadata.num_row_groups):
                self._groups.append(_RowGroup(file, number, n_rows))
                n_rows += metadata.row_group(number).num_rows
        super().__init__(shown, names, notes, n_rows)

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        for path, groups in groupby(self._groups, key=lambda group: group.path):
            shown = self.path if path == self._root else path
            numbers = [group.number for group in groups]
            try:
                shared, longest = self._sizes[path]
                with parquet.ParquetFile(
                    path, memory_map=True, pre_buffer=False, read_dictionary=shared
                ) as file:
                    expansion = self._expansion(path, shown)
                    for batch in _file_batches(shown, file, numbers, wanted, shared, longest):
                        expansion.add(batch.nbytes)
                        yield batch
            except (pa.ArrowException, OSError, KeyError) as error:
                raise TableError(f"{shown} is damaged: {error}; write it again.") from error

    def _expansion(self, file: Path, shown: Path) -> Expansion:
        return Expansion(shown, file.stat().st_size, self._options)

    def parts(self) -> tuple[TableFile, ...]:
        """Return the row groups."""
        return tuple(self._part(group.first_row, _groups=[group]) for group in self._groups)

    def location(self, row: int) -> str:
        """Return the location of a row, for messages.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        number = bisect.bisect_right(self._groups, row, key=lambda group: group.first_row) - 1
        group = self._groups[number]
        inside = f"row group {group.number + 1}, row {row - group.first_row + 1}"
        if group.path == self._root:
            return inside
        return f"{group.path.relative_to(self._root)}, {inside}"

    def _rewrite(self, temporary: Path, changes: Changes) -> None:
        """Write a file with row groups of the same size, some cells of one column changed."""
        with parquet.ParquetFile(self.path, memory_map=True, pre_buffer=False) as file:
            group = file.metadata.row_group(0)
            stored = [group.column(number) for number in range(group.num_columns)]
            settings = {
                "compression": {
                    one.path_in_schema: one.compression.replace("UNCOMPRESSED", "NONE")
                    for one in stored
                },
                "use_deprecated_int96_timestamps": any(
                    one.physical_type == "INT96" for one in stored
                ),
                # Arrow used to call the elements of lists "item".
                "use_compliant_nested_type": not any(
                    ".list.item" in one.path_in_schema for one in stored
                ),
            }
            rows = _changed(self, file.read(), changes)
            parquet.write_table(rows, temporary, row_group_size=group.num_rows, **settings)


def _file_batches(
    shown: Path,
    file: parquet.ParquetFile,
    row_groups: list[int],
    wanted: list[str],
    shared: list[str],
    longest: int,
) -> Iterator[pa.RecordBatch]:
    stored = file.schema_arrow.names
    indices = column_indices(named_columns(shown, stored)[0], wanted)
    are_unique = len(set(stored)) == len(stored)
    read = [stored[index] for index in indices or [0]] if are_unique else None
    rows = min(rows_per_batch(len(read or stored)), max(1, _BATCH_BYTES // longest))
    for batch in file.iter_batches(rows, row_groups=row_groups, columns=read):
        # Arrow gives more than was asked for if a name begins like another.
        index_of = batch.schema.get_field_index
        fields = [index_of(stored[i]) for i in indices] if are_unique else indices
        yield from standard_batches(shown, batch, fields, wanted, shared)


def _reason(error: Exception) -> str:
    is_said = isinstance(error, (pa.ArrowException, OSError))
    return str(error) if is_said else "a header in it is damaged"


def _check_same_columns(
    root: Path, file: Path, names: list[str], first: Path, first_names: list[str]
) -> None:
    differing = sorted(set(names) ^ set(first_names))
    if differing:
        raise TableError(
            f"{file} and {first} differ in the columns {differing}; all files of a directory need "
            "the same columns."
        )
    for folder in file.relative_to(root).parts[:-1]:
        name, equals, _ = folder.partition("=")
        if equals and name not in names:  # as in year=2020
            raise TableError(
                f"{file}: the column {name!r} stands only in the name of the folder {folder!r}, "
                "not in the file, and would be lost; write it into the files, or name a folder "
                "that has no such folders in it."
            )


def _files_of_folder(path: Path) -> list[Path]:
    """Return the Parquet files; those in folders such as _temporary do not count."""
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in PARQUET_ENDINGS
        and not any(part.startswith(("_", ".")) for part in file.relative_to(path).parts)
        and file.is_file()
    )
    if not files:
        raise TableError(
            f"{path} is a directory without Parquet files ({', '.join(PARQUET_ENDINGS)}); name a "
            "directory that has some, or a file."
        )
    return files


class ArrowTable(TableFile):
    """A file of Arrow record batches (Feather), in the file or the stream format.

    Parameters
    ----------
    path : Path
        The file.
    shown : Path
        As the user named it, for messages.
    options : ReadOptions, optional
        Has the largest ratio of decompression.
    """

    def __init__(self, path: Path, shown: Path, options: ReadOptions = AS_FOUND):
        self._path, self._shown, self._options, n_rows = path, shown, options, 0
        stored: list[str] = []
        try:
            check_messages(path, self._expansion())
            for batch in self._stored():
                batch.validate(full=True)  # a damaged one would crash what reads it
                stored = batch.schema.names
                n_rows += batch.num_rows
        except TableError:
            raise
        except (pa.ArrowException, *DAMAGED_HEADER) as error:
            raise self._damaged(error) from error
        names, notes = named_columns(shown, stored)
        super().__init__(shown, names, notes, n_rows)

    def _stored(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches as stored."""
        try:
            with pa.OSFile(str(self._path)) as file:
                yield from open_arrow(file)[1]
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> TableError:
        return TableError(f"{self._shown} is no readable Arrow file: {_reason(error)}")

    def _expansion(self) -> Expansion:
        return Expansion(self._shown, self._path.stat().st_size, self._options)

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        indices = column_indices(self.names, wanted)
        rows, expansion = rows_per_batch(len(wanted)), self._expansion()
        for batch in self._stored():
            for begin in range(0, batch.num_rows, rows):
                part = batch.slice(begin, rows)
                for found in standard_batches(self._shown, part, indices, wanted):
                    expansion.add(found.nbytes)
                    yield found

    def _rewrite(self, temporary: Path, changes: Changes) -> None:
        """Write a file of the same kind, with some cells of one column changed."""
        try:
            self._rewrite_stored(temporary, changes)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the disk
            raise self._damaged(error) from error

    def _rewrite_stored(self, temporary: Path, changes: Changes) -> None:
        with pa.OSFile(str(self.path)) as file:
            options = pa.ipc.IpcWriteOptions(compression=_compression(file))
            file.seek(0)
            reader, stored = open_arrow(file)
            batches = list(stored)
            is_file = isinstance(reader, pa.RecordBatchFileReader)
            new = pa.ipc.new_file if is_file else pa.ipc.new_stream
            metadata = {"metadata": reader.metadata} if is_file and reader.metadata else {}
            rows = _changed(self, pa.Table.from_batches(batches, reader.schema), changes)
            with new(str(temporary), reader.schema, options=options, **metadata) as writer:
                writer.write_table(rows, max(batch.num_rows for batch in batches))


def open_arrow(file: pa.NativeFile) -> tuple[Any, Iterator[pa.RecordBatch]]:
    """Return a reader of the file format or of the stream format, and its batches."""
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
    return reader, map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader


def _compression(file: pa.NativeFile) -> str | None:
    """Return the compression of the first batch that is not empty; pyarrow does not expose it."""
    file.seek(8 if file.read(6) == b"ARROW1" else 0)
    for message in pa.ipc.MessageReader.open_stream(file):
        if message.type == "record batch" and message.body.size:
            body = message.body.to_pybytes()
            return next((name for mark, name in _COMPRESSIONS.items() if mark in body), None)
    return None


def _changed(table: TableFile, rows: pa.Table, changes: Changes) -> pa.Table:
    """Return the stored rows with the changes applied, in one chunk."""
    index = table.names.index(changes.column)
    if changes.cells:
        column = _changed_column(table, rows.field(index), rows.column(index), changes)
        rows = rows.set_column(index, rows.field(index), column)
    is_kept = np.ones(rows.num_rows, bool)
    is_kept[list(changes.drop)] = False
    return (rows.filter(is_kept) if changes.drop else rows).combine_chunks()


def _changed_column(
    table: TableFile, field: pa.Field, column: pa.ChunkedArray, changes: Changes
) -> pa.Array:
    shown = f"{table.path}: column {changes.column!r} is of the type {field.type}"
    kind, types = value_type(field.type), pa.types
    is_extension = isinstance(kind, pa.BaseExtensionType)
    if is_nested(kind) or types.is_null(kind) or types.is_duration(kind) or is_extension:
        raise TableError(
            f"{shown}, whose cells cannot be changed; write the labels as text or as numbers."
        )
    rows = np.array([*changes.cells])
    values = {text: _value(text, kind, shown) for text in {*changes.cells.values()}}
    labels = pa.array([values[text] for text in changes.cells.values()], kind)
    old = column.unify_dictionaries().combine_chunks()
    old = old.chunk(0) if isinstance(old, pa.ChunkedArray) else old
    if pa.types.is_dictionary(old.type):
        # New categories are added at the end, which keeps the order of the others.
        added = labels.filter(pc.invert(pc.is_in(labels, old.dictionary))).unique()
        dictionary = pa.concat_arrays([old.dictionary, added])
        try:
            codes = pc.index_in(labels, dictionary).cast(old.type.index_type)
        except pa.ArrowInvalid as error:
            raise TableError(
                f"{shown}, which has no room for more different labels ({error}); write the "
                "column as text."
            ) from error
        codes = _replaced(old.indices, rows, codes)
        return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=old.type.ordered)
    return _replaced(old, rows, labels)


def _value(text: str, kind: pa.DataType, shown: str) -> pa.Scalar:
    try:
        # Arrow accepts blanks around a number, and "1" for true.
        if pa.types.is_boolean(kind) and text not in ("true", "false"):
            raise ValueError("it is neither true nor false")
        return pa.array([text], pa.string()).cast(kind)[0]
    except (pa.ArrowException, ValueError, UnicodeEncodeError) as error:
        raise TableError(
            f"{shown}, which cannot hold the label {text!r} ({error}); spell it as one, or write "
            "the column as text."
        ) from error


def _replaced(column: pa.Array, rows: np.ndarray, values: pa.Array) -> pa.Array:
    """Return a column with other values in some rows."""
    if pa.types.is_string_view(column.type):  # which Arrow cannot take from
        text = pa.large_string()
        return _replaced(column.cast(text), rows, values.cast(text)).cast(column.type)
    # Arrow can replace values in columns of some types only, but take from nearly all.
    sources = np.arange(len(column))
    sources[rows] = len(column) + np.arange(len(rows))
    return pa.concat_arrays([column, values]).take(pa.array(sources))
