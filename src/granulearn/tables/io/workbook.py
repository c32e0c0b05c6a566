"""Workbooks of Excel and OpenDocument: one sheet of them as a table of text."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import python_calamine as calamine

from granulearn.tables.errors import TableError
from granulearn.tables.io.frames import text_of
from granulearn.tables.io.table_file import (
    AS_FOUND,
    ReadOptions,
    TableFile,
    named_columns,
    text_batches,
)
from granulearn.tables.messages import Message, Setting

# The stream of an .xlsx file with a password.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


class WorkbookTable(TableFile):
    """A sheet whose first row that is not empty holds the names of columns.

    Rows that are empty are skipped, and so are columns without a name and without a cell.

    Parameters
    ----------
    path : Path
        The file.
    shown : Path
        As the user named it, for messages.
    reading : ReadOptions, optional
        Which sheet; the first one that is visible and not empty unless stated.
    """

    def __init__(self, path: Path, shown: Path, reading: ReadOptions = AS_FOUND):
        self.sheet, cells, first_line, remarks = _chosen_sheet(path, shown, reading.sheet)
        lines = [line for line, row in zip(count(first_line), cells, strict=False) if _filled(row)]
        filled = [row for row in cells if _filled(row)]
        width = max(map(len, filled), default=0)
        filled = [row + [""] * (width - len(row)) for row in filled]
        used = [place for place in range(width) if _filled([row[place] for row in filled])]
        rows = [[row[place] for place in used] for row in filled]
        if len(rows) < 2:
            what = "has a header but no data rows" if rows else "is empty"
            said = f"{shown}: the sheet {self.sheet!r} {what}; name another ("
            raise TableError(Message(said, Setting("sheet"), ")."))
        names, name_remarks = named_columns(shown, [text_of(cell) or "" for cell in rows[0]])
        super().__init__(shown, names, [*remarks, *name_remarks], len(rows) - 1)
        self._rows = rows[1:]
        self._lines = np.array(lines[1:])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order, every cell as text.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        wanted = self._wanted(columns)
        place_of = {name: place for place, name in enumerate(self.names)}
        places = [place_of[name] for name in wanted]
        rows = ([text_of(row[place]) for place in places] for row in self._rows)
        return text_batches(rows, wanted)

    def place(self, row: int) -> str:
        """Say where a row stands.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        return f"sheet {self.sheet!r}, row {self._lines[row]}"

    def lines(self) -> np.ndarray:
        """Return the row of the sheet, from 1, that each data row is."""
        return self._lines


def _filled(cells: Sequence[Any]) -> bool:
    return any(cell != "" and not (isinstance(cell, str) and cell.isspace()) for cell in cells)


def _chosen_sheet(
    path: Path, shown: Path, stated: str | None
) -> tuple[str, list[list[Any]], int, list[str]]:
    """Return a sheet's name, its cells, the row that they begin in, and why it was chosen."""
    try:
        check_extent(path, shown)
        with calamine.CalamineWorkbook.from_path(path) as book:
            names = book.sheet_names
            if stated is not None:
                return *_cells(book, _stated_sheet(shown, names, stated)), []
            visible = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == calamine.SheetVisibleEnum.Visible
                and sheet.typ == calamine.SheetTypeEnum.WorkSheet
            ]
            for name in visible or names:
                found = _cells(book, name)
                if any(map(_filled, found[1])):
                    place = names.index(name) + 1
                    which = "the first" if place == 1 else f"number {place}"
                    said = f"sheet {name!r}, {which} of {len(names)} ("
                    remark = Message(said, Setting("sheet"), " takes another)")
                    return *found, [remark] if len(names) > 1 else []
    except calamine.PasswordError as error:
        raise TableError(_protected(shown)) from error
    except (calamine.CalamineError, *DAMAGED) as error:
        if _ENCRYPTED in path.read_bytes():
            raise TableError(_protected(shown)) from error
        raise TableError(
            f"{shown} is no workbook that can be read ({error}); open it in a spreadsheet program "
            "and save it again, as .xlsx or as CSV."
        ) from error
    raise TableError(f"{shown} is empty; none of its {len(names)} sheets has a cell.")


def _cells(book: calamine.CalamineWorkbook, name: str) -> tuple[str, list[list[Any]], int]:
    sheet = book.get_sheet_by_name(name)
    start = sheet.start
    return name, sheet.to_python(), 1 if start is None else start[0] + 1


