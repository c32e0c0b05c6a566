"""Text with separators: one scan finds encoding, dialect and rows; Arrow reads the cells.

The scan reads the whole file once, in constant memory and without a loop over rows. It names
the line of what could make a fast reader lose or shift rows.
"""

from __future__ import annotations

import bisect
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from granulearn.tables.io.dialect import find_dialect, fits, parse_row
from granulearn.tables.io.edits import Edit, edited
from granulearn.tables.io.table_file import (
    AS_FOUND,
    LONGEST_ROW,
    Changes,
    ReadOptions,
    TableFile,
    named_columns,
)
from granulearn.tables.io.text_source import Encoding, TextSource, detect_legacy, find_encoding
from granulearn.tables.messages import Message, Setting, TableError
from granulearn.utils.text import counted, listed, quoted

# Larger chunks cost memory, smaller ones more calls of Arrow.
CHUNK_BYTES = 8 * 2**20
# A task of a cluster reads about 32 MB.
_CHUNKS_OF_PART = 4
# The header ends within these bytes.
_BEGINNING = 2**23
_SAMPLE_LINES, _LONGEST_LINE = 500, 2**12
_RAGGED_SHOWN = 20
_QUOTE, _LF, _CR = b'"\n\r'
_MISQUOTED = (
    "a quotation mark is not closed, or stands inside a cell; close it, or double a quotation mark "
    "that belongs to the text."
)
_TOO_LONG = (
    "the row is too long to be one of a table; look for a quotation mark that is never closed."
)
_NUL = "a NUL byte; this is no text, or its encoding must be stated"
_ENCODING = (" (", Setting("encoding"), ").")
# The quoting style of a column is judged by its first cells.
_JUDGED_CELLS = 1000


class RowStarts(NamedTuple):
    """Where the rows of a text begin; empty lines are no rows."""

    offsets: np.ndarray
    lines: np.ndarray
    """Number, from 0, of the line on which each begins."""
    end: int
    """Offset after the line end of the last row that has one."""
    end_line: int
    """Number, from 0, of the line that begins there."""
    in_quotes: bool
    """Whether the text ends inside of a quoted cell."""
    misquoted: bool
    """Whether something follows a quoted cell, from `end` on, that is no separator."""


def row_starts(content: bytes, separator: str) -> RowStarts:
    """Find where rows begin in a text that begins with a row.

    Only ASCII bytes are compared, so any encoding that keeps ASCII works.
    The text may end anywhere.
    """
    codes = np.frombuffer(content, np.uint8)
    ends = codes == _LF
    if b"\r" in content:
        returns = codes == _CR
        returns[:-1] &= ~ends[1:]
        ends |= returns
    begins = np.concatenate([[0], np.flatnonzero(ends) + 1])
    in_quotes = misquoted = False
    outside = np.ones(len(begins), bool)
    if b'"' in content:
        quotes, misquoted = _quotes(content, codes, separator)
        in_quotes = len(quotes) % 2 == 1
        outside = np.searchsorted(quotes, begins) % 2 == 0
    end_line = int(np.flatnonzero(outside)[-1])
    end = int(begins[end_line])
    filled = np.append(codes, np.uint8(_LF))[begins]
    lines = np.flatnonzero(outside & (filled != _LF) & (filled != _CR))
    return RowStarts(begins[lines], lines, end, end_line, in_quotes, misquoted)


def _quotes(content: bytes, codes: np.ndarray, separator: str) -> tuple[np.ndarray, bool]:
    """Return the positions of quotation marks: an odd number of them precedes quoted text.

    The last one is that of a cell which is not closed, or which is followed by something else
    than a separator; the latter is the second thing returned.
    """
    quotes = np.flatnonzero(codes == _QUOTE)
    may_touch = np.zeros(256, bool)
    may_touch[[_QUOTE, _LF, _CR, ord(separator)]] = True
    opening, closing = quotes[::2], quotes[1::2]
    opening = opening[1:] if len(opening) and opening[0] == 0 else opening
    closing = closing[:-1] if len(closing) and closing[-1] == len(codes) - 1 else closing
    if may_touch[codes[opening - 1]].all() and may_touch[codes[closing + 1]].all():
        return quotes, False  # each opens or closes a cell, or is doubled
    found: list[int] = []
    for cell in _quoted_cell(separator).finditer(content):
        found.append(cell.start())
        if not cell[1]:
            return np.array(found), False
        if cell.end() < len(content) and not may_touch[content[cell.end()]]:
            return np.array(found), True
        found.append(cell.end() - 1)
    return np.array(found, np.int64), False


