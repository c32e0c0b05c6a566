"""What a user says about the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnOptions:
    """What a user says about the columns of a table.

    Examples
    --------
    >>> from granulearn.tables import ColumnOptions, inspect_table, table_of
    >>> numbers = table_of({"zip": [10115, 20095, 80331], "age": [31, 47, 52]})
    >>> options = ColumnOptions(categorical=("zip",), ignore=("age",))
    >>> schema = inspect_table(numbers, options=options).schema
    >>> schema["zip"].becomes, schema["age"].dropped
    ('a category', 'asked')
    """

    categorical: tuple[str, ...] = ()
    """Columns of categories, whatever they look like."""
    ignore: tuple[str, ...] = ()
    """Columns to leave out."""
    include: tuple[str, ...] = ()
    """Columns to use that would be left out."""
    decimal: str | None = None
    """The sign before the decimals, where the cells do not tell."""
    day_first: bool | None = None
    """The order of day and month, where the cells do not tell."""
    exact_labels: bool = False
    """Whether labels that differ in case, blanks or Unicode form only are kept apart."""
