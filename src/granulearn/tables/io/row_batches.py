"""Rows of text cells, from a reader that gives one after another, as record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyarrow as pa

_CELLS = 2**20
_MOST_ROWS = 2**16


def rows_per_batch(n_columns: int) -> int:
    """Return how many rows go into a batch, fewer if they are wide.

    Parameters
    ----------
    n_columns : int
        How many columns are read.
    """
    return max(1, min(_MOST_ROWS, _CELLS // max(n_columns, 1)))


def text_batches(
    rows: Iterable[Sequence[str | None]], names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield rows as record batches of text.

    Parameters
    ----------
    rows : iterable of sequences of str or None
        As many cells each as there are names.
    names : sequence of str
        The columns.
    """
    remaining = iter(rows)
    schema = pa.schema([pa.field(name, pa.string()) for name in names])
    while taken := list(islice(remaining, rows_per_batch(len(names)))):
        columns = [pa.array(cells, pa.string()) for cells in zip(*taken, strict=True)]
        if columns:
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
        else:
            yield pa.table({"": pa.nulls(len(taken))}).select([]).to_batches()[0]