@cache
def _quoted_cell(separator: str) -> re.Pattern[bytes]:
    """Return a pattern of quoted cells; quotation marks inside of unquoted cells do not count."""
    before = rb'(?:(?<=\A")|(?<=[\r\n%s]"))' % re.escape(separator.encode())
    return re.compile(rb'"' + before + rb'[^"]*+(?:""[^"]*+)*+("?)')


class Chunk(NamedTuple):
    """Complete rows in a range of bytes."""

    begin: int
    end: int
    first_row: int
    n_rows: int
    first_line: int
    """Number, from 1, of the line that it begins with."""


class TextTable(TableFile):
    """A file of text with a separator between cells; its cells are text.

    Parameters
    ----------
    source : TextSource
        The file.
    options : ReadOptions, optional
        Options for reading it.
    """

    def __init__(self, source: TextSource, options: ReadOptions = AS_FOUND):
        found = find_encoding(source.beginning, options.encoding)
        scan = _Scan(replace(source, encoding=found), options)
        if found is None and not scan.source.as_is:
            # Rare: several bytes per character, some of which could be taken for separators.
            scan = _Scan(scan.source, options)
        header = parse_row(scan.source.decode(scan.header), scan.dialect.separator)
        header = ["", *header] if scan.dialect.lacks_name else header
        names, notes = named_columns(source.shown, header)
        notes = [*scan.notes(len(header), options), *notes]
        super().__init__(source.shown, names, notes, sum(chunk.n_rows for chunk in scan.chunks))
        self.source, self.chunks = scan.source, scan.chunks
        self.separator = scan.dialect.separator

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        ragged: list[str] = []
        for chunk, content in self.contents(self.chunks):
            table = self._cells(chunk, content, wanted or self.names[:1], ragged)
            if not ragged:
                yield from table.select(wanted).to_batches()
        if ragged:
            rows = counted(len(ragged), "row has", "rows have")
            raise TableError(
                f"{self.path}: {rows} not {len(self.names)} cells as the header has: "
                f"{listed(ragged, most=_RAGGED_SHOWN)}; add or remove cells, or quote a cell "
                f"that holds {self.separator!r}."
            )

    def parts(self) -> tuple[TableFile, ...]:
        """Return groups of rows; the whole table if the file is compressed."""
        if not self.source.has_offsets:
            return (self,)
        begins = range(0, len(self.chunks), _CHUNKS_OF_PART)
        groups = [self.chunks[begin : begin + _CHUNKS_OF_PART] for begin in begins]
        return tuple(self._part(chunks[0].first_row, chunks=chunks) for chunks in groups)

    def location(self, row: int) -> str:
        """Return the location of a row, for messages.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        number = bisect.bisect_right(self.chunks, row, key=lambda chunk: chunk.first_row) - 1
        chunk = self.chunks[number]
        return f"line {self._lines([chunk])[row - chunk.first_row]}"

    def lines(self) -> np.ndarray:
        """Return the line on which each row begins."""
        return self._lines(self.chunks)

    def _lines(self, chunks: list[Chunk]) -> np.ndarray:
        found = [
            chunk.first_line + row_starts(content, self.separator).lines
            for chunk, content in self.contents(chunks)
        ]
        return np.concatenate(found)

    def contents(self, chunks: list[Chunk]) -> Iterator[tuple[Chunk, bytes]]:
        """Yield chunks with their bytes, as `TextSource.open` gives them."""
        position = chunks[0].begin
        with self.source.open(position) as stream:
            for chunk in chunks:
                self.source.skip(stream, chunk.begin - position)
                content = stream.read(chunk.end - chunk.begin)
                position = chunk.end
                if len(content) != chunk.end - chunk.begin:
                    raise self.changed()
                yield chunk, content

    def changed(self) -> TableError:
        """Return the error for a file that changed meanwhile."""
        return TableError(
            f"{self.path} changed while it was read; read it again when it is complete."
        )

    def _cells(
        self, chunk: Chunk, content: bytes, columns: list[str], ragged: list[str]
    ) -> pa.Table:
        """Parse the cells of a chunk; append ragged rows to `ragged`."""
        invalid: list[arrow_csv.InvalidRow] = []

        def skip(row: arrow_csv.InvalidRow) -> str:
            invalid.append(row)
            return "skip"

        text = self.source.as_utf8(content)
        if text.startswith(b"\xef\xbb\xbf"):
            text = b"\n" + text  # Arrow would drop it from the first cell
        try:
            # One block and so one batch; Arrow numbers invalid rows in one thread only.
            table = arrow_csv.read_csv(
                pa.BufferReader(text),
                arrow_csv.ReadOptions(
                    column_names=self.names, block_size=len(text) + 1, use_threads=False
                ),
                arrow_csv.ParseOptions(
                    delimiter=self.separator,
                    quote_char='"' if b'"' in text else False,  # faster without
                    newlines_in_values=True,
                    invalid_row_handler=skip,
                ),
                arrow_csv.ConvertOptions(
                    include_columns=columns,
                    column_types=dict.fromkeys(columns, pa.string()),
                    strings_can_be_null=False,
                    check_utf8=False,  # the scan has
                ),
            )
        except pa.ArrowInvalid as error:
            raise TableError(f"{self.path} cannot be read: {error}") from error
        if table.num_rows + len(invalid) != chunk.n_rows:
            raise self.changed()
        if not invalid:
            return table
        numbers = np.array([row.number - 1 for row in invalid])
        rows = [parse_row(row.text, self.separator) for row in invalid]
        lines = chunk.first_line + row_starts(content, self.separator).lines[numbers]
        ragged += [
            f"line {line} ({counted(len(row), 'cell')})"
            for line, row in zip(lines, rows, strict=True)
            if not fits(row, len(self.names))
        ]
        # Blank rows and surplus blank cells may have any length.
        blank = [""] * len(self.names)
        fixed = [row if len(row) > len(blank) else blank for row in rows]
        cells = dict(zip(self.names, zip(*fixed, strict=False), strict=False))
        repaired = pa.table({name: pa.array(cells[name], pa.string()) for name in columns})
        others = np.setdiff1d(np.arange(chunk.n_rows), numbers)
        order = np.argsort(np.concatenate([others, numbers]))
        return pa.concat_tables([table, repaired]).take(order)

    def _rewrite(self, temporary: Path, changes: Changes) -> None:
        """Write the text with some cells changed, without some rows.

        A cell keeps its quoting style where the new text allows it. If only the old text needed
        quotes, other cells of the column decide. So changing a cell back gives the same bytes.
        """
        source, index = self.source, self.names.index(changes.column)
        content = source.whole()
        begins = [len(content)]
        for chunk in reversed(self.chunks):
            starts = row_starts(content[chunk.begin : chunk.end], self.separator)
            begins[:0] = (chunk.begin + starts.offsets).tolist()
        if len(begins) != self.n_rows + 1:
            raise self.changed()
        special = re.compile(rf'["\r\n{re.escape(self.separator)}]')

        def read(row: int) -> tuple[int, int, str, bool] | None:
            """Return begin, end and text of a cell, and whether it is quoted."""
            bounds = list(_cell_bounds(content, begins[row], self.separator))
            if len(bounds) < len(self.names):
                return None
            begin, end = bounds[index]
            text = source.decode(content[begin:end])
            is_quoted = text.startswith('"')
            return begin, end, text[1:-1].replace('""', '"') if is_quoted else text, is_quoted

        others = (read(row) for row in range(self.n_rows) if row not in changes.cells)
        judged = islice(filter(None, others), _JUDGED_CELLS)
        quotes_all = any(quoted and not special.search(text) for _, _, text, quoted in judged)
        edits = [Edit(begins[row], begins[row + 1], b"") for row in changes.drop]
        for row, new in changes.cells.items():
            cell = read(row)
            if cell is None:
                raise TableError(
                    f"{self.path}, {self.location(row)}: the row is blank and has fewer cells than "
                    "there are columns, so it has no cell to change; fill it up or leave it out."
                )
            begin, end, old, was_quoted = cell
            if new == old:
                continue
            if special.search(new) or (was_quoted and (quotes_all or not special.search(old))):
                new = '"' + new.replace('"', '""') + '"'
            edits.append(Edit(begin, end, source.encode(new)))
        source.write(temporary, edited(content, edits))


def _cell_bounds(content: bytes, begin: int, separator: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each cell of the row that begins there."""
    sign = separator.encode()
    # Possessive: no backtracking, so time is linear.
    cell = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"|[^%b\r\n]*+' % re.escape(sign))
    while found := cell.match(content, begin):  # it may be empty
        yield found.span()
        if not content.startswith(sign, found.end()):
            return
        begin = found.end() + 1


