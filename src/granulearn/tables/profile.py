"""First pass over the cells of a table: a profile of each column, joinable by addition."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.parse.cells import (
    as_text,
    is_nested,
    is_null_token,
    is_number_type,
    stored_numbers,
)
from granulearn.tables.parse.dates import DateClass, date_class, stored_class, stored_clocks
from granulearn.tables.parse.hashes import hash_cells, mixed
from granulearn.tables.parse.numbers import (
    NumberClass,
    classes_of_plain,
    is_plain,
    is_usable,
    number_class,
    plain_numbers,
)
from granulearn.tables.schema import Cell

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


class LongCell(NamedTuple):
    """A cell that is too long for a category: its row, from 0, and its number of characters."""

    row: int
    letters: int


# The sketch counts exactly up to here; beyond, it is off by about 2 %.
_REMEMBERED = 4096


@dataclass(frozen=True, eq=False)
class Sketch:
    """The lowest of the different hashes; their density tells how many there are."""

    lowest: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    bound: np.uint64 | None = None
    """Hashes from here on are of no use; None if all are."""

    def with_hashes(self, hashes: np.ndarray) -> Sketch:
        """Return the sketch of these hashes, too.

        Parameters
        ----------
        hashes : ndarray of uint64
            In any order, with repetitions.
        """
        if self.bound is not None:
            hashes = hashes[hashes < self.bound]
        elif len(hashes) > 4 * _REMEMBERED:
            # A share of them that is sure to hold the lowest, unless most are repeated.
            share = _different(hashes[hashes < np.uint64(2 * _REMEMBERED / len(hashes) * 2.0**64)])
            hashes = share if len(share) >= _REMEMBERED else hashes
        together = _joined(self.lowest, _different(hashes))[:_REMEMBERED]
        full = len(together) == _REMEMBERED
        return Sketch(together, together[-1] if full else self.bound)

    def with_cells(self, cells: np.ndarray | pa.Array) -> Sketch:
        """Return the sketch of these cells, too.

        Parameters
        ----------
        cells : ndarray of float64, or pyarrow Array of strings
            Plain numbers, or texts that are none; without missing ones.
        """
        # Numbers are their own bits so far: without mixing, the lowest would be small numbers.
        return self.with_hashes(mixed(hash_cells(cells)))

    def __or__(self, other: Sketch) -> Sketch:
        together = _joined(self.lowest, other.lowest)[:_REMEMBERED]
        return Sketch(together, together[-1] if len(together) == _REMEMBERED else self.bound)

    @property
    def is_exact(self) -> bool:
        """Whether `count` is a count and no estimate."""
        return len(self.lowest) < _REMEMBERED

    @property
    def count(self) -> int:
        """How many different hashes there are."""
        if self.is_exact:
            return len(self.lowest)
        return round((_REMEMBERED - 1) / (float(self.lowest[-1]) / 2.0**64))


def _different(hashes: np.ndarray) -> np.ndarray:
    """Return the different hashes, sorted."""
    if len(hashes) > 4 * _REMEMBERED:  # most are repeated
        return np.unique(hashes)
    # NumPy would put a few thousand into a table of hashes first, which takes far longer.
    ordered = np.sort(hashes)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return two sorted sets as one: a few new ones are put in their places."""
    if not len(first):
        return second
    places = np.minimum(np.searchsorted(first, second), len(first) - 1)
    new = second[first[places] != second]
    return np.insert(first, np.searchsorted(first, new), new) if len(new) else first


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
class ColumnProfile:
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
class TableProfile:
    """All columns, over some rows."""

    rows: int
    columns: tuple[ColumnProfile, ...]

    def __getitem__(self, name: str) -> ColumnProfile:
        """Return the survey of a column."""
        return next(column for column in self.columns if column.name == name)


def join_profiles(first: TableProfile, second: TableProfile) -> TableProfile:
    """Return the survey of earlier and of later rows.

    Parameters
    ----------
    first, second : TableProfile
        Of the same columns.
    """
    columns = tuple(map(join_columns, first.columns, second.columns))
    return TableProfile(first.rows + second.rows, columns)


