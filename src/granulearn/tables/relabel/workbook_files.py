"""Workbooks with some labels changed: the XML of one sheet differs, and only in these cells."""

from __future__ import annotations

import posixpath
import re
import zipfile
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from granulearn.tables.io.workbook import WorkbookTable, next_cell
from granulearn.tables.messages import TableError
from granulearn.tables.relabel.edits import (
    Changes,
    Edit,
    are_mostly_quoted,
    can_be_bare,
    changed_member,
    edited,
    is_number,
    stays_quoted,
)

_WORKBOOK = re.compile(r"xl/(workbook\w*\.xml)")
_TEXTS = ("s", "inlineStr", "str")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# An attribute may hold the sign that ends a tag.
_ATTRIBUTE = re.compile(rb"""([\w.:-]+)\s*=\s*("[^"]*"|'[^']*')""")
_FILLED = re.compile(rb"<(?:[\w.-]+:)?(?:v|is)[\s/>]")
_FORMULA = re.compile(rb"<(?:[\w.-]+:)?f[\s/>]")
_ELEMENT = (
    rb"""(?P<opened><(?P<prefix>(?:[\w.-]+:)?)%b(?P<tag>(?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*))"""
    rb"""\s*(?:/>|>(?P<inner>.*?)</(?P=prefix)%b\s*>)"""
)
_ROW = re.compile(_ELEMENT % (b"row", b"row"), re.DOTALL)
_CELL = re.compile(_ELEMENT % (b"c", b"c"), re.DOTALL)
_KIND = re.compile(r"""\s+t\s*=\s*(?:"[^"]*"|'[^']*')""")


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
    sheet = _Sheet(content, number)
    batches = table.batches([column])
    texts = [text or "" for batch in batches for text in batch.column(0).to_pylist()]

    @cache
    def texts_are_usual() -> bool:
        others = (row for row, text in enumerate(texts) if row not in cells and _can_be_bare(text))
        kinds = filter(None, (sheet.kind(lines[row]) for row in others))
        return are_mostly_quoted((kind in _TEXTS for kind in kinds), otherwise=True)

    def change(row: int, new: str) -> Edit:
        shown, old, kind = f"{table.path}, {table.place(row)}", texts[row], sheet.kind(lines[row])
        cell, insert_at = sheet.cell(lines[row])
        if cell and cell.has_formula:
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
            usual=texts_are_usual(),
        )
        prefix = sheet.rows[lines[row]]["prefix"].decode()
        opened = cell.opened if cell else f'<{prefix}c r="{_letters(number)}{lines[row]}"'
        begin, end = (cell.begin, cell.end) if cell else (insert_at, insert_at)
        return Edit(begin, end, _cell(opened, new, is_text, prefix))

    def removal(row: int) -> Edit:
        begin, end = sheet.rows[lines[row]].span("inner")
        # The workbook has a list of its formulas, in which they would be missed.
        if _FORMULA.search(content, begin, end):
            raise TableError(
                f"{table.path}, {table.place(row)}: the row holds formulas, and cannot be left out "
                "alone; replace the formulas by their values."
            )
        return Edit(begin, end, b"")

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


class _Cell(NamedTuple):
    """A cell in the bytes of a sheet."""

    begin: int
    end: int
    opened: str
    """Its first tag, without the sign that ends it."""
    attributes: dict[str, str]
    has_formula: bool
    is_filled: bool


class _Sheet:
    """The rows of a sheet, and where the cells of one column stand in them."""

    def __init__(self, content: bytes, column: int):
        self._content, self._column = content, column
        self.rows: dict[int, re.Match[bytes]] = {}
        """Rows by their number."""
        number = 0
        for row in _ROW.finditer(content):
            number, _ = next_cell("row", _attributes(row["tag"]), number, 0)
            self.rows[number] = row

    def cell(self, number: int) -> tuple[_Cell | None, int]:
        """Return the cell of a row, and where it would have to be put in if there is none."""
        row, column = self.rows[number], 0
        insert_at = row.start("inner")
        for found in _CELL.finditer(self._content, *row.span("inner")):
            attributes, inner = _attributes(found["tag"]), found["inner"] or b""
            _, column = next_cell("c", attributes, number, column)
            if column == self._column:
                opened = found["opened"].decode()
                holds_formula, is_filled = bool(_FORMULA.search(inner)), bool(_FILLED.search(inner))
                cell = _Cell(*found.span(), opened, attributes, holds_formula, is_filled)
                return cell, insert_at
            if column < self._column:
                insert_at = found.end()
        return None, insert_at

    def kind(self, number: int) -> str:
        """Return the type of the cell of a row; empty if it holds nothing."""
        cell, _ = self.cell(number)
        return cell.attributes.get("t", "n") if cell and cell.is_filled else ""


def _attributes(tag: bytes) -> dict[str, str]:
    return {name.decode(): value[1:-1].decode() for name, value in _ATTRIBUTE.findall(tag)}


def _cell(opened: str, text: str, is_text: bool, prefix: str) -> bytes:
    """Return a cell with a text, a number or a truth value; its other attributes stay."""
    opened = _KIND.sub("", opened, count=1)
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
    return f"{opened}{kind}>{inner}</{prefix}c>".encode()


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
