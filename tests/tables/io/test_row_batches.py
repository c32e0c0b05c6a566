"""Rows one after another as batches."""

import pyarrow as pa
import pytest

from granulearn.tables.io import row_batches
from granulearn.tables.io.row_batches import rows_per_batch, text_batches
from tests.tables.nasty_tables import rows_of


def test_batches_hold_every_row_once_in_order_as_text(monkeypatch):
    monkeypatch.setattr(row_batches, "_CELLS", 20)
    rows = [[str(i), None] for i in range(35)]
    batches = list(text_batches(iter(rows), ["a", "b"]))
    assert [batch.num_rows for batch in batches] == [10, 10, 10, 5]
    assert rows_of(batches) == rows
    assert {kind for batch in batches for kind in batch.schema.types} == {pa.string()}


def test_rows_without_columns_are_counted():
    assert sum(batch.num_rows for batch in text_batches([[], []], [])) == 2


@pytest.mark.parametrize("n_columns", [0, 1, 20, 10**5, 10**7])
def test_a_batch_has_a_row_at_least_and_no_more_cells_than_fit(n_columns):
    rows = rows_per_batch(n_columns)
    assert rows >= 1
    assert rows == 1 or rows * n_columns <= 2**20
