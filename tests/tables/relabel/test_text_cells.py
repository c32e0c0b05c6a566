"""Cells are found where the csv module reads them."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.relabel.text_cells import CellFinder, quoted
from tests.tables.relabel.rewritten_tables import text_files


@given(text_files(("utf-8", "cp1252")))
def test_the_cell_and_its_quotes_stand_where_they_were_written(file):
    content = file.content()
    begin = len(file.mark + file.above.encode(file.encoding))
    for row, pieces, end in zip(file.rows, file.written, file.line_ends, strict=True):
        raw = [piece.encode(file.encoding) for piece in pieces]
        for place, piece in enumerate(raw):
            finder = CellFinder(file.separator, place, len(row))
            cell = finder.cell(content, begin)
            assert content[cell.begin : cell.end] == piece
            assert cell.begin == begin + sum(len(before) + 1 for before in raw[:place])
            assert cell.content == row[place].encode(file.encoding)
            assert cell.is_quoted == piece.startswith(b'"')
        line = finder.line(content, begin)
        one_end = "\r\n" if end.startswith("\r\n") else end[:1]
        assert content[line.begin : line.end] == file.separator.encode().join(raw)
        assert content[line.end : line.next] == one_end.encode()
        begin = line.end + len(end)


def test_a_row_with_too_few_cells_has_no_cell_and_one_with_more_has():
    assert CellFinder(",", 0, 3).cell(b"a,b\nc,d,e,f\n", 0) is None
    assert CellFinder(",", 2, 3).cell(b"a,b\nc,d,e,f\n", 4).content == b"e"


def test_a_quotation_mark_inside_of_a_cell_means_itself():
    cell = CellFinder(",", 1, 2).cell(b'5" disk,a"b"\n', 0)
    assert (cell.content, cell.is_quoted) == (b'a"b"', False)


@given(st.text(',"\r\n aé', max_size=6), st.integers(1, 2))
def test_quotes_are_needed_where_the_csv_module_reads_something_else_without(text, n_columns):
    rest = ",rest" * (n_columns - 1)

    def cells(cell):
        return list(csv.reader(io.StringIO(f"{cell}{rest}\n", newline="")))

    expected = [[text] + ["rest"] * (n_columns - 1)]
    assert cells(quoted(text)) == expected
    finder = CellFinder(",", 0, n_columns)
    if not finder.needs_quotes(text):
        assert cells(text) == expected
    elif '"' not in text:
        assert cells(text) != expected
