"""First pass over the cells of a table: a profile of each column.

Profiles are joined by addition, so that a table is profiled batch by batch, in bounded memory
whatever the cells are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.parse.cells import (
    BOOLEANS,
    as_text,
    is_nested,
    is_null_token,
    is_number_type,
    stored_numbers,
)
from granulearn.tables.parse.dates import DateClass, date_classes, date_mask
from granulearn.tables.parse.masks import MaskedTexts
from granulearn.tables.parse.numbers import (
    NumberClass,
    NumberForm,
    is_plain,
    is_usable,
    number_class,
    parse_numbers,
)
from granulearn.tables.schema import Cell, CellCount, first_cells, shortened

# Numbers of more different units are codes, such as 12B and 7C.
MAX_UNITS = 32
# A model file holds the text of every category.
LONGEST_CATEGORY = 10_000
SHOWN_EXAMPLES = 3
SHOWN_LETTERS = 200
# Different cells are counted exactly up to here; beyond, the count is off by about 2 %.
KEPT_HASHES = 4096
# Floats are exact for all whole numbers below.
_EXACT_BELOW = 2.0**53
# With an exponent, or so many digits, a number may be too large to compute with.
_MAY_BE_LARGE = re.compile("[eE][-+]?1|.{150}")

# Classes of cells that are neither numbers nor dates.
WORD, LONG, YES, NO, PLUS = "word", "long text", "yes", "no", "plus"
_WORDS = (WORD, LONG, YES, NO, PLUS)
_SPECIAL = pa.array([*BOOLEANS, "+"])
_OF_SPECIAL = np.array([*(2 if value else 3 for value in BOOLEANS.values()), 4, 0])
CODES = "codes"

CellClass = NumberClass | DateClass | str


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """One column over some rows; `+` adds those of the rows that follow."""

    name: str
    rows: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    """How often each null token stands for a missing cell; the empty text for an empty one."""
    classes: dict[CellClass, CellCount] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    """How the file stores the cells: "text", "number", "date", "category" or "nested".

    And "codes" if numbers have so many different units that they count as words."""
    examples: tuple[str, ...] = ()
    """The first different cells."""
    letters: int = 0
    """Letters of all words together."""
    blanks: int = 0
    """Blanks in all words together."""
    hashes: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    """Bottom-k sample of the different cells: the lowest of their hashes, sorted."""
    lowest: float = np.inf
    highest: float = -np.inf
    all_whole: bool = True
    """Whether all plain numbers are whole."""

    @property
    def known(self) -> int:
        """Number of cells that are not missing."""
        return self.rows - self.missing.total()

    @property
    def distinct(self) -> int:
        """Number of different cells; nearly so if there are very many."""
        count = len(self.hashes)
        if count == KEPT_HASHES:
            count = round((count - 1) / (float(self.hashes[-1]) / 2.0**64))
        return min(count, self.known)

    def numbers(self) -> dict[NumberClass, int]:
        """Return how many cells are of each class of numbers."""
        return {k: found.count for k, found in self.classes.items() if isinstance(k, NumberClass)}

    def dates(self) -> dict[DateClass, int]:
        """Return how many cells are of each class of dates."""
        return {k: found.count for k, found in self.classes.items() if isinstance(k, DateClass)}

    def first(self, chosen: Callable[[CellClass], bool]) -> list[Cell]:
        """Return the first cells of some classes, in the order of the rows."""
        found = (self.classes[kind].first for kind in self.classes if chosen(kind))
        return sorted(cell for cells in found for cell in cells)

    def __add__(self, later: ColumnProfile) -> ColumnProfile:
        if not self.rows or not later.rows:
            return self if self.rows else later
        classes = dict(self.classes)
        for kind, found in later.classes.items():
            classes[kind] = classes.get(kind, CellCount()) + found
        return ColumnProfile(
            self.name,
            self.rows + later.rows,
            self.missing + later.missing,
            classes,
            self.stored | later.stored,
            tuple(dict.fromkeys(self.examples + later.examples))[:SHOWN_EXAMPLES],
            self.letters + later.letters,
            self.blanks + later.blanks,
            np.union1d(self.hashes, later.hashes)[:KEPT_HASHES],
            min(self.lowest, later.lowest),
            max(self.highest, later.highest),
            self.all_whole and later.all_whole,
        )._without_many_units()

    def _without_many_units(self) -> ColumnProfile:
        """Return numbers of many different units as words."""
        united = [kind for kind in self.numbers() if kind.unit]
        if CODES not in self.stored and len({kind.unit for kind in united}) <= MAX_UNITS:
            return self
        classes = dict(self.classes)
        word = classes.pop(WORD, CellCount())
        for kind in united:
            word += classes.pop(kind)
        return replace(self, classes={**classes, WORD: word}, stored=self.stored | {CODES})


def profile_column(name: str, column: pa.Array, first_row: int = 0) -> ColumnProfile:
    """Return the profile of one column over some rows, the first of which has a number."""
    kind, profile = column.type, ColumnProfile(name, len(column))
    if pa.types.is_null(kind) or is_nested(kind):
        stored = frozenset({"nested"} if is_nested(kind) else ())
        return replace(profile, missing=+Counter({"": column.null_count}), stored=stored)
    if is_number_type(kind):
        return _profile_numbers(profile, column, first_row)
    is_category, is_date = pa.types.is_dictionary(kind), pa.types.is_temporal(kind)
    stored = frozenset({"category" if is_category else "date" if is_date else "text"})
    return _profile_text(replace(profile, stored=stored), as_text(column), first_row)


def _profile_numbers(profile: ColumnProfile, column: pa.Array, first_row: int) -> ColumnProfile:
    values = stored_numbers(column)
    known, usable = ~np.isnan(values), is_usable(values)
    # A number that is infinite, or too large to compute with, is a word.
    kinds: list[CellClass] = [NumberClass("", point=True, comma=False, code=False), WORD]
    examples = as_text(column.filter(pa.array(known)).unique()[:SHOWN_EXAMPLES])
    return replace(
        profile,
        missing=+Counter({"": int((~known).sum())}),
        classes=_counted(kinds, np.where(usable, 0, np.where(known, 1, -1)), column, first_row),
        stored=frozenset({"number"}),
        examples=tuple(examples.to_pylist()),
        hashes=_lowest_hashes(values, column, known),
        **_range(values[usable]),
    )


def _profile_text(profile: ColumnProfile, text: pa.Array, first_row: int) -> ColumnProfile:
    encoded = text.fill_null("").dictionary_encode()
    codes, cells = encoded.indices.to_numpy(), encoded.dictionary
    counts = np.bincount(codes, minlength=len(cells))
    is_null = is_null_token(cells).to_numpy(zero_copy_only=False)
    tokens = cells.filter(pa.array(is_null)).to_pylist()
    kinds, of_cell, plain = _classified(cells)
    of_cell[is_null] = -1
    words = np.where((of_cell == 0) | (of_cell == 1), counts, 0)
    plain &= ~is_null
    values = np.full(len(cells), np.nan)
    values[plain] = cells.filter(pa.array(plain)).cast(pa.float64()).to_numpy()
    return replace(
        profile,
        missing=Counter(dict(zip(tokens, counts[is_null].tolist(), strict=True))),
        classes=_counted(kinds, of_cell[codes], text, first_row),
        examples=tuple(shortened(cells.filter(pa.array(~is_null))[:SHOWN_EXAMPLES], SHOWN_LETTERS)),
        letters=int(pc.utf8_length(cells).to_numpy() @ words),
        blanks=int(pc.count_substring(cells, " ").to_numpy() @ words),
        hashes=_lowest_hashes(values, cells, ~is_null),
        **_range(values[plain]),
    )._without_many_units()


def _classified(cells: pa.Array) -> tuple[list[CellClass], np.ndarray, np.ndarray]:
    """Return classes, the number of each cell's class, and which cells are plain numbers."""
    numbers: dict[CellClass, int] = {kind: code for code, kind in enumerate(_WORDS)}
    is_long, plain = pc.greater(pc.utf8_length(cells), LONGEST_CATEGORY), np.zeros(len(cells), bool)
    special = pc.index_in(pc.utf8_lower(cells), _SPECIAL).fill_null(-1).to_numpy()
    of_cell = np.where(is_long, 1, _OF_SPECIAL[special])
    masked = MaskedTexts(cells)
    for code, mask in masked.candidates():
        own = masked.rows(code)
        groups: dict[Any, np.ndarray] = {}
        if (number := number_class(mask)) is not None:
            if _MAY_BE_LARGE.search(mask):
                form = NumberForm("." if number.point else ",", number.unit)
                own = own[~parse_numbers(cells.take(pa.array(own)), form)[1]]
            groups = {number: own}
            plain[own] = is_plain(mask)
        elif (date := date_mask(mask)) is not None:
            groups = date_classes(masked, own, date)
        for kind, rows in groups.items():
            of_cell[rows] = numbers.setdefault(kind, len(numbers))
    return [*numbers], of_cell, plain