def join_columns(first: ColumnProfile, second: ColumnProfile) -> ColumnProfile:
    """Return the survey of a column over earlier and later rows.

    Parameters
    ----------
    first, second : ColumnProfile
        Of the same column.
    """
    if not first.rows or not second.rows:
        return first if first.rows else second
    # No sum: beyond 2 ** 53 a float and one more are the same float.
    follows = first.steps and second.steps and second.steps.first - first.steps.last == 1
    joined = ColumnProfile(
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


def _without_many_units(seen: ColumnProfile) -> ColumnProfile:
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


LONGEST_WORD = 200
# Floats are exact for all whole numbers below.
_EXACT_BELOW = 2.0**53
_LOOKED_AT_FIRST = 32


def survey_column(
    name: str, column: pa.Array, first_row: int = 0, before: ColumnProfile | None = None
) -> ColumnProfile:
    """Look at the cells of one column.

    Parameters
    ----------
    name : str
        The column.
    column : pyarrow Array
        Its cells.
    first_row : int, default=0
        Number of the first of them in the table.
    before : ColumnProfile, default=None
        What this survey will be joined to: what that one knows is not looked for.
    """
    look = _Look(first_row, before)
    kind, seen = column.type, ColumnProfile(name, len(column), sketch=look.new_sketch())
    if pa.types.is_null(kind):
        return replace(seen, missing=_empty(len(column)))
    if is_nested(kind):
        return replace(seen, missing=_empty(column.null_count), stored=frozenset({"nested"}))
    if is_number_type(kind):
        return _survey_numbers(seen, column, look)
    if pa.types.is_temporal(kind):
        return _survey_stored_dates(seen, column, look)
    stored = "category" if pa.types.is_dictionary(kind) else "text"
    text = as_text(column)
    found = _survey_text(seen, text, look)
    return replace(found, stored=found.stored | {stored}, first_long=_first_long(text, first_row))


class _Look(NamedTuple):
    """Where a stretch of rows begins, and what is known of the rows before it."""

    first_row: int
    before: ColumnProfile | None

    def new_sketch(self) -> Sketch:
        """Return an empty sketch: what cannot change one that is full is not sorted into it."""
        return Sketch(bound=self.before.sketch.bound if self.before else None)

    def enough(self) -> list[CellClass]:
        """Return the classes of which so many cells are remembered that no more will be."""
        known = self.before.classes if self.before else {}
        return [kind for kind, seen in known.items() if len(seen.first) == REMEMBERED_CELLS]

    def first_of(
        self, kind: CellClass, text: pa.Array, places: np.ndarray, rows: np.ndarray | None = None
    ) -> tuple[Cell, ...]:
        """Return the first cells among some places; in rows of these numbers, if given."""
        if kind in self.enough():
            return ()
        few = places[:REMEMBERED_CELLS]
        if pa.types.is_string(text.type):  # of a few cells this is faster
            texts = [text[place].as_py() for place in few.tolist()]
        else:
            texts = as_text(text.take(pa.array(few))).to_pylist()
        numbers = self.first_row + (few if rows is None else rows[few])
        return tuple(map(Cell, numbers.tolist(), map(_shown, texts)))


def _survey_numbers(seen: ColumnProfile, column: pa.Array, look: _Look) -> ColumnProfile:
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


def _survey_stored_dates(seen: ColumnProfile, column: pa.Array, look: _Look) -> ColumnProfile:
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


def _survey_text(seen: ColumnProfile, text: pa.Array, look: _Look) -> ColumnProfile:
    """Look at texts; plain numbers, which most columns hold, by a way of their own."""
    if not _looks_plain(text):
        return _survey_words(seen, text, look)
    values = None if text.null_count else plain_numbers(text)
    if values is not None:
        return _survey_plain(seen, text, values, look)
    mark = is_null_token(text).to_numpy(zero_copy_only=False)
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
    seen: ColumnProfile,
    known: pa.Array,
    values: np.ndarray,
    look: _Look,
    rows: np.ndarray | None = None,
) -> ColumnProfile:
    found = classes_of_plain(known, REMEMBERED_CELLS, look.enough())
    classes: dict[CellClass, Tally] = {
        kind: Tally(count, look.first_of(kind, known, places, rows))
        for kind, (count, places) in found.items()
    }
    return replace(_with_values(seen, values, known), classes=classes)


def _with_values(seen: ColumnProfile, values: np.ndarray, text: pa.Array) -> ColumnProfile:
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


def _survey_words(seen: ColumnProfile, text: pa.Array, look: _Look) -> ColumnProfile:
    encoded = (text.fill_null("") if text.null_count else text).dictionary_encode()
    different, codes = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
    counts = np.bincount(codes, minlength=len(different))
    mark = is_null_token(different).to_numpy(zero_copy_only=False)
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
    words, are_codes = groups.get(WORD), many_units(groups)
    if are_codes:  # here, since going through all rows for each unit would take long
        united = [kind for kind in groups if has_unit(kind)]
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
    return replace(seen, words=None, stored=frozenset({CODES})) if are_codes else seen


def _grouped(kinds: Iterable[CellClass]) -> dict[CellClass, np.ndarray]:
    """Return the places of each class."""
    places: dict[CellClass, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    return {kind: np.array(found) for kind, found in places.items()}


def _class_of(text: str) -> CellClass:
    return number_class(text) or date_class(text) or WORD


def _with_words(seen: ColumnProfile, texts: pa.Array, counts: np.ndarray) -> ColumnProfile:
    lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
    blanks = pc.count_substring(texts, " ").to_numpy(zero_copy_only=False).astype(np.int64)
    words: dict[str, int] | None = None
    if len(texts) <= MAX_WORDS and lengths.max() <= LONGEST_WORD:
        words = dict(zip(texts.to_pylist(), counts.tolist(), strict=True))
    return replace(seen, words=words, letters=int(lengths @ counts), blanks=int(blanks @ counts))


def _first_long(text: pa.Array, first_row: int) -> LongCell | None:
    # Bytes are at hand, and never fewer than characters; those of all cells are counted at once.
    if text.nbytes <= LONGEST_CATEGORY:
        return None
    if (pc.max(pc.binary_length(text)).as_py() or 0) <= LONGEST_CATEGORY:
        return None
    letters = pc.utf8_length(text).fill_null(0).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(letters > LONGEST_CATEGORY)
    return LongCell(first_row + int(rows[0]), int(letters[rows[0]])) if len(rows) else None


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


_THREADS = 2
_BATCHES_AHEAD = 3
_ROWS_FOR_THREADS = 500


def profile_batches(
    batches: Iterable[pa.RecordBatch],
    first_row: int = 0,
    plain: set[str] | None = None,
) -> TableProfile | None:
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
            # Of short columns, a look costs less than handing it to a thread.
            each = map if batch.num_rows < _ROWS_FOR_THREADS else pool.map
            seen = each(survey_column, names, columns, repeat(first_row), before)
            part = TableProfile(batch.num_rows, tuple(seen))
            if survey is not None and plain is not None:
                part = _as_text_stored(part, survey)
            survey = part if survey is None else join_profiles(survey, part)
            if plain is not None:
                still = {seen.name for seen in survey.columns if seen.is_plain}
                plain &= still
                plain |= still
            first_row += batch.num_rows
    return survey


def _as_text_stored(part: TableProfile, before: TableProfile) -> TableProfile:
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
