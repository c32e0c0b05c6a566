"""Workbooks with some labels changed: the XML of one sheet differs, and only in these cells."""

from __future__ import annotations

import posixpath
import re
import shutil
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import python_calamine as calamine

from granulearn.tables.errors import TableError
from granulearn.tables.io.workbook import WorkbookTable
from granulearn.tables.relabel.habits import (
    are_mostly_marked,
    can_be_bare,
    is_number,
    stays_marked,
)
from granulearn.tables.relabel.packing import copy_archive
from granulearn.tables.relabel.sheet_cells import (
    SheetCell,
    SheetRow,
    SheetScan,
    cell_xml,
    column_letters,
)

_WORKBOOK = re.compile(r"xl/(workbook\w*\.xml)")
_TEXTS = ("s", "inlineStr", "str")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def rewrite_workbook(
    table: WorkbookTable,
    path: Path,
    draft: Path,
    column: str,
    cells: Mapping[int, str],
    drop: Collection[int],
) -> None:
    """Write a workbook with some cells of one column of a sheet changed.

    All other parts of the workbook are copied. Other rows stay where they are, so that
    formulas and charts still point to them: what is left of a dropped row is an empty one,
    which the reader skips.

    Parameters
    ----------
    table : WorkbookTable
        The sheet.
    path : Path
        The file.
    draft : Path
        Where to write.
    column : str
        The column.
    cells : mapping of int to str
        New texts by row.
    drop : collection of int
        Rows to leave out.
    """
    _check_labels(table, cells.values())
    if not zipfile.is_zipfile(path):
        raise _old_format(table)
    with zipfile.ZipFile(path) as archive:
        found = next(filter(None, map(_WORKBOOK.fullmatch, archive.namelist())), None)
        if found is None:
            raise _old_format(table)
        member, texts = _parts(archive, found[1], table)
        content = archive.read(member)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(
            f"{table.path}: the sheet {table.sheet!r} is written in UTF-16; open the workbook in a "
            "spreadsheet program and save it again."
        )
    sheet = _Sheet(table, path, content, column, texts)
    edits = sorted([*sheet.changes(cells), *sheet.removals(drop)])
    if not edits:
        shutil.copyfile(path, draft)
        return
    copy_archive(path, table.path, draft, {member: _spliced(content, edits)})


