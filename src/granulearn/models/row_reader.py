"""The rows of a table as a model takes them, and how they differ from training."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from granulearn.models.model_card import ModelCard, ModelFileError, schema_of_card
from granulearn.tables.infer import NEEDED_SHARE
from granulearn.tables.io.frames import table_of
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.messages import Message, Setting, TableError
from granulearn.tables.schema import DATE, NUMBER, YES_NO, CellCount, Schema, TypedRows
from granulearn.utils.text import counted, listed, quoted

Location = Callable[[int], str]
"""Returns the location in its file of a row, by its number from 0."""


@dataclass(frozen=True)
class ModelInputs:
    """How the cells of a table become what a model takes."""

    schema: Schema
    categories: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By input: the categories of training."""

    @classmethod
    def of_card(cls, card: ModelCard) -> ModelInputs:
        """Return the inputs that a card describes.

        Parameters
        ----------
        card : ModelCard
            Of the model.
        """
        if not card.columns:
            raise ModelFileError(
                "the model was saved without the columns of a table; fit it with `granulearn fit`, "
                "or name them in the card that save_model is given."
            )
        known = {c.name: frozenset(c.categories) for c in card.columns if c.type == "category"}
        return cls(schema_of_card(card), known)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Columns to read from a table."""
        return tuple(column.name for column in self.schema.used)

    def missing_columns(self, path: object, names: Sequence[str]) -> list[str]:
        """Return what is wrong with a table that lacks a column, in at most one sentence.

        Parameters
        ----------
        path : object
            The table, for the message.
        names : sequence of str
            Its columns.
        """
        has, used = set(names), set(self.names)
        missing = [name for name in self.names if name not in has]
        if not missing:
            return []
        extra = [name for name in names if name not in used]
        hint = f"; it has {listed([*map(quoted, extra)], most=5)} instead" if extra else ""
        return [
            f"{path} lacks {len(missing)} of the {len(self.names)} columns that the model was "
            f"trained on: {listed([*map(repr, missing)], most=5)}{hint}. Rename or add them."
        ]

    def form(self, name: str) -> str:
        """Return what a column held in training, in words.

        Parameters
        ----------
        name : str
            The column.
        """
        column = self.schema[name]
        if column.type == NUMBER:
            unit = f" of {column.number.unit}" if column.number.unit else ""
            return f"numbers{unit}"
        return {YES_NO: "yes or no", DATE: "dates"}.get(column.type, "categories")


class RowReader:
    """One pass over a table: rows come out, and what training did not have is counted.

    Parameters
    ----------
    inputs : ModelInputs
        How cells are read.
    strict : bool, default=False
        Whether an unknown category, or a cell of another form, is an error.
    first_row : int, default=0
        Number of the first row to read in its table.
    """

    def __init__(self, inputs: ModelInputs, strict: bool = False, first_row: int = 0):
        self.inputs = inputs
        self.strict = strict
        self.first_row = first_row
        self.n_rows = 0
        """Rows that were read."""
        self.known_cells: Counter = Counter()
        """By column: cells that are not missing."""
        self.failures: dict[str, CellCount] = defaultdict(CellCount)
        """By column: cells that do not have the form of training."""
        self.unknown: dict[str, Counter] = defaultdict(Counter)
        """By column: how often each category was met that training did not have."""
        self._first_unknown: dict[str, tuple[str, int]] = {}

    def read(self, batch: pa.RecordBatch, location: Location) -> TypedRows:
        """Return the next rows as the model takes them; count drift.

        Parameters
        ----------
        batch : RecordBatch
            The columns that are used, and perhaps others.
        location : callable
            Says where a row stands, for messages.
        """
        first_row = self.first_row + self.n_rows
        self.n_rows += batch.num_rows
        rows = self.inputs.schema.read(batch, first_row)
        self._count_cells(rows, location)
        for name, known in self.inputs.categories.items():
            categories = rows.cells[name].dictionary_encode()  # type: ignore[union-attr]
            rows.cells[name] = categories
            self._count_unknown(name, categories, known, location, first_row)
        return rows

    def rows_of(self, file: TableFile, rows_per_chunk: int | None = None) -> Iterator[TypedRows]:
        """Yield the rows of a table as the model takes them.

        Parameters
        ----------
        file : TableFile
            The table.
        rows_per_chunk : int, default=None
            How many rows to yield at most; None yields those of a batch.
        """
        problems = self.inputs.missing_columns(file.path, file.names)
        if problems:
            raise TableError(*problems)
        for chunk in chunks(file, self.inputs.names, rows_per_chunk):
            yield self.read(chunk, file.location)
        self._check_some_read(file.path)

    def __add__(self, later: RowReader) -> RowReader:
        """Return the counts of both, of which the second has read later rows of the table."""
        both = RowReader(self.inputs, self.strict)
        both.n_rows = self.n_rows + later.n_rows
        both._first_unknown = later._first_unknown | self._first_unknown
        for part in (self, later):
            both.known_cells += part.known_cells
            for name, failures in part.failures.items():
                both.failures[name] += failures
            for name, categories in part.unknown.items():
                both.unknown[name] += categories
        return both

    def finish(self, path: object, location: Location, *, warn: bool = False) -> None:
        """Raise a `TableError` if no row was read, or too many cells had another form.

        Parameters
        ----------
        path : object
            The table, for the message.
        location : callable
            Says where a row stands.
        warn : bool, default=False
            Whether to warn of fewer such cells, and of unknown categories.
        """
        self._check_some_read(path)
        wrong = [
            f"{path}: column {name!r} held {self.inputs.form(name)} in training, but here "
            f"{failures.count} of {self.known_cells[name]} cells do not: "
            f"{_listed(failures, location)}; correct the cells or leave them empty."
            for name, failures in self.failures.items()
            if failures.count > (1 - NEEDED_SHARE) * self.known_cells[name]
        ]
        if wrong:
            raise TableError(*wrong)
        for message in self.warnings(location) if warn else ():
            warnings.warn(message, UserWarning, stacklevel=4)

    def warnings(self, location: Location) -> Iterator[str]:
        """Yield a line for each column with cells of another form, or unknown categories.

        Parameters
        ----------
        location : callable
            Says where a row stands.
        """
        for name, failures in self.failures.items():
            one = failures.count == 1
            do, count = ("does", "counts") if one else ("do", "count")
            yield (
                f"column {name!r}: {counted(failures.count, 'cell')} {do} not hold "
                f"{self.inputs.form(name)}, as in training, and {count} as missing: "
                f"{_listed(failures, location)}."
            )
        for name, counter in self.unknown.items():
            text, row = self._first_unknown[name]
            hold = "holds" if counter.total() == 1 else "hold"
            yield (
                f"column {name!r}: {counted(counter.total(), 'cell')} {hold} "
                f"{counted(len(counter), 'category', 'categories')} that training did not have "
                f"(first {quoted(text)} at {location(row)}), counted as none of the known ones."
            )

    def _check_some_read(self, path: object) -> None:
        if not self.n_rows:
            raise TableError(f"{path} has a header but no data rows; add rows.")

    def _count_cells(self, rows: TypedRows, location: Location) -> None:
        for column in self.inputs.schema.used:
            cells = rows.cells[column.feature_names[-1]]
            if isinstance(cells, np.ndarray):
                missing = int(np.isnan(cells).sum())
            else:
                missing = cells.null_count
            found = rows.failures.get(column.name, CellCount())
            self.known_cells[column.name] += rows.n_rows - missing + found.count
            if not found.count:
                continue
            row, text = found.first[0]
            trained = f"held {self.inputs.form(column.name)} in training"
            fault = f"{trained}, but here it holds {quoted(text)}"
            self._refuse_if_strict(column.name, fault, location(row))
            self.failures[column.name] += found

    def _count_unknown(
        self,
        name: str,
        cells: pa.DictionaryArray,
        known: frozenset[str],
        location: Location,
        first_row: int,
    ) -> None:
        """Count the categories that training did not have."""
        is_unknown = [text not in known for text in cells.dictionary.to_pylist()]
        if not any(is_unknown):
            return
        of_row = np.array([*is_unknown, False])[cells.indices.fill_null(-1).to_numpy()]
        rows = np.flatnonzero(of_row)
        unknown = cells.take(pa.array(rows)).to_pylist()
        if not unknown:
            return
        first = unknown[0], first_row + int(rows[0])
        category = f"holds {quoted(first[0])}, a category that training did not have"
        self._refuse_if_strict(name, category, location(first[1]))
        self._first_unknown.setdefault(name, first)
        self.unknown[name].update(unknown)

    def _refuse_if_strict(self, name: str, problem: str, where: str) -> None:
        if self.strict:
            message = f"{where}: column {name!r} {problem}; correct it, or leave out "
            raise TableError(Message(message, Setting("strict", True), "."))


def _listed(failures: CellCount, location: Location) -> str:
    shown = ", ".join(f"{quoted(cell.text)} at {location(cell.row)}" for cell in failures.first)
    return shown + (", ..." if failures.count > len(failures.first) else "")


def chunks(
    file: TableFile, names: Sequence[str], rows_per_chunk: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a table.

    Parameters
    ----------
    file : TableFile
        The table, or a part of it.
    names : sequence of str
        Its columns to read.
    rows_per_chunk : int, default=None
        How many rows to yield at most; None yields those of a batch.
    """
    for batch in file.batches(names):
        step = rows_per_chunk or max(1, batch.num_rows)
        for start in range(0, batch.num_rows, step):
            yield batch.slice(start, step)


def opened_rows(rows: Any) -> TableFile:
    """Return rows as a table: a dict is one row, unless all it holds are columns.

    A row that was taken out of a frame is one, too.

    Parameters
    ----------
    rows : dict, list of dicts, frame, Arrow table or Path
        Not text: a server hands over what a request holds. If a text were a path, whoever asks
        could have any file of the machine read.
    """
    if isinstance(rows, str):
        raise TableError("text is no table here; give rows, or a file as Path(...).")
    if type(rows).__module__.startswith("pandas") and getattr(rows, "ndim", 0) == 1:
        rows = [rows.to_dict()]  # a row of a frame
    elif isinstance(rows, Mapping) and not all(map(_is_column, rows.values())):
        rows = [rows]
    return table_of(rows)


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))
