"""A row's hash tells its cells from all others, and leaves the labels out."""

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from granulearn.tables.parse.cells import as_text, row_hashes

CELL = st.none() | st.text(max_size=4) | st.sampled_from(["\x1f", "\x1e", "-", "1:a", "a\x1fb"])
ROW = st.lists(CELL, min_size=3, max_size=3)


def table(*rows):
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(c, pa.string()) for n, c in zip("abc", columns, strict=True)})


@given(one=ROW, other=ROW)
@example(one=["a", "bc", ""], other=["ab", "c", ""])
@example(one=["", "x", "x"], other=[None, "x", "x"])
@example(one=["-", "x", "x"], other=[None, "x", "x"])
@example(one=[" a ", "x", "x"], other=["a", "x", "x"])
@example(one=["p", "q", "x"], other=["q", "p", "x"])
def test_rows_have_one_hash_where_all_cells_have_one_text(one, other):
    first, second = row_hashes(table(one, other))
    texts = [as_text(pa.array(row, pa.string())).to_pylist() for row in (one, other)]
    assert (first == second) == (texts[0] == texts[1])
    assert row_hashes(table(other, other, one))[2] == first


@given(row=ROW, label=CELL)
def test_the_column_that_is_left_out_does_not_count(row, label):
    changed = [row[0], label, row[2]]
    assert row_hashes(table(row), "b") == row_hashes(table(changed), "b")
    assert row_hashes(table(row), "b") == row_hashes(table(row).drop_columns("b"))


def test_hashes_stay_the_same_from_release_to_release():
    assert row_hashes(table(["1", None, "é"])) == ["hc64f022476be57ec"]
