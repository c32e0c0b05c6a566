"""What the columns of a table hold, as sums that can be joined: the only look at its cells.

A cell's class depends on the cell alone, and joining two surveys is associative. So a
table gives the same survey read at once, in batches of any size, or in parts on a cluster.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.columns.cells import as_text, in_hours, is_mark, is_nested
from granulearn.tables.columns.dates import DateClass, date_class, stored_class, stored_clocks
from granulearn.tables.columns.numbers import (
    NumberClass,
    classes_of_plain,
    is_plain,
    is_usable,
    number_class,
    plain_numbers,
)
from granulearn.tables.columns.sketch import Sketch

# Different words that are counted; a column of more is known by their number alone.
MAX_WORDS = 1000
LONGEST_WORD = 200
MAX_UNITS = 32
_REMEMBERED_CELLS = 12
_THREADS = 2
_BATCHES_AHEAD = 3
# Floats are exact for all whole numbers below.
_EXACT_BELOW = 2.0**53
_LOOKED_AT_FIRST = 32

WORD = "word"
"""Class of a cell that is neither a number nor a date."""
CODES = "codes"

CellClass = NumberClass | DateClass | str


class Cell(NamedTuple):
    """A cell, and the row in which it stands, from 0."""

    row: int
    text: str


@dataclass(frozen=True)
class Tally:
    """How many cells are of one class, and the first of them."""

    count: int
    first: tuple[Cell, ...]

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.count + other.count, (self.first + other.first)[:_REMEMBERED_CELLS])


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


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """All columns, over some rows."""

    rows: int
    columns: tuple[ColumnSurvey, ...]

    def __getitem__(self, name: str) -> ColumnSurvey:
        """Return the survey of a column."""
        return next(column for column in self.columns if column.name == name)


def survey_batches(
    batches: Iterable[pa.RecordBatch],
    first_row: int = 0,
    plain: set[str] | None = None,
) -> TableSurvey | None:
    """Look at all cells; return None if there is no batch.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Rows in file order.
    first_row : int, default=0
        Number of the first row in the table.
    plain : set of str, default=None
        Filled with the columns that hold nothing but plain numbers with decimals so far:
        who reads the batches from text may give these as numbers.
    """
    survey = None
    with ThreadPoolExecutor(_THREADS) as pool:
        for batch in _read_ahead(batches):
            names, columns = batch.schema.names, batch.columns
            before = survey.columns if survey else repeat(None)
            seen = pool.map(survey_column, names, columns, repeat(first_row), before)
            part = TableSurvey(batch.num_rows, tuple(seen))
            if survey is not None and plain is not None:
                part = _as_text_stored(part, survey)
            survey = part if survey is None else join_surveys(survey, part)
            if plain is not None:
                still = {seen.name for seen in survey.columns if seen.is_plain}
                plain &= still
                plain |= still
            first_row += batch.num_rows
    return survey


def _as_text_stored(part: TableSurvey, before: TableSurvey) -> TableSurvey:
    """Return the survey as if columns had come as the text that the file holds."""
    columns = [
        replace(seen, stored=earlier.stored) if "text" in earlier.stored else seen
        for seen, earlier in zip(part.columns, before.columns, strict=True)
    ]
    return replace(part, columns=tuple(columns))


def _read_ahead(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches, and read the next ones while this one is looked at.

    The first one is looked at before: it tells which columns may come as numbers.
    """
    source = iter(batches)
    first = next(source, None)
    if first is None:
        return
    yield first
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, source, None) for _ in range(_BATCHES_AHEAD))
        while (batch := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, source, None))
            yield batch


def join_surveys(first: TableSurvey, second: TableSurvey) -> TableSurvey:
    """Return the survey of earlier and of later rows.

    Parameters
    ----------
    first, second : TableSurvey
        Of the same columns.
    """
    columns = tuple(map(join_columns, first.columns, second.columns))
    return TableSurvey(first.rows + second.rows, columns)


