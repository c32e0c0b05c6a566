"""Cells are found in the XML of a sheet, whatever form it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils import column_index_from_string, get_column_letter

from granulearn.tables.relabel.sheet_cells import (
    SheetScan,
    cell_xml,
    column_letters,
    column_number,
)

SHEET = (
    b"<?xml version='1.0'?><w><cols><c r='B3'/></cols><d><row r=\"3\" x='>'><c r=\"A3\"/>"
    b"<c r=\"B3\" s='>' t=\"n\"><f>1</f><v>1</v></c></row><row><c/><c t='s' ><v>0</v></c ></row>"
    b'<row r="7"><c r="A7"><v>1</v></c><c r="C7"/></row><row r="8"/></d></w>'
)


@given(st.integers(1, 16_384))
def test_letters_and_numbers_of_columns_are_those_of_openpyxl(number):
    assert column_letters(number) == get_column_letter(number)
    assert column_number(f"{column_letters(number)}12") == number
    assert column_index_from_string(column_letters(number)) == number


def test_cells_kinds_and_places_are_found():
    scan = SheetScan(SHEET, 2, {3, 4, 7})
    assert scan.kinds == {3: "n", 4: "s"}
    assert scan.states_numbers
    first, second, third = (scan.rows[line] for line in (3, 4, 7))
    assert first.cell.tag == b'<c r="B3" s=\'>\' t="n">'
    assert SHEET[first.cell.begin : first.cell.end] == first.cell.tag + b"<f>1</f><v>1</v></c>"
    assert first.cell.has_formula
    assert first.has_formula
    assert SHEET[second.cell.begin : second.cell.end] == b"<c t='s' ><v>0</v></c >"
    assert SHEET[second.begin : second.end] == b"<c/><c t='s' ><v>0</v></c >"
    assert not second.has_formula
    assert third.cell is None
    assert SHEET[third.place :].startswith(b'<c r="C7"/>')


def test_elements_may_have_a_prefix():
    content = SHEET.replace(b"<", b"<x:").replace(b"<x:/", b"</x:").replace(b"<x:?", b"<?")
    scan = SheetScan(content, 2, {4})
    assert scan.prefix == "x:"
    assert scan.kinds == {3: "n", 4: "s"}
    tag = scan.rows[4].cell.tag
    assert cell_xml(tag, "s", "1", scan.prefix) == b'<x:c t="s"><x:v>1</x:v></x:c>'


@pytest.mark.parametrize(
    ("tag", "kind", "content", "expected"),
    [
        (b'<c r="A1" s="2"/>', None, "1", b'<c r="A1" s="2"><v>1</v></c>'),
        (b'<c r="A1" t="s" s="2">', "b", "1", b'<c r="A1" t="b" s="2"><v>1</v></c>'),
        (b"<c r='A1' t='s'>", None, "", b"<c r='A1'/>"),
        (b"<c>", "inlineStr", "<a>", b'<c t="inlineStr"><is><t>&lt;a&gt;</t></is></c>'),
        (
            b"<c />",
            "inlineStr",
            " \r",
            b'<c t="inlineStr"><is><t xml:space="preserve"> &#13;</t></is></c>',
        ),
    ],
)
def test_a_cell_keeps_its_attributes(tag, kind, content, expected):
    assert cell_xml(tag, kind, content) == expected
