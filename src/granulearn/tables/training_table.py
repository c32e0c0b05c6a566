"""A table in memory to learn from: typed rows with labels, and the cells as they were read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from granulearn.tables.infer import ColumnOptions
from granulearn.tables.inspection import TableReport, inspect_table
from granulearn.tables.io.frames import FrameTable, table_of, text_of
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.labels import Labels, read_labels
from granulearn.tables.messages import TableError
from granulearn.tables.parse.cells import as_text, row_hashes
from granulearn.tables.schema import Schema, TypedRows, joined_rows
from granulearn.utils.text import listed

if TYPE_CHECKING:
    import pandas as pd


TARGET = "target"
"""Name of the labels that were passed beside a table and have none."""


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Features and labels of a table, with its report.

    Examples
    --------
    >>> from granulearn.tables import read_training_table, table_of
    >>> orders = {"price": ["10 €", "12 €", "99 €"] * 2, "late": ["no", "no", "yes"] * 2}
    >>> table = read_training_table(table_of(orders), "late")
    >>> table.X.shape, table.y.tolist()
    ((6, 1), ['no', 'no', 'yes', 'no', 'no', 'yes'])
    """

    report: TableReport
    """Types, labels and warnings."""
    typed: TypedRows
    """Features of the rows with a label."""
    y: np.ndarray
    """Labels: Booleans if stored as such, whole numbers if all are, else text."""
    rows: np.ndarray
    """Number of each labelled row in the file, from 0."""
    cells: pa.Table | None
    """All rows and all columns as they were read, if they were to be kept."""
    lines: np.ndarray | None
    """Line of the file on which each row, with or without a label, begins; with `cells`."""
    classes: np.ndarray | None = None
    """All classes, sorted, if labels are the consensus of annotators: it may change."""
    annotators: tuple[str, ...] = ()
    """Columns of their labels."""

    @cached_property
    def X(self) -> pd.DataFrame:  # noqa: N802
        """Numbers as floats, the others as categories of text."""
        return self.typed.to_frame()

    @cached_property
    def label_cells(self) -> list[str | None]:
        """Label of each row of the file in its spelling there; needs `cells`."""
        if self.cells is None:
            raise ValueError("the table was read without keep_cells.")
        labels = self.cells[self.target].combine_chunks()
        return as_text(labels, trimmed=False).to_pylist()

    @cached_property
    def hashes(self) -> list[str]:
        """Hash of the cells of each row of the file, labels left out; needs `cells`."""
        if self.cells is None:
            raise ValueError("the table was read without keep_cells.")
        return row_hashes(self.cells.drop_columns(list(self.annotators)), self.target)

    @cached_property
    def coded_labels(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes, sorted, and the number of the class of each row with a label."""
        if self.classes is not None:
            return self.classes, np.searchsorted(self.classes, self.y)
        return np.unique(self.y, return_inverse=True)

    @property
    def schema(self) -> Schema:
        """Types of the columns."""
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
    file: TableFile, target: str, options: ColumnOptions | None = None, *, keep_cells: bool = False
) -> TrainingTable:
    """Read a table to learn from, or raise an error that names all its problems.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of labels; rows without one are left out and counted.
    options : ColumnOptions, default=None
        Options for the columns.
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
    typed, _, labelled, y = read_rows(batches, 0, report.schema, target, report.labels)
    return TrainingTable(
        report,
        typed.take(labelled, report.schema),
        y,
        labelled,
        pa.Table.from_batches(batches) if keep_cells else None,
        file.lines() if keep_cells else None,
    )


def read_rows(
    batches: Iterable[pa.RecordBatch], first_row: int, schema: Schema, target: str, labels: Labels
) -> tuple[TypedRows, pa.Array, np.ndarray, np.ndarray]:
    """Return all rows of at least one batch and their labels; positions and y of labelled rows."""
    typed, found, row = [], [], first_row
    for batch in batches:
        typed.append(schema.read(batch, row))
        found.append(read_labels(batch.column(target), labels))
        row += batch.num_rows
    names = pa.concat_arrays(found)
    labelled = np.flatnonzero(names.is_valid().to_numpy(zero_copy_only=False))
    y = as_labels(names.take(pa.array(labelled)), labels)
    return joined_rows(typed), names, labelled, y


def as_labels(names: pa.Array, labels: Labels) -> np.ndarray:
    """Return labels as a model learns them: Booleans, whole numbers if all are, or text."""
    values = names.to_pylist()
    if labels.booleans:
        return np.array([value == "true" for value in values], dtype=bool)
    return np.array(values, dtype=int if labels.whole_numbers else str)


def read_labelled_table(
    X: Any, y: Any, options: ColumnOptions | None = None, *, keep_cells: bool = False
) -> TrainingTable:
    """Read a table whose labels are in one of its columns, or beside it.

    X is any argument of `table_of`, y the name of a column or the labels. Numbers beside the table
    are classes, even if there are many.
    """
    with table_of(X) as file:
        if isinstance(y, str):
            data = read_training_table(file, y, options, keep_cells=keep_cells)
            warn_of_dropped(data.schema)
            return data
        # NumPy would make nullable whole numbers floats if one is missing.
        nullable = type(getattr(y, "dtype", None)).__module__.startswith("pandas")
        given = np.asarray(y, dtype=object) if nullable else np.asarray(y)
        table = pa.Table.from_batches(list(file.batches()))
        if given.ndim != 1:
            raise TableError(
                f"y has {given.ndim} dimensions; give one label for each row, or the name of the "
                "column of labels."
            )
        if len(given) != table.num_rows:
            raise TableError(
                "Found input variables with inconsistent numbers of samples: "
                f"[{table.num_rows}, {len(given)}]; y needs a label for each row."
            )
        texts = [text_of(value) for value in given.tolist()]
        known = given[np.array([text is not None for text in texts], dtype=bool)]
        known = np.array(known.tolist()) if known.dtype == object else known
        are_numbers = known.dtype.kind in "biuf"
        if are_numbers:  # with a word before it, a number is not a measurement
            texts = [None if text is None else f"class {text}" for text in texts]
        labelled, name = with_target(table, y, pa.array(texts, pa.string()), file.path)
        data = read_training_table(labelled, name, options, keep_cells=keep_cells)
    warn_of_dropped(data.schema)
    return replace(data, y=given[data.rows].astype(known.dtype)) if are_numbers else data


def warn_of_dropped(schema: Schema) -> None:
    """Warn of columns that are dropped although they differ between rows."""
    lost = [
        c for c in schema.dropped if c.dropped not in ("asked", "empty", "constant", "row number")
    ]
    if lost:
        shown = listed([f"{column.name!r} ({column.dropped})" for column in lost])
        warnings.warn(
            f"Columns are left out: {shown}. TableClassifier(include=[...]) uses them; LabelAudit "
            "and RobustClassifier use all columns of a frame.",
            UserWarning,
            stacklevel=4,
        )


def with_target(table: pa.Table, y: Any, cells: pa.Array, path: Path) -> tuple[FrameTable, str]:
    """Append the cells of a target y to a table; return it with the name of the new column."""
    name = str(getattr(y, "name", None) or TARGET)
    while name in table.column_names:
        name += "_"
    return FrameTable(table.append_column(name, cells), path), name