def _counted(
    kinds: list[CellClass], of_row: np.ndarray, column: pa.Array, first_row: int
) -> dict[CellClass, CellCount]:
    """Return how many rows each class has, and the cells of the first of them."""
    ends = np.cumsum(np.bincount(of_row + 1, minlength=len(kinds) + 1))
    groups = np.split(np.argsort(of_row, kind="stable"), ends[:-1])[1:]
    found = zip(kinds, groups, strict=True)
    return {
        kind: first_cells(column, rows, first_row, SHOWN_LETTERS)
        for kind, rows in found
        if len(rows)
    }


def _range(values: np.ndarray) -> dict[str, Any]:
    """Return what plain numbers tell."""
    if not len(values):
        return {}
    all_whole = bool((values == np.floor(values)).all())
    return {"lowest": values.min(), "highest": values.max(), "all_whole": all_whole}


def _lowest_hashes(values: np.ndarray, cells: pa.Array, known: np.ndarray) -> np.ndarray:
    """Return hashes of different cells: of the value, if floats tell it apart, else of the text."""
    by_value = np.abs(values) < _EXACT_BELOW
    numbers = pa.array(values[by_value] + 0.0).unique()  # -0.0 is 0.0
    texts = as_text(cells.filter(pa.array(known & ~by_value)).unique())
    hashes = np.concatenate([hash_cells(numbers), hash_cells(texts)])
    if len(hashes) > KEPT_HASHES:
        hashes = np.partition(hashes, KEPT_HASHES)[:KEPT_HASHES]
    return np.sort(hashes)


def hash_cells(cells: pa.Array) -> np.ndarray:
    """Return hashes that are the same in every process."""
    from pandas.util import hash_array

    return hash_array(cells.to_numpy(zero_copy_only=False), categorize=False)
