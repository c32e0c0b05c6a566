"""The audit of numbers in a raw table: cells are read, filled and encoded first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from granulearn.audit.raw_inputs import row_names
from granulearn.audit.value_audit import check_values, list_values
from granulearn.preprocess import TablePreprocessor
from granulearn.tables import ColumnOptions, TableError, TableFile, table_of
from granulearn.tables.inspection import first_pass, problems_of_names, report_first
from granulearn.tables.io.frames import FrameTable
from granulearn.tables.schema import NUMBER, joined_rows
from granulearn.tables.training_table import TARGET

if TYPE_CHECKING:
    import pandas as pd

# A column is the target itself, in other units perhaps, if a line fits it as closely as this.
SAME = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class NumberTable:
    """Rows of a table that have a number as their target."""

    X: pd.DataFrame
    """Inputs: numbers as floats, the others as categories of text."""
    y: np.ndarray
    """The numbers."""
    rows: np.ndarray
    """Number of each row in the table, from 0."""
    warnings: list[str]
    """What could mislead."""


def audit_raw_values(
    X: Any, y: Any, *, random_state: Any = None, n_jobs: int | None = None
) -> pd.DataFrame:
    """Return the frame of the audit of numbers for a raw table.

    Parameters
    ----------
    X : path, frame, Arrow table, list of dicts or dict of columns
        The table.
    y : str or array-like
        The column of numbers, or the numbers.
    random_state : int, RandomState or None, default=None
        Draws the networks.
    n_jobs : int or None, default=None
        Threads.
    """
    with _valued_table(X, y) as (file, target):
        table = read_number_table(file, target)
    values = check_values(table.y)
    names = row_names(X, y)
    index = table.rows if names is None else names[table.rows]
    inputs = TablePreprocessor(target_type="continuous").fit_transform(table.X, values)
    listing = list_values(inputs, values, index, random_state=random_state, n_jobs=n_jobs)
    listing.attrs["warnings"] = [*table.warnings, *listing.attrs["warnings"]]
    return listing


def read_number_table(file: TableFile, target: str) -> NumberTable:
    """Read a table with a column of numbers to audit.

    The target is read as any column of numbers is, by the survey of all cells: with
    currencies, units and decimal commas.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of numbers; rows without one are left out and counted.

    Raises
    ------
    TableError
        Says what was found, where, and what to do.
    """
    # A target that looks like an ID or a number of rows is a target all the same.
    options = ColumnOptions(include=(target,) if target in file.names else ())
    problems = problems_of_names(file.names, target, options)
    if problems:
        raise TableError.about(file.path, problems)
    batches = [batch for batch in file.batches() if batch.num_rows]
    report = report_first(file, first_pass(batches, None), None, options)
    if report.problems:
        raise TableError.about(file.path, report.problems)
    column = report.schema[target]
    if column.kind != NUMBER:
        shown = ", ".join(map(repr, column.examples[:3]))
        raise TableError.about(
            file.path,
            [
                f"Column {target!r}, the target, holds no numbers but is of the kind "
                f"{column.kind!r} ({shown}, ...): choose another column, or leave out "
                "task='classification' if these are classes."
            ],
        )
    if len(report.schema.used) == 1:
        raise TableError.about(
            file.path,
            [f"There is no column to learn from but {target!r}, the target: add columns."],
        )
    begins = np.cumsum([0, *(batch.num_rows for batch in batches)]).tolist()
    read = [report.schema.read(batch, row) for batch, row in zip(batches, begins, strict=False)]
    frame = joined_rows(read).to_frame()
    values = frame.pop(target).to_numpy()
    warnings = [f"Column {target!r}, the target: {said}." for said in column.warnings(file.place)]
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < len(values):
        are = "row has" if len(values) - len(known) == 1 else "rows have"
        warnings.append(f"{len(values) - len(known)} {are} no number in {target!r}: left out.")
    frame, values = frame.iloc[known].reset_index(drop=True), values[known]
    copies = [name for name in frame if _is_same(frame[name], values)]
    if copies and len(copies) < frame.shape[1]:
        frame = frame.drop(columns=copies)
        warnings += [
            f"Column {name!r} holds the target itself, perhaps in other units: it is left out, "
            "since it would vouch for every value."
            for name in copies
        ]
    return NumberTable(frame, values, known, warnings)


@contextmanager
def _valued_table(X: Any, y: Any) -> Iterator[tuple[TableFile, str]]:
    """Give a table that has the numbers in a column, and the name of the column."""
    with table_of(X) as file:
        if isinstance(y, str):
            yield file, y
            return
        name = str(getattr(y, "name", None) or TARGET)
        while name in file.names:
            name += "_"
        if not hasattr(y, "dtype"):
            y = np.asarray(y)
        if np.ndim(y) != 1:
            raise TableError(f"y has {np.ndim(y)} dimensions; give one number for each row.")
        numbers = pa.Table.from_batches(list(table_of({name: y}).batches()))
        table = pa.Table.from_batches(list(file.batches()))
        if table.num_rows != numbers.num_rows:
            raise TableError(
                f"The table has {table.num_rows} rows and y has {numbers.num_rows} values; give "
                "one value for each row."
            )
        yield FrameTable(table.append_column(name, numbers.column(0)), file.path), name


def _is_same(column: pd.Series, values: np.ndarray) -> bool:
    """Return whether a line through its numbers gives the values, in the rows that have both."""
    if column.dtype.kind != "f":
        return False
    numbers = column.to_numpy()
    both = ~np.isnan(numbers)
    if np.count_nonzero(both) < max(3, 0.5 * len(values)):
        return False
    a, b = numbers[both] - numbers[both].mean(), values[both] - values[both].mean()
    sizes = float(np.sqrt(a @ a) * np.sqrt(b @ b))
    return sizes > 0 and abs(float(a @ b)) >= SAME * sizes