def survey_column(
    name: str, column: pa.Array, first_row: int = 0, before: ColumnSurvey | None = None
) -> ColumnSurvey:
    """Look at the cells of one column.

    Parameters
    ----------
    name : str
        The column.
    column : pyarrow Array
        Its cells.
    first_row : int, default=0
        Number of the first of them in the table.
    before : ColumnSurvey, default=None
        What this survey will be joined to: what that one knows is not looked for.
    """
    look = _Look(first_row, before)
    kind, seen = column.type, ColumnSurvey(name, len(column), sketch=look.new_sketch())
    if pa.types.is_null(kind):
        return replace(seen, missing=_empty(len(column)))
    if is_nested(kind):
        return replace(seen, missing=_empty(column.null_count), stored=frozenset({"nested"}))
    if is_number_type(kind):
        return _survey_numbers(seen, column, look)
    if pa.types.is_temporal(kind):
        return _survey_stored_dates(seen, column, look)
    stored = "category" if pa.types.is_dictionary(kind) else "text"
    found = _survey_text(seen, as_text(column), look)
    return replace(found, stored=found.stored | {stored})


def is_number_type(kind: pa.DataType) -> bool:
    """Return whether the file itself says that a column holds numbers, or lengths of time.

    Parameters
    ----------
    kind : pyarrow DataType
        Of the column.
    """
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return number or pa.types.is_duration(kind)


def stored_numbers(column: pa.Array) -> np.ndarray:
    """Return numbers that a file stores as such; lengths of time in hours; NaN for null.

    Parameters
    ----------
    column : pyarrow Array
        Of a type that `is_number_type`.
    """
    if pa.types.is_duration(column.type):
        column = in_hours(column)
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


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
        sketch=first.sketch | second.sketch,
        lowest=min(first.lowest, second.lowest),
        highest=max(first.highest, second.highest),
        all_whole=first.all_whole and second.all_whole,
        steps=Steps(first.steps.first, second.steps.last) if follows else None,  # type: ignore[union-attr]
    )
    return _without_many_units(joined)


class _Look(NamedTuple):
    """Where a stretch of rows begins, and what is known of the rows before it."""

    first_row: int
    before: ColumnSurvey | None

    def new_sketch(self) -> Sketch:
        """Return an empty sketch: what cannot change one that is full is not sorted into it."""
        return Sketch(bound=self.before.sketch.bound if self.before else None)

    def enough(self) -> list[CellClass]:
        """Return the classes of which so many cells are remembered that no more will be."""
        known = self.before.classes if self.before else {}
        return [kind for kind, seen in known.items() if len(seen.first) == _REMEMBERED_CELLS]

    def first_of(
        self, kind: CellClass, text: pa.Array, places: np.ndarray, rows: np.ndarray | None = None
    ) -> tuple[Cell, ...]:
        """Return the first cells among some places; in rows of these numbers, if given."""
        if kind in self.enough():
            return ()
        few = places[:_REMEMBERED_CELLS]
        texts = as_text(text.take(pa.array(few))).to_pylist()
        numbers = self.first_row + (few if rows is None else rows[few])
        return tuple(map(Cell, numbers.tolist(), map(_shown, texts)))


def _survey_numbers(seen: ColumnSurvey, column: pa.Array, look: _Look) -> ColumnSurvey:
    values = stored_numbers(column)
    known, usable = ~np.isnan(values), is_usable(values)
    odd = np.flatnonzero(known & ~usable)  # infinite, or too large to compute with
    groups = ((NumberClass("", True, False, False), np.flatnonzero(usable)), (WORD, odd))
    return replace(
        _with_values(seen, values, column),
        missing=_empty(len(values) - int(np.count_nonzero(known))),
        classes={
            kind: Tally(len(places), look.first_of(kind, column, places))
            for kind, places in groups
            if len(places)
        },
        stored=frozenset({"number"}),
        words=None if len(odd) else {},
    )


