"""The table that `fit` learns from: kinds of columns told apart, labels cleaned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.datasets import TableError
from granulearn.datasets.tables import check_has_column
from granulearn.learning.sources import Source, open_source, whole_columns
from granulearn.learning.table_cells import (
    NotANumberError,
    as_categories,
    as_numbers,
    as_text,
    holds_dates,
    spells_number,
)
from granulearn.learning.table_parts import TableParts
from granulearn.persistence import ColumnCard

MAX_CATEGORIES = 1000
LARGEST_NUMBER = 1e150
# More classes than this, some of them with decimals, are measurements.
MAX_DECIMAL_CLASSES = 20
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Features and labels, with what a model card says about them."""

    X: pd.DataFrame
    """Numbers as floats, the others as categories of text."""
    y: np.ndarray
    """Labels: whole numbers if all are, else text."""
    target: str
    columns: tuple[ColumnCard, ...]
    rows: np.ndarray
    """Number of each row in the file, from 0: rows without a label are left out."""
    dropped_rows: int
    """Rows of the file that have no label."""


def read_training_table(
    path: Path, target: str, *, categorical: Sequence[str] = (), ignore: Sequence[str] = ()
) -> TrainingTable:
    """Read a file to learn from.

    Parameters
    ----------
    path : Path
        CSV or Parquet.
    target : str
        The column of labels; rows without one are dropped and counted.
    categorical : sequence of str, default=()
        Columns that hold categories even if they look like numbers.
    ignore : sequence of str, default=()
        Columns to leave out.

    Raises
    ------
    TableError
        Names the line or column that is wrong.
    """
    source = open_source(path)
    names = feature_names(source, target, categorical, ignore)
    table = _whole_table(source, [target, *names])
    labels = _text_of(source, target, table[target])
    labelled = labels.is_valid()
    kept = np.flatnonzero(labelled.to_numpy(zero_copy_only=False))
    y = _labels(source, target, labels.filter(labelled))
    columns = {}
    for name in names:
        # Kinds are told from every row, so that the message can name any line.
        values = _typed(source, name, table[name], as_category=name in categorical)
        columns[name] = values[kept]
    X = pd.DataFrame(columns)
    cards = tuple(_card(X[name]) for name in names)
    for card in cards:
        _check_categories(source, card, len(X))
    return TrainingTable(X, y, target, cards, kept, len(labels) - len(kept))


def feature_names(
    source: Source | TableParts, target: str, categorical: Sequence[str], ignore: Sequence[str]
) -> list[str]:
    """Return the columns to learn from; raise where the table lacks one that was named.

    Parameters
    ----------
    source : Source or TableParts
        The table.
    target : str
        The column of labels.
    categorical, ignore : sequence of str
        Columns of categories, and columns to leave out.
    """
    for name in (target, *categorical, *ignore):
        check_has_column(source.path, source.names, name)
    names = [name for name in source.names if name != target and name not in ignore]
    if not names:
        raise TableError(f"{source.path} has no column but the target {target!r}; add features.")
    return names


def _whole_table(source: Source, names: list[str]) -> dict[str, pa.Array]:
    batches = [batch for batch in source.batches(names) if batch.num_rows]
    if not batches:
        raise TableError(f"{source.path} has a header but no data rows; add rows.")
    return whole_columns(pa.Table.from_batches(batches), names)


def _typed(source: Source, name: str, column: pa.Array, *, as_category: bool) -> Any:
    """Return numbers if every cell is one, categories if none is."""
    check_no_dates(source.path, name, column)
    if as_category or pa.types.is_boolean(column.type) or pa.types.is_dictionary(column.type):
        return as_categories(column)
    try:
        values = as_numbers(column)
    except NotANumberError as error:
        word = error
    else:
        check_not_too_large(source.path, name, values)
        return values
    text = as_text(column)
    different = text.unique().to_pylist()
    number = next((cell for cell in different if cell and spells_number(cell)), None)
    if number is None:
        check_no_decimal_commas(source.path, name, different)
        return as_categories(column)
    position = int(pc.index(text, number).as_py())
    raise TableError(
        f"{source.path}: column {name!r} mixes numbers and text: {word.cell!r} at "
        f"{source.place(word.position)}, {number!r} at {source.place(position)}; correct the "
        f"cells, or pass --categorical {name!r} if all are categories."
    )


