"""Workbooks: cells become the text a person would write, whatever program stored them."""

import datetime
from pathlib import Path

import openpyxl
import pytest
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

from granulearn.tables import TableError
from granulearn.tables.io.table_file import ReadOptions
from granulearn.tables.io.workbook import WorkbookTable
from tests.tables.nasty_tables import assert_holds, rows_of


def write_xlsx(path: Path, sheets: dict[str, list[list]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def write_xls(path: Path, sheets: dict[str, list[list]]) -> Path:
    book = xlwt.Workbook()
    for name, rows in sheets.items():
        sheet = book.add_sheet(name)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                sheet.write(i, j, cell)
    book.save(str(path))
    return path


def write_ods(path: Path, sheets: dict[str, list[list]]) -> Path:
    book = OpenDocumentSpreadsheet()
    for name, rows in sheets.items():
        sheet = Table(name=name)
        for row in rows:
            line = TableRow()
            for value in row:
                if isinstance(value, (int, float)):
                    cell = TableCell(valuetype="float", value=str(value))
                else:
                    cell = TableCell(valuetype="string")
                    cell.addElement(P(text=value))
                line.addElement(cell)
            sheet.addElement(line)
        book.spreadsheet.addElement(sheet)
    book.save(str(path))
    return path


WRITERS = {"xlsx": write_xlsx, "xls": write_xls, "ods": write_ods}


def opened(path: Path, **options) -> WorkbookTable:
    return WorkbookTable(path, path, ReadOptions(**options))


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_workbook_gives_the_same_text(tmp_path, kind):
    rows = [["name", "n", "x"], ['Ä, "b"', 1, 0.1], ["007", -2.0, 1e-7], ["c", 12345678901, 2.5]]
    path = WRITERS[kind](tmp_path / f"t.{kind}", {"Data": rows})
    table = opened(path)
    expected = [['Ä, "b"', "1", "0.1"], ["007", "-2", "1e-07"], ["c", "12345678901", "2.5"]]
    assert_holds(table, ["name", "n", "x"], expected)


def test_dates_times_and_booleans_have_one_spelling(tmp_path):
    row = [
        datetime.datetime(2020, 1, 31),
        datetime.datetime(2020, 1, 31, 12, 30),
        datetime.time(3, 4, 5),
        datetime.timedelta(hours=26, minutes=30),
        True,
    ]
    table = opened(write_xlsx(tmp_path / "t.xlsx", {"S": [list("abcde"), row]}))
    expected = ["2020-01-31", "2020-01-31 12:30:00", "03:04:05", "26.5", "true"]
    assert rows_of(table.batches()) == [expected]


def test_empty_rows_are_skipped_but_counted_and_unused_columns_are_left_out(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data"
    for cell, value in {"B3": "a", "D3": "b", "B4": 1, "B6": 2, "D8": "x"}.items():
        sheet[cell] = value
    book.save(tmp_path / "t.xlsx")
    table = opened(tmp_path / "t.xlsx")
    assert table.names == ["a", "b"]
    assert rows_of(table.batches()) == [["1", ""], ["2", ""], ["", "x"]]
    assert table.lines().tolist() == [4, 6, 8]
    assert table.location(1) == "sheet 'Data', row 6"


def test_the_first_sheet_with_cells_is_read_unless_another_is_stated(tmp_path):
    sheets = {"Empty": [], "One": [["a"], [1]], "Two": [["b"], [2]]}
    path = write_xlsx(tmp_path / "t.xlsx", sheets)
    assert opened(path).names == ["a"]
    assert "sheet 'One', number 2 of 3" in opened(path).notes[0]
    assert [opened(path, sheet=which).names for which in ("Two", "3")] == [["b"], ["b"]]
    (part,) = opened(path, sheet="Two").parts()
    assert rows_of(part.batches()) == [["2"]]
    with pytest.raises(TableError, match="no sheet 'Drei'; it has 1 'Empty', 2 'One', 3 'Two'"):
        opened(path, sheet="Drei")
    with pytest.raises(TableError, match="sheet 'Empty' is empty"):
        opened(path, sheet="Empty")
