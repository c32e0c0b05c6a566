"""The rows of a table as a model takes them, and what surprises it in their cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from granulearn._words import counted, quoted
from granulearn.models.errors import ModelFileError
from granulearn.models.model_card import ModelCard, schema_of_card
from granulearn.tables.errors import TableError
from granulearn.tables.infer import NEEDED_SHARE
from granulearn.tables.messages import Message, Setting
from granulearn.tables.schema import DATE, NUMBER, YES_NO, CellCount, Schema, TypedRows

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


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Some rows as a model takes them."""

    n_rows: int
    cells: dict[str, np.ndarray | pa.Array]
    """By input: floats, or the categories as a dictionary array."""

    def pieces(self, n_rows: int) -> Iterator[ReadRows]:
        """Yield the rows, so many at a time.

        Parameters
        ----------
        n_rows : int
            Of each piece but the last.
        """
        for begin in range(0, self.n_rows, n_rows):
            own = slice(begin, begin + n_rows)
            cells = {name: values[own] for name, values in self.cells.items()}
            yield ReadRows(min(n_rows, self.n_rows - begin), cells)


def joined_reads(parts: Sequence[ReadRows]) -> ReadRows:
    """Return rows of several batches as one.

    Parameters
    ----------
    parts : sequence of ReadRows
        In order, at least one.
    """
    if len(parts) == 1:
        return parts[0]
    joined = {}
    for name, first in parts[0].cells.items():
        each = [part.cells[name] for part in parts]
        joined[name] = (
            np.concatenate(each) if isinstance(first, np.ndarray) else _concatenated(each)
        )
    return ReadRows(sum(part.n_rows for part in parts), joined)


def _concatenated(categories: list[pa.DictionaryArray]) -> pa.DictionaryArray:
    return pa.chunked_array(categories).unify_dictionaries().combine_chunks()


class RowReading:
    """One reading of a table: rows come out, and what is odd about them is counted.

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
        self.misfits: dict[str, CellCount] = {}
        """By column: cells that have not the form of training."""
        self.unknown: dict[str, Counter] = {}
        """By column: how often each category was met that training did not have."""
        self._first_unknown: dict[str, tuple[str, int]] = {}

    def read(self, batch: pa.RecordBatch, place: Place, first_row: int = 0) -> ReadRows:
        """Return rows as the model takes them, and remember what is odd about them.

        Parameters
        ----------
        batch : RecordBatch
            The columns that are used, and perhaps others.
        place : callable
            Says where a row stands, for messages.
        first_row : int, default=0
            Number of the first row in the table.
        """
        typed = self.inputs.schema.read(batch, first_row)
        self._remember_misfits(typed, batch.num_rows, place)
        cells = typed.cells
        for name, known in self.inputs.categories.items():
            cells[name] = cells[name].dictionary_encode()
            self._remember_unknown(name, cells[name], known, place, first_row)
        return ReadRows(batch.num_rows, cells)

    def absorb(self, later: RowReading) -> None:
        """Add what was odd about later rows of the same table, which were read elsewhere.

        Parameters
        ----------
        later : RowReading
            It has read some rows.
        """
        self.known_cells.update(later.known_cells)
        for name, found in later.misfits.items():
            self.misfits[name] = self.misfits[name] + found if name in self.misfits else found
        for name, counter in later.unknown.items():
            self.unknown[name] = self.unknown.get(name, Counter()) + counter
            self._first_unknown.setdefault(name, later._first_unknown[name])

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
            f"{misfits.count} of {self.known_cells[name]} cells do not: "
            f"{_listed(misfits, place)}; {_step(misfits)} or leave them empty."
            for name, misfits in self.misfits.items()
            if misfits.count > (1 - NEEDED_SHARE) * self.known_cells[name]
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

    def surprises(self, place: Place) -> Iterator[str]:
        """Yield a line for each column with cells of another form, or unknown categories.

        Parameters
        ----------
        place : callable
            Says where a row stands.
        """
        for name, misfits in self.misfits.items():
            one = misfits.count == 1
            do, count = ("does", "counts") if one else ("do", "count")
            yield (
                f"column {name!r}: {counted(misfits.count, 'cell')} {do} not hold "
                f"{self.inputs.form(name)}, as in training, and {count} as missing: "
                f"{_listed(misfits, place)}."
            )
        for name, counter in self.unknown.items():
            text, row = self._first_unknown[name]
            hold = "holds" if counter.total() == 1 else "hold"
            yield (
                f"column {name!r}: {counted(counter.total(), 'cell')} {hold} "
                f"{counted(len(counter), 'category', 'categories')} that training did not have "
                f"(first {quoted(text)} at {place(row)}), counted as none of the known ones."
            )

    def _remember_misfits(self, typed: TypedRows, n_rows: int, place: Place) -> None:
        for column in self.inputs.schema.used:
            cells = typed.cells[column.feature_names[-1]]
            if isinstance(cells, np.ndarray):
                missing = int(np.count_nonzero(np.isnan(cells)))
            else:
                missing = cells.null_count
            found = typed.failures.get(column.name)
            self.known_cells[column.name] += n_rows - missing + (found.count if found else 0)
            if found is None:
                continue
            if self.strict:
                held = _NESTED if found.nested else quoted(found.first[0].text)
                said = (
                    f"{place(found.first[0].row)}: column {column.name!r} held "
                    f"{self.inputs.form(column.name)} in training, but here it holds "
                    f"{held}; correct it, or leave out "
                )
                raise TableError(Message(said, Setting("strict", True), "."))
            earlier = self.misfits.get(column.name)
            self.misfits[column.name] = earlier + found if earlier else found

    def _remember_unknown(
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


def _step(misfits: CellCount) -> str:
    return "make plain cells of them" if misfits.nested else "correct the cells"


def _listed(misfits: CellCount, place: Place) -> str:
    if misfits.nested:  # one is like the other, and none has a text
        return f"{_NESTED}, the first at {place(misfits.first[0].row)}"
    shown = ", ".join(f"{quoted(cell.text)} at {place(cell.row)}" for cell in misfits.first)
    return shown + (", ..." if misfits.count > len(misfits.first) else "")
