"""A text file with some of its labels changed: only the bytes of these cells differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from granulearn.tables.io.text import TextTable, row_starts
from granulearn.tables.messages import TableError
from granulearn.tables.relabel.edits import (
    Changes,
    Edit,
    are_mostly_quoted,
    check_encodable,
    edited,
    stays_quoted,
    text_of_file,
    write_text,
)

_LINE_END = re.compile(rb"\r\n|\r|\n|")
# The quoting style of a column is judged by its first rows.
_JUDGED_ROWS = 100_000


def rewrite_text(table: TextTable, temporary: Path, changes: Changes) -> None:
    """Write a text file with some cells of one column changed, without some rows."""
    source, (column, cells, drop) = table.source, changes
    for label in set(cells.values()):
        check_encodable(source, label)
    rows = _TextRows(table, column, text_of_file(source))

    @cache
    def quotes_are_usual() -> bool:
        others = filter(lambda row: row not in cells, range(min(len(rows.begins), _JUDGED_ROWS)))
        found = (rows.unquoted(*bounds) for bounds in map(rows.cell, others) if bounds)
        # Many programs that quote all texts do not quote empty ones.
        judged = (quoted for text, quoted in found if text and not rows.needs_quotes(text))
        return are_mostly_quoted(judged, otherwise=False)

    def change(row: int, new: str) -> Edit:
        bounds = rows.cell(row)
        if bounds is None:
            raise TableError(
                f"{table.path}, {table.place(row)}: the row is blank and has fewer cells than "
                "there are columns, so that it has no cell to change; fill it up or leave it out."
            )
        old, was_quoted = rows.unquoted(*bounds)
        if new == old:
            return Edit(*bounds, rows.content[slice(*bounds)])
        old_needs, new_needs = rows.needs_quotes(old), rows.needs_quotes(new)
        is_quoted = stays_quoted(
            was_quoted=was_quoted,
            old_needs=old_needs,
            new_needs=new_needs,
            usual=was_quoted and old_needs and not new_needs and quotes_are_usual(),
        )
        text = '"' + new.replace('"', '""') + '"' if is_quoted else new
        return Edit(*bounds, text.encode(source.text_encoding))

    edits = [change(row, new) for row, new in cells.items()]
    edits += [Edit(rows.begins[row], rows.next_line(row), b"") for row in drop]
    write_text(source, temporary, edited(rows.content, edits))


class _TextRows:
    """The rows of a text table, and where the cells of one column stand in them.

    The strict reader has accepted them: a quotation mark at the beginning of a cell is closed at
    its end, and one that stands elsewhere means itself.
    """

    def __init__(self, table: TextTable, column: str, content: bytes):
        self.content, self._n_columns = content, len(table.names)
        self._source, self._index = table.source, table.names.index(column)
        self._separator = table.separator.encode()
        self._special = (table.separator, *'"\r\n')
        # Possessive: what was read of a cell is never given back, so that time is linear.
        pattern = rb'"[^"]*+(?:""[^"]*+)*+"|[^%b\r\n]*+' % re.escape(self._separator)
        self._cell = re.compile(pattern)
        found = [
            chunk.begin + row_starts(content[chunk.begin : chunk.end], table.separator).offsets
            for chunk in table.chunks
        ]
        self.begins: list[int] = np.concatenate(found).tolist()
        """Where the rows begin."""
        if len(self.begins) != table.rows_about:
            raise table.changed()

    def _cells(self, row: int) -> Iterator[tuple[int, int]]:
        begin = self.begins[row]
        while found := self._cell.match(self.content, begin):  # it may be empty
            yield found.span()
            if not self.content.startswith(self._separator, found.end()):
                return
            begin = found.end() + 1

    def cell(self, row: int) -> tuple[int, int] | None:
        """Return where the cell of a row stands; None if the row has too few cells."""
        found = list(islice(self._cells(row), self._n_columns))
        return found[self._index] if len(found) == self._n_columns else None

    def next_line(self, row: int) -> int:
        """Return where the line after a row begins."""
        *_, (_, end) = self._cells(row)
        found = _LINE_END.match(self.content, end)
        return found.end() if found else end

    def unquoted(self, begin: int, end: int) -> tuple[str, bool]:
        """Return the text of a cell, and whether it is quoted."""
        text = self._source.decode(self.content[begin:end])
        return (text[1:-1].replace('""', '"'), True) if text.startswith('"') else (text, False)

    def needs_quotes(self, text: str) -> bool:
        """Return whether a cell with this text would be read as another one without quotes."""
        return any(sign in text for sign in self._special)
