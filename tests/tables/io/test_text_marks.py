"""Row starts and quotes, for a whole text at once; the csv module is the oracle."""

import csv
import io
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.io.text_marks import (
    count_line_ends,
    count_rows,
    end_of_last_row,
    quotes_in_order,
    row_starts,
)
from granulearn.tables.io.text_rows import strict_rows
from tests.tables.nasty_tables import tables, written

NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


@given(tables(), NEWLINES, st.booleans())
def test_rows_begin_where_the_slow_reader_says(table, newline, quote_all):
    content = written(*table, newline=newline, quote_all=quote_all).encode()
    assert quotes_in_order(content, ",")
    starts = row_starts(content)
    slow = list(strict_rows(io.BytesIO(content), ",", Path("t")))
    assert starts.offsets.tolist() == [row.begin for row in slow]
    assert starts.lines.tolist() == [row.line for row in slow]
    assert starts.quoted_newlines == any(
        set(cell) & set("\r\n") for row in slow for cell in row.cells
    )


@given(st.text("a\n\r", max_size=12))
def test_rows_and_lines_are_counted_as_by_hand(text):
    lines = io.StringIO(text, newline=None).readlines()
    assert count_rows(text.encode()) == (sum(line != "\n" for line in lines), len(lines))
    ended = sum(line.endswith("\n") for line in lines)
    assert count_line_ends(text.encode()) == ended


@given(st.text('a",\n\r', max_size=14))
def test_quotes_in_order_are_quotes_that_the_csv_module_takes_as_such(text):
    if not quotes_in_order(text.encode(), ","):
        return
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))  # raises if broken
    # Without a quotation mark inside of an unquoted cell, writing and reading agree.
    n_quotes = sum(cell.count('"') for row in rows for cell in row)
    starts = row_starts(text.encode())
    assert len(starts.lines) == len([row for row in rows if row])
    assert text.count('"') >= 2 * n_quotes


@given(tables(), NEWLINES, st.booleans(), st.data())
def test_a_text_is_cut_only_after_whole_rows(table, newline, quote_all, data):
    content = written(*table, newline=newline, quote_all=quote_all).encode()
    cut = data.draw(st.integers(0, len(content)))
    end = end_of_last_row(content[:cut])
    ends = [0, *(row.end for row in strict_rows(io.BytesIO(content), ",", Path("t")))]
    certain = [e for e in ends if e <= cut and (newline != "\r" or e < cut or e == 0)]
    assert end == max(certain)
