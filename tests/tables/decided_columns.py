"""Columns of a few cells, over and over again, and what is decided about them."""

import pyarrow as pa

from granulearn.tables.infer import ColumnOptions, infer_schema
from granulearn.tables.inspection import first_pass
from granulearn.tables.messages import Setting
from granulearn.tables.schema import Column, Schema

N = 200


INCLUDED = (Setting("include", ("c",)),)


def cycle(*cells, n: int = N) -> list:
    """Return n cells, some over and over again."""
    return [cells[row % len(cells)] for row in range(n)]


def schema_of(options: ColumnOptions | None = None, /, **columns) -> Schema:
    """Return what is decided about columns of text, or of Arrow's own types."""
    arrays = {
        name: cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
        for name, cells in columns.items()
    }
    return infer_schema(first_pass([pa.record_batch(arrays)], None).columns, options)


def column_of(cells, options: ColumnOptions | None = None) -> Column:
    return schema_of(options, c=cells)["c"]
