"""Where the cells of a row of text stand, and whether a cell needs quotation marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from granulearn.tables.relabel.splicing import Line

_LINE_END = re.compile(rb"\r\n|\r|\n|")


class Cell(NamedTuple):
    """A cell in the bytes of a file."""

    begin: int
    end: int
    """Offset after it, with its quotation marks."""
    content: bytes
    """What is in it: without its marks, and with inner ones that are not doubled."""
    is_quoted: bool


@dataclass(frozen=True)
class CellFinder:
    """Finds a cell of one column.

    The rows must be those that the strict reader accepts: a quotation mark at the beginning
    of a cell is closed at its end, and one that stands elsewhere means itself.
    """

    separator: str
    place: int
    """Number of the column, from 0."""
    n_columns: int

    @cached_property
    def _cell(self) -> bytes:
        # Possessive: what was read of a cell is never given back, so that time is linear.
        between = re.escape(self.separator.encode())
        return rb'(?>"[^"]*+(?:""[^"]*+)*+"|[^' + between + rb"\r\n]*+)"

    @cached_property
    def _row_with_cell(self) -> re.Pattern[bytes]:
        between = re.escape(self.separator.encode())
        before = b"(?:%b%b){%d}+" % (self._cell, between, self.place)
        after = b"(?:%b%b){%d}+" % (between, self._cell, self.n_columns - 1 - self.place)
        return re.compile(b"%b(%b)%b" % (before, self._cell, after))

    @cached_property
    def _row(self) -> re.Pattern[bytes]:
        between = re.escape(self.separator.encode())
        return re.compile(b"%b(?:%b%b)*+" % (self._cell, between, self._cell))

    def cell(self, content: bytes, row: int) -> Cell | None:
        """Return the cell of a row; None if the row has fewer cells than there are columns.

        Parameters
        ----------
        content : bytes
            Whole rows.
        row : int
            Offset of the row.
        """
        found = self._row_with_cell.match(content, row)
        if found is None:
            return None
        begin, end = found.span(1)
        cell = found[1]
        if cell.startswith(b'"'):
            return Cell(begin, end, cell[1:-1].replace(b'""', b'"'), True)
        return Cell(begin, end, cell, False)

    def line(self, content: bytes, row: int) -> Line:
        """Return where a row ends.

        Parameters
        ----------
        content : bytes
            Whole rows.
        row : int
            Offset of the row.
        """
        found = self._row.match(content, row)
        assert found is not None  # a cell may be empty
        line_end = _LINE_END.match(content, found.end())
        assert line_end is not None  # it may be empty, too
        return Line(row, found.end(), line_end.end())

    def needs_quotes(self, text: str) -> bool:
        """Return whether a cell with this text would be read as another one without quotes.

        Parameters
        ----------
        text : str
            Of the cell. Blanks around it are kept without quotes, too.
        """
        # An empty line is no row.
        would_be_no_row = not text and self.n_columns == 1
        return would_be_no_row or any(sign in text for sign in (self.separator, '"', "\r", "\n"))


def quoted(text: str) -> str:
    """Return a text in quotation marks.

    Parameters
    ----------
    text : str
        Any text.
    """
    return '"' + text.replace('"', '""') + '"'