def _survey_stored_dates(seen: ColumnSurvey, column: pa.Array, look: _Look) -> ColumnSurvey:
    seen = replace(seen, missing=_empty(column.null_count), stored=frozenset({"date"}))
    places = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    if not len(places):
        return seen
    different = column.take(pa.array(places)).unique()
    sketch = seen.sketch.with_cells(as_text(different))
    clocks = stored_clocks(column)[places]
    groups = {
        stored_class(column.type, has_clock): places[clocks == has_clock]
        for has_clock in (True, False)
        if has_clock in clocks
    }
    classes: dict[CellClass, Tally] = {
        kind: Tally(len(own), look.first_of(kind, column, own)) for kind, own in groups.items()
    }
    return replace(seen, classes=classes, sketch=sketch)


def _survey_text(seen: ColumnSurvey, text: pa.Array, look: _Look) -> ColumnSurvey:
    """Look at texts; plain numbers, which most columns hold, by a way of their own."""
    if not _looks_plain(text):
        return _survey_words(seen, text, look)
    values = None if text.null_count else plain_numbers(text)
    if values is not None:
        return _survey_plain(seen, text, values, look)
    mark = is_mark(text).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(~mark)
    known = text.take(pa.array(rows))
    values = plain_numbers(known)
    if values is None:
        return _survey_words(seen, text, look)
    seen = replace(seen, missing=_counted(text.filter(pa.array(mark))))
    return _survey_plain(seen, known, values, look, rows)


def _looks_plain(text: pa.Array) -> bool:
    """Return whether some of the first cells are plain numbers: else it is not worth a try."""
    return any(map(is_plain, text[:_LOOKED_AT_FIRST].drop_null().to_pylist()))


def _survey_plain(
    seen: ColumnSurvey,
    known: pa.Array,
    values: np.ndarray,
    look: _Look,
    rows: np.ndarray | None = None,
) -> ColumnSurvey:
    found = classes_of_plain(known, _REMEMBERED_CELLS, look.enough())
    classes: dict[CellClass, Tally] = {
        kind: Tally(count, look.first_of(kind, known, places, rows))
        for kind, (count, places) in found.items()
    }
    return replace(_with_values(seen, values, known), classes=classes)


def _with_values(seen: ColumnSurvey, values: np.ndarray, text: pa.Array) -> ColumnSurvey:
    """Return the survey with what plain numbers tell; NaN stands for a missing cell."""
    missing = np.isnan(values)
    numbers = values[~missing] if missing.any() else values
    sketch = _with_numbers(seen.sketch, numbers, values, text)
    usable = is_usable(numbers)
    numbers = numbers if usable.all() else numbers[usable]
    if not len(numbers):
        return replace(seen, sketch=sketch)
    lowest, highest = float(numbers.min()), float(numbers.max())
    complete = len(numbers) == seen.rows
    stepwise = complete and highest - lowest == len(numbers) - 1
    stepwise = stepwise and numbers[0] == lowest and bool((np.diff(numbers) == 1).all())
    return replace(
        seen,
        sketch=sketch,
        lowest=min(seen.lowest, lowest),
        highest=max(seen.highest, highest),
        all_whole=seen.all_whole and _all_whole(numbers[:100]) and _all_whole(numbers),
        steps=Steps(lowest, highest) if stepwise and lowest == np.floor(lowest) else None,
    )


def _with_numbers(
    sketch: Sketch, numbers: np.ndarray, values: np.ndarray, text: pa.Array
) -> Sketch:
    """Return the sketch of numbers, too: by their text where floats cannot tell them apart."""
    if not len(numbers) or max(numbers.max(), -numbers.min()) < _EXACT_BELOW:
        return sketch.with_cells(numbers)
    large = np.abs(values) >= _EXACT_BELOW
    texts = as_text(text.take(pa.array(np.flatnonzero(large))))
    return sketch.with_cells(numbers[np.abs(numbers) < _EXACT_BELOW]).with_cells(texts)


