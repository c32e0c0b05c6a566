"""The rows of a text file one by one, strictly: slow, but it knows every line.

This is the judge of files that the fast reader cannot be sure of, and the only
place that repairs rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from granulearn.tables.errors import TableError

# More cannot be one row of a table: a quotation mark is open. Arrow's limit is 2 GB.
LONGEST_ROW = 2**29
_SHOWN = 20


@dataclass(frozen=True)
class TextRow:
    """A row that is not an empty line."""

    begin: int
    """Offset of its first byte."""
    end: int
    """Offset after its last byte."""
    line: int
    """Number, from 0, of the line on which it begins."""
    end_line: int
    """Number, from 0, of the line after it."""
    cells: list[str]


@dataclass(frozen=True)
class Dialect:
    """How the cells of a file are told apart, and what to call the file in messages."""

    shown: Path
    separator: str
    n_columns: int


def strict_rows(
    stream: BinaryIO, separator: str, shown: Path, *, first_line: int = 1, encoding: str = "latin-1"
) -> Generator[TextRow, None, None]:
    """Yield the rows; a quotation mark out of place is a `TableError` with its line.

    Parameters
    ----------
    stream : binary file
        It is read from where it stands, and is not closed.
    separator : str
        What stands between cells.
    shown : Path
        The file, for messages.
    first_line : int, default=1
        Number of the line that the stream begins with, for messages.
    encoding : str, default="latin-1"
        What the cells are decoded from. Offsets are right in an encoding of one byte only.
    """
    text = io.TextIOWrapper(stream, encoding, newline="")
    lines = _CountedLines(text)
    begin = line = 0
    try:
        with _long_fields():
            reader = csv.reader(lines, delimiter=separator, strict=True)
            for cells in reader:
                if cells:
                    yield TextRow(begin, lines.end, line, reader.line_num, cells)
                begin, line = lines.end, reader.line_num
    except csv.Error as error:
        if "field limit" in str(error):
            raise TableError(
                f"{shown}, line {first_line + line}: a cell has more than {LONGEST_ROW:,} "
                "characters, and no such table can be read; look for a quotation mark that is "
                "never closed, or shorten the cell."
            ) from error
        raise TableError(
            f"{shown}, line {first_line + line}: a quotation mark is not closed, or stands inside "
            f"a cell ({error}); close it, or double a quotation mark that belongs to the text."
        ) from error
    finally:
        text.detach()


class _CountedLines:
    """Lines, with the number of characters up to the end of the last one."""

    def __init__(self, text: io.TextIOWrapper):
        self._text = text
        self.end = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._text:
            self.end += len(line)
            yield line


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(LONGEST_ROW)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def repaired_columns(content: bytes, dialect: Dialect) -> list[list[str]] | None:
    """Return the cells by column, or None if a row has too few cells or too many.

    Parameters
    ----------
    content : bytes
        Whole rows, in UTF-8.
    dialect : Dialect
        The form of the file.
    """
    rows = []
    blank = [""] * dialect.n_columns
    stream = io.BytesIO(content)
    for row in strict_rows(stream, dialect.separator, dialect.shown, encoding="utf-8"):
        if not fits(row.cells, dialect.n_columns):
            return None
        too_short = len(row.cells) < dialect.n_columns
        rows.append(blank if too_short else row.cells[: dialect.n_columns])
    return [list(column) for column in zip(*rows, strict=True)]


def fits(cells: list[str], n_columns: int) -> bool:
    """Return whether nothing is lost or invented when a row is cut or filled up.

    Spreadsheets write blank rows, and blank cells to the right, as they please.

    Parameters
    ----------
    cells : list of str
        The row.
    n_columns : int
        How many cells the header has.
    """
    if len(cells) == n_columns:
        return True
    kept = 0 if len(cells) < n_columns else n_columns
    return not any(cell.strip() for cell in cells[kept:])


def ragged_rows_error(stream: BinaryIO, dialect: Dialect, first_line: int) -> TableError | None:
    """Return an error that lists all rows of another length than the header, if there are any.

    Parameters
    ----------
    stream : binary file
        The file from its first data row on.
    dialect : Dialect
        The form of the file.
    first_line : int
        The line that the stream begins with.
    """
    places, count = [], 0
    for row in strict_rows(stream, dialect.separator, dialect.shown, first_line=first_line):
        if not fits(row.cells, dialect.n_columns):
            count += 1
            if count <= _SHOWN:
                n_cells = len(row.cells)
                places.append(
                    f"line {first_line + row.line} ({n_cells} cell{'s' * (n_cells != 1)})"
                )
    if not count:
        return None
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    rows = "1 row has" if count == 1 else f"{count} rows have"
    return TableError(
        f"{dialect.shown}: {rows} not {dialect.n_columns} cells as the header has: "
        f"{', '.join(places)}{more}; add or remove cells, or quote a cell that holds "
        f"{dialect.separator!r}."
    )
