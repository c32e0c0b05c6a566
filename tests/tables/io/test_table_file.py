"""What every table offers."""

import pickle
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io.table_file import (
    MOST_COLUMNS,
    TableFile,
    check_width,
    known_columns,
    named_columns,
    similar_names,
)


class OneRow(TableFile):
    def __init__(self, value):
        super().__init__(Path("t"), ["a"], [], 1)
        self.value = value

    def batches(self, columns=None):
        yield pa.record_batch({name: [self.value] for name in self._wanted(columns)})


def test_a_table_that_cannot_be_divided_is_its_own_part():
    (part,) = pickle.loads(pickle.dumps(OneRow(5).parts()))
    assert part.first_row == 0
    assert [batch.to_pydict() for batch in part.batches(["a"])] == [{"a": [5]}]


def test_what_is_held_is_left_with_the_table(tmp_path):
    with OneRow(1) as table:
        table.hold(folder := tempfile.TemporaryDirectory(dir=tmp_path))
        assert Path(folder.name).exists()
        pickle.dumps(table)
    assert not Path(folder.name).exists()


def test_a_table_without_lines_has_rows():
    assert OneRow(1).place(4) == "row 5"
    assert OneRow(1).lines() is None


def test_unknown_columns_are_named_with_what_there_is():
    assert known_columns(Path("t"), ["a", "b"], ("b",)) == ["b"]
    with pytest.raises(TableError, match="t has no column 'zz', 'y'; it has 'a', 'b'"):
        known_columns(Path("t"), ["a", "b"], ["zz", "y", "a"])
    with pytest.raises(TableError, match="and 10 more"):
        known_columns(Path("t"), [f"c{i}" for i in range(30)], ["?"])


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
