"""Workbooks with some labels changed: the XML of one sheet differs, and only in these cells."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat
from xml.sax.saxutils import escape

from granulearn.tables.errors import TableError
from granulearn.tables.io.workbook import WorkbookTable, next_cell
from granulearn.tables.relabel.compression import changed_member
from granulearn.tables.relabel.edits import Changes, Edit, edited
from granulearn.tables.relabel.quoting import (
    are_mostly_quoted,
    can_be_bare,
    is_number,
    stays_quoted,
)

_WORKBOOK = re.compile(r"xl/(workbook\w*\.xml)")
_TEXTS = ("s", "inlineStr", "str")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Attributes may hold the sign that ends a tag.
_TAG = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_KIND = re.compile(rb"""\s+t=(?:"[^"]*"|'[^']*')""")


def rewrite_workbook(table: WorkbookTable, temporary: Path, changes: Changes) -> None:
    """Write a workbook with some cells of one column of a sheet changed, and some rows emptied.

    All other parts of the workbook are copied. Other rows stay where they are, so that
    formulas and charts still point to them: what is left of a dropped row is an empty one,
    which the reader skips.
    """
    column, cells, drop = changes
    for label in cells.values():
        if _NOT_IN_XML.search(label):
            raise TableError(
                f"{table.path}: the label {label!r} holds a character that no workbook can hold; "
                "spell it otherwise."
            )
    member, content = _sheet(table)
    lines = table.lines().tolist()
    number = table.columns[table.names.index(column)]
    sheet = _Sheet(content, number, {lines[row] for row in (*cells, *drop)})
    batches = table.batches([column])
    texts = [text or "" for batch in batches for text in batch.column(0).to_pylist()]
    judged = (
        sheet.kinds.get(lines[row]) in _TEXTS
        for row, text in enumerate(texts)
        if row not in cells and _can_be_bare(text)
    )
    texts_are_usual = are_mostly_quoted(judged) is not False

    def change(row: int, new: str) -> Edit:
        shown = f"{table.path}, {table.place(row)}"
        found, kind, old = sheet.rows[lines[row]], sheet.kinds.get(lines[row], ""), texts[row]
        if found.cell_has_formula:
            raise TableError(
                f"{shown}: the cell is computed by a formula, which a label would overwrite; "
                "replace the formulas of the column by their values."
            )
        if kind == "d" or (kind == "n" and not is_number(old or "0")):
            raise TableError(
                f"{shown}: the cell holds the date or time {old!r}, which cannot be changed; write "
                "the labels as text or as numbers."
            )
        is_text = stays_quoted(
            was_quoted=kind in (*_TEXTS, "", "e"),
            old_needs=not _can_be_bare(old),
            new_needs=not _can_be_bare(new),
            usual=lambda: texts_are_usual,
        )
        begin, end = found.cell or (found.insert_at, found.insert_at)
        reference = f"{_letters(number)}{lines[row]}"
        tag = found.tag or f'<{sheet.prefix}c r="{reference}">'.encode()
        return Edit(begin, end, _cell(tag, new, is_text, sheet.prefix))

    def removal(row: int) -> Edit:
        found = sheet.rows[lines[row]]
        # The workbook has a list of its formulas, in which they would be missed.
        if found.has_formula:
            raise TableError(
                f"{table.path}, {table.place(row)}: the row holds formulas, and cannot be left out "
                "alone; replace the formulas by their values."
            )
        return Edit(found.begin, found.end, b"")

    edits = [change(row, new) for row, new in cells.items() if new != texts[row]]
    edits += [removal(row) for row in drop]
    with changed_member(table.path, temporary, member) as file:
        file.write(edited(content, edits))


def _sheet(table: WorkbookTable) -> tuple[str, bytes]:
    """Return the member of the archive that holds the sheet, and its XML."""
    old_format = TableError(
        f"{table.path} is a workbook in a format that can be read but not changed; save it as "
        ".xlsx or as CSV."
    )
    if not zipfile.is_zipfile(table.path):
        raise old_format
    with zipfile.ZipFile(table.path) as archive:
        found = next(filter(None, map(_WORKBOOK.fullmatch, archive.namelist())), None)
        if found is None:
            raise old_format
        relations = ElementTree.fromstring(archive.read(f"xl/_rels/{found[1]}.rels"))
        targets = {one.get("Id"): one.get("Target", "") for one in relations}
        for sheet in ElementTree.fromstring(archive.read(f"xl/{found[1]}")).findall(".//{*}sheet"):
            if sheet.get("name") == table.sheet:
                key = next((v for k, v in sheet.items() if k.rpartition("}")[2] == "id"), None)
                target = posixpath.join("/xl", targets.get(key, ""))
                member = posixpath.normpath(target).lstrip("/")
                if member in archive.namelist():
                    break
        else:
            raise TableError(
                f"{table.path}: the part of the workbook that holds the sheet {table.sheet!r} was "
                "not found; open it in a spreadsheet program and save it again."
            )
        content = archive.read(member)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(
            f"{table.path}: the sheet {table.sheet!r} is written in UTF-16; open the workbook in a "
            "spreadsheet program and save it again."
        )
    return member, content


