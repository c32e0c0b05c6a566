"""A text file as a table: Arrow reads its rows, many at once, each cell as it is spelt."""

from __future__ import annotations

import bisect
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from granulearn.tables.errors import TableError
from granulearn.tables.io.naming import named_columns
from granulearn.tables.io.table_file import (
    AS_FOUND,
    ReadOptions,
    TableFile,
    TablePart,
    known_columns,
)
from granulearn.tables.io.text_bytes import TextBytes, skip
from granulearn.tables.io.text_marks import row_starts
from granulearn.tables.io.text_rows import (
    Dialect,
    ragged_rows_error,
    repaired_columns,
    strict_rows,
)
from granulearn.tables.io.text_scan import Chunk, Heading, Rows, scan_text
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.messages import Message, Setting

# Chunks that one task of a cluster reads, about 32 MB: more tasks would cost more than they read.
_CHUNKS_OF_PART = 4
# Columns that held numbers at first, and later something else: so many are told apart.
_MOST_DISTRUSTED = 8
_COLUMN_OF_ERROR = re.compile(r"In CSV column #(\d+):")
# Floats are exact for all whole numbers below; larger ones are told apart by their text.
_EXACT_BELOW = 2.0**53
_LONGEST_TITLE = 40
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class TextPart:
    """Some rows of a text file that stand next to each other."""

    text: TextBytes
    heading: Heading
    names: tuple[str, ...]
    rows: Rows

    @property
    def first_row(self) -> int:
        """Number, from 0, of the first row in the whole table."""
        return self.rows.chunks[0].first_row

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, in file order, every cell as text.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        shown = self.text.source.shown
        wanted = list(self.names) if columns is None else known_columns(shown, self.names, columns)
        for _, content in self.contents():
            yield from self._parsed(content, wanted)

    def batches_for_survey(self, plain: set[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order; columns of plain numbers as numbers, while they are.

        Parameters
        ----------
        plain : set of str
            Columns that have held nothing but numbers with decimals so far.
        """
        distrusted: set[str] = set()
        for _, content in self.contents():
            # Another thread may change it meanwhile.
            trusted = frozenset(plain).intersection(self.names) - distrusted
            found, odd = self._with_numbers(content, trusted) if trusted else ([], trusted)
            if odd:
                # After a few such columns, trying again costs more than it saves.
                distrusted |= odd if len(distrusted) < _MOST_DISTRUSTED else trusted
            yield from found or self._parsed(content, list(self.names))

    def _with_numbers(
        self, content: bytes, plain: frozenset[str]
    ) -> tuple[list[pa.RecordBatch], frozenset[str]]:
        """Return the rows with some columns as numbers; or none, and which columns hold others."""
        types = {name: pa.float64() if name in plain else pa.string() for name in self.names}
        try:
            table = self._read(content, types)
        except pa.ArrowInvalid as error:
            column = _COLUMN_OF_ERROR.match(str(error))
            odd = frozenset({self.names[int(column[1])]}) if column else plain
        else:
            odd = frozenset(name for name in plain if not _as_good_as_text(table[name]))
        return ([], odd) if odd else (table.to_batches(), odd)

    def contents(self) -> Iterator[tuple[Chunk, bytes]]:
        """Yield the chunks with their text in UTF-8."""
        position = self.rows.chunks[0].begin
        with self.text.open(position) as stream:
            for chunk in self.rows.chunks:
                skip(stream, chunk.begin - position, seekable=self.text.has_parts)
                content = stream.read(chunk.end - chunk.begin)
                position = chunk.end
                if len(content) != chunk.end - chunk.begin:
                    raise self._changed()
                try:
                    yield chunk, self.text.as_utf8(content)
                except UnicodeDecodeError as error:
                    raise self._changed() from error

    def lines(self) -> Iterator[np.ndarray]:
        """Yield the lines of the file on which the rows of each chunk begin."""
        shown = self.text.source.shown
        for chunk, content in self.contents():
            if self.rows.in_order:
                lines = row_starts(content).lines
            else:
                rows = strict_rows(io.BytesIO(content), self.heading.separator, shown)
                lines = np.array([row.line for row in rows])
            yield chunk.first_line + lines

    def _changed(self) -> TableError:
        shown = self.text.source.shown
        return TableError(f"{shown} changed while it was read; read it again when it is complete.")

    def _parsed(self, content: bytes, wanted: list[str]) -> list[pa.RecordBatch]:
        read = dict.fromkeys(wanted or [self.names[0]], pa.string())
        try:
            table = self._read(content, read)
        except pa.ArrowInvalid as error:
            table = self._repaired(content, error)
        table = table.select(wanted)
        return table.to_batches()

    def _read(self, content: bytes, types: dict[str, pa.DataType]) -> pa.Table:
        if content.startswith(_BYTE_ORDER_MARK):
            content = b"\n" + content  # Arrow would drop it from the first cell
        # One block and so one batch: the next chunk is read while this one is looked at.
        block = len(content) + 1
        return arrow_csv.read_csv(
            pa.BufferReader(content),
            arrow_csv.ReadOptions(column_names=self.names, block_size=block),
            arrow_csv.ParseOptions(
                delimiter=self.heading.separator,
                quote_char='"' if self.rows.quotes else False,  # not to look for it is faster
                newlines_in_values=self.rows.quoted_newlines,
            ),
            arrow_csv.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                null_values=[""],
                strings_can_be_null=False,
                check_utf8=False,  # the scan has
            ),
        )

    def _repaired(self, content: bytes, error: Exception) -> pa.Table:
        """Return rows whose surplus cells are blank; list all rows of the file that have others."""
        dialect = Dialect(self.text.source.shown, self.heading.separator, len(self.names))
        columns = repaired_columns(content, dialect)
        if columns is not None:
            arrays = [pa.array(column, pa.string()) for column in columns]
            return pa.Table.from_arrays(arrays, names=list(self.names))
        with self.text.open(self.heading.end) as stream:
            listed = ragged_rows_error(stream, dialect, self.heading.end_line)
        raise listed or TableError(f"{dialect.shown} cannot be read: {error}") from error


class TextTable(TableFile):
    """A file of text with a separator between cells; its cells are text.

    Parameters
    ----------
    source : TextSource
        The file.
    reading : ReadOptions, optional
        What the user says about it.
    """

    def __init__(self, source: TextSource, reading: ReadOptions = AS_FOUND):
        form = scan_text(source, reading)
        header = [form.text.text_of(cell) for cell in form.heading.cells]
        names, remarks = named_columns(source.shown, header)
        remarks = [
            *_encoding_remarks(form.text, reading),
            *_heading_remarks(form.text, form.heading, reading),
            *remarks,
        ]
        super().__init__(source.shown, names, remarks, form.rows.n_rows)
        self._all = TextPart(form.text, form.heading, tuple(names), form.rows)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        return self._all.batches(columns)

    def batches_for_survey(self, plain: set[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order; columns of plain numbers may come as numbers.

        Parameters
        ----------
        plain : set of str
            Columns that have held nothing but numbers with decimals so far.
        """
        return self._all.batches_for_survey(plain)

    def parts(self) -> tuple[TablePart, ...]:
        """Return stretches of rows; the whole table if the file is packed."""
        if not self._all.text.has_parts:
            return (self._all,)
        rows = self._all.rows
        begins = range(0, len(rows.chunks), _CHUNKS_OF_PART)
        stretches = [rows.chunks[begin : begin + _CHUNKS_OF_PART] for begin in begins]
        return tuple(replace(self._all, rows=replace(rows, chunks=few)) for few in stretches)

    def place(self, row: int) -> str:
        """Say where a row stands.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        chunks = self._all.rows.chunks
        number = bisect.bisect_right(chunks, row, key=lambda chunk: chunk.first_row) - 1
        rows = replace(self._all.rows, chunks=chunks[number : number + 1])
        lines = next(replace(self._all, rows=rows).lines())
        return f"line {lines[row - chunks[number].first_row]}"

    def lines(self) -> np.ndarray:
        """Return the line on which each row begins."""
        return np.concatenate(list(self._all.lines()))


def _as_good_as_text(numbers: pa.ChunkedArray) -> bool:
    """Return whether numbers tell as much as their text: Arrow takes "nan" and "inf" for some."""
    known = (numbers.drop_null() if numbers.null_count else numbers).to_numpy()
    # A NaN is both the least and the largest number, and no comparison with it is true.
    # Arrow's own search for these two takes ten times as long.
    return not len(known) or bool(known.min() > -_EXACT_BELOW and known.max() < _EXACT_BELOW)


def _encoding_remarks(text: TextBytes, reading: ReadOptions) -> list[Message]:
    if reading.encoding is not None or text.encoding is None:
        return []
    if text.encoding.mark or text.encoding.name == "utf-8":
        return []
    found = f"the text is in {text.encoding.name} (found, not stated; "
    return [Message(found, Setting("encoding"), " overrules)")]


def _heading_remarks(text: TextBytes, heading: Heading, reading: ReadOptions) -> list[str]:
    remarks: list[str] = []
    if heading.title is not None:
        title = text.text_of(heading.title).strip()
        title = title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}..."
        above = heading.line - 1
        lines = "first line is" if above == 1 else f"first {above} lines are"
        remarks.append(f"the {lines} no header ({title!r}); the header is on line {heading.line}")
    if heading.lacks_name:
        remarks.append(
            f"the header has {len(heading.cells) - 1} names and the rows {len(heading.cells)} "
            "cells; the first column is taken for the one without a name"
        )
    if len(heading.cells) == 1 and reading.separator is None:
        separator = Setting("separator")
        remarks.append(
            Message("one column was found; ", separator, " names what stands between cells")
        )
    return remarks
