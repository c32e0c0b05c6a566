"""What is known of the columns of a table, as sums that can be joined.

Joining two surveys is associative: so a table gives the same survey read at once, in
batches of any size, or in parts on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np

from granulearn.tables.columns.dates import DateClass
from granulearn.tables.columns.numbers import NumberClass
from granulearn.tables.columns.sketch import Sketch

# Different words that are counted; a column of more is known by their number alone.
MAX_WORDS = 1000
MAX_UNITS = 32
# A model file holds the text of every category.
LONGEST_CATEGORY = 10_000
REMEMBERED_CELLS = 12

WORD = "word"
"""Class of a cell that is neither a number nor a date."""
CODES = "codes"

CellClass = NumberClass | DateClass | str
AnyClass = TypeVar("AnyClass", NumberClass, DateClass)


class Cell(NamedTuple):
    """A cell, and the row in which it stands, from 0."""

    row: int
    text: str


class LongCell(NamedTuple):
    """A cell that is too long for a category: its row, from 0, and its number of characters."""

    row: int
    letters: int


@dataclass(frozen=True)
class Tally:
    """How many cells are of one class, and the first of them."""

    count: int
    first: tuple[Cell, ...]

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.count + other.count, (self.first + other.first)[:REMEMBERED_CELLS])


@dataclass(frozen=True)
class Steps:
    """Whole numbers of which each is one more than the one before."""

    first: float
    last: float


@dataclass(frozen=True, eq=False)
class ColumnSurvey:
    """One column over some rows."""

    name: str
    rows: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    """How often each mark stands for a missing cell; the empty text for an empty one."""
    classes: dict[CellClass, Tally] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    """How the file stores the cells: "text", "number", "date", "category" or "nested".

    And "codes" if numbers have so many different units that they count as words."""
    words: dict[str, int] | None = field(default_factory=dict)
    """How often each word occurs; None if there are too many, or too long ones."""
    letters: int = 0
    """Letters of all words together."""
    blanks: int = 0
    """Blanks in all words together."""
    first_long: LongCell | None = None
    """The first cell that is too long for a category."""
    sketch: Sketch = field(default_factory=Sketch)
    lowest: float = np.inf
    highest: float = -np.inf
    all_whole: bool = True
    """Whether all plain numbers are whole."""
    steps: Steps | None = None
    """Set if the rows are numbered: plain whole numbers that go up by one."""

    @property
    def known(self) -> int:
        """Number of cells that are not missing."""
        return self.rows - sum(self.missing.values())

    @property
    def distinct(self) -> int:
        """Number of different cells; nearly so if there are very many."""
        return min(self.sketch.count, self.known)

    @property
    def is_plain(self) -> bool:
        """Whether all cells are plain numbers, some of them with decimals, and none is a code."""
        numbers = [kind for kind in self.classes if isinstance(kind, NumberClass) and kind.is_plain]
        return len(numbers) == len(self.classes) and any(not kind.comma for kind in numbers)

    def count(self, kind: type | str) -> int:
        """Return how many cells are of a kind of class.

        Parameters
        ----------
        kind : type or str
            `NumberClass`, `DateClass` or `WORD`.
        """
        return sum(tally.count for own, tally in self.classes.items() if _is_of(own, kind))

    def counts(self, kind: type[AnyClass]) -> dict[AnyClass, int]:
        """Return how many cells are of each class of a kind.

        Parameters
        ----------
        kind : type
            `NumberClass` or `DateClass`.
        """
        return {own: tally.count for own, tally in self.classes.items() if isinstance(own, kind)}


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """All columns, over some rows."""

    rows: int
    columns: tuple[ColumnSurvey, ...]

    def __getitem__(self, name: str) -> ColumnSurvey:
        """Return the survey of a column."""
        return next(column for column in self.columns if column.name == name)


def join_surveys(first: TableSurvey, second: TableSurvey) -> TableSurvey:
    """Return the survey of earlier and of later rows.

    Parameters
    ----------
    first, second : TableSurvey
        Of the same columns.
    """
    columns = tuple(map(join_columns, first.columns, second.columns))
    return TableSurvey(first.rows + second.rows, columns)


def join_columns(first: ColumnSurvey, second: ColumnSurvey) -> ColumnSurvey:
    """Return the survey of a column over earlier and later rows.

    Parameters
    ----------
    first, second : ColumnSurvey
        Of the same column.
    """
    if not first.rows or not second.rows:
        return first if first.rows else second
    # No sum: beyond 2 ** 53 a float and one more are the same float.
    follows = first.steps and second.steps and second.steps.first - first.steps.last == 1
    joined = ColumnSurvey(
        name=first.name,
        rows=first.rows + second.rows,
        missing=_sum(first.missing, second.missing),
        classes=_joined_classes(first.classes, second.classes),
        stored=first.stored | second.stored,
        words=_joined_words(first.words, second.words),
        letters=first.letters + second.letters,
        blanks=first.blanks + second.blanks,
        first_long=first.first_long or second.first_long,
        sketch=first.sketch | second.sketch,
        lowest=min(first.lowest, second.lowest),
        highest=max(first.highest, second.highest),
        all_whole=first.all_whole and second.all_whole,
        steps=Steps(first.steps.first, second.steps.last) if follows else None,  # type: ignore[union-attr]
    )
    return _without_many_units(joined)


def _without_many_units(seen: ColumnSurvey) -> ColumnSurvey:
    """Return numbers of many different units as words: they are codes, such as 12B and 7C."""
    if CODES not in seen.stored and not many_units(seen.classes):
        return seen
    united = {kind: tally for kind, tally in seen.classes.items() if has_unit(kind)}
    classes = {kind: tally for kind, tally in seen.classes.items() if kind not in united}
    tallies = [*united.values(), *([classes.pop(WORD)] if WORD in classes else [])]
    first = sorted(cell for tally in tallies for cell in tally.first)[:REMEMBERED_CELLS]
    classes[WORD] = Tally(sum(tally.count for tally in tallies), tuple(first))
    return replace(seen, classes=classes, words=None, stored=seen.stored | {CODES})


def has_unit(kind: CellClass) -> bool:
    """Return whether cells of a class are numbers with a unit.

    Parameters
    ----------
    kind : NumberClass, DateClass or WORD
        The class.
    """
    return isinstance(kind, NumberClass) and kind.unit != ""


def many_units(classes: Iterable[CellClass]) -> bool:
    """Return whether numbers have so many units that they are codes, such as 12B and 7C.

    Parameters
    ----------
    classes : iterable of NumberClass, DateClass and WORD
        All that occur in a column.
    """
    units = {kind.unit for kind in classes if isinstance(kind, NumberClass) and kind.unit}
    return len(units) > MAX_UNITS


def _joined_classes(
    first: dict[CellClass, Tally], second: dict[CellClass, Tally]
) -> dict[CellClass, Tally]:
    joined = dict(first)
    for kind, tally in second.items():
        joined[kind] = joined[kind] + tally if kind in joined else tally
    return joined


def _joined_words(
    first: dict[str, int] | None, second: dict[str, int] | None
) -> dict[str, int] | None:
    if first is None or second is None:
        return None
    joined = _sum(first, second)
    return joined if len(joined) <= MAX_WORDS else None


def _sum(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    return first | {key: first.get(key, 0) + count for key, count in second.items()}


def _is_of(own: CellClass, kind: type | str) -> bool:
    return own == kind if isinstance(kind, str) else isinstance(own, kind)
