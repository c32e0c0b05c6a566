"""Columns have names of their own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io.table_file import MOST_COLUMNS, check_width, named_columns, similar_names

PATH = Path("t.csv")


@given(st.lists(st.sampled_from(["", " ", "a", " a", "a (2)", "column 1", "column 2", "b"])))
def test_names_are_unique_not_empty_and_kept_where_they_can_be(header):
    names, remarks = named_columns(PATH, header)
    assert len(set(names)) == len(names) == len(header)
    assert all(names)
    stripped = [name.strip() for name in header]
    for place, name in enumerate(stripped):
        if name and name not in stripped[:place]:
            assert names[place] == name
    assert bool(remarks) == (names != stripped)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Y", ["y"]),
        ("LABEL", ["label", "Label"]),
        ("lable", ["label", "Label"]),
        ("STRASSE", ["Straße"]),
        ("colour", []),
    ],
)
def test_a_name_is_known_again_whatever_its_case(name, found):
    names = ["label", "y", "Label", "Straße", "n0"]
    assert similar_names(name, names) == found
    assert similar_names(name, names, 1) == found[:1]


def test_changed_names_are_said():
    names, remarks = named_columns(PATH, ["", "x", "x"])
    assert names == ["column 1", "x", "x (2)"]
    assert remarks == [
        "column 1 has no name and is called 'column 1'",
        "columns 2 and 3 are both named 'x'; the second is called 'x (2)'",
    ]
    assert len(named_columns(PATH, [""] * 100)[1]) == 6


def test_a_first_row_of_numbers_is_remarked():
    assert "no header" in named_columns(PATH, ["5.1", "3"])[1][0]
    assert named_columns(PATH, ["5.1", "a"])[1] == []


def test_too_many_columns_are_refused():
    check_width(PATH, MOST_COLUMNS)
    with pytest.raises(TableError, match="has 100,001 columns"):
        check_width(PATH, MOST_COLUMNS + 1)


def test_a_name_as_long_as_a_book_is_refused_and_its_place_said():
    with pytest.raises(TableError, match="name of column 2 has 10,001 characters"):
        named_columns(Path("t.csv"), ["a", "b" * 10_001])
    assert named_columns(Path("t.csv"), ["b" * 10_000]) == (["b" * 10_000], [])
