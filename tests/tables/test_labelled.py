"""Labels in a table and labels beside it are the same labels."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from granulearn.tables import TableError, read_training_table, table_of
from granulearn.tables.labelled import GivenLabels, labelled_table

X = {"a": [1, 2, 3, 4], "b": ["u", "v", "u", None]}


def test_a_column_of_the_table_is_taken_as_it_stands():
    with labelled_table({**X, "y": list("abab")}, "y") as (file, target, labels):
        assert (file.names, target, labels) == (["a", "b", "y"], "y", None)


def test_labels_beside_a_table_become_its_last_column():
    y = pd.Series(["p", "q", "p", None], name="class", index=[9, 8, 7, 6])
    with labelled_table(X, y) as (file, target, _):
        (batch,) = file.batches()
    assert (file.names, target) == (["a", "b", "class"], "class")
    assert batch.column("class").to_pylist() == ["p", "q", "p", None]
    assert batch.column("a").to_pylist() == [1, 2, 3, 4]


@pytest.mark.parametrize(("y", "name"), [(np.arange(4), "target"), (pd.Series([1] * 4), "target")])
def test_labels_without_a_name_get_one(y, name):
    with labelled_table(X, y) as (file, target, _):
        assert target == file.names[-1] == name


def test_the_name_is_none_that_the_table_has():
    y = pd.Series([1, 2, 1, 2], name="b")
    with labelled_table({**X, "b_": X["b"]}, y) as (file, target, _):
        assert (target, file.names) == ("b__", ["a", "b", "b_", "b__"])


def test_a_file_is_read_and_its_labels_may_stand_beside_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,u\n2,v\n")
    with labelled_table(path, [0, 1]) as (file, target, _):
        assert file.path == path
        assert read_training_table(file, target).y.tolist() == ["class 0", "class 1"]


@pytest.mark.parametrize(
    "y",
    [np.array([3, 1, 3, 2]), np.array([0.5, -1, 0.5, 7]), np.array([True, False, True, True])],
    ids=str,
)
def test_numbers_come_back_as_they_were_and_are_never_measurements(y):
    labels = GivenLabels(y)
    assert len(set(labels.cells.to_pylist())) == len(set(y.tolist()))
    assert all(cell.startswith("class ") for cell in labels.cells.to_pylist())
    found = labels.values(np.array([2, 0]), np.array(["", ""]))
    assert found.tolist() == y[[2, 0]].tolist()
    assert found.dtype == y.dtype


def test_texts_come_back_as_they_were_joined():
    labels = GivenLabels(np.array(["yes", "Yes", None, float("nan")], dtype=object))
    assert labels.cells.to_pylist() == ["yes", "Yes", None, None]
    joined = np.array(["yes", "yes"])
    assert labels.values(np.array([0, 1]), joined) is joined


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_every_kind_of_missing_label_is_one(missing):
    y = pd.Series(["p", missing, "q", "p"], dtype=object)
    assert GivenLabels(y).cells.to_pylist() == ["p", None, "q", "p"]


def test_categories_and_nullable_texts_are_labels():
    for kind in ("category", "string"):
        y = pd.Series(["p", None, "q"], dtype=kind)
        assert GivenLabels(y).cells.to_pylist() == ["p", None, "q"]
    assert GivenLabels(pa.array(["p", None])).cells.to_pylist() == ["p", None]


def test_nullable_numbers_keep_the_rows_that_have_one():
    y = pd.Series([1, None, 2, 1], dtype="Int64")
    with labelled_table(X, y) as (file, target, labels):
        data = read_training_table(file, target)
    assert data.rows.tolist() == [0, 2, 3]
    assert [int(label) for label in labels.values(data.rows, data.y)] == [1, 2, 1]


def test_labels_of_two_dimensions_or_another_length_are_refused():
    with pytest.raises(TableError, match="2 dimensions; give one label for each row"):
        GivenLabels(np.zeros((2, 2)))
    said = r"inconsistent numbers of samples: \[4, 3\]; y needs a label for each row"
    with pytest.raises(TableError, match=said), labelled_table(X, [1, 2, 3]):
        pass


def test_a_table_that_is_open_is_used():
    file = table_of(X)
    with labelled_table(file, [1, 2, 1, 2]) as (made, _, _):
        assert made.names == [*file.names, "target"]
