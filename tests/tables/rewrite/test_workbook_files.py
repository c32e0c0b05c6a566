"""Workbooks: only the cells of the labels differ, and everything else in the archive is equal."""

import datetime
import io
import zipfile
from xml.sax.saxutils import escape

import openpyxl
import pandas as pd
import pytest
import python_calamine as calamine
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.chart import LineChart, Reference
from openpyxl.styles import Font

from granulearn.tables import TableError
from tests.tables.rewrite.rewritten_tables import read, rewritten

WORKBOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://'
    'schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="Data &amp; more" sheetId="1" r:id="rId7"/></sheets></workbook>'
)
TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId7" Type="{TYPE}/worksheet" Target="worksheets/a1.xml"/>'
    f'<Relationship Id="rId8" Type="{TYPE}/sharedStrings" Target="/xl/sharedStrings.xml"/>'
    "</Relationships>"
)
ROOT_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{TYPE}/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>"
)
SHARED = ["label", "x", "low", "high", "12", "é & <b>", ""]
SHEET = "xl/worksheets/a1.xml"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def book(rows: str) -> bytes:
    """Return a workbook as Excel writes it, with shared texts."""
    items = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in SHARED)
    items += "<si><r><t>lo</t></r><r><t>w</t></r></si>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("_rels/.rels", ROOT_RELATIONS)
        archive.writestr("xl/workbook.xml", WORKBOOK)
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{items}</sst>')
        sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        archive.writestr(SHEET, f'<?xml version="1.0" encoding="UTF-8"?>\n{sheet}')
        archive.writestr("xl/vbaProject.bin", bytes(range(256)))
    return file.getvalue()


def rows_of_sheet(content: bytes) -> str:
    sheet = zipfile.ZipFile(io.BytesIO(content)).read(SHEET).decode()
    return sheet[sheet.index("<sheetData>") + 11 : sheet.index("</sheetData>")]


HEADER = '<row r="2"><c r="B2" t="s"><v>1</v></c><c r="D2" t="s"><v>0</v></c></row>'


def labels_book(*cells: str) -> bytes:
    """Return a workbook with labels in column D, from row 3 on."""
    rows = [
        f'<row r="{line}" ht="20"><c r="B{line}"><v>{line}</v></c>{label}'
        f'<c r="F{line}" s="2"/></row>'
        for line, label in enumerate(cells, start=3)
    ]
    return book(HEADER + "".join(rows))


def cell(line: int, kind: str, text: str) -> str:
    """Return a cell as Excel or another program would write it."""
    if kind == "bare" and text in ("true", "false"):
        return f'<c r="D{line}" s="1" t="b"><v>{int(text == "true")}</v></c>'
    if kind == "bare":
        return f'<c r="D{line}" s="1"><v>{text}</v></c>'
    if not text:
        return f'<c r="D{line}" s="1"/>'
    if kind == "str":
        return f'<c r="D{line}" s="1" t="str"><v>{escape(text)}</v></c>'
    if text in SHARED and kind != "inline":
        return f'<c r="D{line}" s="1" t="s"><v>{SHARED.index(text)}</v></c>'
    space = ' xml:space="preserve"' if text != text.strip() else ""
    inline = f"<is><t{space}>{escape(text)}</t></is>"
    return f'<c r="D{line}" s="1" t="inlineStr">{inline}</c>'


BARE = ["1", "-2.5", "true", "false", "1e-07"]
TEXTS = st.sampled_from([*BARE, "low", "high", "new", "é & <b>", " a", "007"])


@given(st.sampled_from(["bare", "shared", "inline", "str"]), st.lists(TEXTS, min_size=1), st.data())
def test_changing_back_gives_equal_cells(style, texts, data):
    kinds = ["shared" if style == "bare" and text not in BARE else style for text in texts]
    # The last two cells stay, and show whether the column has numbers.
    pairs = [*zip(kinds, texts, strict=True), (style, "12"), ("shared", "low")]
    before = labels_book(*(cell(line, *pair) for line, pair in enumerate(pairs, 3)))
    new = data.draw(st.dictionaries(st.integers(0, len(texts) - 1), TEXTS, min_size=1))
    there = rewritten(before, "t.xlsx", "label", new)
    expected = [new.get(row, text) for row, (_, text) in enumerate(pairs)]
    assert [row[1] or "" for row in read(there, "t.xlsx")[1]] == expected
    back = rewritten(there, "t.xlsx", "label", {row: texts[row] for row in new})
    assert values(back) == values(before)


def values(content: bytes) -> list:
    """Return all cells of the first sheet, numbers as numbers."""
    return (
        calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        .get_sheet_by_index(0)
        .to_python()
    )


