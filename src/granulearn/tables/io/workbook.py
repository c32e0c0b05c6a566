"""Workbooks of Excel and OpenDocument: one sheet as a table of text."""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa
import python_calamine as calamine

from granulearn.tables.io import sheets
from granulearn.tables.io.edits import Edit, can_be_bare, changed_member, edited, is_json_number
from granulearn.tables.io.frames import FrameTable, text_of
from granulearn.tables.io.sheets import Sheet, is_filled
from granulearn.tables.io.table_file import AS_FOUND, Changes, Expansion, ReadOptions
from granulearn.tables.messages import Message, Setting, TableError

# Stream of an encrypted .xlsx file.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
# Errors of a damaged archive, or of XML that is no sheet.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    *(ElementTree.ParseError, KeyError, ValueError),
)
_SILENT: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
_REFERENCE = re.compile(r"([A-Za-z]{1,8})([0-9]{1,18})")
_WORKBOOK = re.compile(r"xl/(workbook\w*\.xml)")
# An attribute may hold ">".
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


class WorkbookTable(FrameTable):
    """A sheet; its first row that is not empty is the header.

    Rows that are empty are skipped, and so are columns without a name and without a cell.

    Parameters
    ----------
    path : Path
        The file.
    shown : Path
        As the user named it, for messages.
    options : ReadOptions, optional
        Which sheet; the first one that is visible and not empty unless stated.
    """

    def __init__(self, path: Path, shown: Path, options: ReadOptions = AS_FOUND):
        (self.sheet, cells, (top, left)), note = _chosen_sheet(path, shown, options)
        self._expansion = Expansion(shown, path.stat().st_size, options)
        filled = [number for number, row in enumerate(cells) if is_filled(row)]
        if len(filled) < 2:
            what = "has a header but no data rows" if filled else "is empty"
            problem = f"{shown}: the sheet {self.sheet!r} {what}; name another ("
            raise TableError(Message(problem, Setting("sheet"), ")."))
        columns = [[cells[number][index] for number in filled] for index in range(len(cells[0]))]
        used = [index for index, column in enumerate(columns) if is_filled(column)]
        texts = [list(map(text_of, columns[index])) for index in used]
        arrays = [pa.array(column[1:], pa.string()) for column in texts]
        header = [column[0] or "" for column in texts]
        super().__init__(pa.Table.from_arrays(arrays, names=header), shown)
        self.notes = (*note, *self.notes)
        self.columns = [left + 1 + index for index in used]
        """Number in the sheet, from 1, of each column."""
        self._has_bare = [any(isinstance(c, (bool, int, float)) for c in columns[i]) for i in used]
        self._lines = top + 1 + np.array(filled[1:])

    def location(self, row: int) -> str:
        """Return the location of a row, for messages.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        return f"sheet {self.sheet!r}, row {self._lines[row]}"

    def lines(self) -> np.ndarray:
        """Return the row of the sheet, from 1, that each data row is."""
        return self._lines

    def part(self, archive: zipfile.ZipFile, name: str) -> bytes:
        """Return the content of a part of the workbook."""
        self._expansion.add(archive.getinfo(name).file_size)
        return archive.read(name)

    def _rewrite(self, temporary: Path, changes: Changes) -> None:
        """Write a workbook with some cells of one column of a sheet changed, and some rows emptied.

        All other parts of the workbook are copied. Other rows keep their numbers, so that
        formulas and charts still refer to them: a dropped row stays as an empty one, which the
        reader skips. A number or a Boolean is written as one if the column has others.
        """
        try:
            self._rewrite_sheet(temporary, changes)
        except TableError:
            raise
        except _DAMAGED as error:
            raise _damaged(self.path, error) from error

    def _rewrite_sheet(self, temporary: Path, changes: Changes) -> None:
        member, content = _sheet(self)
        index, lines = self.names.index(changes.column), self.lines().tolist()
        number, has_bare, rows = self.columns[index], self._has_bare[index], _rows(content)
        batches = self.batches([changes.column])
        texts = [text or "" for batch in batches for text in batch[0].to_pylist()]

        def change(row: int, new: str) -> Edit:
            shown, line = f"{self.path}, {self.location(row)}", lines[row]
            cell, insert_at = _find_cell(content, rows[line], line, number)
            inner = cell["inner"] or b"" if cell else b""
            kind = _attributes(cell["tag"]).get("t", "n") if cell and _FILLED.search(inner) else ""
            if _FORMULA.search(inner):
                raise TableError(
                    f"{shown}: the cell is computed by a formula, which a label would "
                    "overwrite; replace the formulas of the column by their values."
                )
            if kind == "d" or (kind == "n" and not is_json_number(texts[row] or "0")):
                raise TableError(
                    f"{shown}: the cell holds the date or time {texts[row]!r}, which cannot be "
                    "changed; write the labels as text or as numbers."
                )
            prefix = rows[line]["prefix"].decode()
            opened = f'<{prefix}c r="{_letters(number)}{line}"'
            opened = cell["opened"].decode() if cell else opened
            begin, end = cell.span() if cell else (insert_at, insert_at)
            return Edit(begin, end, _cell(opened, new, has_bare and can_be_bare(new), prefix))

        def removal(row: int) -> Edit:
            begin, end = rows[lines[row]].span("inner")
            # The workbook lists its formulas elsewhere, too.
            if _FORMULA.search(content, begin, end):
                raise TableError(
                    f"{self.path}, {self.location(row)}: the row holds formulas, and cannot be "
                    "left out alone; replace the formulas by their values."
                )
            return Edit(begin, end, b"")

        edits = [change(row, new) for row, new in changes.cells.items() if new != texts[row]]
        edits += map(removal, changes.drop)
        with changed_member(self.path, temporary, member) as file:
            file.write(edited(content, edits))


def _chosen_sheet(path: Path, shown: Path, options: ReadOptions) -> tuple[Sheet, list[str]]:
    """Return a sheet, and a note on the choice."""
    expansion = Expansion(shown, path.stat().st_size, options)
    command = [sys.executable, "-I", sheets.__file__, str(path), str(expansion.most)]
    command += [] if options.sheet is None else [options.sheet]
    if subprocess.run(command, **_SILENT, check=False).returncode:
        raise expansion.error()
    try:
        names, sheet = sheets.read_sheet(str(path), options.sheet)
    except calamine.CalamineError as error:
        if isinstance(error, calamine.PasswordError) or _ENCRYPTED in path.read_bytes():
            raise TableError(
                f"{shown} is protected by a password; save it without one, or save the sheet as "
                "CSV."
            ) from error
        raise _damaged(shown, error) from error
    if sheet is None and options.sheet is None:
        raise TableError(f"{shown} is empty; none of its {len(names)} sheets has a cell.")
    if sheet is None:
        listed = ", ".join(f"{number} {name!r}" for number, name in enumerate(names, start=1))
        problem = f"{shown} has no sheet {options.sheet!r}; it has {listed} ("
        raise TableError(Message(problem, Setting("sheet"), ")."))
    if options.sheet is not None or len(names) == 1:
        return sheet, []
    number = names.index(sheet.name) + 1
    which = "the first" if number == 1 else f"number {number}"
    choice = f"sheet {sheet.name!r}, {which} of {len(names)} ("
    return sheet, [Message(choice, Setting("sheet"), " takes another)")]


def _damaged(shown: Path, error: Exception) -> TableError:
    return TableError(
        f"{shown} is no workbook that can be read ({error}); open it in a spreadsheet program "
        "and save it again, as .xlsx or as CSV."
    )


def next_cell(name: str, attributes: dict[str, str], row: int, column: int) -> tuple[int, int]:
    """Return row and column, from 1, of a row or cell; its reference may be missing."""
    if name == "row":
        return int(attributes.get("r", row + 1)), 0
    found = _REFERENCE.match(attributes.get("r", ""))
    if found is None:
        return row, column + 1
    column = 0
    for letter in found[1].upper():
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(found[2]), column


def _sheet(table: WorkbookTable) -> tuple[str, bytes]:
    """Return the archive member of the sheet, and its XML."""
    names: list[str] = []
    if zipfile.is_zipfile(table.path):
        with zipfile.ZipFile(table.path) as archive:
            names = archive.namelist()
    found = next(filter(None, map(_WORKBOOK.fullmatch, names)), None)
    if found is None:
        raise TableError(
            f"{table.path} is a workbook in a format that can be read but not changed; save it as "
            ".xlsx or as CSV."
        )
    with zipfile.ZipFile(table.path) as archive:
        parts = (f"xl/_rels/{found[1]}.rels", f"xl/{found[1]}")
        relations, book = (ElementTree.fromstring(table.part(archive, part)) for part in parts)
        targets = {one.get("Id"): one.get("Target", "") for one in relations}
        for sheet in book.findall(".//{*}sheet"):
            if sheet.get("name") == table.sheet:
                key = next((v for k, v in sheet.items() if k.rpartition("}")[2] == "id"), None)
                member = posixpath.normpath(posixpath.join("/xl", targets.get(key, ""))).lstrip("/")
                if member in names and _ROW.search(content := table.part(archive, member)):
                    return member, content
    raise TableError(
        f"{table.path}: the part of the workbook that holds the sheet {table.sheet!r} was not "
        "found; open it in a spreadsheet program and save it again."
    )


def _rows(content: bytes) -> dict[int, re.Match[bytes]]:
    """Return the rows in the XML of a sheet, by their number."""
    rows, number = {}, 0
    for row in _ROW.finditer(content):
        number, _ = next_cell("row", _attributes(row["tag"]), number, 0)
        rows[number] = row
    return rows


def _find_cell(
    content: bytes, row: re.Match[bytes], line: int, wanted: int
) -> tuple[re.Match[bytes] | None, int]:
    """Return the cell of a row in a column, and the position to insert one if there is none."""
    insert_at, column = row.start("inner"), 0
    for cell in _CELL.finditer(content, *row.span("inner")):
        _, column = next_cell("c", _attributes(cell["tag"]), line, column)
        if column == wanted:
            return cell, insert_at
        if column < wanted:
            insert_at = cell.end()
    return None, insert_at


def _attributes(tag: bytes) -> dict[str, str]:
    return {name.decode(): value[1:-1].decode() for name, value in _ATTRIBUTE.findall(tag)}


def _cell(opened: str, text: str, is_bare: bool, prefix: str) -> bytes:
    """Return a cell with a text, a number or a Boolean; its other attributes stay."""
    opened = _KIND.sub("", opened, count=1)
    # A bare carriage return would be read as a line feed.
    kind, content = "", escape(text, {"\r": "&#13;"})
    if is_bare:
        if text in ("true", "false"):
            kind, content = ' t="b"', str(int(text == "true"))
        inner = f"<{prefix}v>{content}</{prefix}v>"
    else:
        # Otherwise programs drop blanks at the ends.
        space = ' xml:space="preserve"' if text != text.strip() else ""
        kind = ' t="inlineStr"'
        inner = f"<{prefix}is><{prefix}t{space}>{content}</{prefix}t></{prefix}is>"
    return f"{opened}{kind}>{inner}</{prefix}c>".encode()


def _letters(number: int) -> str:
    """Return the letters of a column."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
