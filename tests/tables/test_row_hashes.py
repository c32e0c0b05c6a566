"""A row's hash tells its cells from all others, and leaves the labels out."""

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from granulearn.tables.parse.cells import as_text
from granulearn.tables.row_hashes import row_hashes

CELL = st.none() | st.text(max_size=4) | st.sampled_from(["\x1f", "\x1e", "-", "1:a", "a\x1fb"])
ROW = st.lists(CELL, min_size=3, max_size=3)


def table(*rows):
    return pa.table(
        {
            name: pa.array(cells, pa.string())
            for name, cells in zip("abc", zip(*rows, strict=True), strict=True)
        }
    )


@given(one=ROW, other=ROW)
@example(one=["a", "bc", ""], other=["ab", "c", ""])
@example(one=["a\x1fb", "c", ""], other=["a", "b\x1fc", ""])
@example(one=["", "x", "x"], other=[None, "x", "x"])
@example(one=["-", "x", "x"], other=[None, "x", "x"])
def test_rows_have_one_hash_where_all_cells_have_one_text(one, other):
    first, second = row_hashes(table(one, other))
    texts = [as_text(pa.array(row, pa.string())).to_pylist() for row in (one, other)]
    assert (first == second) == (texts[0] == texts[1])


@given(row=ROW, place=st.integers(0, 2), cell=CELL)
def test_a_row_changes_its_hash_where_a_cell_changes_and_others_keep_theirs(row, place, cell):
    changed = [cell if k == place else old for k, old in enumerate(row)]
    beside = ["x", None, "y"]
    before, after = row_hashes(table(beside, row)), row_hashes(table(beside, changed))
    assert after[0] == before[0]
    as_read = [as_text(pa.array([value], pa.string()))[0].as_py() for value in (row[place], cell)]
    assert (after[1] == before[1]) == (as_read[0] == as_read[1])


@given(row=ROW, label=CELL)
def test_the_column_that_is_left_out_does_not_count(row, label):
    changed = [row[0], label, row[2]]
    assert row_hashes(table(row), "b") == row_hashes(table(changed), "b")
    assert row_hashes(table(row), "b") == row_hashes(table(row).drop_columns("b"))


def test_columns_change_places_and_the_hash_changes():
    assert row_hashes(table(["p", "q", "r"])) != row_hashes(table(["q", "p", "r"]))


def test_blanks_around_a_cell_do_not_count_and_an_empty_cell_is_not_a_missing_one():
    padded, plain, empty, missing = row_hashes(pa.table({"a": [" x ", "x", "", None]}))
    assert padded == plain
    assert len({plain, empty, missing}) == 3


def test_a_number_counts_as_it_is_written():
    whole, real = pa.table({"a": [30, 4]}), pa.table({"a": [30.0, 4.5]})
    assert row_hashes(whole)[0] == row_hashes(real)[0] == row_hashes(pa.table({"a": ["30"]}))[0]
    assert row_hashes(whole)[1] != row_hashes(real)[1]


def test_hashes_stay_the_same_from_release_to_release():
    assert row_hashes(table(["1", None, "é"])) == ["hc64f022476be57ec"]


def test_nested_columns_and_tables_without_cells_are_passed_over():
    nested = pa.table({"a": ["x", "y"], "list": [[1], [2]]})
    assert row_hashes(nested) == row_hashes(nested.drop_columns("list"))
    first, second = row_hashes(pa.table({"label": ["x", "y"]}), "label")
    assert first == second
    assert row_hashes(pa.table({"a": pa.array([], pa.string())})) == []


def test_a_hash_has_a_letter_and_sixteen_digits():
    (found,) = row_hashes(table(["a", "b", "c"]))
    assert len(found) == 17
    assert found[0] == "h"  # no spreadsheet takes it for a number
    assert set(found[1:]) <= set("0123456789abcdef")