def test_only_the_changed_cells_differ_and_other_members_are_equal():
    before = labels_book(cell(3, "shared", "low"), cell(4, "bare", "5"), "", cell(6, "str", "x"))
    after = rewritten(before, "t.xlsm", "label", {0: "high", 1: "6", 2: "new", 3: "y"})
    new = '<c r="D5" t="inlineStr"><is><t>new</t></is></c>'
    before_d5 = '<c r="B5"><v>5</v></c>'
    expected = rows_of_sheet(before)
    expected = expected.replace(cell(3, "shared", "low"), cell(3, "inline", "high"))
    expected = expected.replace(cell(4, "bare", "5"), cell(4, "bare", "6"))
    expected = expected.replace(cell(6, "str", "x"), cell(6, "inline", "y"))
    expected = expected.replace(before_d5, before_d5 + new)
    assert rows_of_sheet(after) == expected
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(after)) as now:
        assert old.namelist() == now.namelist()
        for name in old.namelist():
            assert name == SHEET or old.read(name) == now.read(name)


def test_a_dropped_row_leaves_an_empty_one_and_the_others_where_they_are():
    content = labels_book(*(cell(line, "bare", str(line)) for line in range(3, 8)))
    after = rewritten(content, "t.xlsx", "label", {0: "9"}, {1, 4})
    assert read(after, "t.xlsx") == (["x", "label"], [["3", "9"], ["5", "5"], ["6", "6"]])
    assert '<row r="4" ht="20"></row><row r="5"' in rows_of_sheet(after)


def opened(content: bytes) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(content))


def saved(workbook: openpyxl.Workbook) -> bytes:
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def workbook_of_openpyxl() -> openpyxl.Workbook:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in [["id", "label"], [1, "a"], [2, "b"], [3, "c"]]:
        sheet.append(row)
    sheet["B3"].font = Font(bold=True)
    chart = LineChart()
    chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=4))
    sheet.add_chart(chart, "D2")
    second = workbook.create_sheet("second")
    second.append(["label"])
    second.append(["z"])
    return workbook


def test_styles_charts_and_other_sheets_stay():
    content = saved(workbook_of_openpyxl())
    after = rewritten(content, "t.xlsx", "label", {1: "new"})
    result = opened(after)
    assert [[cell.value for cell in row] for row in result.worksheets[0]] == [
        ["id", "label"], [1, "a"], [2, "new"], [3, "c"]
    ]  # fmt: skip
    assert result.worksheets[0]["B3"].font.bold
    assert result.worksheets[1]["A2"].value == "z"
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(io.BytesIO(after)) as now:
        changed = [name for name in old.namelist() if old.read(name) != now.read(name)]
    assert changed == ["xl/worksheets/sheet1.xml"]
    assert values(rewritten(after, "t.xlsx", "label", {1: "b"})) == values(content)


@pytest.mark.parametrize("label", ["a\nb", "a\rb", " a ", "<&>\"'", "漢\U0001f600", "=1+1"])
def test_every_text_is_read_back_by_others(label):
    content = saved(workbook_of_openpyxl())
    after = rewritten(content, "t.xlsx", "label", {0: label})
    assert opened(after).worksheets[0]["B2"].value == label
    assert read(after, "t.xlsx")[1][0][1] == label


def test_formulas_in_the_column_and_in_dropped_rows_are_refused():
    workbook = workbook_of_openpyxl()
    workbook.worksheets[0]["B2"] = '="a"&"b"'
    content = saved(workbook)
    with pytest.raises(TableError, match="row 2: the cell is computed by a formula"):
        rewritten(content, "t.xlsx", "label", {0: "x"})
    with pytest.raises(TableError, match="row 2: the row holds formulas"):
        rewritten(content, "t.xlsx", "id", {}, {0})
    assert opened(rewritten(content, "t.xlsx", "id", {0: "7"})).worksheets[0]["A2"].value == 7


def test_dates_are_refused():
    workbook = openpyxl.Workbook()
    for row in [["id", "day"], [1, datetime.date(2020, 1, 2)], [None, datetime.date(2020, 1, 3)]]:
        workbook.active.append(row)
    content = saved(workbook)
    with pytest.raises(TableError, match="holds the date or time '2020-01-02'"):
        rewritten(content, "t.xlsx", "day", {0: "2021-01-01"})


@pytest.mark.parametrize(("ending", "engine"), [(".ods", "odf"), (".xls", None)])
def test_other_workbooks_are_refused(ending, engine, tmp_path):
    path = tmp_path / f"t{ending}"
    if engine:
        pd.DataFrame({"label": ["a", "b"]}).to_excel(path, index=False, engine=engine)
    else:
        import xlwt

        workbook = xlwt.Workbook()
        sheet = workbook.add_sheet("s")
        for row, text in enumerate(["label", "a", "b"]):
            sheet.write(row, 0, text)
        workbook.save(str(path))
    with pytest.raises(TableError, match=r"save it as \.xlsx or as CSV"):
        rewritten(path.read_bytes(), path.name, "label", {0: "c"})
    assert rewritten(path.read_bytes(), path.name, "label", {}) == path.read_bytes()
