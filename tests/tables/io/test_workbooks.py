"""Workbooks: cells become the text a person would write, whatever program stored them."""

import datetime
import pickle
import tempfile
from pathlib import Path

import openpyxl
import pytest
import xlwt
from hypothesis import given, settings
from hypothesis import strategies as st
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

from granulearn.tables import TableError
from granulearn.tables.io.table_file import ReadOptions
from granulearn.tables.io.workbook import WorkbookTable
from tests.tables.nasty_tables import rows_of

PLAIN = st.text("aZ é漢,;'\"=1.0-\n", min_size=1, max_size=6).filter(
    lambda text: text == text.strip() and not text.startswith("=")
)


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


def opened(path: Path, **reading) -> WorkbookTable:
    return WorkbookTable(path, path, ReadOptions(**reading))


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_workbook_gives_the_same_text(tmp_path, kind):
    rows = [["name", "n", "x"], ['Ä, "b"', 1, 0.1], ["007", -2.0, 1e-7], ["c", 12345678901, 2.5]]
    path = WRITERS[kind](tmp_path / f"t.{kind}", {"Data": rows})
    table = opened(path)
    expected = [['Ä, "b"', "1", "0.1"], ["007", "-2", "1e-07"], ["c", "12345678901", "2.5"]]
    assert table.names == ["name", "n", "x"]
    assert rows_of(table.batches()) == expected
    (part,) = pickle.loads(pickle.dumps(table.parts()))
    assert rows_of(part.batches(["x", "name"])) == [[row[2], row[0]] for row in expected]


@settings(max_examples=40)
@given(st.lists(st.lists(PLAIN, min_size=2, max_size=2), min_size=1, max_size=5))
def test_texts_of_a_workbook_come_back(rows):
    with tempfile.TemporaryDirectory() as folder:
        table = opened(write_xlsx(Path(folder) / "t.xlsx", {"S": [["a", "b"], *rows]}))
    assert rows_of(table.batches()) == rows


def test_dates_times_and_truth_values_have_one_spelling(tmp_path):
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
    assert table.place(1) == "sheet 'Data', row 6"


def test_the_first_sheet_with_cells_is_read_unless_another_is_stated(tmp_path):
    sheets = {"Empty": [], "One": [["a"], [1]], "Two": [["b"], [2]]}
    path = write_xlsx(tmp_path / "t.xlsx", sheets)
    assert opened(path).names == ["a"]
    assert "sheet 'One', number 2 of 3" in opened(path).remarks[0]
    assert [opened(path, sheet=which).names for which in ("Two", "3")] == [["b"], ["b"]]
    (part,) = opened(path, sheet="Two").parts()
    assert rows_of(part.batches()) == [["2"]]
    with pytest.raises(TableError, match="no sheet 'Drei'; it has 1 'Empty', 2 'One', 3 'Two'"):
        opened(path, sheet="Drei")
    with pytest.raises(TableError, match="sheet 'Empty' is empty"):
        opened(path, sheet="Empty")


def test_a_sheet_that_is_hidden_is_not_taken_by_itself(tmp_path):
    path = write_xlsx(tmp_path / "t.xlsx", {"Lists": [["x"], [1]], "Data": [["a"], [2]]})
    book = openpyxl.load_workbook(path)
    book["Lists"].sheet_state = "hidden"
    book.active = 1
    book.save(path)
    assert opened(path).names == ["a"]


def test_broken_protected_and_empty_workbooks_are_told_apart(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(TableError, match="is no workbook that can be read"):
        opened(path)
    mark = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    path.write_bytes(mark + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(TableError, match="protected by a password"):
        opened(path)
    write_xlsx(path, {"S": []})
    with pytest.raises(TableError, match="none of its 1 sheets has a cell"):
        opened(path)
    write_xlsx(path, {"S": [["a", "b"]]})
    with pytest.raises(TableError, match="has a header but no data rows"):
        opened(path)


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_the_text_of_a_number_is_the_same_number(numbers):
    # xlwt stores all bits of a number; openpyxl writes 16 digits, which is one too few.
    with tempfile.TemporaryDirectory() as folder:
        rows = [["x"], *[[number] for number in numbers]]
        table = opened(write_xls(Path(folder) / "t.xls", {"S": rows}))
    assert [float(row[0]) for row in rows_of(table.batches())] == numbers
