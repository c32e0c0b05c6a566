"""The rows of a table as a model takes them, and how they differ from training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from granulearn.models.model_card import ModelCard, ModelFileError, schema_of_card
from granulearn.tables.infer import NEEDED_SHARE
from granulearn.tables.messages import Message, Setting, TableError
from granulearn.tables.schema import DATE, NUMBER, YES_NO, CellCount, Schema, TypedRows
from granulearn.utils.text import counted, quoted

_NESTED = "lists, maps or bytes"

Place = Callable[[int], str]
"""Says where a row, by its number from 0, stands in its file."""


class ModelInputs:
    """How the cells of a table become what a model takes; never changes.

    Parameters
    ----------
    card : ModelCard
        Of the model.
    """

    schema: Schema
    names: tuple[str, ...]
    """Columns to read from a table."""
    categories: dict[str, frozenset[str]]
    """By input: the categories of training."""

    def __init__(self, card: ModelCard):
        if not card.columns:
            raise ModelFileError(
                "the model was saved without the columns of a table; fit it with `granulearn fit`, "
                "or name them in the card that save_model is given."
            )
        self.schema = schema_of_card(card)
        self.names = tuple(column.name for column in self.schema.used)
        self.categories = {
            column.name: frozenset(column.categories)
            for column in card.columns
            if column.kind == "category"
        }

    def missing_columns(self, path: object, names: Sequence[str]) -> list[str]:
        """Return what is wrong with a table that lacks a column, in at most one sentence.

        Parameters
        ----------
        path : object
            The table, for the message.
        names : sequence of str
            Its columns.
        """
        has = set(names)
        missing = [name for name in self.names if name not in has]
        if not missing:
            return []
        used = set(self.names)
        extra = [name for name in names if name not in used]
        shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        hint = f"; it has {', '.join(map(quoted, extra[:5]))} instead" if extra else ""
        return [
            f"{path} lacks {len(missing)} of the {len(self.names)} columns that the "
            f"model was trained on: {shown}{hint}. Rename or add them."
        ]

    def form(self, name: str) -> str:
        """Return what a column held in training, in words.

        Parameters
        ----------
        name : str
            The column.
        """
        column = self.schema[name]
        if column.kind == NUMBER:
            unit = f" of {column.number.unit}" if column.number.unit else ""
            return f"numbers{unit}"
        return {YES_NO: "yes or no", DATE: "dates"}.get(column.kind, "categories")


class RowReading:
    """One pass over a table: rows come out, and what training did not have is counted.

    Parameters
    ----------
    inputs : ModelInputs
        How cells are read.
    strict : bool, default=False
        Whether an unknown category, or a cell of another form, is an error.
    """

    def __init__(self, inputs: ModelInputs, strict: bool = False):
        self.inputs = inputs
        self.strict = strict
        self.known_cells: Counter = Counter()
        """By column: cells that are not missing."""
        self.failures: dict[str, CellCount] = {}
        """By column: cells that do not have the form of training."""
        self.unknown: dict[str, Counter] = {}
        """By column: how often each category was met that training did not have."""
        self._first_unknown: dict[str, tuple[str, int]] = {}

    def read(self, batch: pa.RecordBatch, place: Place, first_row: int = 0) -> TypedRows:
        """Return rows as the model takes them, categories as dictionary arrays; count drift.

        Parameters
        ----------
        batch : RecordBatch
            The columns that are used, and perhaps others.
        place : callable
            Says where a row stands, for messages.
        first_row : int, default=0
            Number of the first row in the table.
        """
        rows = self.inputs.schema.read(batch, first_row)
        self._count_cells(rows, place)
        for name, known in self.inputs.categories.items():
            categories = rows.cells[name].dictionary_encode()  # type: ignore[union-attr]
            rows.cells[name] = categories
            self._count_unknown(name, categories, known, place, first_row)
        return rows

    def __add__(self, later: RowReading) -> RowReading:
        """Return the counts of both, of which the second has read later rows of the table."""
        both = RowReading(self.inputs, self.strict)
        both.known_cells = self.known_cells + later.known_cells
        both._first_unknown = later._first_unknown | self._first_unknown
        for part in (self, later):
            for name, found in part.failures.items():
                both.failures[name] = both.failures.get(name, CellCount()) + found
            for name, counter in part.unknown.items():
                both.unknown[name] = both.unknown.get(name, Counter()) + counter
        return both

    def check_cells(self, path: object, place: Place) -> None:
        """Raise a `TableError` if too many cells did not have the form of training.

        Parameters
        ----------
        path : object
            The table, for the message.
        place : callable
            Says where a row stands.
        """
        wrong = [
            f"{path}: column {name!r} held {self.inputs.form(name)} in training, but here "
            f"{failures.count} of {self.known_cells[name]} cells do not: "
            f"{_listed(failures, place)}; {_step(failures)} or leave them empty."
            for name, failures in self.failures.items()
            if failures.count > (1 - NEEDED_SHARE) * self.known_cells[name]
        ]
        if wrong:
            raise TableError(*wrong)

    @contextmanager
    def forms_first(self, path: object, place: Place) -> Iterator[None]:
        """Say that cells have another form, where that is why a row is refused meanwhile.

        Such a cell counts as missing, and a model that fills in none refuses it: what is wrong is
        the form.

        Parameters
        ----------
        path, place
            As for `check_cells`.
        """
        try:
            yield
        except TableError:
            self.check_cells(path, place)
            raise

    def warnings(self, place: Place) -> Iterator[str]:
        """Yield a line for each column with cells of another form, or unknown categories.

        Parameters
        ----------
        place : callable
            Says where a row stands.
        """
        for name, failures in self.failures.items():
            one = failures.count == 1
            do, count = ("does", "counts") if one else ("do", "count")
            yield (
                f"column {name!r}: {counted(failures.count, 'cell')} {do} not hold "
                f"{self.inputs.form(name)}, as in training, and {count} as missing: "
                f"{_listed(failures, place)}."
            )
        for name, counter in self.unknown.items():
            text, row = self._first_unknown[name]
            hold = "holds" if counter.total() == 1 else "hold"
            yield (
                f"column {name!r}: {counted(counter.total(), 'cell')} {hold} "
                f"{counted(len(counter), 'category', 'categories')} that training did not have "
                f"(first {quoted(text)} at {place(row)}), counted as none of the known ones."
            )

    def _count_cells(self, rows: TypedRows, place: Place) -> None:
        for column in self.inputs.schema.used:
            cells = rows.cells[column.feature_names[-1]]
            if isinstance(cells, np.ndarray):
                missing = int(np.count_nonzero(np.isnan(cells)))
            else:
                missing = cells.null_count
            found = rows.failures.get(column.name, CellCount())
            self.known_cells[column.name] += rows.n_rows - missing + found.count
            if not found.count:
                continue
            if self.strict:
                held = _NESTED if found.nested else quoted(found.first[0].text)
                said = (
                    f"{place(found.first[0].row)}: column {column.name!r} held "
                    f"{self.inputs.form(column.name)} in training, but here it holds "
                    f"{held}; correct it, or leave out "
                )
                raise TableError(Message(said, Setting("strict", True), "."))
            self.failures[column.name] = self.failures.get(column.name, CellCount()) + found

    def _count_unknown(
        self,
        name: str,
        cells: pa.DictionaryArray,
        known: frozenset[str],
        place: Place,
        first_row: int,
    ) -> None:
        """Count the categories that training did not have."""
        is_unknown = [text not in known for text in cells.dictionary.to_pylist()]
        if not any(is_unknown):
            return
        of_row = np.array([*is_unknown, False])[cells.indices.fill_null(-1).to_numpy()]
        rows = np.flatnonzero(of_row)
        unknown = cells.take(pa.array(rows)).to_pylist()
        if name not in self._first_unknown:
            text, row = unknown[0], first_row + int(rows[0])
            if self.strict:
                said = (
                    f"{place(row)}: column {name!r} holds {quoted(text)}, a category that "
                    "training did not have; correct it, or leave out "
                )
                raise TableError(Message(said, Setting("strict", True), "."))
            self._first_unknown[name] = text, row
        self.unknown[name] = self.unknown.get(name, Counter()) + Counter(unknown)


def _step(failures: CellCount) -> str:
    return "make plain cells of them" if failures.nested else "correct the cells"


def _listed(failures: CellCount, place: Place) -> str:
    if failures.nested:  # one is like the other, and none has a text
        return f"{_NESTED}, the first at {place(failures.first[0].row)}"
    shown = ", ".join(f"{quoted(cell.text)} at {place(cell.row)}" for cell in failures.first)
    return shown + (", ..." if failures.count > len(failures.first) else "")
