"""Tables in memory: the cells do not depend on who holds them."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from granulearn.tables import TableError
from granulearn.tables.io.frames import table_of
from granulearn.tables.parse.cells import as_text
from tests.tables.nasty_tables import assert_holds, rows_of, tables


@given(tables())
def test_every_holder_of_a_table_gives_the_same_cells(table):
    names, rows = table
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    holders = [
        pd.DataFrame(columns, index=range(5, 5 + len(rows))),
        pd.DataFrame(columns).astype("string"),
        pd.DataFrame(columns).astype("category"),
        polars.DataFrame(columns),
        polars.LazyFrame(columns),
        pa.table(columns),
        pa.RecordBatch.from_pydict(columns),
        columns,
        [dict(zip(names, row, strict=True)) for row in rows],
    ]
    for holder in holders:
        assert_holds(table_of(holder), names, rows)


def _beginnings(keys: list[str]) -> st.SearchStrategy[list[str]]:
    return st.integers(1, len(keys)).map(lambda n_keys: keys[:n_keys])


def texts(series) -> list:
    (batch,) = table_of(pd.DataFrame({"a": series})).batches()
    return as_text(batch.column(0)).to_pylist()


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (pd.Series([1.0, np.nan, 2.5]), ["1", None, "2.5"]),
        (pd.Series([1, None], dtype="Int64"), ["1", None]),
        (pd.Series([True, None], dtype="boolean"), ["true", None]),
        (
            pd.Series([1, "x", 2.0, None, np.nan, True], dtype=object),
            ["1", "x", "2", None, None, "true"],
        ),
        (pd.Series([Decimal("1.50"), None], dtype=object), ["1.50", None]),
        (pd.Series([datetime.date(2020, 1, 31), None], dtype=object), ["2020-01-31", None]),
        (pd.Series([datetime.date(2020, 1, 31), 7], dtype=object), ["2020-01-31", "7"]),
        (pd.Series([1, "x"]).astype("category"), ["1", "x"]),
        (pd.Series(pd.to_timedelta(["90min", None])), ["1.5", None]),
        (pd.Series(pd.period_range("2020-01", periods=2, freq="M")), ["2020-01", "2020-02"]),
        (pd.Series([1 + 2j]), ["(1+2j)"]),
        (pd.Series(pd.arrays.SparseArray([0, 3])), ["0", "3"]),
        (pd.Series([2**70, 1], dtype=object), [str(2**70), "1"]),
    ],
)
def test_any_dtype_of_pandas_has_a_text(series, expected):
    assert texts(series) == expected


@given(st.lists(st.permutations("abc").flatmap(_beginnings), min_size=1, max_size=6))
def test_rows_may_have_their_keys_in_any_order_and_lack_some(keys_of_rows):
    rows = [{key: f"{key}{n}" for key in keys} for n, keys in enumerate(keys_of_rows)]
    read = table_of(rows)
    assert read.names == list(dict.fromkeys(key for row in rows for key in row))
    found = rows_of(read.batches())
    assert found == [[row.get(name) for name in read.names] for row in rows]


def test_rows_without_names_are_a_table_whoever_holds_them():
    class Held:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0], [3.0, 4.0]], dtype)

    for holder in ([[1.0, 2.0], [3.0, 4.0]], ((1.0, 2.0), (3.0, 4.0)), Held()):
        read = table_of(holder)
        assert (read.names, rows_of(read.batches())) == (["x0", "x1"], [[1.0, 2.0], [3.0, 4.0]])
    mixed = table_of([[1, "a", None], [None, "b", 2.5]])
    assert rows_of(mixed.batches()) == [[1, "a", None], [None, "b", 2.5]]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (3, "int is no table; give a path"),
        ([], "^the list has no rows; give at least one"),
        ((), "^the tuple has no rows"),
        (np.zeros((2, 2, 2)), "ndarray is no table"),
        (np.zeros(3), "ndarray of one dimension. Reshape your data"),
        ([1, 2], "list of one dimension. Reshape your data"),
        ([{"a": 1}, 3], "^row 2 of the list is no dict; give one"),
        ([[1], {"a": 1}], "^row 1 of the list is no dict; "),
        (["ab", "cd"], "list of one dimension. Reshape your data"),
        (pd.Series([1]), "Series of one dimension. Reshape your data"),
        (np.zeros((2, 0)), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ([[1, 2], [3, 4], [5]], "row 3 has 1 cells, and row 1 has 2"),
        (sparse.csr_array(np.eye(2)), "X is sparse, and must be dense"),
        (sparse.dok_matrix(np.eye(2)), "X is sparse, and must be dense"),
        ({"a": [1], "b": [1, 2]}, "differ in length: {'a': 1, 'b': 2}"),
        ({"a": 3}, "'a' is no list of cells"),
        ({}, "has no columns"),
        (pd.DataFrame({"a": []}), "has a header but no data rows"),
    ],
)
def test_what_is_no_table_is_refused(data, said):
    with pytest.raises(TableError, match=said):
        table_of(data)
