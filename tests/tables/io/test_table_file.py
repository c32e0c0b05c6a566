"""What every table offers."""

from pathlib import Path

import pyarrow as pa
import pytest

from granulearn.tables import TableError
from granulearn.tables.io.table_file import TableFile, WholePart, column_places, known_columns


class OneRow(TableFile):
    def __init__(self, value):
        super().__init__(Path("t"), ["a"], [], 1)
        self.value = value

    def batches(self, columns=None):
        yield pa.record_batch({name: [self.value] for name in self._wanted(columns)})

    def parts(self):
        return (WholePart(OneRow, (self.value,)),)


class Held:
    def __init__(self):
        self.left = 0

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.left += 1


def test_a_whole_part_opens_its_table_again():
    (part,) = OneRow(5).parts()
    assert part.first_row == 0
    assert [batch.to_pydict() for batch in part.batches(["a"])] == [{"a": [5]}]


def test_what_is_held_is_left_once_with_the_table():
    held = Held()
    with OneRow(1) as table:
        table.hold(held)
        assert held.left == 0
    table.close()
    assert held.left == 1


def test_a_table_without_lines_has_rows():
    assert OneRow(1).place(4) == "row 5"
    assert OneRow(1).lines() is None


def test_unknown_columns_are_named_with_what_there_is():
    assert known_columns(Path("t"), ["a", "b"], ("b",)) == ["b"]
    with pytest.raises(TableError, match="t has no column 'zz', 'y'; it has 'a', 'b'"):
        known_columns(Path("t"), ["a", "b"], ["zz", "y", "a"])
    with pytest.raises(TableError, match="and 10 more"):
        known_columns(Path("t"), [f"c{i}" for i in range(30)], ["?"])


def test_places_of_columns_are_those_of_their_names():
    names = ["b", "a", "", "c"]
    assert column_places(names, ["c", "b", "c"]) == [names.index(name) for name in "cbc"]
    assert column_places(names, names) == [0, 1, 2, 3]