class _Row:
    """A row in the bytes of a sheet."""

    begin: int
    """Offset of its content, after its first tag."""
    end = 0
    """Offset after its content."""
    insert_at: int
    """Where a cell of the column would have to be put in."""
    cell: tuple[int, int] | None = None
    """Where the cell of the column stands."""
    tag = b""
    """The first tag of that cell."""
    cell_has_formula = False
    has_formula = False

    def __init__(self, begin: int):
        self.begin = self.insert_at = begin


class _Sheet:
    """What is to be known of the XML of a sheet to change cells of a column in some rows."""

    def __init__(self, content: bytes, column: int, wanted: Collection[int]):
        self.kinds: dict[int, str] = {}
        """The kinds of all cells of the column that hold something, by row."""
        self.rows: dict[int, _Row] = {}
        self.prefix = ""
        """What stands before the names of elements."""
        self._content, self._wanted, self._of_labels = content, wanted, column
        self._row = self._column = self._begin = 0
        self._found: _Row | None = None
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.Parse(content, True)

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        prefix, colon, local = name.rpartition(":")
        if local == "row":
            self.prefix = prefix + colon
            self._row, self._column = next_cell(local, attributes, self._row, self._column)
            self._found = _Row(self._after_tag()) if self._row in self._wanted else None
        elif local == "c":
            _, self._column = next_cell(local, attributes, self._row, self._column)
            self._kind, self._begin = attributes.get("t", "n"), self._parser.CurrentByteIndex
            if self._found and self._column == self._of_labels:
                self._found.tag = self._content[self._begin : self._after_tag()]
        elif local in ("v", "is") and self._column == self._of_labels:
            self.kinds[self._row] = self._kind
        elif local == "f" and self._found:
            self._found.has_formula = True
            self._found.cell_has_formula |= self._column == self._of_labels

    def _end_element(self, name: str) -> None:
        local = name.rpartition(":")[2]
        if local == "c" and self._found:
            if self._column < self._of_labels:
                self._found.insert_at = self._after_end()
            elif self._column == self._of_labels:
                self._found.cell = (self._begin, self._after_end())
        elif local == "row" and self._found:
            self._found.end = self._parser.CurrentByteIndex
            self.rows[self._row] = self._found

    def _after_tag(self) -> int:
        found = _TAG.match(self._content, self._parser.CurrentByteIndex)
        assert found is not None  # the parser has found it, too
        return found.end()

    def _after_end(self) -> int:
        """Return the offset after an element; one that is empty may have one tag only."""
        end = self._parser.CurrentByteIndex
        is_tag = self._content.startswith(b"</", end)
        return self._content.index(b">", end) + 1 if is_tag else end


def _cell(tag: bytes, text: str, is_text: bool, prefix: str) -> bytes:
    """Return a cell with a text, a number or a truth value; its other attributes stay."""
    opened = _KIND.sub(b"", tag.removesuffix(b">").removesuffix(b"/").rstrip(), count=1)
    # A bare carriage return would be read as a line feed.
    content = escape(text, {"\r": "&#13;"})
    if is_text:
        # Programs drop blanks at the ends of a text unless they are told not to.
        space = ' xml:space="preserve"' if text != text.strip() else ""
        kind = ' t="inlineStr"'
        inner = f"<{prefix}is><{prefix}t{space}>{content}</{prefix}t></{prefix}is>"
    else:
        is_truth = text in ("true", "false")
        kind = ' t="b"' if is_truth else ""
        inner = f"<{prefix}v>{int(text == 'true') if is_truth else content}</{prefix}v>"
    return opened + f"{kind}>{inner}</{prefix}c>".encode()


def _letters(number: int) -> str:
    """Return the letters of a column."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def _can_be_bare(text: str) -> bool:
    """Return whether a text is a truth value, or a number that a workbook holds exactly."""
    if not is_number(text):
        return can_be_bare(text)
    return Decimal(repr(float(text))) == Decimal(text)
