"""Workbooks of Excel and OpenDocument: one sheet of them as a table of text."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import python_calamine as calamine

from granulearn.tables.io.frames import FrameTable, text_of
from granulearn.tables.io.table_file import AS_FOUND, ReadOptions
from granulearn.tables.messages import Message, Setting, TableError

# The stream of an .xlsx file with a password.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
# What reading a member of an archive that is not as it should be raises.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    expat.ExpatError,
)
# A sheet may reach over so many cells for each that is filled, beyond what is little anyway.
_EXTENT_PER_CELL, _LITTLE = 100, 2_000_000
_CHUNK = 2**20
# A spreadsheet program lets a cell have 32,767 characters.
_LONGEST_CELL = 2**24
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_REFERENCE = re.compile(r"([A-Za-z]{1,8})([0-9]{1,18})")


class WorkbookTable(FrameTable):
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
        self.sheet, cells, (top, left), remark = _chosen_sheet(path, shown, reading.sheet)
        filled = [number for number, row in enumerate(cells) if _is_filled(row)]
        if len(filled) < 2:
            what = "has a header but no data rows" if filled else "is empty"
            said = f"{shown}: the sheet {self.sheet!r} {what}; name another ("
            raise TableError(Message(said, Setting("sheet"), ")."))
        columns = [[cells[number][index] for number in filled] for index in range(len(cells[0]))]
        used = [index for index, column in enumerate(columns) if _is_filled(column)]
        texts = [list(map(text_of, columns[index])) for index in used]
        arrays = [pa.array(column[1:], pa.string()) for column in texts]
        header = [column[0] or "" for column in texts]
        super().__init__(pa.Table.from_arrays(arrays, names=header), shown)
        self.remarks = (*remark, *self.remarks)
        self.columns = [left + 1 + index for index in used]
        """Number in the sheet, from 1, of each column."""
        self._lines = top + 1 + np.array(filled[1:])

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


def _is_filled(cells: Sequence[Any]) -> bool:
    return any(cell != "" and not (isinstance(cell, str) and cell.isspace()) for cell in cells)


def _chosen_sheet(
    path: Path, shown: Path, stated: str | None
) -> tuple[str, list[list[Any]], tuple[int, int], list[str]]:
    """Return a sheet's name, its cells, row and column of the first one, and why it was chosen."""
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
                if any(map(_is_filled, found[1])):
                    number = names.index(name) + 1
                    which = "the first" if number == 1 else f"number {number}"
                    said = f"sheet {name!r}, {which} of {len(names)} ("
                    remark = Message(said, Setting("sheet"), " takes another)")
                    return *found, [remark] if len(names) > 1 else []
    except (calamine.CalamineError, *_DAMAGED) as error:
        if isinstance(error, calamine.PasswordError) or _ENCRYPTED in path.read_bytes():
            raise TableError(
                f"{shown} is protected by a password; save it without one, or save the sheet as "
                "CSV."
            ) from error
        raise TableError(
            f"{shown} is no workbook that can be read ({error}); open it in a spreadsheet program "
            "and save it again, as .xlsx or as CSV."
        ) from error
    raise TableError(f"{shown} is empty; none of its {len(names)} sheets has a cell.")


def _cells(
    book: calamine.CalamineWorkbook, name: str
) -> tuple[str, list[list[Any]], tuple[int, int]]:
    sheet = book.get_sheet_by_name(name)
    return name, sheet.to_python(), sheet.start or (0, 0)


def _stated_sheet(shown: Path, names: list[str], stated: str) -> str:
    if stated in names:
        return stated
    if stated.isdecimal() and 1 <= int(stated) <= len(names):
        return names[int(stated) - 1]
    listed = ", ".join(f"{number} {name!r}" for number, name in enumerate(names, start=1))
    said = f"{shown} has no sheet {stated!r}; it has {listed} ("
    raise TableError(Message(said, Setting("sheet"), ")."))


def check_extent(path: Path, shown: Path) -> None:
    """Refuse a sheet with a few cells that are very far from each other.

    The reader would take memory for all cells between them. Workbooks that are no archives of
    XML have bounds of their own.
    """
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        for name in filter(_SHEET.fullmatch, archive.namelist()):
            with archive.open(name) as sheet:
                n_cells, height, width = _extent(sheet)
            if height * width > _LITTLE + _EXTENT_PER_CELL * n_cells:
                raise TableError(
                    f"{shown}: the cells of {name} reach over {height:,} rows and {width:,} "
                    f"columns, and only {n_cells:,} of them are filled; delete what stands far "
                    "away from the table, or save the table as CSV."
                )


def _extent(sheet: IO[bytes]) -> tuple[int, int, int]:
    """Return how many cells are filled, and over how many rows and columns they reach."""
    n_cells = row = column = last_row = last_column = 0
    first_row = first_column = inf

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal n_cells, row, column, first_row, last_row, first_column, last_column
        local = name.rpartition(":")[2]
        if local in ("row", "c"):
            row, column = next_cell(local, attributes, row, column)
        elif local in ("v", "is"):
            n_cells += 1
            first_row, last_row = min(first_row, row), max(last_row, row)
            first_column, last_column = min(first_column, column), max(last_column, column)

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    n_bytes = 0
    while piece := sheet.read(_CHUNK):
        parser.Parse(piece)
        n_bytes += len(piece)
        if n_bytes - parser.CurrentByteIndex > _LONGEST_CELL:
            raise zipfile.BadZipFile(f"it has a cell of more than {_LONGEST_CELL} bytes")
    parser.Parse(b"", True)
    if not n_cells:
        return 0, 0, 0
    return n_cells, int(last_row - first_row) + 1, int(last_column - first_column) + 1


def next_cell(name: str, attributes: dict[str, str], row: int, column: int) -> tuple[int, int]:
    """Return row and column, from 1, of the row or cell that begins; it need not say them."""
    if name == "row":
        return int(attributes.get("r", row + 1)), 0
    found = _REFERENCE.match(attributes.get("r", ""))
    if found is None:
        return row, column + 1
    column = 0
    for letter in found[1].upper():
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(found[2]), column