def _spliced(content: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    pieces, position = [], 0
    for begin, end, new in edits:
        pieces += [content[position:begin], new]
        position = end
    return b"".join([*pieces, content[position:]])


def _check_labels(table: WorkbookTable, labels: Iterable[str]) -> None:
    for label in labels:
        if _NOT_IN_XML.search(label):
            raise TableError(
                f"{table.path}: the label {label!r} holds a character that no workbook can hold; "
                "spell it otherwise."
            )


def _old_format(table: WorkbookTable) -> TableError:
    return TableError(
        f"{table.path} is a workbook in a format that can be read but not changed; save it as "
        ".xlsx or as CSV."
    )


def _parts(
    archive: zipfile.ZipFile, workbook: str, table: WorkbookTable
) -> tuple[str, dict[str, int]]:
    """Return the member that holds the sheet, and the numbers of shared texts."""
    members, shared = {}, None
    for relation in ElementTree.fromstring(archive.read(f"xl/_rels/{workbook}.rels")):
        member = posixpath.normpath(posixpath.join("/xl", relation.get("Target", ""))).lstrip("/")
        members[relation.get("Id")] = member
        if relation.get("Type", "").endswith("/sharedStrings") and member in archive.namelist():
            shared = member
    for sheet in _elements(ElementTree.fromstring(archive.read(f"xl/{workbook}")), "sheet"):
        if sheet.get("name") == table.sheet:
            identity = next((v for k, v in sheet.items() if k.rpartition("}")[2] == "id"), None)
            if members.get(identity) in archive.namelist():
                texts = _shared_texts(archive.read(shared)) if shared else {}
                return members[identity], texts
    raise TableError(
        f"{table.path}: the part of the workbook that holds the sheet {table.sheet!r} was not "
        "found; open it in a spreadsheet program and save it again."
    )


def _elements(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (one for one in root.iter() if _local(one) == name)


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _shared_texts(content: bytes) -> dict[str, int]:
    """Return the number of each shared text; that of one without letters in bold, if it can be."""
    plain: dict[str, int] = {}
    rich: dict[str, int] = {}
    for number, item in enumerate(_elements(ElementTree.fromstring(content), "si")):
        runs = [part for part in item if _local(part) == "r"]
        texts = [part for one in (runs or [item]) for part in one if _local(part) == "t"]
        text = "".join(part.text or "" for part in texts)
        (rich if runs else plain).setdefault(text, number)
    return {**rich, **plain}


class _Sheet:
    """A sheet, and the column of it that is to be changed."""

    def __init__(
        self, table: WorkbookTable, path: Path, content: bytes, column: str, texts: dict[str, int]
    ):
        self._table = table
        self._texts = texts
        self._content = content
        self._lines = [int(line) for line in table.lines()]
        with calamine.CalamineWorkbook.from_path(path) as book:
            sheet = book.get_sheet_by_name(table.sheet)
            start = sheet.start or (0, 0)
            values = sheet.to_python()
        used = [
            place
            for place in range(len(values[0]))
            if any(_is_filled(row[place]) for row in values)
        ]
        place = used[table.names.index(column)]
        self._column = start[1] + 1 + place
        batches = table.batches([column])
        self._old = [cell for batch in batches for cell in batch.column(0).to_pylist()]
        self._has_others = [
            any(_is_filled(cell) for other, cell in enumerate(row) if other != place)
            for row in (values[line - 1 - start[0]] for line in self._lines)
        ]

    def changes(self, cells: Mapping[int, str]) -> list[tuple[int, int, bytes]]:
        """Return stretches of the sheet with what is to stand there.

        Parameters
        ----------
        cells : mapping of int to str
            New texts by row.
        """
        cells = {row: text for row, text in cells.items() if text != (self._old[row] or "")}
        if not cells:
            return []
        wanted = {self._lines[row] for row in cells}
        self._scan = scan = SheetScan(self._content, self._column, wanted)
        self._others = [
            (text, scan.kinds[line])
            for row, (line, text) in enumerate(zip(self._lines, self._old, strict=True))
            if row not in cells and line in scan.kinds and text
        ]
        return [self._change(row, text) for row, text in cells.items()]

    def _change(self, row: int, new: str) -> tuple[int, int, bytes]:
        found = self._scan.rows[self._lines[row]]
        self._check(row, new, found)
        cell = found.cell
        if cell is None:
            reference = f"{column_letters(self._column)}{self._lines[row]}"
            tag = f'<{self._scan.prefix}c r="{reference}">'.encode()
            return found.place, found.place, self._written(tag, "", "", new)
        old = self._old[row] or ""
        kind = self._scan.kinds.get(self._lines[row], "")
        if not new and _is_bare_tag(cell):
            return cell.begin, cell.end, b""
        return cell.begin, cell.end, self._written(cell.tag, kind, old, new)

    def _written(self, tag: bytes, kind: str, old: str, new: str) -> bytes:
        """Return the new cell; the old one holds nothing if it is of no kind."""
        if not new:
            return cell_xml(tag, None, "", self._scan.prefix)
        is_text = stays_marked(
            was_marked=kind in (*_TEXTS, "", "e"),
            old_needs=not _can_be_bare(old),
            new_needs=not _can_be_bare(new),
            habit=self._texts_are_usual,
        )
        if is_text:
            return cell_xml(tag, *self._as_text(kind, old, new), self._scan.prefix)
        if is_number(new):
            stated = "n" if self._scan.states_numbers else None
            return cell_xml(tag, stated, new, self._scan.prefix)
        return cell_xml(tag, "b", str(int(new == "true")), self._scan.prefix)

    def _as_text(self, kind: str, old: str, new: str) -> tuple[str, str]:
        """Return the kind and the content of a cell that holds a text."""
        if kind == "str" or (kind not in _TEXTS and self._plain_is_usual()):
            return "str", new
        is_inline = stays_marked(
            was_marked=kind == "inlineStr" or (kind not in _TEXTS and self._inline_is_usual()),
            old_needs=old not in self._texts,
            new_needs=new not in self._texts,
            habit=self._inline_is_usual,
        )
        return ("inlineStr", new) if is_inline else ("s", str(self._texts[new]))

    def _texts_are_usual(self) -> bool:
        judged = (kind in _TEXTS for text, kind in self._others if _can_be_bare(text))
        return are_mostly_marked(judged) is not False

    def _inline_is_usual(self) -> bool:
        judged = (kind == "inlineStr" for text, kind in self._others if text in self._texts)
        return bool(are_mostly_marked(judged))

    def _plain_is_usual(self) -> bool:
        judged = (kind == "str" for _, kind in self._others if kind in _TEXTS)
        return bool(are_mostly_marked(judged))

    def _check(self, row: int, new: str, found: SheetRow) -> None:
        place = f"{self._table.path}, {self._table.place(row)}"
        cell, kind = found.cell, self._scan.kinds.get(self._lines[row], "")
        if cell is not None and cell.has_formula:
            raise TableError(
                f"{place}: the cell is computed by a formula, which a label would overwrite; "
                "replace the formulas of the column by their values."
            )
        if kind == "d" or (kind == "n" and not is_number(self._old[row] or "0")):
            raise TableError(
                f"{place}: the cell holds the date or time {self._old[row]!r}, which cannot be "
                "changed; write the labels as text or as numbers."
            )
        if not new.strip() and not self._has_others[row]:
            raise TableError(
                f"{place}: the row would be empty, and an empty row is none; leave it out instead."
            )

    def removals(self, drop: Collection[int]) -> list[tuple[int, int, bytes]]:
        """Return stretches of the sheet that are to go.

        Parameters
        ----------
        drop : collection of int
            The rows.
        """
        if not drop:
            return []
        scan = SheetScan(self._content, self._column, {self._lines[row] for row in drop})
        for row in sorted(drop):
            # The workbook has a list of its formulas, in which they would be missed.
            if scan.rows[self._lines[row]].has_formula:
                raise TableError(
                    f"{self._table.path}, {self._table.place(row)}: the row holds formulas, and "
                    "cannot be left out alone; replace the formulas by their values."
                )
        return [(found.begin, found.end, b"") for found in scan.rows.values()]


def _is_bare_tag(cell: SheetCell) -> bool:
    """Return whether a cell says nothing but where it is, and what its content is."""
    return set(re.findall(rb"([\w:]+)=", cell.tag)) <= {b"r", b"t"}


def _is_filled(cell: Any) -> bool:
    return cell != "" and not (isinstance(cell, str) and cell.isspace())


def _can_be_bare(text: str) -> bool:
    """Return whether a text is a truth value, or a number that a workbook holds exactly."""
    if not is_number(text):
        return can_be_bare(text)
    return Decimal(repr(float(text))) == Decimal(text)
