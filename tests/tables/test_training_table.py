"""A table to learn from: typed rows, their labels, and the cells as they were read."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from granulearn.tables import TableError, open_table, read_training_table, table_of
from granulearn.tables.training_table import read_labelled_table

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


def test_rows_without_a_label_are_left_out_and_counted(data):
    assert data.dropped_rows == 2
    assert_array_equal(data.rows, [*range(30), 31])
    assert data.y.tolist()[-1] == "y"
    assert len(data.X) == len(data.y) == 31
    assert data.target == "late"


def test_typed_cells_are_floats_and_categories_of_the_columns_that_are_used(data):
    assert [column.name for column in data.schema.dropped] == ["nr"]
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
    assert data.cells["late"].to_pylist()[-3:] == data.label_cells[-3:] == ["", " Y ", "?"]
    assert data.cells["city"].to_pylist()[31] == "two\nlines"
    assert data.lines.tolist() == [*range(2, 34), 35]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, None, False], [True, False]),
        (["true", None, "false"], ["true", "false"]),
        (["7", None, "-2"], [7, -2]),
        ([7.0, None, -2.0], [7, -2]),
        (["07", None, "2"], ["07", "2"]),
    ],
)
def test_labels_are_booleans_if_stored_so_whole_numbers_if_all_are_else_text(values, expected):
    table = pa.table({"x": [str(row * row % 11) for row in range(60)], "y": values * 20})
    y = read_training_table(table_of(table), "y").y
    assert y.tolist() == expected * 20
    assert y.dtype.kind == np.array(expected).dtype.kind


X = {"a": [1, 2, 3, 4], "b": ["u", "v", "u", None]}


@pytest.mark.parametrize(
    ("y", "name", "cells"),
    [
        (pd.Series(["p", "q", "p", None], name="class"), "class", ["p", "q", "p", None]),
        (pd.Series(["p", pd.NA, "q", pd.NaT], name="b"), "b_", ["p", None, "q", None]),
        (pd.Series(["p", None, "q", "p"], dtype="category"), "target", ["p", None, "q", "p"]),
        (pa.array(["p", None, "q", "p"]), "target", ["p", None, "q", "p"]),
        (np.array(["yes", "no", None, np.nan], object), "target", ["yes", "no", None, None]),
    ],
)
def test_labels_beside_a_table_become_its_last_column(y, name, cells):
    data = read_labelled_table(X, y, keep_cells=True)
    assert data.cells.column_names == ["a", "b", name]
    assert (data.target, data.cells[name].to_pylist()) == (name, cells)
    assert data.cells["a"].to_pylist() == X["a"]
    assert data.y.tolist() == [cell for cell in cells if cell is not None]


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 3, 2], np.int32),
        np.array([0.5, -1, 0.5, 7]),
        np.array([True, False, True, True]),
        pd.Series([1, None, 2, 1], dtype="Int64"),
    ],
    ids=str,
)
def test_numbers_beside_a_table_are_classes_and_come_back_as_they_were(y):
    data = read_labelled_table(X, y)
    known = pd.Series(y).dropna()
    assert data.rows.tolist() == known.index.tolist()
    assert data.y.tolist() == known.tolist()
    assert data.y.dtype == known.to_numpy().dtype


@pytest.mark.parametrize("n_infinite", [1, 12])
def test_infinite_numbers_of_a_column_of_numbers_are_missing(n_infinite):
    size = np.arange(20.0)
    size[:n_infinite] = np.inf
    found = read_labelled_table(pd.DataFrame({"size": size}), ["a", "b"] * 10)
    assert found.X["size"].tolist()[n_infinite:] == size[n_infinite:].tolist()
    assert found.X["size"].isna().sum() == n_infinite


def test_labels_of_two_dimensions_or_another_length_are_refused():
    with pytest.raises(TableError, match="2 dimensions; give one"):
        read_labelled_table(X, [[1, 2]])
    said = r"inconsistent numbers of samples: \[4, 3\]; y needs a label for each row"
    with pytest.raises(TableError, match=said):
        read_labelled_table(X, [1, 2, 3])
