"""One pass over a text file: encoding, separator, header, quotes, where its rows begin.

The reader that follows is fast because it trusts the file. What could make it lose or
shift rows is looked for here, in constant memory and without a loop over rows, and is
named with its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from granulearn.tables.errors import TableError
from granulearn.tables.io.table_file import ReadOptions
from granulearn.tables.io.text_bytes import TextBytes
from granulearn.tables.io.text_check import CheckedBytes
from granulearn.tables.io.text_encoding import evident_encoding, stated_encoding
from granulearn.tables.io.text_marks import (
    count_rows,
    end_of_last_row,
    quotes_in_order,
    row_starts,
)
from granulearn.tables.io.text_rows import LONGEST_ROW, strict_rows
from granulearn.tables.io.text_separator import (
    announced_separator,
    check_separator,
    header_with,
    likely_separator,
)
from granulearn.tables.io.text_source import TextSource

# Text that is read at once; larger chunks cost memory, smaller ones a call of Arrow each.
CHUNK_BYTES = 8 * 2**20
# Of the first chunk: it tells which columns are plain numbers, and these are read faster.
_FIRST_BYTES = 2**19
# Text that is scanned at once; it should stay in the cache.
_SCANNED_BYTES = 2**19
_SAMPLE_BYTES = 2**17


@dataclass(frozen=True)
class Chunk:
    """Whole rows, from one byte to before another."""

    begin: int
    end: int
    first_row: int
    first_line: int


@dataclass(frozen=True)
class Heading:
    """What stands above the data."""

    separator: str
    cells: tuple[str, ...]
    """Names exactly as they stand in the file, decoded as latin-1."""
    end: int
    """Offset after it."""
    end_line: int
    """The line after it."""
    line: int
    """The line on which the names begin."""
    title: str | None
    """What stands above the names and is none, decoded as latin-1."""
    lacks_name: bool
    """Whether the file has no name, not even an empty one, for the first column."""


@dataclass(frozen=True)
class Rows:
    """Where the data rows are."""

    chunks: tuple[Chunk, ...]
    n_rows: int
    quotes: bool
    """Whether there is any quotation mark."""
    in_order: bool
    """Whether quotation marks stand only where they open or close a cell, or are doubled."""
    quoted_newlines: bool


@dataclass(frozen=True)
class TextForm:
    """What must be known to read the file."""

    text: TextBytes
    heading: Heading
    rows: Rows


def scan_text(source: TextSource, reading: ReadOptions) -> TextForm:
    """Return the form of a text file, or raise a `TableError` that names the line.

    Parameters
    ----------
    source : TextSource
        The file.
    reading : ReadOptions
        What the user says about it.
    """
    with source.open() as stream:
        beginning = stream.read(2**12)
    encoding = evident_encoding(beginning)
    if reading.encoding is not None:
        encoding = stated_encoding(reading.encoding, beginning)
    form = _scanned(TextBytes(source, encoding), reading)
    if not form.text.as_they_are and encoding is None:
        # Rare: several bytes per character, some of which could be taken for separators.
        return _scanned(form.text, reading)
    return form


def _scanned(text: TextBytes, reading: ReadOptions) -> TextForm:
    with text.open() as stream:
        checked = CheckedBytes(text, stream)
        heading = _heading(text, checked, reading)
    with text.open() as stream:
        checked = CheckedBytes(text, stream)
        checked.read(heading.end - text.begin)
        rows = _rows_in_order(checked, heading)
        while checked.read(CHUNK_BYTES):  # what is left if quotes are out of order
            pass
        text = TextBytes(text.source, checked.found_encoding())
    if rows is None:
        rows = _rows_one_by_one(text, heading)
    if not rows.n_rows:
        raise TableError(f"{text.source.shown} has a header but no data rows; add rows.")
    return TextForm(text, heading, rows)


def _heading(text: TextBytes, checked: CheckedBytes, reading: ReadOptions) -> Heading:
    shown = text.source.shown
    sample = _beginning(checked)
    if not sample.strip():
        raise TableError(f"{shown} is empty; it needs a header line and data rows.")
    announced = announced_separator(sample)
    skipped = announced[1] if announced else 0
    if reading.separator is not None:
        separator = check_separator(reading.separator)
        found = header_with(sample[skipped:], separator)
    elif announced is not None:
        separator = check_separator(announced[0])
        found = header_with(sample[skipped:], separator)
    else:
        separator, found = likely_separator(sample, shown)
    first_line = 1 + bool(skipped)
    with text.open(text.begin + skipped) as stream:
        rows = strict_rows(stream, separator, shown, first_line=first_line)
        filled = (row for row in rows if any(map(str.strip, row.cells)))
        above = list(islice(filled, found.n_titles))
        header = next(filled, None)
        rows.close()
    if header is None:
        raise TableError(f"{shown} has no names of columns; it needs a header line.")
    return Heading(
        separator,
        ("", *header.cells) if found.lacks_name else tuple(header.cells),
        end=text.begin + skipped + header.end,
        end_line=first_line + header.end_line,
        line=first_line + header.line,
        title=separator.join(above[0].cells) if above else None,
        lacks_name=found.lacks_name,
    )


def _beginning(checked: CheckedBytes) -> bytes:
    """Return the first rows, at least one of them whole if it is not very long."""
    content = b""
    while block := checked.read(max(_SAMPLE_BYTES, len(content))):
        content += block
        begun = content.lstrip()
        if b"\n" in begun or b"\r" in begun or len(content) > LONGEST_ROW:
            break
    return content


def _rows_in_order(checked: CheckedBytes, heading: Heading) -> Rows | None:
    """Return where chunks of rows begin; None if a quotation mark is out of order."""
    chunks = _Chunks(heading.end, heading.end_line)
    quotes = quoted_newlines = False
    for content in _whole_rows(checked, heading.separator):
        if content is None:
            return None
        if b'"' not in content:
            n_rows, n_lines = count_rows(content)
        elif quotes_in_order(content, heading.separator):
            quotes = True
            starts = row_starts(content)
            n_rows, n_lines = len(starts.lines), starts.n_lines
            quoted_newlines |= starts.quoted_newlines
        else:
            return None
        chunks.add(len(content), n_rows, n_lines)
    return chunks.rows(quotes=quotes, in_order=True, quoted_newlines=quoted_newlines)


class _Chunks:
    """Chunks that are as long as they should be, of stretches of rows of any length."""

    def __init__(self, begin: int, line: int):
        self._done: list[Chunk] = []
        self._least_of_first = min(_FIRST_BYTES, CHUNK_BYTES)
        self._begin, self._first_row, self._first_line = begin, 0, line
        self._end, self._n_rows, self._line = begin, 0, line

    def add(self, n_bytes: int, n_rows: int, n_lines: int) -> None:
        self._end += n_bytes
        self._n_rows += n_rows
        self._line += n_lines
        if self._end - self._begin >= (CHUNK_BYTES if self._done else self._least_of_first):
            self._close()

    def _close(self) -> None:
        if self._n_rows > self._first_row:
            self._done.append(Chunk(self._begin, self._end, self._first_row, self._first_line))
        self._begin, self._first_row, self._first_line = self._end, self._n_rows, self._line

    def rows(self, *, quotes: bool, in_order: bool, quoted_newlines: bool) -> Rows:
        self._close()
        return Rows(tuple(self._done), self._n_rows, quotes, in_order, quoted_newlines)


def _whole_rows(checked: CheckedBytes, separator: str) -> Iterator[bytes | None]:
    """Yield stretches of whole rows; None, at last, if no end of a row is in sight."""
    rest = b""
    # A cell of many megabytes is looked through a few times only if blocks grow with it.
    while block := checked.read(max(min(_SCANNED_BYTES, CHUNK_BYTES), len(rest))):
        rest += block
        end = end_of_last_row(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > LONGEST_ROW or not quotes_in_order(rest, separator, ended=False):
            yield None  # reading on could take all memory
            return
    if rest:
        yield rest


def _rows_one_by_one(text: TextBytes, heading: Heading) -> Rows:
    """Return where chunks of rows begin if quotation marks may stand inside of cells."""
    chunks = _Chunks(heading.end, heading.end_line)
    end, line = 0, 0
    with text.open(heading.end) as stream:
        shown = text.source.shown
        for row in strict_rows(stream, heading.separator, shown, first_line=heading.end_line):
            # Empty lines before a row belong to it.
            chunks.add(row.end - end, 1, row.end_line - line)
            end, line = row.end, row.end_line
    return chunks.rows(quotes=True, in_order=False, quoted_newlines=True)