def check_not_too_large(place: object, name: str, values: np.ndarray) -> None:
    """Refuse numbers whose squares no float can hold: no mean or distance could be computed.

    Parameters
    ----------
    place : object
        Where the numbers stand, for the message.
    name : str
        Their column.
    values : ndarray
        The numbers; NaN is a missing one.
    """
    too_large = np.abs(values) > LARGEST_NUMBER
    if too_large.any():
        raise TableError(
            f"{place}: column {name!r} holds numbers too large to compute with "
            f"({values[too_large][0]:g}; the largest allowed is {LARGEST_NUMBER:g}); correct the "
            f"cells or leave them empty, take logarithms, or pass --ignore {name!r}."
        )


def check_no_decimal_commas(place: object, name: str, cells: Sequence[str | None]) -> None:
    """Refuse numbers such as 1,5 that would otherwise become categories, each its own.

    Parameters
    ----------
    place : object
        Where the cells stand, for the message.
    name : str
        Their column.
    cells : sequence of str or None
        The different ones; None is an empty cell.
    """
    texts = [cell for cell in cells if cell]
    if texts and all(_DECIMAL_COMMA.fullmatch(cell) for cell in texts):
        raise TableError(
            f"{place}: column {name!r} writes numbers with a comma ({texts[0]!r}); write "
            f"them with a point, or pass --categorical {name!r} if they are categories."
        )


def _text_of(source: Source, name: str, column: pa.Array) -> pa.Array:
    check_no_dates(source.path, name, column)
    return as_text(column)


def check_no_dates(place: object, name: str, column: pa.Array) -> None:
    """Refuse a column of dates or times.

    Parameters
    ----------
    place : object
        Where the column stands, for the message.
    name : str
        Name of the column.
    column : pyarrow Array
        Its cells.
    """
    if holds_dates(column):
        raise TableError(
            f"{place}: column {name!r} holds dates or times; turn them into numbers (days "
            f"since a fixed day, for example), or pass --ignore {name!r}."
        )


def _labels(source: Source, target: str, labels: pa.Array) -> np.ndarray:
    values = labels.to_pylist()
    if labels_are_whole_numbers(source.path, target, sorted(set(values))):
        return np.array([int(value) for value in values])
    return np.array(values)


def labels_are_whole_numbers(place: object, target: str, classes: Sequence[str]) -> bool:
    """Return whether all labels are whole numbers; raise where they are no classes.

    Parameters
    ----------
    place : object
        Where the labels stand, for the message.
    target : str
        Their column.
    classes : sequence of str
        The different ones, sorted.
    """
    if len(classes) < 2:
        found = f"{classes[0]!r} in every row that has one" if classes else "empty in every row"
        raise TableError(
            f"{place}: column {target!r}, the target, is {found}; there is nothing to tell "
            "apart: choose another column or add rows of other classes."
        )
    if all(_is_plain_integer(value) for value in classes):
        return True
    if len(classes) > MAX_DECIMAL_CLASSES and all(spells_number(value) for value in classes):
        raise TableError(
            f"{place}: column {target!r}, the target, holds {len(classes)} different numbers "
            f"with decimals ({classes[0]}, ...), and the command line learns classes, not "
            "measurements: choose another column, group the values, or fit a regressor in Python."
        )
    return False


def _is_plain_integer(text: str) -> bool:
    """Return whether a text is a whole number as `str` writes it: no sign +, no leading zero."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19 and str(int(text)) == text


def _card(column: pd.Series) -> ColumnCard:
    missing = int(column.isna().sum())
    name = str(column.name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        seen = sorted(column.dropna().unique())
        return ColumnCard(name, "category", missing, categories=tuple(seen))
    if missing == len(column):
        return ColumnCard(name, "number", missing)
    return ColumnCard(name, "number", missing, float(column.min()), float(column.max()))


def _check_categories(source: Source, card: ColumnCard, n_rows: int) -> None:
    if len(card.categories) > MAX_CATEGORIES:
        raise TableError(
            f"{source.path}: column {card.name!r} holds {len(card.categories)} different texts in "
            f"{n_rows} rows, more than {MAX_CATEGORIES}; it looks like a name or a number of its "
            f"row: pass --ignore {card.name!r}."
        )
