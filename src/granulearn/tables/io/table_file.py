"""What every reader of a table offers, whatever the format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from granulearn.tables.errors import TableError
from granulearn.tables.io.naming import similar_names


@dataclass(frozen=True)
class ReadOptions:
    """What a user says about a file; None leaves it to the reader.

    Examples
    --------
    >>> from granulearn.tables import ReadOptions
    >>> ReadOptions(encoding="cp1252", separator=";")
    ReadOptions(encoding='cp1252', sheet=None, separator=';')
    """

    encoding: str | None = None
    """Of a text file, by the name that Python knows it by."""
    sheet: str | None = None
    """Of a workbook: the name of a sheet, or its number from 1."""
    separator: str | None = None
    """What stands between the cells of a text file."""


AS_FOUND = ReadOptions()


class TablePart(Protocol):
    """Some rows of a table; small to send, and read where it is needed.

    Examples
    --------
    >>> from granulearn.tables import table_of
    >>> part = next(iter(table_of({"age": [31, 47, 52]}).parts()))
    >>> part.first_row, sum(batch.num_rows for batch in part.batches())
    (0, 3)
    """

    @property
    def first_row(self) -> int:
        """Number, from 0, of the first row in the whole table."""

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, in file order."""


class TableFile(ABC):
    """A table that can be read more than once, in constant memory where its format allows.

    Parameters
    ----------
    path : Path
        As the user named it, for messages.
    names : list of str
        The columns; no two are equal and none is empty.
    remarks : sequence of str
        What the reader decided and a user should know.
    rows_about : int
        Number of rows, for a progress bar.

    Examples
    --------
    >>> from granulearn.tables import table_of
    >>> table = table_of([{"age": 31, "late": "no"}, {"age": 47, "late": "yes"}])
    >>> table.names
    ['age', 'late']
    >>> sum(batch.num_rows for batch in table.batches())
    2
    """

    def __init__(self, path: Path, names: list[str], remarks: Sequence[str], rows_about: int):
        self.path = path
        self.names = names
        self.remarks = tuple(remarks)
        self.rows_about = rows_about
        self._held: list[AbstractContextManager] = []

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """

    def batches_for_survey(self, plain: set[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order; columns of plain numbers may come as numbers.

        Reading numbers at once is cheaper than reading their text first.

        Parameters
        ----------
        plain : set of str
            Columns that have held nothing but numbers with decimals so far; who
            looks at the batches fills it meanwhile.
        """
        return self.batches()

    @abstractmethod
    def parts(self) -> tuple[TablePart, ...]:
        """Return the table as parts that can be read on their own, in order."""

    def place(self, row: int) -> str:
        """Say where a row stands.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        return f"row {row + 1}"

    def lines(self) -> np.ndarray | None:
        """Return the line on which each row begins; None if the format has no lines."""
        return None

    def hold(self, resource: AbstractContextManager) -> None:
        """Keep something that is to be closed with the table.

        Parameters
        ----------
        resource : context manager
            It was entered already.
        """
        self._held.append(resource)

    def close(self) -> None:
        """Remove what was stored for this table."""
        while self._held:
            self._held.pop().__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _wanted(self, columns: Sequence[str] | None) -> list[str]:
        return self.names if columns is None else known_columns(self.path, self.names, columns)


def known_columns(path: Path, names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the columns as a list, or raise a `TableError` that names those a table lacks.

    Parameters
    ----------
    path : Path
        The table, for the message.
    names : sequence of str
        The columns of the table.
    columns : sequence of str
        The columns asked for.
    """
    has = set(names)
    missing = [column for column in columns if column not in has]
    if missing:
        similar = similar_names(missing[0], names, 1)
        hint = f"did you mean {similar[0]!r}?" if similar else f"it has {_some(names)}."
        raise TableError(f"{path} has no column {', '.join(map(repr, missing))}; {hint}")
    return list(columns)


def column_places(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return where columns stand, in the time of one look at all names.

    Parameters
    ----------
    names : sequence of str
        The columns of the table, all different.
    wanted : sequence of str
        Some of them, in any order.
    """
    places = {name: place for place, name in enumerate(names)}
    return [places[name] for name in wanted]


def _some(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


@dataclass(frozen=True)
class WholePart:
    """A whole table as its only part: it is opened again where it is read."""

    kind: type[TableFile]
    arguments: tuple[Any, ...] = field(default=())
    first_row: int = 0

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        with self.kind(*self.arguments) as table:
            yield from table.batches(columns)
