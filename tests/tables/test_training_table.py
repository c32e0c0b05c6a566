"""A table to learn from: typed rows, their labels, and the cells as they were read."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from granulearn.tables import ColumnOptions, TableError, open_table, read_training_table, table_of
from granulearn.tables.labels.labels import Labels
from granulearn.tables.training_table import as_labels, chosen_rows

CELLS = (
    "nr,price,day,city,late\n"
    + "".join(f'{i},"{i * i % 17},5 €",{1 + i % 28}.{1 + i % 9}.2020,"L,{i % 3}",'
              f'{"yn"[i % 5 > 2]}\n' for i in range(1, 31))
    + "31,?,,Rom,\n32,\"7,0 €\",1.1.2021,\"two\nlines\", Y \n33,\"1,0 €\",n/a,Rom,?\n"
)  # fmt: skip


@pytest.fixture(name="data")
def read_orders(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text(CELLS)
    with open_table(path) as file:
        return read_training_table(file, "late", keep_cells=True)


def test_keeping_the_cells_changes_nothing_else(data, tmp_path):
    with open_table(tmp_path / "orders.csv") as file:
        plain = read_training_table(file, "late")
    assert (plain.cells, plain.lines) == (None, None)
    pd.testing.assert_frame_equal(plain.X, data.X)
    assert_array_equal(plain.y, data.y)
    assert_array_equal(plain.rows, data.rows)
    assert plain.schema == data.schema
    assert plain.dropped_rows == data.dropped_rows


def test_rows_without_a_label_are_left_out_and_counted(data):
    assert data.dropped_rows == 2
    assert_array_equal(data.rows, [*range(30), 31])
    assert data.y.tolist()[-1] == "y"
    assert len(data.X) == len(data.y) == 31
    assert data.target == "late"


def test_typed_cells_are_floats_and_categories_of_the_columns_that_are_used(data):
    assert [column.name for column in data.schema.left_out] == ["nr"]
    assert list(data.X) == [
        "price",
        *(f"day: {part}" for part in ("year", "month", "day of year", "weekday")),
        "day: days since 1970",
        "city",
    ]
    assert set(map(str, data.X.dtypes)) == {"float64", "category"}
    assert data.X["price"].iloc[-1] == 7.0
    assert data.X["day: year"].iloc[-1] == 2021
    assert data.X["city"].tolist()[:2] == ["L,1", "L,2"]


def test_the_cells_are_those_of_all_rows_as_they_stand(data):
    assert data.cells.num_rows == 33
    assert data.cells.column_names == ["nr", "price", "day", "city", "late"]
    assert data.cells["late"].to_pylist()[-3:] == ["", " Y ", "?"]
    assert data.cells["city"].to_pylist()[31] == "two\nlines"
    assert data.lines.tolist() == [*range(2, 34), 35]


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,x\n" * 30)
    with open_table(path) as file, pytest.raises(TableError) as caught:
        read_training_table(file, "b", ColumnOptions(ignore=("c", "d"), categorical=("e",)))
    said = caught.value.problems
    assert all(problem.startswith(f"{path}: ") for problem in said)
    for name, option in (("c", "ignore"), ("d", "ignore"), ("e", "categorical")):
        assert any(f"no column {name!r} ({option}=...)" in problem for problem in said)
    assert any("is 'x' in every row" in problem for problem in said)
    assert any("no column to learn from" in problem for problem in said)
    assert len(said) == 5


def test_a_target_that_is_not_there_is_the_problem(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label,b\n1,x\n")
    with (
        open_table(path) as file,
        pytest.raises(TableError, match=r"'lable' \(target=\.\.\.\).*'label'"),
    ):
        read_training_table(file, "lable")


def test_a_column_that_gives_the_target_away_is_left_out_of_the_cells():
    y = ["a", "b", "b", "a", "a"] * 12
    table = {"x": np.sin(np.arange(60)), "code": [{"a": 7, "b": 9}[label] for label in y], "y": y}
    data = read_training_table(table_of(table), "y")
    assert list(data.X) == ["x"]
    assert data.schema["code"].left_out == "gives the target away"
    kept = read_training_table(table_of(table), "y", ColumnOptions(include=("code",)))
    assert list(kept.X) == ["x", "code"]


def test_a_header_without_rows_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    with pytest.raises(TableError, match="no data rows"), open_table(path) as file:
        read_training_table(file, "b")


def test_lists_are_no_labels():
    table = table_of(pa.table({"a": [1, 2], "y": [[1], [2]]}))
    with pytest.raises(TableError, match="'y', the target, holds lists or bytes"):
        read_training_table(table, "y")


@pytest.mark.parametrize(
    ("names", "whole", "expected"),
    [(["1", "-2"], True, [1, -2]), (["1", "x"], False, ["1", "x"]), ([], True, [])],
)
def test_labels_are_whole_numbers_only_if_all_are(names, whole, expected):
    found = as_labels(pa.array(names, pa.string()), Labels(whole_numbers=whole))
    assert found.tolist() == expected
    assert found.dtype.kind == ("i" if whole else "U")


def test_labels_are_truth_values_only_if_they_are_stored_as_such():
    truth = [[True, None, False][row % 3] for row in range(60)]
    x = [str(row * row % 11) for row in range(60)]
    stored = read_training_table(table_of(pa.table({"x": x, "y": truth})), "y")
    assert stored.y.dtype == bool
    assert stored.y.tolist() == [value for value in truth if value is not None]
    spelt = [None if value is None else str(value).lower() for value in truth]
    text = read_training_table(table_of(pa.table({"x": x, "y": spelt})), "y")
    assert text.y.tolist() == [value for value in spelt if value is not None]


def test_chosen_rows_are_those_of_the_frame(data):
    places = np.array([3, 0, 3])
    found = chosen_rows(data.typed, data.schema, places).to_frame()
    expected = data.X.iloc[places].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_categorical=False)
