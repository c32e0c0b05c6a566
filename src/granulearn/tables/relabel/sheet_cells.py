"""The cells of one column in the XML of a sheet: where they stand, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

# Attributes may hold the sign that ends a tag.
_TAG = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_KIND = re.compile(rb"""\s+t=(?:"[^"]*"|'[^']*')""")
_LETTERS = re.compile(r"[A-Za-z]+")


class SheetCell(NamedTuple):
    """A cell in the bytes of a sheet."""

    begin: int
    end: int
    tag: bytes
    """Its first tag."""
    kind: str
    """What its content is: ``n`` a number, ``s`` the number of a shared text, and others."""
    has_formula: bool


class SheetRow(NamedTuple):
    """A row in the bytes of a sheet."""

    begin: int
    """Offset of its content, after its first tag."""
    end: int
    """Offset after its content."""
    place: int
    """Where a cell of the column would have to be put in."""
    cell: SheetCell | None
    has_formula: bool


class SheetScan:
    """What is to be known of a sheet to change one of its columns.

    Parameters
    ----------
    content : bytes
        The XML of the sheet.
    column : int
        Number of the column, from 1.
    wanted : collection of int
        Numbers, from 1, of the rows that will be changed.
    """

    def __init__(self, content: bytes, column: int, wanted: Collection[int]):
        self.kinds: dict[int, str] = {}
        """The kinds of all cells of the column that hold something, by row."""
        self.rows: dict[int, SheetRow] = {}
        """The rows that are wanted."""
        self.states_numbers = False
        """Whether the sheet says of numbers that they are some; it need not."""
        self.prefix = ""
        """What stands before the names of elements."""
        self._content, self._column, self._wanted = content, column, wanted
        self._row = self._place = 0
        self._in_row = False
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.Parse(content, True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        if local == "row":
            self.prefix = f"{prefix}:" if prefix else ""
            self._begin_row(attributes)
        elif not self._in_row:
            return
        elif local == "c":
            self._begin_cell(attributes)
        elif local == "f":
            self._row_has_formula = self._cell_has_formula = True
        elif local in ("v", "is") and self._place == self._column:
            self.kinds[self._row] = self._kind

    def _begin_row(self, attributes: dict[str, str]) -> None:
        self._in_row = True
        self._row = int(attributes["r"]) if "r" in attributes else self._row + 1
        self._place = 0
        self._row_begin = self._insert_at = self._after_tag()
        self._row_has_formula = False
        self._cell: SheetCell | None = None

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._place = column_number(attributes["r"]) if "r" in attributes else self._place + 1
        self._kind = attributes.get("t", "n")
        self._cell_begin, self._cell_tag_end = self._parser.CurrentByteIndex, self._after_tag()
        self._cell_has_formula = False
        self.states_numbers |= attributes.get("t") == "n"

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        if local == "c" and self._in_row:
            if self._place < self._column:
                self._insert_at = self._after_end()
            elif self._place == self._column and self._row in self._wanted:
                tag = self._content[self._cell_begin : self._cell_tag_end]
                self._cell = SheetCell(
                    self._cell_begin, self._after_end(), tag, self._kind, self._cell_has_formula
                )
        elif local == "row":
            self._in_row = False
            if self._row in self._wanted:
                self.rows[self._row] = SheetRow(
                    self._row_begin,
                    self._parser.CurrentByteIndex,
                    self._insert_at,
                    self._cell,
                    self._row_has_formula,
                )

    def _after_tag(self) -> int:
        found = _TAG.match(self._content, self._parser.CurrentByteIndex)
        assert found is not None  # the parser has found it, too
        return found.end()

    def _after_end(self) -> int:
        """Return the offset after an element; one that is empty may have one tag only."""
        place = self._parser.CurrentByteIndex
        if self._content.startswith(b"</", place):
            return self._content.index(b">", place) + 1
        return place


def column_number(reference: str) -> int:
    """Return the number, from 1, of a column.

    Parameters
    ----------
    reference : str
        A cell of it, such as ``AB12``.
    """
    number = 0
    letters = _LETTERS.match(reference)
    for letter in letters[0].upper() if letters else "":
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def column_letters(number: int) -> str:
    """Return the letters of a column.

    Parameters
    ----------
    number : int
        Its number, from 1.
    """
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def cell_xml(tag: bytes, kind: str | None, content: str, prefix: str = "") -> bytes:
    """Return a cell of another kind with another content; all its other attributes stay.

    Parameters
    ----------
    tag : bytes
        Its first tag.
    kind : str or None
        What the content is; None says nothing of it, as is usual for numbers.
    content : str
        A number, the number of a shared text, or a text; nothing if it is empty.
    prefix : str, default=""
        What stands before the names of elements.
    """
    opened = tag.removesuffix(b">").removesuffix(b"/").rstrip()
    stated = b"" if kind is None else f' t="{kind}"'.encode()
    if _KIND.search(opened):
        opened = _KIND.sub(stated, opened, count=1)
    else:
        opened += stated
    if not content and kind != "inlineStr":
        return opened + b"/>"
    inner = f"<{prefix}v>{_escaped(content)}</{prefix}v>"
    if kind == "inlineStr":
        # Programs drop blanks at the ends of a text unless they are told not to.
        space = ' xml:space="preserve"' if content != content.strip() else ""
        text = f"<{prefix}t{space}>{_escaped(content)}</{prefix}t>"
        inner = f"<{prefix}is>{text}</{prefix}is>"
    return opened + f">{inner}</{prefix}c>".encode()


def _escaped(text: str) -> str:
    # A bare carriage return would be read as a line feed.
    return escape(text, {"\r": "&#13;"})
