"""CSV and Parquet files as streams of record batches, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from granulearn.datasets.csv_structure import TableError, check_unique
from granulearn.datasets.tables import CSV_SUFFIXES, PARQUET_SUFFIXES
from granulearn.learning.csv_scan import check_rows, line_of_row, scan_csv

# Larger blocks cost memory, smaller ones a call of the pipeline each.
_CSV_BLOCK = 2**20
_PARQUET_ROWS = 2**14


class Source(Protocol):
    """A table in a file."""

    path: Path
    names: list[str]
    rows_about: int
    """Number of rows, for a progress bar."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, in file order."""

    def place(self, row: int) -> str:
        """Say where row number `row`, from 0, stands in the file."""


def open_source(path: Path) -> Source:
    """Return the file as a source, by its ending.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.
    """
    suffix = path.suffix.lower()
    check_is_file(path)
    if suffix in CSV_SUFFIXES:
        return CsvSource(path)
    if suffix in PARQUET_SUFFIXES:
        return ParquetSource(path)
    raise TableError(
        f"{path} ends in {suffix!r}; one of {', '.join(CSV_SUFFIXES + PARQUET_SUFFIXES)} is needed."
    )


def check_is_file(path: Path) -> None:
    """Raise an `OSError` that names the path if there is no file, or none that may be read.

    Parameters
    ----------
    path : Path
        A table or a model.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; check the path.")
    path.open("rb").close()


def whole_columns(table: pa.Table, names: Sequence[str]) -> dict[str, pa.Array]:
    """Return each column in one piece.

    Parameters
    ----------
    table : pyarrow Table
        The columns, in any number of pieces.
    names : sequence of str
        The columns to return.
    """
    joined = {name: table[name].combine_chunks() for name in names}
    return {
        name: column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for name, column in joined.items()
    }


class CsvSource:
    """A CSV file; every cell is text until its column's kind is known.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path):
        self.path = path
        self._form = scan_csv(path)
        self.names = self._form.names
        self.rows_about = self._form.n_lines

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, in file order.

        Parameters
        ----------
        columns : sequence of str
            Names of columns that the file has.
        """
        stands_as = dict(zip(self.names, self._form.header, strict=True))
        wanted = [stands_as[name] for name in columns]
        try:
            reader = arrow_csv.open_csv(
                self.path,
                arrow_csv.ReadOptions(block_size=_CSV_BLOCK),
                arrow_csv.ParseOptions(
                    delimiter=self._form.separator, newlines_in_values=self._form.has_quotes
                ),
                arrow_csv.ConvertOptions(
                    include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string())
                ),
            )
            for batch in reader:
                yield pa.RecordBatch.from_arrays(batch.columns, names=list(columns))
        except pa.ArrowInvalid as error:
            check_rows(self._form)  # knows the line
            raise TableError(f"{self.path} cannot be read: {error}") from error

    def place(self, row: int) -> str:
        """Say where a row stands in the file.

        Parameters
        ----------
        row : int
            Number of the row, from 0.
        """
        return f"line {line_of_row(self._form, row)}"


class ParquetSource:
    """A Parquet file, read by row groups.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            with parquet.ParquetFile(path) as file:
                self.names = [str(name) for name in file.schema_arrow.names]
                self.rows_about = file.metadata.num_rows
        except (pa.ArrowException, OSError, ValueError) as error:
            raise TableError(f"{path} is no readable Parquet file: {error}") from error
        check_unique(path, self.names)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, in file order.

        Parameters
        ----------
        columns : sequence of str
            Names of columns that the file has.
        """
        try:
            with parquet.ParquetFile(self.path, memory_map=True, pre_buffer=False) as file:
                for batch in file.iter_batches(_PARQUET_ROWS, columns=list(columns)):
                    yield batch.select(list(columns))
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{self.path} is damaged: {error}") from error

    def place(self, row: int) -> str:
        """Say where a row stands in the file.

        Parameters
        ----------
        row : int
            Number of the row, from 0.
        """
        return f"row {row + 1}"
