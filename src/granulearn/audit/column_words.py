"""Columns of a table in words: what the features of an encoded row are to its reader."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.tables.parse.dates import HOUR, PARTS_OF_A_DATE, RUNNING

if TYPE_CHECKING:
    import pandas as pd

FeatureName = str | tuple[str, str]
"""A column; or (column, category) for a feature that is one where the column has the category."""

MISSING = "–"
_SHARE, _BY = "share of ", " by "
_SIDES = {
    "": ("lower", "higher"),
    RUNNING: ("earlier", "later"),
    "year": ("earlier", "later"),
    "month": ("earlier in the year", "later in the year"),
    "day of year": ("earlier in the year", "later in the year"),
    "weekday": ("earlier in the week", "later in the week"),
    HOUR: ("earlier in the day", "later in the day"),
}
_CATEGORY = "category"


@dataclass(frozen=True)
class Origin:
    """Where a feature comes from."""

    column: str
    part: str
    """Empty for a number, "category", or the part of a date."""


def origin_of(name: FeatureName, columns: Collection[str]) -> Origin:
    """Return the column that a feature was made from, and which part of it the feature is.

    Parameters
    ----------
    name : str or tuple
        Name of the feature.
    columns : collection of str
        The columns of the table.
    """
    if isinstance(name, tuple):
        return Origin(name[0], _CATEGORY)
    if name in columns:
        return Origin(name, "")
    for part in (*PARTS_OF_A_DATE, HOUR, RUNNING):
        column = name.removesuffix(f": {part}")
        if column != name and column in columns:
            return Origin(column, part)
    if name.startswith(_SHARE):
        encoded = [column for column in columns if name.endswith(_BY + column)]
        if encoded:
            return Origin(max(encoded, key=len), _CATEGORY)
    return Origin(name, "")


def cell_text(value: Any) -> str:
    """Return a cell as a reader sees it.

    Parameters
    ----------
    value : object
        What the table holds.
    """
    if value is None or value != value or not str(value).strip():
        return MISSING
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


class ColumnWords:
    """The features of encoded rows, told as cells of the table that they come from.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Encoded rows.
    names : sequence of str or tuple
        Names of the features.
    table : DataFrame
        The same rows as they came.
    """

    def __init__(self, X: np.ndarray, names: Sequence[FeatureName], table: pd.DataFrame):
        self.X, self.table = X, table
        self.places = {str(name): place for place, name in enumerate(table.columns)}
        self.origins = [origin_of(name, self.places) for name in names]
        self.columns = list(dict.fromkeys(origin.column for origin in self.origins))
        numbers = {column: number for number, column in enumerate(self.columns)}
        self.column_of = np.array([numbers[origin.column] for origin in self.origins], dtype=int)
        self.has_sides = [
            origin.part != _CATEGORY and _has_three_values(values)
            for origin, values in zip(self.origins, X.T, strict=True)
        ]

    def by_column(self, features: np.ndarray) -> np.ndarray:
        """Return the sum over the features of each column.

        Parameters
        ----------
        features : ndarray of shape (n_features,)
            One number per feature.
        """
        return np.bincount(self.column_of, features, minlength=len(self.columns))

    def tell(self, position: int, column: int, features: np.ndarray, usual: np.ndarray) -> str:
        """Return a column with the cell of a row: "colour = red" or "age 71 (higher)".

        Parameters
        ----------
        position : int
            The row.
        column : int
            Number of the column.
        features : ndarray of shape (n_features,)
            How much each feature matters; the one that matters most of the column's is told.
        usual : ndarray of shape (n_features,)
            What features are compared with.
        """
        own = np.flatnonzero(self.column_of == column)
        most = own[features[own].argmax()]
        name, cell = self.columns[column], self._cell(position, column, most)
        # A number or a date has a digit; what has none stands for a missing cell.
        is_number = self.has_sides[most]
        if cell == MISSING or (is_number and not any(sign.isnumeric() for sign in cell)):
            return f"{name} is missing"
        if not is_number:
            return f"{name} = {cell}"
        # Two numbers side by side would read as one.
        told = f"{name} = {cell}" if name[-1:].isdigit() else f"{name} {cell}"
        difference = self.X[position, most] - usual[most]
        if difference == 0:
            return told
        return f"{told} ({_SIDES[self.origins[most].part][int(difference > 0)]})"

    def _cell(self, position: int, column: int, feature: int) -> str:
        place = self.places.get(self.columns[column])
        if place is not None:
            return cell_text(self.table.iat[position, place])
        # The table that is shown lacks the column.
        return cell_text(float(self.X[position, feature]))


def _has_three_values(values: np.ndarray) -> bool:
    """Return whether a feature is more than yes or no."""
    return bool(((values != values.min()) & (values != values.max())).any())
