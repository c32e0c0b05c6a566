"""First pass over the cells of a table: a profile of each column.

Profiles are joined by addition, which is associative: a table gives the same profile read at
once, in batches of any size, or in parts on a cluster. Memory is bounded whatever the cells are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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
from granulearn.tables.parse.dates import (
    DateClass,
    DateMask,
    date_classes,
    date_mask,
)
from granulearn.tables.parse.masks import MaskedTexts
from granulearn.tables.parse.numbers import (
    NumberClass,
    NumberForm,
    is_plain,
    is_usable,
    number_class,
    parse_numbers,
)
from granulearn.tables.schema import Cell

# Different words that are counted; a column of more is known by their number alone.
MAX_WORDS = 1000
MAX_UNITS = 32
LONGEST_WORD = 200
# A model file holds the text of every category.
LONGEST_CATEGORY = 10_000
REMEMBERED_CELLS = 12
# Different cells are counted exactly up to here; beyond, the count is off by about 2 %.
REMEMBERED_HASHES = 4096
# Floats are exact for all whole numbers below.
_EXACT_BELOW = 2.0**53
# With an exponent, or so many digits, a number may be too large to compute with.
_MAY_BE_LARGE = re.compile("[eE][-+]?1|.{150}")

WORD = "word"
"""Class of a cell that is neither a number nor a date."""
CODES = "codes"

CellClass = NumberClass | DateClass | str
AnyClass = TypeVar("AnyClass", NumberClass, DateClass)


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
        first = sorted(self.first + other.first)[:REMEMBERED_CELLS]
        return Tally(self.count + other.count, tuple(first))


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """One column over some rows."""

    name: str
    rows: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    """How often each null token stands for a missing cell; the empty text for an empty one."""
    classes: dict[CellClass, Tally] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    """How the file stores the cells: "text", "number", "date", "category" or "nested".

    And "codes" if numbers have so many different units that they count as words."""
    words: Counter[str] | None = field(default_factory=Counter)
    """How often each word occurs; None if there are too many, or too long ones."""
    letters: int = 0
    """Letters of all words together."""
    blanks: int = 0
    """Blanks in all words together."""
    first_long: LongCell | None = None
    """The first cell that is too long for a category."""
    hashes: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    """Bottom-k sample of the different cells: the lowest of their hashes, sorted."""
    lowest: float = np.inf
    highest: float = -np.inf
    all_whole: bool = True
    """Whether all plain numbers are whole."""
    steps: tuple[float, float] | None = None
    """First and last, if the rows are numbered: plain whole numbers that go up by one."""

    @property
    def known(self) -> int:
        """Number of cells that are not missing."""
        return self.rows - self.missing.total()

    @property
    def distinct(self) -> int:
        """Number of different cells; nearly so if there are very many."""
        count = len(self.hashes)
        if count == REMEMBERED_HASHES:
            count = round((count - 1) / (float(self.hashes[-1]) / 2.0**64))
        return min(count, self.known)

    def counts(self, kind: type[AnyClass]) -> dict[AnyClass, int]:
        """Return how many cells are of each class of a kind.

        Parameters
        ----------
        kind : type
            `NumberClass` or `DateClass`.
        """
        return {own: tally.count for own, tally in self.classes.items() if isinstance(own, kind)}

    def __add__(self, later: ColumnProfile) -> ColumnProfile:
        """Return the profile of these rows and of those that follow."""
        if not self.rows or not later.rows:
            return self if self.rows else later
        # No sum: beyond 2 ** 53 a float and one more are the same float.
        follows = self.steps and later.steps and later.steps[0] - self.steps[1] == 1
        words = None
        if self.words is not None and later.words is not None:
            words = self.words + later.words
        classes = dict(self.classes)
        for kind, tally in later.classes.items():
            classes[kind] = classes[kind] + tally if kind in classes else tally
        return ColumnProfile(
            name=self.name,
            rows=self.rows + later.rows,
            missing=self.missing + later.missing,
            classes=classes,
            stored=self.stored | later.stored,
            words=words if words is not None and len(words) <= MAX_WORDS else None,
            letters=self.letters + later.letters,
            blanks=self.blanks + later.blanks,
            first_long=self.first_long or later.first_long,
            hashes=np.union1d(self.hashes, later.hashes)[:REMEMBERED_HASHES],
            lowest=min(self.lowest, later.lowest),
            highest=max(self.highest, later.highest),
            all_whole=self.all_whole and later.all_whole,
            steps=(self.steps[0], later.steps[1]) if follows else None,  # type: ignore[index]
        )._without_many_units()

    def _without_many_units(self) -> ColumnProfile:
        """Return numbers of many different units as words: they are codes, such as 12B and 7C."""
        united = [kind for kind in self.counts(NumberClass) if kind.unit]
        if CODES not in self.stored and len({kind.unit for kind in united}) <= MAX_UNITS:
            return self
        classes = dict(self.classes)
        word = classes.pop(WORD, Tally(0, ()))
        for kind in united:
            word += classes.pop(kind)
        classes[WORD] = word
        return replace(self, classes=classes, words=None, stored=self.stored | {CODES})


@dataclass(frozen=True, eq=False)
class TableProfile:
    """All columns, over some rows."""

    rows: int
    columns: tuple[ColumnProfile, ...]

    def __getitem__(self, name: str) -> ColumnProfile:
        """Return the profile of a column."""
        return next(column for column in self.columns if column.name == name)

    def __add__(self, later: TableProfile) -> TableProfile:
        """Return the profile of these rows and of those that follow."""
        columns = (own + other for own, other in zip(self.columns, later.columns, strict=True))
        return TableProfile(self.rows + later.rows, tuple(columns))


def profile_batches(batches: Iterable[pa.RecordBatch], first_row: int = 0) -> TableProfile | None:
    """Look at all cells; return None if there is no batch.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Rows in file order.
    first_row : int, default=0
        Number of the first row in the table.
    """
    profile = None
    for batch in batches:
        columns = zip(batch.schema.names, batch.columns, strict=True)
        part = TableProfile(
            batch.num_rows,
            tuple(profile_column(name, cells, first_row) for name, cells in columns),
        )
        profile = part if profile is None else profile + part
        first_row += batch.num_rows
    return profile


def profile_column(name: str, column: pa.Array, first_row: int = 0) -> ColumnProfile:
    """Look at the cells of one column.

    Parameters
    ----------
    name : str
        The column.
    column : pyarrow Array
        Its cells.
    first_row : int, default=0
        Number of the first of them in the table.
    """
    kind, profile = column.type, ColumnProfile(name, len(column))
    if pa.types.is_null(kind):
        return replace(profile, missing=_empty(len(column)))
    if is_nested(kind):
        missing = _empty(column.null_count)
        return replace(profile, missing=missing, stored=frozenset({"nested"}))
    if is_number_type(kind):
        return _profile_numbers(profile, column, first_row)
    text = as_text(column)
    profile = _profile_text(profile, text.fill_null(""), first_row)
    is_category, is_date = pa.types.is_dictionary(kind), pa.types.is_temporal(kind)
    stored = "category" if is_category else "date" if is_date else "text"
    long = _first_long(text, first_row)
    return replace(profile, stored=profile.stored | {stored}, first_long=long)


def _profile_numbers(profile: ColumnProfile, column: pa.Array, first_row: int) -> ColumnProfile:
    values = stored_numbers(column)
    known, usable = ~np.isnan(values), is_usable(values)
    odd = np.flatnonzero(known & ~usable)  # infinite, or too large to compute with
    groups: dict[CellClass, np.ndarray] = {
        NumberClass("", point=True, comma=False, code=False): np.flatnonzero(usable), WORD: odd,
    }  # fmt: skip
    return replace(
        _with_values(profile, values[usable]),
        missing=_empty(len(values) - int(np.count_nonzero(known))),
        classes=_tallies(groups, column, first_row),
        stored=frozenset({"number"}),
        words=None if len(odd) else Counter(),
        hashes=_lowest(_different_hashes(values, known, column)),
    )


def _profile_text(profile: ColumnProfile, text: pa.Array, first_row: int) -> ColumnProfile:
    masked = MaskedTexts(text)
    is_null = is_null_token(masked.masks).to_numpy(zero_copy_only=False)
    tokens = masked.masks.filter(pa.array(is_null)).to_pylist()
    missing = Counter(dict(zip(tokens, masked.counts[is_null].tolist(), strict=True)))
    groups, plain = _grouped(masked, text, is_null)
    words = text.take(pa.array(groups.get(WORD, np.empty(0, np.intp))))
    profile = replace(
        _with_words(profile, words),
        missing=missing,
        classes=_tallies(groups, text, first_row),
    )._without_many_units()
    values = np.full(len(text), np.nan)
    values[plain] = text.take(pa.array(plain)).cast(pa.float64()).to_numpy()
    known = ~is_null[masked.codes]
    hashes = _lowest(_different_hashes(values, known, text))
    return replace(_with_values(profile, values[plain]), hashes=hashes)


def _grouped(
    masked: MaskedTexts, text: pa.Array, is_null: np.ndarray
) -> tuple[dict[CellClass, np.ndarray], np.ndarray]:
    """Return the rows of each class, and those of plain numbers, by the masks of the texts."""
    numbers: dict[CellClass, int] = {WORD: 0}
    of_mask, plain = np.where(is_null, -1, 0), np.zeros(len(is_null), bool)
    may_be_large: list[tuple[int, NumberClass]] = []
    dates: list[tuple[int, DateMask]] = []
    for number, mask in masked.candidates():
        kind = number_class(mask)
        if is_null[number]:
            continue
        if kind is not None:
            of_mask[number] = numbers.setdefault(kind, len(numbers))
            plain[number] = is_plain(mask)
            if _MAY_BE_LARGE.search(mask):
                may_be_large.append((number, kind))
        elif (date := date_mask(mask)) is not None:
            dates.append((number, date))
    of_row = of_mask[masked.codes]
    for number, kind in may_be_large:
        rows = masked.rows(number)
        form = NumberForm("." if kind.point else ",", kind.unit)
        _, failed = parse_numbers(text.take(pa.array(rows)), form)
        of_row[rows[failed]] = 0
    for number, date in dates:
        for own, rows in date_classes(masked, masked.rows(number), date).items():
            of_row[rows] = numbers.setdefault(own, len(numbers))
    plain_rows = np.flatnonzero(plain[masked.codes] & (of_row > 0))
    ends = np.cumsum(np.bincount(of_row + 1, minlength=len(numbers) + 1))
    groups = np.split(np.argsort(of_row, kind="stable"), ends[:-1])[1:]
    return dict(zip(numbers, groups, strict=True)), plain_rows


def _tallies(
    groups: dict[CellClass, np.ndarray], column: pa.Array, first_row: int
) -> dict[CellClass, Tally]:
    """Return how many rows each class has, and the cells of the first of them."""
    tallies = {}
    for kind, rows in groups.items():
        if len(rows):
            first = rows[:REMEMBERED_CELLS]
            texts = as_text(column.take(pa.array(first))).to_pylist()
            shown = [cell[:LONGEST_WORD] + "…" * (len(cell) > LONGEST_WORD) for cell in texts]
            tallies[kind] = Tally(len(rows), tuple(map(Cell, (first_row + first).tolist(), shown)))
    return tallies


def _with_values(profile: ColumnProfile, values: np.ndarray) -> ColumnProfile:
    """Return the profile with what plain numbers tell."""
    if not len(values):
        return profile
    lowest, highest = float(values.min()), float(values.max())
    all_whole = bool((values == np.floor(values)).all())
    complete = all_whole and len(values) == profile.rows and values[0] == lowest
    stepwise = complete and highest - lowest == len(values) - 1 and (np.diff(values) == 1).all()
    steps = (lowest, highest) if stepwise else None
    return replace(profile, lowest=lowest, highest=highest, all_whole=all_whole, steps=steps)


def _with_words(profile: ColumnProfile, texts: pa.Array) -> ColumnProfile:
    if not len(texts):
        return profile
    lengths = pc.utf8_length(texts)
    found, words = texts.value_counts(), None
    if len(found) <= MAX_WORDS and pc.max(lengths).as_py() <= LONGEST_WORD:
        counts = zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True)
        words = Counter(dict(counts))
    blanks = pc.sum(pc.count_substring(texts, " ")).as_py()
    return replace(profile, words=words, letters=pc.sum(lengths).as_py(), blanks=blanks)


def _different_hashes(values: np.ndarray, known: np.ndarray, column: pa.Array) -> np.ndarray:
    """Return hashes of different cells: numbers by value, if floats tell them apart, else text."""
    by_value = np.abs(values) < _EXACT_BELOW
    numbers = pa.array(values[by_value] + 0.0).unique()  # -0.0 is 0.0
    texts = column.filter(pa.array(known & ~by_value)).unique()
    return np.concatenate([hash_cells(numbers), hash_cells(as_text(texts))])


def hash_cells(cells: pa.Array) -> np.ndarray:
    """Return hashes that are the same in every process."""
    from pandas.util import hash_array

    return hash_array(cells.to_numpy(zero_copy_only=False), categorize=False)


def _lowest(hashes: np.ndarray) -> np.ndarray:
    """Return the lowest hashes, sorted."""
    if len(hashes) > REMEMBERED_HASHES:
        hashes = np.partition(hashes, REMEMBERED_HASHES)[:REMEMBERED_HASHES]
    return np.sort(hashes)


def _first_long(text: pa.Array, first_row: int) -> LongCell | None:
    # Bytes are at hand, and never fewer than characters.
    if (pc.max(pc.binary_length(text)).as_py() or 0) <= LONGEST_CATEGORY:
        return None
    letters = pc.utf8_length(text).fill_null(0).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(letters > LONGEST_CATEGORY)
    return LongCell(first_row + int(rows[0]), int(letters[rows[0]])) if len(rows) else None


def _empty(count: int) -> Counter[str]:
    return Counter({"": int(count)}) if count else Counter()