def _all_whole(numbers: np.ndarray) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def _survey_words(seen: ColumnSurvey, text: pa.Array, look: _Look) -> ColumnSurvey:
    encoded = (text.fill_null("") if text.null_count else text).dictionary_encode()
    different, codes = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
    counts = np.bincount(codes, minlength=len(different))
    mark = is_mark(different).to_numpy(zero_copy_only=False)
    marks = different.filter(pa.array(mark)).to_pylist()
    missing = dict(zip(marks, counts[mark].tolist(), strict=True))
    seen = replace(seen, missing=missing)
    if mark.all():
        return seen
    places = np.flatnonzero(~mark)
    texts, counts = different.take(pa.array(places)), counts[places]
    different_texts = texts.to_pylist()
    plain = np.array([is_plain(cell) for cell in different_texts])
    numbers = texts.filter(pa.array(plain))
    values = numbers.cast(pa.float64()).to_numpy(zero_copy_only=False)
    seen = replace(_with_values(seen, values, numbers), steps=None)
    others = texts.filter(pa.array(~plain))
    seen = replace(seen, sketch=seen.sketch.with_cells(others))
    groups = _grouped(map(_class_of, different_texts))
    words, many_units = groups.get(WORD), _many_units(groups)
    if many_units:  # here, since going through all rows for each unit would take long
        united = [kind for kind in groups if _has_unit(kind)]
        pieces = [groups.pop(kind) for kind in (*united, WORD) if kind in groups]
        groups[WORD] = np.sort(np.concatenate(pieces))
    classes: dict[CellClass, Tally] = {}
    enough = look.enough()
    for kind, rows in groups.items():
        own = np.zeros(len(different), bool)
        own[places[rows]] = True
        cells = np.empty(0, np.intp) if kind in enough else np.flatnonzero(own[codes])
        classes[kind] = Tally(int(counts[rows].sum()), look.first_of(kind, text, cells))
    seen = replace(seen, classes=classes)
    if words is not None:
        seen = _with_words(seen, texts.take(pa.array(words)), counts[words])
    return replace(seen, words=None, stored=frozenset({CODES})) if many_units else seen


def _grouped(kinds: Iterable[CellClass]) -> dict[CellClass, np.ndarray]:
    """Return the places of each class."""
    places: dict[CellClass, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    return {kind: np.array(found) for kind, found in places.items()}


def _class_of(text: str) -> CellClass:
    return number_class(text) or date_class(text) or WORD


def _with_words(seen: ColumnSurvey, texts: pa.Array, counts: np.ndarray) -> ColumnSurvey:
    lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
    blanks = pc.count_substring(texts, " ").to_numpy(zero_copy_only=False).astype(np.int64)
    words: dict[str, int] | None = None
    if len(texts) <= MAX_WORDS and lengths.max() <= LONGEST_WORD:
        words = dict(zip(texts.to_pylist(), counts.tolist(), strict=True))
    return replace(seen, words=words, letters=int(lengths @ counts), blanks=int(blanks @ counts))


def _without_many_units(seen: ColumnSurvey) -> ColumnSurvey:
    """Return numbers of many different units as words: they are codes, such as 12B and 7C."""
    if CODES not in seen.stored and not _many_units(seen.classes):
        return seen
    united = {kind: tally for kind, tally in seen.classes.items() if _has_unit(kind)}
    classes = {kind: tally for kind, tally in seen.classes.items() if kind not in united}
    tallies = [*united.values(), *([classes.pop(WORD)] if WORD in classes else [])]
    first = sorted(cell for tally in tallies for cell in tally.first)[:_REMEMBERED_CELLS]
    classes[WORD] = Tally(sum(tally.count for tally in tallies), tuple(first))
    return replace(seen, classes=classes, words=None, stored=seen.stored | {CODES})


def _has_unit(kind: CellClass) -> bool:
    return isinstance(kind, NumberClass) and kind.unit != ""


def _many_units(classes: Iterable[CellClass]) -> bool:
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


def _counted(texts: pa.Array) -> dict[str, int]:
    counted = texts.fill_null("").value_counts()
    pairs = zip(
        counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True
    )
    return dict(pairs)


def _empty(count: int) -> dict[str, int]:
    return {"": int(count)} if count else {}


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_WORD else text[:LONGEST_WORD] + "…"


def _is_of(own: CellClass, kind: type | str) -> bool:
    return own == kind if isinstance(kind, str) else isinstance(own, kind)
