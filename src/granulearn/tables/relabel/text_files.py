"""A text file with some of its labels changed: only the bytes of these cells differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from granulearn.tables.errors import TableError
from granulearn.tables.io.text import Chunk, TextTable, row_starts
from granulearn.tables.relabel.edits import Changes, Edit, check_encodable, edited, rewriting
from granulearn.tables.relabel.quoting import JUDGED_ROWS, are_mostly_quoted, stays_quoted

_LINE_END = re.compile(rb"\r\n|\r|\n|")


def rewrite_text(table: TextTable, temporary: Path, changes: Changes) -> None:
    """Write a text file with some cells of one column changed, without some rows."""
    source, (column, cells, drop) = table.source, changes
    rows = _TextRows(table, column)
    for label in set(cells.values()):
        check_encodable(source, label)

    @cache
    def quotes_are_usual() -> bool:
        return bool(are_mostly_quoted(islice(rows.quoted(cells), JUDGED_ROWS)))

    def edit(row: int, content: bytes, begin: int) -> Edit:
        if row in drop:
            return Edit(begin, rows.next_line(content, begin), b"")
        found = rows.cell(content, begin)
        if found is None:
            raise TableError(
                f"{table.path}, {table.place(row)}: the row is blank and has fewer cells than "
                "there are columns, so that it has no cell to change; fill it up or leave it out."
            )
        new, old, was_quoted = cells[row], *rows.unquoted(content[slice(*found)])
        if new == old:
            return Edit(*found, content[slice(*found)])
        is_quoted = stays_quoted(
            was_quoted=was_quoted,
            old_needs=rows.needs_quotes(old),
            new_needs=rows.needs_quotes(new),
            usual=quotes_are_usual,
        )
        text = '"' + new.replace('"', '""') + '"' if is_quoted else new
        return Edit(*found, text.encode(source.text_encoding))

    with rewriting(source, temporary) as (stream, write):
        position = 0
        for chunk in table.chunks:
            write(stream.read(chunk.begin - position))
            content = stream.read(chunk.end - chunk.begin)
            position = chunk.end
            begins = rows.begins(chunk, content)
            numbers = range(chunk.first_row, chunk.first_row + chunk.n_rows)
            edits = [
                edit(row, content, begin)
                for row, begin in zip(numbers, begins, strict=True)
                if row in cells or row in drop
            ]
            write(edited(content, edits))
        write(stream.read())


class _TextRows:
    """The rows of a text table, and where the cells of one column stand in them.

    The strict reader has accepted them: a quotation mark at the beginning of a cell is closed at
    its end, and one that stands elsewhere means itself.
    """

    def __init__(self, table: TextTable, column: str):
        self._table, self._index = table, table.names.index(column)
        self._separator = table.separator.encode()
        # Possessive: what was read of a cell is never given back, so that time is linear.
        pattern = rb'"[^"]*+(?:""[^"]*+)*+"|[^%b\r\n]*+' % re.escape(self._separator)
        self._cell = re.compile(pattern)

    def begins(self, chunk: Chunk, content: bytes) -> list[int]:
        """Return where the rows of a chunk begin."""
        begins = row_starts(content, self._table.separator).offsets.tolist()
        if len(content) != chunk.end - chunk.begin or len(begins) != chunk.n_rows:
            raise self._table.changed()
        return begins

    def _cells(self, content: bytes, begin: int) -> Iterator[tuple[int, int]]:
        """Yield where the cells of a row stand."""
        while True:
            found = self._cell.match(content, begin)
            assert found is not None  # it may be empty
            yield found.span()
            if not content.startswith(self._separator, found.end()):
                return
            begin = found.end() + 1

    def cell(self, content: bytes, begin: int) -> tuple[int, int] | None:
        """Return where the cell of a row stands; None if the row has too few cells."""
        found = list(islice(self._cells(content, begin), len(self._table.names)))
        return found[self._index] if len(found) == len(self._table.names) else None

    def next_line(self, content: bytes, begin: int) -> int:
        """Return where the line after a row begins."""
        *_, (_, end) = self._cells(content, begin)
        line_end = _LINE_END.match(content, end)
        assert line_end is not None  # it may be empty
        return line_end.end()

    def unquoted(self, cell: bytes) -> tuple[str, bool]:
        """Return the text of a cell, and whether it is quoted."""
        text = self._table.source.decode(cell)
        return (text[1:-1].replace('""', '"'), True) if text.startswith('"') else (text, False)

    def needs_quotes(self, text: str) -> bool:
        """Return whether a cell with this text would be read as another one without quotes."""
        return any(sign in text for sign in (self._table.separator, *'"\r\n'))

    def quoted(self, changed: Collection[int]) -> Iterator[bool]:
        """Yield, for cells that stay and need no quotes, whether they have some.

        Empty cells tell nothing: many programs that quote all texts do not quote these.
        """
        for chunk, content in self._table.contents(self._table.chunks):
            for row, begin in enumerate(self.begins(chunk, content), start=chunk.first_row):
                found = None if row in changed else self.cell(content, begin)
                text, is_quoted = self.unquoted(content[slice(*found)]) if found else ("", False)
                if text and not self.needs_quotes(text):
                    yield is_quoted
