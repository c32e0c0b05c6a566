"""Read tables of any format: profile, schema, labels, checks, typed rows."""

from granulearn.tables.infer import ColumnOptions
from granulearn.tables.inspection import TableReport, inspect_table
from granulearn.tables.io.files import ReadOptions, TableFile, open_table
from granulearn.tables.io.frames import table_of
from granulearn.tables.messages import TableError
from granulearn.tables.schema import Column, Schema
from granulearn.tables.training_table import TrainingTable, read_training_table

__all__ = [
    "Column",
    "ColumnOptions",
    "ReadOptions",
    "Schema",
    "TableError",
    "TableFile",
    "TableReport",
    "TrainingTable",
    "inspect_table",
    "open_table",
    "read_training_table",
    "table_of",
]
