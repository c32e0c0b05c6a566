"""How far the cells of a workbook reach: the reader keeps a place for every cell in between.

A file of a few kilobytes whose last cell is in the last row and column of a sheet would take
500 GB, and the process would end without a word. So such a file is refused before it is read.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from granulearn.tables.errors import TableError

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
