"""Look at a CSV file before it is read in chunks: encoding, separator, header, quotes.

The chunked reader is fast because it trusts the file. What could make it lose
or shift rows (a broken quotation mark, a row of another length) is looked for
here, in constant memory, and named with its line.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from granulearn.datasets.csv_structure import SEPARATORS, TableError, check_header

_BLOCK = 2**20
_SAMPLE = 2**12
# UTF-32 first: its mark begins with that of UTF-16.
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class CsvForm:
    """What must be known to read the file."""

    path: Path
    separator: str
    header: tuple[str, ...]
    """Names exactly as they stand in the file."""
    has_quotes: bool
    n_lines: int

    @property
    def names(self) -> list[str]:
        """Names without blanks around them."""
        return [name.strip() for name in self.header]


def scan_csv(path: Path) -> CsvForm:
    """Return the form of a CSV file, or raise a `TableError` that names the line.

    Parameters
    ----------
    path : Path
        A file in UTF-8, with or without a byte-order mark, with a header.
    """
    n_lines, has_quotes = _scan_bytes(path)
    separator, header = _read_header(path)
    form = CsvForm(path, separator, tuple(header), has_quotes, n_lines)
    check_header(path, form.names)
    if has_quotes:
        check_rows(form)
    return form


def check_rows(form: CsvForm) -> None:
    """Raise a `TableError` if a row is not as long as the header or a quote is broken.

    Parameters
    ----------
    form : CsvForm
        The file.
    """
    with _rows_of(form) as rows:
        for line, row in rows:
            if len(row) != len(form.header):
                raise TableError(
                    f"{form.path}, line {line}: {len(row)} cells, but the header has "
                    f"{len(form.header)}; add or remove cells, or quote a cell that holds "
                    f"{form.separator!r}."
                )


def line_of_row(form: CsvForm, row: int) -> int:
    """Return the line on which a data row begins.

    Parameters
    ----------
    form : CsvForm
        The file.
    row : int
        Number of the row, from 0.
    """
    with _rows_of(form) as rows:
        for position, (line, _) in enumerate(rows):
            if position == row + 1:  # the header is the first
                return line
    raise IndexError(row)


@contextmanager
def _rows_of(form: CsvForm) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Give the rows that are not empty, header first, each with the line it begins on."""
    begins = 1

    def rows(reader) -> Iterator[tuple[int, list[str]]]:
        nonlocal begins
        for row in reader:
            if row:
                yield begins, row
            begins = reader.line_num + 1

    with form.path.open(encoding="utf-8-sig", newline="") as file:
        try:
            yield rows(csv.reader(file, delimiter=form.separator, strict=True))
        except csv.Error as error:
            raise TableError(
                f"{form.path}, line {begins}: a quotation mark is not closed, or stands inside a "
                f"cell ({error}); close it, or double a quotation mark that belongs to the text."
            ) from error


def _scan_bytes(path: Path) -> tuple[int, bool]:
    """Return the number of lines and whether there are quotes; refuse what is no text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_lines, has_quotes, only_blanks = 0, False, True
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            if file.tell() == len(block):
                _refuse_wide_encoding(path, block)
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                line = n_lines + block.count(b"\n", 0, max(error.start, 0)) + 1
                raise TableError(
                    f"{path}, line {line}: the text is not in UTF-8; save the file as "
                    "'CSV UTF-8', or convert it (iconv -f latin1 -t utf8)."
                ) from error
            if b"\0" in block:
                line = n_lines + block.count(b"\n", 0, block.index(b"\0")) + 1
                raise TableError(f"{path}, line {line}: a zero byte; this is no text file.")
            n_lines += block.count(b"\n")
            has_quotes = has_quotes or b'"' in block
            only_blanks = only_blanks and not block.strip()
    if only_blanks:
        raise TableError(f"{path} is empty; it needs a header line and data rows.")
    return n_lines, has_quotes


def _refuse_wide_encoding(path: Path, block: bytes) -> None:
    """Say how to convert text that spends two or four bytes on each character."""
    found = next((name for mark, name in _WIDE_MARKS.items() if block.startswith(mark)), None)
    if found is None:
        # In UTF-16, every other byte of plain letters is zero.
        even, odd = block[:_SAMPLE:2], block[1:_SAMPLE:2]
        found = "utf-16be" if 2 * even.count(0) > len(even) else found
        found = "utf-16le" if 2 * odd.count(0) > len(odd) else found
    if found:
        raise TableError(
            f"{path} is in {found.upper()}, not in UTF-8; save the file as 'CSV UTF-8', or convert "
            f"it (iconv -f {found} -t utf-8)."
        )


def _read_header(path: Path) -> tuple[str, list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = next(line for line in file if line.strip())
        separator = max(SEPARATORS, key=first.count)
        file.seek(0)
        try:
            rows = csv.reader(file, delimiter=separator, strict=True)
            return separator, next(row for row in rows if row)
        except (csv.Error, StopIteration) as error:
            raise TableError(
                f"{path}, line 1: a quotation mark in the header is not closed; close it."
            ) from error
