"""Parquet, folders of it, and Arrow's own files; columns keep their types."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from granulearn.tables.errors import TableError
from granulearn.tables.io.arrow_types import usual_batch
from granulearn.tables.io.formats import PARQUET_ENDINGS
from granulearn.tables.io.naming import named_columns
from granulearn.tables.io.row_batches import rows_per_batch
from granulearn.tables.io.table_file import (
    TableFile,
    TablePart,
    WholePart,
    column_places,
    known_columns,
)


@dataclass(frozen=True)
class ParquetPart:
    """One row group of a Parquet file."""

    path: Path
    shown: Path
    row_group: int
    first_row: int

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        try:
            with parquet.ParquetFile(self.path, memory_map=True, pre_buffer=False) as file:
                stored = file.schema_arrow.names
                names, _ = named_columns(self.shown, stored)
                wanted = known_columns(self.shown, names, names if columns is None else columns)
                places = column_places(names, wanted)
                are_unique = len(set(stored)) == len(stored)
                read = [stored[place] for place in places or [0]] if are_unique else None
                rows = rows_per_batch(len(read or stored))
                for batch in file.iter_batches(rows, row_groups=[self.row_group], columns=read):
                    # Arrow gives more than was asked for if a name begins like another.
                    index = batch.schema.get_field_index
                    fields = [index(stored[i]) for i in places] if are_unique else places
                    yield usual_batch(self.shown, batch, fields, wanted)
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{self.shown} is damaged: {error}; write it again.") from error


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
        files = _files_of_folder(path) if path.is_dir() else [path]
        self._parts: list[ParquetPart] = []
        n_rows = 0
        names: list[str] = []
        for file in files:
            its_shown = shown if file == path else file
            metadata, stored = _metadata(file, its_shown)
            its_names, its_remarks = named_columns(its_shown, stored)
            if not self._parts and not names:
                names, remarks = its_names, its_remarks
            _check_same_columns(file, its_names, files[0], names)
            _check_no_partition(file, path, names)
            for group in range(metadata.num_row_groups):
                self._parts.append(ParquetPart(file, its_shown, group, n_rows))
                n_rows += metadata.row_group(group).num_rows
        if not n_rows:
            raise TableError(f"{shown} has columns but no data rows.")
        super().__init__(shown, names, remarks, n_rows)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in the order of files and rows.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        wanted = self._wanted(columns)  # files of a folder may differ in the order of columns
        return (batch for part in self._parts for batch in part.batches(wanted))

    def parts(self) -> tuple[TablePart, ...]:
        """Return the row groups."""
        return tuple(self._parts)

    def place(self, row: int) -> str:
        """Say where a row stands.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        number = bisect.bisect_right(self._parts, row, key=lambda part: part.first_row) - 1
        part = self._parts[number]
        inside = f"row group {part.row_group + 1}, row {row - part.first_row + 1}"
        if part.path == self._root:
            return inside
        return f"{part.path.relative_to(self._root)}, {inside}"


def _metadata(path: Path, shown: Path) -> tuple[parquet.FileMetaData, list[str]]:
    try:
        with parquet.ParquetFile(path) as file:
            return file.metadata, [str(name) for name in file.schema_arrow.names]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{shown} is no readable Parquet file: {error}") from error


def _files_of_folder(path: Path) -> list[Path]:
    files = sorted(file for file in path.rglob("*") if _is_table(file, path))
    if not files:
        raise TableError(
            f"{path} is a directory without Parquet files ({', '.join(PARQUET_ENDINGS)}); name a "
            "directory that has some, or a file."
        )
    return files


def _is_table(file: Path, root: Path) -> bool:
    """Return whether a path is a Parquet file outside of folders such as _temporary."""
    return (
        file.suffix.lower() in PARQUET_ENDINGS
        and not any(part.startswith(("_", ".")) for part in file.relative_to(root).parts)
        and file.is_file()
    )


def _check_same_columns(file: Path, names: list[str], first: Path, first_names: list[str]) -> None:
    differing = sorted(set(names) ^ set(first_names))
    if differing:
        raise TableError(
            f"{file} and {first} differ in the columns {differing}; all files of a directory need "
            "the same columns."
        )


def _check_no_partition(file: Path, root: Path, names: Sequence[str]) -> None:
    """Refuse a folder such as year=2020: the files in it are without the column."""
    for folder in file.relative_to(root).parts[:-1]:
        name, equals, _ = folder.partition("=")
        if equals and name not in names:
            raise TableError(
                f"{file}: the column {name!r} stands only in the name of the folder {folder!r}, "
                "not in the file, and would be lost; write it into the files, or name a folder "
                "that has no such folders in it."
            )


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
        self._path, self._shown = path, shown
        n_rows = 0
        for schema, batch in self._stored(only_first=True):
            stored = schema.names
            n_rows += 0 if batch is None else batch.num_rows
        names, remarks = named_columns(shown, stored)
        if not n_rows:
            raise TableError(f"{shown} has columns but no data rows.")
        super().__init__(shown, names, remarks, n_rows)

    def _stored(
        self, *, only_first: bool = False
    ) -> Iterator[tuple[pa.Schema, pa.RecordBatch | None]]:
        """Yield the schema once, then the batches; perhaps only their first columns."""
        try:
            with pa.memory_map(str(self._path)) as file:
                is_file = file.read(6) == b"ARROW1"
                file.seek(0)
                reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
                yield reader.schema, None
                if only_first and len(reader.schema):
                    options = pa.ipc.IpcReadOptions(included_fields=[0])
                    file.seek(0)
                    opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
                    schema, reader = reader.schema, opened(file, options=options)
                else:
                    schema = reader.schema
                if not is_file:
                    yield from ((schema, batch) for batch in reader)
                else:
                    for number in range(reader.num_record_batches):
                        yield schema, reader.get_batch(number)
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{self._shown} is no readable Arrow file: {error}") from error

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        wanted = self._wanted(columns)
        places = column_places(self.names, wanted)
        rows = rows_per_batch(len(wanted))
        for _, batch in self._stored():
            if batch is not None:
                for begin in range(0, batch.num_rows, rows):
                    yield usual_batch(self._shown, batch.slice(begin, rows), places, wanted)

    def parts(self) -> tuple[TablePart, ...]:
        """Return the table as one part."""
        return (WholePart(ArrowTable, (self._path, self._shown)),)