def _stated_sheet(shown: Path, names: list[str], stated: str) -> str:
    if stated in names:
        return stated
    if stated.isdecimal() and 1 <= int(stated) <= len(names):
        return names[int(stated) - 1]
    listed = ", ".join(f"{number} {name!r}" for number, name in enumerate(names, start=1))
    said = f"{shown} has no sheet {stated!r}; it has {listed} ("
    raise TableError(Message(said, Setting("sheet"), ")."))


def _protected(shown: Path) -> str:
    return f"{shown} is protected by a password; save it without one, or save the sheet as CSV."


# A sheet may reach over so many places for each cell that is filled, beyond what is little anyway.
MOST_PLACES_PER_CELL, LITTLE = 100, 2_000_000
# What reading a member of an archive that is not as it should be raises.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
_CHUNK = 2**20
# A spreadsheet program lets a cell have 32,767 characters.
_LONGEST_CELL = 2**24
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
# Cells that are closed at once are empty: they have a style and take no place.
_PLACE = rb"""\s(?:[^<>]*\s)?r\s*=\s*["']%s[^<>]*(?<!/)>"""
_CELL = re.compile(rb"<(?:\w+:)?c" + _PLACE % rb"([A-Za-z]{1,8})([0-9]{1,18})")
# A cell need not say where it is: then it is the next one of its row.
_ROW = re.compile(rb"<(?:\w+:)?row" + _PLACE % rb"([0-9]{1,18})" + rb"(?=\s*<(?:\w+:)?c[\s>])")
_WITHOUT_PLACE = re.compile(rb"<(?:\w+:)?c(?![^<>]*\sr\s*=)[\s>]")
_ROW_OR_CELL = re.compile(rb"<(?:\w+:)?(row|c)[\s>]")


def check_extent(path: Path, shown: Path) -> None:
    """Raise `TableError` if a sheet has a few cells that are very far from each other.

    Parameters
    ----------
    path : Path
        A workbook; those that are no archives of XML have bounds of their own.
    shown : Path
        As the user named it, for messages.
    """
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        for name in filter(_SHEET.fullmatch, archive.namelist()):
            n_cells, height, width = _extent(archive, name)
            if height * width > LITTLE + MOST_PLACES_PER_CELL * n_cells:
                raise TableError(
                    f"{shown}: the cells of {name} reach over {height:,} rows and {width:,} "
                    f"columns, and only {n_cells:,} of them are filled; delete what stands far "
                    "away from the table, or save the table as CSV."
                )


def _extent(archive: zipfile.ZipFile, name: str) -> tuple[int, int, int]:
    """Return how many cells a sheet has, and over how many rows and columns they reach."""
    n_cells, most_in_a_row = 0, 0
    rows: set[int] = set()
    columns: set[int] = set()
    for text in _pieces(archive, name):
        found = _CELL.findall(text)
        rows |= {int(row) for _, row in found} | {int(row) for row in _ROW.findall(text)}
        columns |= {_number(letters) for letters in {letters for letters, _ in found}}
        if _WITHOUT_PLACE.search(text):
            rows, columns = rows | {1}, columns | {1}
        rows, columns = _ends(rows), _ends(columns)
        tags = b"".join(_ROW_OR_CELL.findall(text))
        n_cells += tags.count(b"c")
        most_in_a_row = max(most_in_a_row, *map(len, tags.split(b"row")))
    height = max(rows, default=0) - min(rows, default=0) + 1
    width = max(columns, default=0) - min(columns, default=0) + 1
    return n_cells, height, max(width, most_in_a_row)


def _ends(numbers: set[int]) -> set[int]:
    return {min(numbers), max(numbers)} if numbers else numbers


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield the text of a member piece by piece; no tag is cut in two, and none is there twice."""
    kept = b""
    with archive.open(name) as member:
        while len(kept) < _LONGEST_CELL and (piece := member.read(_CHUNK)):
            # Of UTF-16, every other byte of a tag is NUL.
            text = kept + piece.replace(b"\0", b"")
            end = max(text.rfind(b"<"), 0)
            yield text[:end]
            kept = text[end:]
    if len(kept) >= _LONGEST_CELL:
        raise zipfile.BadZipFile(f"{name} has a cell of more than {_LONGEST_CELL} bytes")
    yield kept
