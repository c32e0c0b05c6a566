"""A file or frame becomes typed columns, by one survey, and is written back untouched."""

from granulearn.tables.errors import TableError

__all__ = ["TableError"]
