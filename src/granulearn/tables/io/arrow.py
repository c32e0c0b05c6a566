"""Parquet, folders of it, and Arrow's own files; columns keep their types."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from granulearn.tables.io.files import PARQUET_ENDINGS
from granulearn.tables.io.table_file import TableFile, column_indices, named_columns, rows_per_batch
from granulearn.tables.messages import TableError
from granulearn.utils.text import quoted

_LONG_TEXTS = (pa.large_string(), pa.string_view())


def standard_type(column: pa.Array) -> pa.Array:
    """Return a column with one type for text, and without runs; all others stay."""
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


def standard_batch(
    shown: Path, batch: pa.RecordBatch, indices: list[int], names: list[str]
) -> pa.RecordBatch:
    """Return some columns of a batch, in their standard types, under new names."""
    if not indices:
        return batch.select([])
    columns = [standard_type(batch.column(index)) for index in indices]
    for name, column in zip(names, columns, strict=True):
        kind = column.type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
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
    shown: Path
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
    """

    def __init__(self, path: Path, shown: Path):
        self._root = path
        self._groups: list[_RowGroup] = []
        names: list[str] = []
        n_rows = 0
        for file in _files_of_folder(path) if path.is_dir() else [path]:
            file_shown = shown if file == path else file
            try:
                with parquet.ParquetFile(file) as opened:
                    metadata, stored = opened.metadata, opened.schema_arrow.names
            except (pa.ArrowException, OSError, ValueError) as error:
                raise TableError(f"{file_shown} is no readable Parquet file: {error}") from error
            own_names, own_notes = named_columns(file_shown, stored)
            if not names:
                first, names, notes = file, own_names, own_notes
            _check_same_columns(path, file, own_names, first, names)
            for number in range(metadata.num_row_groups):
                self._groups.append(_RowGroup(file, file_shown, number, n_rows))
                n_rows += metadata.row_group(number).num_rows
        if not n_rows:
            raise TableError(f"{shown} has columns but no data rows.")
        super().__init__(shown, names, notes, n_rows)

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        for _, groups in groupby(self._groups, key=lambda group: group.path):
            yield from self._batches_of_file(list(groups), wanted)

    def _batches_of_file(
        self, groups: list[_RowGroup], wanted: list[str]
    ) -> Iterator[pa.RecordBatch]:
        shown = groups[0].shown
        try:
            with parquet.ParquetFile(groups[0].path, memory_map=True, pre_buffer=False) as file:
                stored = file.schema_arrow.names
                indices = column_indices(named_columns(shown, stored)[0], wanted)
                are_unique = len(set(stored)) == len(stored)
                read = [stored[index] for index in indices or [0]] if are_unique else None
                rows = rows_per_batch(len(read or stored))
                numbers = [group.number for group in groups]
                for batch in file.iter_batches(rows, row_groups=numbers, columns=read):
                    # Arrow gives more than was asked for if a name begins like another.
                    index_of = batch.schema.get_field_index
                    fields = [index_of(stored[i]) for i in indices] if are_unique else indices
                    yield standard_batch(shown, batch, fields, wanted)
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{shown} is damaged: {error}; write it again.") from error

    def parts(self) -> tuple[TableFile, ...]:
        """Return the row groups."""
        return tuple(self._part(group.first_row, _groups=[group]) for group in self._groups)

    def place(self, row: int) -> str:
        """Say where a row stands.

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
    """Return the Parquet files outside of folders such as _temporary."""
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
    """

    def __init__(self, path: Path, shown: Path):
        self._path, self._shown, n_rows = path, shown, 0
        for batch in self._stored():
            stored = batch.schema.names
            n_rows += batch.num_rows
        if not n_rows:
            raise TableError(f"{shown} has columns but no data rows.")
        names, notes = named_columns(shown, stored)
        super().__init__(shown, names, notes, n_rows)

    def _stored(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches as they are."""
        try:
            with pa.memory_map(str(self._path)) as file:
                yield from stored_batches(open_arrow(file))
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{self._shown} is no readable Arrow file: {error}") from error

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        indices = column_indices(self.names, wanted)
        rows = rows_per_batch(len(wanted))
        for batch in self._stored():
            for begin in range(0, batch.num_rows, rows):
                yield standard_batch(self._shown, batch.slice(begin, rows), indices, wanted)


def open_arrow(file: pa.NativeFile) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Return a reader of the file format or of the stream format."""
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def stored_batches(
    reader: pa.RecordBatchFileReader | pa.RecordBatchStreamReader,
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a file or stream."""
    if isinstance(reader, pa.RecordBatchStreamReader):
        return iter(reader)
    return map(reader.get_batch, range(reader.num_record_batches))
