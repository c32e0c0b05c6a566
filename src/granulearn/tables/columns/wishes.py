"""What a user says about the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wishes:
    """What a user says about the columns of a table."""

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
