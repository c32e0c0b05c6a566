"""A workbook of a few cells that are far from each other is refused before it is read."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import openpyxl
import pytest

from granulearn.tables.io.workbook import WorkbookTable, check_extent
from granulearn.tables.messages import TableError

NAME = "xl/worksheets/sheet1.xml"


def sheet(tmp_path, content: bytes) -> Path:
    """Return a workbook whose sheet has this content."""
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.save(buffer)
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, content if name == NAME else old.read(name))
    return path


def rows(*rows: bytes) -> bytes:
    return b"<worksheet><sheetData>" + b"".join(rows) + b"</sheetData></worksheet>"


FIRST = b'<row r="1"><c r="A1"><v>1</v></c></row>'
FAR = {
    "a far cell": rows(FIRST, b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    "a name space": rows(FIRST, b'<x:row><x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row>'),
    "cells without places": rows(
        b"<row>" + b"<c><v>1</v></c>" * 5000 + b"</row>", b'<row r="1048576"> <c><v>1</v></c></row>'
    ),
    "a reference that is not there": rows(
        FIRST, b'<row><c r="ZZZZZZ99999999999"><v>1</v></c></row>'
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", FAR)
def test_cells_far_from_each_other_are_refused(how, tmp_path):
    path = sheet(tmp_path, FAR[how])
    with pytest.raises(TableError, match=r"t\.xlsx: the cells of .* reach over [0-9,]+ rows and"):
        WorkbookTable(path, path)


def test_empty_cells_with_a_style_take_no_place(tmp_path):
    path = sheet(tmp_path, rows(FIRST, b'<row r="1048576"><c r="XFD1048576" s="1"/></row>'))
    check_extent(path, path)


def test_a_tag_without_an_end_takes_little_memory(tmp_path):
    path = sheet(tmp_path, b"<worksheet><c " + b"x" * 2**26)
    tracemalloc.start()
    try:
        with pytest.raises(zipfile.BadZipFile, match="a cell of more than"):
            check_extent(path, path)
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()
    with pytest.raises(TableError, match="is no workbook that can be read"):
        WorkbookTable(path, path)
