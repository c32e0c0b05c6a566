"""A table in memory to learn from: typed rows with labels, and the cells as they were read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.errors import TableError
from granulearn.tables.inspection import TableReport, inspect_table
from granulearn.tables.io.frames import FrameTable, table_of, text_of
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.labels import Labels, read_labels
from granulearn.tables.parse.cells import as_text
from granulearn.tables.schema import Schema, TypedRows, joined_rows

if TYPE_CHECKING:
    import pandas as pd


TARGET = "target"
"""Name of the labels that were passed beside a table and have none."""


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Features and labels, and where they come from.

    Examples
    --------
    >>> from granulearn.tables import read_training_table, table_of
    >>> orders = {"price": ["10 €", "12 €", "99 €"] * 2, "late": ["no", "no", "yes"] * 2}
    >>> table = read_training_table(table_of(orders), "late")
    >>> table.X.shape, table.y.tolist()
    ((6, 1), ['no', 'no', 'yes', 'no', 'no', 'yes'])
    """

    report: TableReport
    """All that was found out about the table."""
    typed: TypedRows
    """What the rows with a label become."""
    y: np.ndarray
    """Labels: truth values if the column is stored as such, whole numbers if all are, else text."""
    rows: np.ndarray
    """Number of each row in the file, from 0: rows without a label are left out."""
    cells: pa.Table | None
    """All rows and all columns as they were read, if they were to be kept."""
    lines: np.ndarray | None
    """Line of the file on which each row, with or without a label, begins; with `cells`."""

    @cached_property
    def X(self) -> pd.DataFrame:  # noqa: N802
        """Numbers as floats, the others as categories of text."""
        return self.typed.to_frame()

    @cached_property
    def label_cells(self) -> list[str | None]:
        """The label of each row of the file as it is spelt there; needs `cells`."""
        if self.cells is None:
            raise ValueError("the table was read without keep_cells.")
        labels = self.cells[self.target].combine_chunks()
        return as_text(labels, trimmed=False).to_pylist()

    @property
    def schema(self) -> Schema:
        """What the columns are and become."""
        return self.report.schema

    @property
    def target(self) -> str:
        """The column of labels."""
        return self.report.target or ""

    @property
    def dropped_rows(self) -> int:
        """Rows of the file that have no label."""
        return self.report.rows - len(self.rows)


def read_training_table(
    file: TableFile,
    target: str,
    options: ColumnOptions | None = None,
    *,
    keep_cells: bool = False,
) -> TrainingTable:
    """Read a table to learn from; raise with all that is wrong with it at once.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of labels; rows without one are left out and counted.
    options : ColumnOptions, default=None
        What the user says about the columns.
    keep_cells : bool, default=False
        Whether to keep all cells as they were read, to write them back.

    Raises
    ------
    TableError
        Says what was found, where, and what to do.

    Examples
    --------
    >>> from granulearn.tables import read_training_table, table_of
    >>> orders = {"price": ["10 €", "12 €", None, "99 €"], "late": ["no", "no", "yes", None]}
    >>> table = read_training_table(table_of(orders), "late")
    >>> table.y.tolist(), table.dropped_rows
    (['no', 'no', 'yes'], 1)
    """
    batches = [batch for batch in file.batches() if batch.num_rows]
    report = inspect_table(file, target, options, batches=batches)
    if report.problems or report.labels is None:
        raise TableError.about(file.path, report.problems)
    begins = np.cumsum([0, *(batch.num_rows for batch in batches)])
    typed = joined_rows(
        [report.schema.read(batch, int(row)) for batch, row in zip(batches, begins, strict=False)]
    )
    names = pa.concat_arrays(
        [read_labels(batch.column(target), report.labels) for batch in batches]
    )
    labelled = np.flatnonzero(names.is_valid().to_numpy(zero_copy_only=False))
    return TrainingTable(
        report=report,
        typed=chosen_rows(typed, report.schema, labelled),
        y=as_labels(names.take(pa.array(labelled)), report.labels),
        rows=labelled,
        cells=pa.Table.from_batches(batches) if keep_cells else None,
        lines=file.lines() if keep_cells else None,
    )