class _Scan:
    """One pass over a text file: finds encoding, dialect, header and rows."""

    def __init__(self, source: TextSource, options: ReadOptions):
        self.source = source
        self.chunks: list[Chunk] = []
        self._not_ascii: list[bytes] = []
        self._first_bad: int | None = None
        with source.open() as text:
            self._find_rows(text, self._find_header(text, options))
        found = source.encoding or Encoding("utf-8")
        if source.encoding is None and self._first_bad is not None:
            found = detect_legacy(self._not_ascii, source.shown, self._first_bad)
        self.source = replace(source, encoding=found, stream=None)

    def _find_header(self, text: BinaryIO, options: ReadOptions) -> bytes:
        """Find dialect and header; return the rest of the text that was read."""
        content, path = text.read(_BEGINNING), self.source.shown
        ended = len(content) < _BEGINNING
        self._check_zeros(content, 1)
        self.dialect = find_dialect(content, options.separator, path)
        skipped, separator = self.dialect.skipped, self.dialect.separator
        starts = row_starts(content[skipped:], separator)
        lines = [*(1 + bool(skipped) + starts.lines).tolist(), 1 + bool(skipped) + starts.end_line]
        bounds = [*(skipped + starts.offsets).tolist(), len(content)]
        filled: list[bytes] = []
        for row, (begin, end) in enumerate(pairwise(bounds)):
            if end == len(content) and (starts.misquoted or (ended and starts.in_quotes)):
                raise self._error(lines[row], _MISQUOTED)
            if end == len(content) and not ended:
                raise self._error(lines[row], _TOO_LONG)
            raw = content[begin:end]
            if any(map(str.strip, parse_row(raw.decode("latin-1"), separator))):
                filled.append(raw)
            if len(filled) > self.dialect.n_titles:
                *self._titles, self.header = filled
                self._line, self._end, self._end_line = lines[row], end, lines[row + 1]
                self._check(content[:end], 1)
                return content[end:]
        what = "has no names of columns" if content.strip() else "is empty"
        raise TableError(f"{path} {what}; it needs a header line and data rows.")

    def _find_rows(self, text: BinaryIO, below_header: bytes) -> None:
        read_before = io.BytesIO(below_header)
        rest, begin, line, row = b"", self.source.begin + self._end, self._end_line, 0
        block = b"-"
        while block:
            # A very long cell is looked through a few times.
            size = max(CHUNK_BYTES, min(len(rest), LONGEST_ROW - len(rest)))
            block = read_before.read(size) or text.read(size)
            if block.endswith(b"\r"):  # perhaps the first half of a line end
                block += read_before.read(1) or text.read(1)
            content = rest + block
            starts = row_starts(content, self.dialect.separator)
            if starts.misquoted or (starts.in_quotes and not block):
                raise self._error(line + starts.end_line, _MISQUOTED)
            if not starts.end and len(content) > LONGEST_ROW:
                raise self._error(line, _TOO_LONG)
            end = starts.end if block else len(content)
            self._check(content[:end], line)
            n_rows = int(np.searchsorted(starts.offsets, end))
            if n_rows:
                self.chunks.append(Chunk(begin, begin + end, row, n_rows, line))
            rest, begin = content[end:], begin + end
            line, row = line + starts.end_line, row + n_rows

    def _check(self, content: bytes, line: int) -> None:
        """Raise an error for bytes that are no text; sample lines that are not ASCII."""
        self._check_zeros(content, line)
        if content.isascii():
            return
        if self._first_bad is None:
            try:
                self.source.decode(content)
            except UnicodeDecodeError as error:
                self._first_bad = line + _count_lines(content[: error.start])
                if self.source.encoding is not None:
                    byte, name = content[error.start], self.source.encoding.name
                    problem = f"the byte {byte:#04x} is no text in {name}; state the right encoding"
                    raise self._error(self._first_bad, problem, *_ENCODING) from error
        if len(self._not_ascii) < _SAMPLE_LINES:
            found = [one[:_LONGEST_LINE] for one in content.splitlines() if not one.isascii()]
            self._not_ascii += found[:_SAMPLE_LINES]

    def _check_zeros(self, content: bytes, line: int) -> None:
        if b"\0" in content:
            line += _count_lines(content[: content.index(b"\0")])
            raise self._error(line, _NUL, *_ENCODING)

    def _error(self, line: int, *problem: str | Setting) -> TableError:
        return TableError(Message(f"{self.source.shown}, line {line}: ", *problem))

    def notes(self, n_columns: int, options: ReadOptions) -> list[str]:
        """Return notes on what was guessed."""
        notes: list[str] = []
        encoding, separator = self.source.encoding, self.dialect.separator
        if options.encoding is None and encoding and not encoding.bom and encoding.name != "utf-8":
            found = f"the text is in {encoding.name} (guessed; "
            notes.append(Message(found, Setting("encoding"), " overrides)"))
        if self._titles:
            title = separator.join(parse_row(self.source.decode(self._titles[0]), separator))
            lines = counted(self._line - 1, "line")
            notes.append(f"skipped {lines} above the header ({quoted(title.strip())})")
        if self.dialect.lacks_name:
            found = f"the header has {n_columns - 1} names and the rows {n_columns} cells"
            notes.append(f"{found}; the first column is the one without a name")
        if n_columns == 1 and options.separator is None:
            notes.append(Message("only one column; ", Setting("separator"), " sets another"))
        return notes


def _count_lines(content: bytes) -> int:
    """Return the number of line ends."""
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")
