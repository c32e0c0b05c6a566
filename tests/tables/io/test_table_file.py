"""What every table offers."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io.table_file import known_columns, named_columns, similar_names


def test_unknown_columns_are_named_with_what_there_is():
    assert known_columns(Path("t"), ["a", "b"], ("b",)) == ["b"]
    with pytest.raises(TableError, match="t has no column 'zz', 'y'; it has 'a', 'b'"):
        known_columns(Path("t"), ["a", "b"], ["zz", "y", "a"])
    with pytest.raises(TableError, match="and 10 more"):
        known_columns(Path("t"), [f"c{i}" for i in range(30)], ["?"])


PATH = Path("t.csv")


@given(st.lists(st.sampled_from(["", " ", "a", " a", "a (2)", "column 1", "column 2", "b"])))
def test_names_are_unique_not_empty_and_kept_where_they_can_be(header):
    names, notes = named_columns(PATH, header)
    assert len(set(names)) == len(names) == len(header)
    assert all(names)
    stripped = [name.strip() for name in header]
    for place, name in enumerate(stripped):
        if name and name not in stripped[:place]:
            assert names[place] == name
    assert bool(notes) == (names != stripped)


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
    names, notes = named_columns(PATH, ["", "x", "x"])
    assert names == ["column 1", "x", "x (2)"]
    assert notes == [
        "1 column without a name: called 'column 1'",
        "equal names: 'x' in columns 2 and 3, the second called 'x (2)'",
    ]
    assert named_columns(PATH, ["x", "", "", ""])[1] == [
        "3 columns without a name: called 'column 2' to 'column 4'"
    ]
    (note,) = named_columns(PATH, ["x"] * 100)[1]
    assert note.endswith("; and 94 more")
