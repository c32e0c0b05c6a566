"""A table that is too large for memory as parts, each read on its own and anywhere."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from granulearn.datasets import TableError
from granulearn.datasets.tables import PARQUET_SUFFIXES
from granulearn.learning.csv_scan import scan_csv
from granulearn.learning.sources import ParquetSource, open_source, whole_columns

# Size of a part of a CSV file; its text, numbers and features are in memory at once.
CSV_PART_BYTES = 32 * 2**20
# A file above this share of the machine's memory is not read as a whole.
LARGE_SHARE = 0.25


class TablePart(Protocol):
    """Some rows of a table; small to send, read where it is needed."""

    @property
    def place(self) -> str:
        """Where the rows stand, for messages."""

    def read(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return some columns."""


@dataclass(frozen=True)
class TableParts:
    """All parts of a table, in order."""

    path: Path
    names: list[str]
    parts: tuple[TablePart, ...]


@dataclass(frozen=True)
class ParquetPart:
    """One row group of a Parquet file."""

    path: Path
    row_group: int

    @property
    def place(self) -> str:
        """Where the rows stand, for messages."""
        return f"{self.path}, row group {self.row_group + 1}"

    def read(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return some columns.

        Parameters
        ----------
        names : sequence of str
            Columns that the file has.
        """
        try:
            with parquet.ParquetFile(self.path) as file:
                table = file.read_row_group(self.row_group, columns=list(names))
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{self.path} is damaged: {error}") from error
        return whole_columns(table, names)


@dataclass(frozen=True)
class CsvPart:
    """Whole lines of a CSV file, from one byte to before another."""

    path: Path
    begin: int
    end: int
    separator: str
    header: tuple[str, ...]

    @property
    def place(self) -> str:
        """Where the rows stand, for messages."""
        return f"{self.path}, bytes {self.begin} to {self.end}"

    def read(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Return some columns, as text.

        Parameters
        ----------
        names : sequence of str
            Columns that the file has, without blanks around them.
        """
        with self.path.open("rb") as file:
            file.seek(self.begin)
            content = file.read(self.end - self.begin)
        header = [name.strip() for name in self.header]
        if not content.strip():
            return {name: pa.array([], pa.string()) for name in names}
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(content),
                arrow_csv.ReadOptions(column_names=header),
                arrow_csv.ParseOptions(delimiter=self.separator),
                arrow_csv.ConvertOptions(
                    include_columns=list(names), column_types=dict.fromkeys(names, pa.string())
                ),
            )
        except pa.ArrowInvalid as error:
            raise TableError(
                f"{self.place}: {error}; correct the row. A cell that holds a line break cannot be "
                "read in parts: write such a table as Parquet."
            ) from error
        return whole_columns(table, names)


def open_parts(path: Path) -> TableParts:
    """Return a table as parts.

    Parameters
    ----------
    path : Path
        A directory of Parquet files, or a Parquet or CSV file. Workers that read
        the parts need it under the same path.
    """
    path = path.resolve()
    if path.is_dir():
        return _parquet_directory(path)
    if path.suffix.lower() in PARQUET_SUFFIXES:
        return TableParts(path, ParquetSource(path).names, tuple(_row_groups(path)))
    open_source(path)  # refuses other endings
    form = scan_csv(path)
    edges = _line_edges(path)
    parts = tuple(
        CsvPart(path, begin, end, form.separator, form.header) for begin, end in pairwise(edges)
    )
    return TableParts(path, form.names, parts)


def is_large(path: Path) -> bool:
    """Return whether a table is to be read in parts: a directory, or a very large file.

    Parameters
    ----------
    path : Path
        The table.
    """
    if path.is_dir():
        return True
    size = path.stat().st_size if path.is_file() else 0
    # The memory is not asked for a file of a single part: that takes longer than reading it.
    return size > CSV_PART_BYTES and size > LARGE_SHARE * _memory()


def _memory() -> float:
    """Return the bytes that this process may use; infinity if the system does not tell."""
    try:
        # Knows the limits of containers and batch systems, too, on every platform.
        from distributed.system import MEMORY_LIMIT
    except ImportError:
        if not hasattr(os, "sysconf"):  # Windows
            return math.inf
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return float(MEMORY_LIMIT)


def _parquet_directory(path: Path) -> TableParts:
    files = sorted(file for file in path.rglob("*") if _is_table(file, path))
    if not files:
        raise TableError(
            f"{path} is a directory without Parquet files ({', '.join(PARQUET_SUFFIXES)}); name a "
            "directory that has some, or a file."
        )
    names = ParquetSource(files[0]).names
    for file in files[1:]:
        others = ParquetSource(file).names
        if set(others) != set(names):
            differing = sorted(set(names) ^ set(others))
            raise TableError(
                f"{file} and {files[0]} differ in the columns {differing}; all files of a "
                "directory need the same columns."
            )
    for file in files:
        _check_no_partition(file, path, names)
    return TableParts(path, names, tuple(part for file in files for part in _row_groups(file)))


def _is_table(file: Path, root: Path) -> bool:
    """Return whether a path is a Parquet file outside of folders such as _temporary."""
    return (
        file.suffix.lower() in PARQUET_SUFFIXES
        and not any(part.startswith(("_", ".")) for part in file.relative_to(root).parts)
        and file.is_file()
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


def _row_groups(path: Path) -> list[ParquetPart]:
    with parquet.ParquetFile(path) as file:
        return [ParquetPart(path, number) for number in range(file.metadata.num_row_groups)]


def _line_edges(path: Path) -> list[int]:
    """Return where parts begin and end: after the header, then after the line at each step."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while not file.readline().removeprefix(b"\xef\xbb\xbf").strip():
            pass
        edges = [file.tell()]
        while edges[-1] < size:
            file.seek(min(edges[-1] + CSV_PART_BYTES, size))
            file.readline()
            edges.append(file.tell())
    return edges
