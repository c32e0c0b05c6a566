"""A file or frame becomes typed columns, by one survey, and is written back untouched."""

from granulearn.tables.columns.schema import Column, Schema
from granulearn.tables.columns.wishes import Wishes
from granulearn.tables.errors import TableError
from granulearn.tables.inspection import TableReport, inspect_table
from granulearn.tables.readers.files import Reading, TableFile, TablePart, open_table
from granulearn.tables.readers.frames import table_of
from granulearn.tables.training_table import TrainingTable, read_training_table

__all__ = [
    "Column",
    "Reading",
    "Schema",
    "TableError",
    "TableFile",
    "TablePart",
    "TableReport",
    "TrainingTable",
    "Wishes",
    "inspect_table",
    "open_table",
    "read_training_table",
    "table_of",
]
