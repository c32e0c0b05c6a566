"""What was passed to an audit."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from granulearn.audit.raw_inputs import is_raw_table, row_names

NUMBERS = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}, index=["x", "y"])


@pytest.mark.parametrize(
    "X",
    [
        "table.csv",
        {"a": [1, 2]},
        [{"a": 1}, {"a": 2}],
        pa.table({"a": [1, 2]}),
        NUMBERS.assign(c=["u", "v"]),
        NUMBERS.assign(c=[True, False]),
    ],
)
def test_tables_whose_cells_must_be_read_are_raw(X):
    assert is_raw_table(X)


@pytest.mark.parametrize("X", [NUMBERS, NUMBERS.to_numpy(), NUMBERS.to_numpy().tolist(), []])
def test_numbers_are_not(X):
    assert not is_raw_table(X)


def test_rows_are_named_by_the_inputs_or_else_by_the_labels():
    y = pd.Series([0, 1], index=["p", "q"])
    assert list(row_names(NUMBERS, y)) == ["x", "y"]
    assert list(row_names(NUMBERS.to_numpy(), y)) == ["p", "q"]
    assert row_names(NUMBERS.to_numpy(), np.array([0, 1])) is None
