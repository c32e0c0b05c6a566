"""Read a table of somebody's own: types told apart, missing values counted."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api import types

from granulearn.datasets.csv_structure import (
    MISSING_MARKS,
    TableError,
    check_unique,
    read_csv_cells,
)

CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".data")
PARQUET_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class Table:
    """A table split into features and target."""

    X: pd.DataFrame
    """Features: numbers, or categories (dtype ``category``)."""
    y: np.ndarray
    """Target, one label per row, none missing."""
    target: str
    """Name of the target column."""
    numeric: tuple[str, ...]
    """Feature columns that hold numbers."""
    categorical: tuple[str, ...]
    """Feature columns that hold categories."""
    missing: dict[str, int]
    """Number of missing cells, for the feature columns that have any."""


def read_table(
    path: str | os.PathLike,
    target: str,
    *,
    categorical: Sequence[str] = (),
    encoding: str = "utf-8-sig",
    separator: str | None = None,
) -> Table:
    """Read a CSV or Parquet file and split it into features and target.

    A column is numeric if all its cells are numbers, and categorical if none
    is. Empty cells and the usual marks (``?``, ``NA``, ``null``, ...) are
    missing values. A column that mixes numbers and text is an error, since one
    misspelt number would otherwise turn it into categories; name it in
    ``categorical`` if it is meant so.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt``, ``.data`` with a header, or ``.parquet``, ``.pq``.
    target : str
        The column to predict.
    categorical : sequence of str, default=()
        Columns that hold categories even if they look like numbers.
    encoding : str, default="utf-8-sig"
        Encoding of a text file: UTF-8, with or without a byte-order mark.
    separator : str, default=None
        What stands between the cells of a text file; None takes it from the header.

    Returns
    -------
    Table
        Features, target, kinds of columns, missing values.

    Raises
    ------
    TableError
        Names the file and the line or column that is wrong.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if not file.is_file():
        raise TableError(f"{file} is not a file; check the path.")
    if suffix in CSV_SUFFIXES:
        cells = read_csv_cells(file, encoding=encoding, separator=separator)
        frame, places = cells.frame, _Places(file, cells.lines)
    elif suffix in PARQUET_SUFFIXES:
        frame, places = _read_parquet(file), _Places(file, None)
    else:
        raise TableError(
            f"{file} ends in {suffix!r}; "
            f"one of {', '.join(CSV_SUFFIXES + PARQUET_SUFFIXES)} is needed."
        )
    for name in (target, *categorical):
        check_has_column(file, [str(column) for column in frame.columns], name)
    typed = pd.DataFrame(
        {
            name: _typed_column(frame[name], places, as_categories=name in categorical)
            for name in frame.columns
        }
    )
    return _split(typed, target, places)


@dataclass(frozen=True)
class _Places:
    """Says where in its file a row stands."""

    file: Path
    lines: np.ndarray | None

    def __call__(self, rows: pd.Series) -> str:
        """Name the first place of a boolean row mask."""
        position = int(np.argmax(rows.to_numpy()))
        return f"row {position + 1}" if self.lines is None else f"line {self.lines[position]}"


def _read_parquet(file: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(file).reset_index(drop=True)
    except (OSError, ValueError) as error:  # what pyarrow raises derives from these
        raise TableError(f"{file} is no readable Parquet file: {error}") from error
    frame.columns = [str(name) for name in frame.columns]
    check_unique(file, list(frame.columns))
    if frame.empty:
        raise TableError(f"{file} has no data rows.")
    return frame


def check_has_column(file: Path, columns: list[str], name: str) -> None:
    """Raise a `TableError` that suggests the nearest names if a column is missing.

    Parameters
    ----------
    file : Path
        The table, for the message.
    columns : list of str
        The columns that it has.
    name : str
        The column that it needs.
    """
    if name not in columns:
        near = difflib.get_close_matches(name, columns, n=3) or columns[:10]
        raise TableError(f"{file} has no column {name!r}; did you mean one of {near}?")


def _typed_column(column: pd.Series, places: _Places, *, as_categories: bool) -> pd.Series:
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        raise TableError(
            f"{places.file}: column {column.name!r} holds dates or times; "
            "turn them into numbers (days since a fixed day, for example) or remove the column."
        )
    if types.is_bool_dtype(column) or as_categories:
        return _categories(column)
    if types.is_numeric_dtype(column):
        return _finite_numbers(column, places)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    return _numbers_or_categories(column, places)


def _numbers_or_categories(column: pd.Series, places: _Places) -> pd.Series:
    text = _text(column)
    numbers = pd.to_numeric(text, errors="coerce")
    wordy = numbers.isna() & text.notna()
    if not wordy.any():
        return _finite_numbers(numbers.astype(float), places)
    if numbers.notna().any():
        word, number = text[wordy].iloc[0], text[numbers.notna()].iloc[0]
        raise TableError(
            f"{places.file}: column {column.name!r} mixes numbers and text: {word!r} at "
            f"{places(wordy)}, {number!r} at {places(numbers.notna())}; correct the cells, or "
            f"pass categorical=[{column.name!r}] if all are categories."
        )
    return text.astype("category")


def _categories(column: pd.Series) -> pd.Series:
    return _text(column).astype("category")


def _text(column: pd.Series) -> pd.Series:
    """Return the cells as stripped text, with missing ones as NaN."""
    text = column.astype(object).where(column.notna(), "").map(str).str.strip()
    return text.where(~text.isin(MISSING_MARKS)).astype(object)


def _finite_numbers(column: pd.Series, places: _Places) -> pd.Series:
    # Nullable types become plain ones: floats if a value is missing.
    plain = float if column.isna().any() else getattr(column.dtype, "numpy_dtype", column.dtype)
    numbers = column.astype(plain)
    infinite = pd.Series(np.isinf(numbers.to_numpy(dtype=float)))
    if infinite.any():
        raise TableError(
            f"{places.file}: column {column.name!r} holds an infinite number at "
            f"{places(infinite)}; correct it or leave the cell empty."
        )
    return numbers


def _split(frame: pd.DataFrame, target: str, places: _Places) -> Table:
    absent = frame[target].isna()
    if absent.any():
        raise TableError(
            f"{places.file}: column {target!r}, the target, is empty in {int(absent.sum())} of "
            f"{len(frame)} rows, first at {places(absent)}; fill or remove those rows."
        )
    y = frame[target].to_numpy()
    labels = pd.unique(y).tolist()
    if len(labels) < 2:
        raise TableError(
            f"{places.file}: column {target!r}, the target, is {labels[0]!r} in every row; "
            "there is nothing to tell apart: choose another column or add other rows."
        )
    X = frame.drop(columns=target)
    if X.shape[1] == 0:
        raise TableError(f"{places.file} has no column but the target {target!r}; add features.")
    numeric = [str(name) for name in X.columns if types.is_numeric_dtype(X[name])]
    counts = X.isna().sum()
    return Table(
        X=X,
        y=y,
        target=target,
        numeric=tuple(numeric),
        categorical=tuple(str(name) for name in X.columns if name not in numeric),
        missing={str(name): int(count) for name, count in counts.items() if count},
    )
