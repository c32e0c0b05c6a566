"""The slow reader, which knows every line."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given

from granulearn.tables import TableError
from granulearn.tables.io.text_rows import (
    Dialect,
    fits,
    ragged_rows_error,
    repaired_columns,
    strict_rows,
)
from tests.tables.nasty_tables import tables, written

T = Path("t")


@given(tables())
def test_offsets_cut_the_text_into_its_rows(table):
    names, rows = table
    content = written(names, rows).encode()
    read = list(strict_rows(io.BytesIO(content), ",", T))
    for row, cells in zip(read, [names, *rows], strict=True):
        alone = content[row.begin : row.end].decode()
        assert next(iter(csv.reader(io.StringIO(alone, newline="")))) == cells
        assert row.end_line - row.line == len(io.StringIO(alone, newline=None).readlines())


@pytest.mark.parametrize(("content", "line"), [(b'a\n"b', 11), (b'a\n\n"b"c\n', 12), (b'"', 10)])
def test_a_broken_quotation_mark_is_named_with_the_line_of_its_row(content, line):
    with pytest.raises(TableError, match=f"t, line {line}: a quotation mark"):
        list(strict_rows(io.BytesIO(content), ",", T, first_line=10))


def test_the_limit_of_the_csv_module_is_as_before():
    before = csv.field_size_limit()
    long = b"x" * (before + 1)
    (row,) = strict_rows(io.BytesIO(long), ",", T)
    assert len(row.cells[0]) == before + 1
    assert csv.field_size_limit() == before


def test_a_stream_stays_open():
    stream = io.BytesIO(b"a\n1\n")
    list(strict_rows(stream, ",", T))
    assert not stream.closed


@pytest.mark.parametrize(
    ("cells", "does"),
    [
        (["1", "2"], True),
        (["1", "2", " "], True),
        (["1", "2", "3"], False),
        (["1"], False),
        ([""], True),
        (["", "", ""], True),
    ],
)
def test_only_blank_cells_may_be_too_many_or_missing(cells, does):
    assert fits(cells, 2) == does


def test_rows_are_repaired_or_not_at_all():
    dialect = Dialect(T, ",", 2)
    assert repaired_columns("1,é,\n \n".encode(), dialect) == [["1", ""], ["é", ""]]
    assert repaired_columns(b"1,2\n3\n", dialect) is None


def test_ragged_rows_are_listed_with_their_lines_and_counted():
    dialect = Dialect(T, ",", 2)
    assert ragged_rows_error(io.BytesIO(b"1,2\n3,4,\n"), dialect, 2) is None
    error = ragged_rows_error(io.BytesIO(b"1,2\n\n3\n4,5,6\n"), dialect, 2)
    assert "2 rows have not 2 cells as the header has: line 4 (1 cell), line 5 (3 cells);" in str(
        error
    )
    many = ragged_rows_error(io.BytesIO(b"1\n" * 50), dialect, 2)
    assert "line 21 (1 cell) and 30 more" in str(many)


def test_a_cell_that_is_too_long_is_called_so(monkeypatch):
    monkeypatch.setattr("granulearn.tables.io.text_rows.LONGEST_ROW", 1000)
    stream = io.BytesIO(b"a,b\n1,2\n3," + b"x" * 1001 + b"\n")
    with pytest.raises(TableError, match="line 3: a cell has more than 1,000 characters"):
        list(strict_rows(stream, ",", Path("t.csv")))
