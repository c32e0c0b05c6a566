"""Interface of a table in any format; column names."""

from __future__ import annotations

import copy
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from granulearn.tables.messages import Message, Setting, TableError
from granulearn.utils.text import counted, listed

MOST_COLUMNS = 100_000
LONGEST_NAME = 10_000
# Bytes of a row of text, or of a cell; a longer one has an open quotation mark.
LONGEST_ROW = 2**25
# A file may expand to this many bytes whatever its size.
LITTLE = 2**28
_BATCH_CELLS = 2**20
_BATCH_ROWS = 2**16
# Characters that no text file or no workbook can hold.
_NOT_IN_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Format by ending, where programs open a file by it; all other endings are text.
_FORMATS = {
    **{ending: ending for ending in (".gz", ".bz2", ".xz", ".zst", ".zip", ".xlsx", ".xlsm")},
    **{".json": "JSON", ".jsonl": "lines", ".ndjson": "lines", ".parquet": "Parquet"},
    **{".pq": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"},
}


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file; None leaves it to the reader.

    Examples
    --------
    >>> from granulearn.tables import ReadOptions
    >>> ReadOptions(encoding="cp1252", separator=";")
    ReadOptions(encoding='cp1252', sheet=None, separator=';', max_expansion=100)
    """

    encoding: str | None = None
    """Encoding of a text file, by its Python name."""
    sheet: str | None = None
    """Sheet of a workbook: its name, or its number from 1."""
    separator: str | None = None
    """Separator between the cells of a text file."""
    max_expansion: int = 100
    """How many times its size a file may take when it is decompressed, above 256 MB."""


AS_FOUND = ReadOptions()


class Expansion:
    """Counts the bytes that a file expands to in one pass over it, and refuses too many.

    Parameters
    ----------
    shown : Path
        The file, for messages.
    n_stored : int
        Its size in bytes.
    options : ReadOptions
        Has the largest ratio.
    """

    def __init__(self, shown: Path, n_stored: int, options: ReadOptions):
        self.shown, self.ratio = shown, options.max_expansion
        self.most, self.n_bytes = max(LITTLE, self.ratio * n_stored), 0

    def add(self, n_bytes: int) -> None:
        """Count bytes before they are kept."""
        self.n_bytes += n_bytes
        if self.n_bytes > self.most:
            raise self.error()

    def error(self) -> TableError:
        """Return the error for a file that expands too much."""
        what = f"{self.shown} expands to more than {self.most / 1e6:,.0f} MB, which a small file "
        advice = "seldom does unless it is made to take all memory; if you trust it, raise the "
        allowed = Setting("max_expansion", 10 * self.ratio)
        return TableError(Message(what, advice, "allowed ratio (", allowed, ")."))


class Changes(NamedTuple):
    """Changes of a table."""

    column: str
    cells: Mapping[int, str]
    """New texts by row."""
    drop: Collection[int]
    """Rows to leave out."""


class TableFile(ABC):
    """A table that can be read more than once, in constant memory where its format allows.

    Parameters
    ----------
    path : Path
        As the user named it, for messages.
    names : list of str
        The columns; no two are equal and none is empty.
    notes : sequence of str
        What the reader guessed or changed.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> from granulearn.tables import table_of
    >>> table = table_of([{"age": 31, "late": "no"}, {"age": 47, "late": "yes"}])
    >>> table.names
    ['age', 'late']
    >>> sum(batch.num_rows for batch in table.batches())
    2
    """

    first_row = 0
    """Number, from 0, of the first row; of a part, in the whole table."""

    def __init__(self, path: Path, names: list[str], notes: Sequence[str], n_rows: int):
        if not n_rows:
            raise TableError(f"{path} has a header but no data rows; add rows.")
        self.path = path
        self.names = names
        self.notes = tuple(notes)
        self.n_rows = n_rows
        self._held = ExitStack()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        wanted = self.names if columns is None else known_columns(self.path, self.names, columns)
        return self._batches(wanted)

    @abstractmethod
    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]: ...

    def parts(self) -> tuple[TableFile, ...]:
        """Split the table by rows, in order; parts can be read in other processes."""
        return (self,)

    def location(self, row: int) -> str:
        """Return the location of a row, for messages.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        return f"row {row + 1}"

    def lines(self) -> np.ndarray | None:
        """Return the line on which each row begins; None if the format has no lines."""
        return None

    def rewrite(
        self,
        temporary: Path,
        column: str,
        cells: Mapping[int, str],
        *,
        drop: Collection[int] = (),
    ) -> None:
        """Write the table to a temporary file, with some cells of one column changed.

        All other cells of a text file stay byte for byte, with its encoding, separators, line ends
        and the lines above the header. Other formats keep content and types. Without a change,
        the file is copied.

        Parameters
        ----------
        temporary : Path
            Where to write; its ending must fit to that of the file.
        column : str
            A name out of `names`.
        cells : mapping of int to str
            The new text of cells, exactly, by the number of the row, from 0.
        drop : collection of int, default=()
            Rows to leave out.
        """
        dropped = frozenset(map(int, drop))
        changed = {int(row): text for row, text in cells.items() if int(row) not in dropped}
        changes = Changes(column, changed, dropped)
        _check_changes(self, temporary, changes)
        if changed or dropped:
            self._rewrite(temporary, changes)
        else:
            shutil.copyfile(self.path, temporary)

    def _rewrite(self, temporary: Path, changes: Changes) -> None:
        raise NotImplementedError

    def hold(self, resource: AbstractContextManager) -> None:
        """Enter a context that `close` leaves.

        Parameters
        ----------
        resource : context manager
            A temporary folder, for one.
        """
        self._held.enter_context(resource)

    def close(self) -> None:
        """Remove the temporary files of this table."""
        self._held.close()

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __getstate__(self):
        # Temporary files belong to this process.
        return self.__dict__ | {"_held": ExitStack()}

    def _part(self, first_row: int, **chunks: Any) -> TableFile:
        """Return the same table with fewer rows."""
        part = copy.copy(self)
        part.__dict__.update(first_row=first_row, **chunks)
        return part


def _check_changes(table: TableFile, temporary: Path, changes: Changes) -> None:
    path = table.path
    known_columns(path, table.names, [changes.column])
    rows = {*changes.cells, *changes.drop}
    strange = [label for label in changes.cells.values() if _NOT_IN_TEXT.search(label)]
    problem = ""
    if path.is_dir():
        problem = "is a folder of Parquet files; name one of its files."
    elif not path.is_file():
        problem = "is no file, so it cannot be written again; save the table as a file first."
    elif temporary.suffix and path.suffix and _format(temporary) != _format(path):
        problem = f"keeps its format; name a file that ends in {path.suffix!r}"
        problem += f" rather than in {temporary.suffix!r}."
    elif not all(map(str.strip, changes.cells.values())):
        problem = "cannot have an empty label; leave the row out instead."
    elif min(rows, default=0) < 0 or max(rows, default=0) >= table.n_rows:
        problem = f"has {table.n_rows} rows, numbered from 0."
    elif strange:
        problem = (
            f"cannot hold the label {strange[0]!r}, with a control character; spell it otherwise."
        )
    elif len(changes.drop) == table.n_rows:
        problem = f"would lose all {table.n_rows} rows; keep at least one."
    if problem:
        raise TableError(f"{path} {problem}")


def _format(path: Path) -> str:
    return _FORMATS.get(path.suffix.lower(), "text")


def known_columns(path: Path, names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the columns as a list, or raise a `TableError` that names those a table lacks."""
    has = set(names)
    missing = [column for column in columns if column not in has]
    if missing:
        similar = similar_names(missing[0], names, 1)
        hint = f"it has {listed([*map(repr, names)], most=20)}."
        hint = f"did you mean {similar[0]!r}?" if similar else hint
        raise TableError(f"{path} has no column {', '.join(map(repr, missing))}; {hint}")
    return list(columns)


def column_indices(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the indices of some columns, in any order, among all of them."""
    index = {name: number for number, name in enumerate(names)}
    return [index[name] for name in wanted]


def similar_names(name: str, names: Sequence[str], most: int = 3) -> list[str]:
    """Return the columns with names like this one, the most similar first; case does not count."""
    spelt: dict[str, list[str]] = {}
    for own in names:
        spelt.setdefault(own.casefold(), []).append(own)
    near = get_close_matches(name.casefold(), spelt, most)
    return [own for key in near for own in spelt[key]][:most]


def check_width(path: Path, n_columns: int) -> None:
    """Refuse a table with too many columns."""
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"{path} has {n_columns:,} columns, and at most {MOST_COLUMNS:,} can be read; "
            "transpose the table if its rows stand in columns, or take fewer columns."
        )


def named_columns(path: Path, header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Make names unique and not empty; return them with notes on the changes."""
    check_width(path, len(header))
    stripped = [name.strip() for name in header]
    taken = set(stripped)
    first_number: dict[str, int] = {}
    names, unnamed, repeated, notes = [], [], [], []
    for number, name in enumerate(stripped, start=1):
        if len(name) > LONGEST_NAME:
            raise TableError(
                f"{path}: the name of column {number} has {len(name):,} characters, and at most "
                f"{LONGEST_NAME:,} can be read ({name[:40]!r}...); give the column a name, or the "
                "table a header."
            )
        new = name
        if not name:
            new = _unused(f"column {number}", taken)
            unnamed.append(repr(new))
        elif name in first_number:
            new = _unused(name, taken)
            both = f"{name!r} in columns {first_number[name]} and {number}"
            repeated.append(f"{both}, the second called {new!r}")
        first_number.setdefault(name, number)
        taken.add(new)
        names.append(new)
    if unnamed:
        to_last = f" to {unnamed[-1]}" if len(unnamed) > 1 else ""
        found = counted(len(unnamed), "column")
        notes.append(f"{found} without a name: called {unnamed[0]}{to_last}")
    if repeated:
        notes.append(f"equal names: {listed(repeated, '; ', most=5)}")
    if names and all(map(is_number, stripped)):
        notes.append(
            f"all names of columns are numbers, {names[0]} for one: if the table has no header, "
            "its first row was taken for one; give it a header"
        )
    return names, notes


def _unused(name: str, taken: set[str]) -> str:
    """Append a number in brackets if the name is taken."""
    new, number = name, 1
    while new in taken:
        number += 1
        new = f"{name} ({number})"
    return new


def is_number(text: str) -> bool:
    """Return whether a text is a number, perhaps with a decimal comma."""
    try:
        float(text.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def rows_per_batch(n_columns: int) -> int:
    """Return how many rows go into a batch, fewer if they are wide."""
    return max(1, min(_BATCH_ROWS, _BATCH_CELLS // max(n_columns, 1)))