def as_labels(names: pa.Array, labels: Labels) -> np.ndarray:
    """Return classes as a model learns them: truth values, whole numbers if all are, or text.

    Parameters
    ----------
    names : pyarrow Array of strings
        Names of classes, none missing.
    labels : Labels
        What was decided about the target.
    """
    values = names.to_pylist()
    if labels.booleans:
        return np.array([value == "true" for value in values], dtype=bool)
    if labels.whole_numbers:
        return np.array([int(value) for value in values], dtype=int)
    return np.array(values, dtype=str)


def chosen_rows(typed: TypedRows, schema: Schema, rows: np.ndarray) -> TypedRows:
    """Return some rows of the columns that are used.

    Parameters
    ----------
    typed : TypedRows
        Rows of these columns, and perhaps of others.
    schema : Schema
        Says which columns are used.
    rows : ndarray of int
        Places of the rows.
    """
    names = [name for column in schema.used for name in column.feature_names]
    cells = {
        name: cell[rows] if isinstance(cell, np.ndarray) else cell.take(pa.array(rows))
        for name, cell in ((name, typed.cells[name]) for name in names)
    }
    return TypedRows(cells, typed.misfits)


class GivenLabels:
    """Labels that were passed beside a table.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Numbers, or texts with None or NaN for a missing one.
    """

    def __init__(self, y: Any):
        # Of nullable types, NumPy would make whole numbers floats if one is missing.
        nullable = type(getattr(y, "dtype", None)).__module__.startswith("pandas")
        given = np.asarray(y, dtype=object) if nullable else np.asarray(y)
        if given.ndim != 1:
            raise TableError(f"y has {given.ndim} dimensions; give one label for each row.")
        texts = [text_of(value) for value in given.tolist()]
        known = np.array([text is not None for text in texts], dtype=bool)
        plain = np.array(given[known].tolist()) if given.dtype == object else given[known]
        self._numbers: np.ndarray | None = None
        if plain.dtype.kind in "biuf":
            self._numbers = np.zeros(len(given), plain.dtype)
            self._numbers[known] = plain
            # With a word before it, since these are classes, even if there are many of them.
            texts = [None if text is None else f"class {text}" for text in texts]
        self.cells = pa.array(texts, pa.string())
        """A text for each label."""

    def values(self, rows: np.ndarray, names: np.ndarray) -> np.ndarray:
        """Return the labels of some rows: numbers as they were given, texts as they are joined.

        Parameters
        ----------
        rows : ndarray
            Numbers of the rows that have a label.
        names : ndarray
            What their texts became.
        """
        return names if self._numbers is None else self._numbers[rows]


@contextmanager
def labelled_table(X: Any, y: Any) -> Iterator[tuple[TableFile, str, GivenLabels | None]]:
    """Give a table that has its labels in a column, the column, and labels that were beside it.

    Parameters
    ----------
    X : path, frame, Arrow table, list of dicts, dict of columns or array
        The table.
    y : str, or array-like of shape (n_rows,)
        The column of labels, or the labels.
    """
    with table_of(X) as file:
        if isinstance(y, str):
            yield file, y, None
            return
        name = str(getattr(y, "name", None) or TARGET)
        while name in file.names:
            name += "_"
        labels = GivenLabels(y)
        table = pa.Table.from_batches(list(file.batches()))
        if table.num_rows != len(labels.cells):
            raise TableError(
                "Found input variables with inconsistent numbers of samples: "
                f"[{table.num_rows}, {len(labels.cells)}]; y needs a label for each row."
            )
        yield FrameTable(table.append_column(name, labels.cells), file.path), name, labels
