"""Column types: profile the cells batch by batch, then infer the schema with the user's options.

Profiles of batches are added up, so that profiling takes bounded memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace as with_fields

from granulearn.tables.messages import Message, Setting
from granulearn.tables.parse.cells import (
    BOOLEANS,
    as_text,
    is_nested,
    is_null_token,
    is_number_type,
    stored_numbers,
)
from granulearn.tables.parse.dates import YEAR_LAST, DateClass, DateForm, date_classes, date_mask
from granulearn.tables.parse.masks import MaskedTexts
from granulearn.tables.parse.numbers import (
    NumberClass,
    NumberForm,
    is_plain,
    is_usable,
    number_class,
    parse_numbers,
)
from granulearn.tables.schema import (
    CATEGORY,
    DATE,
    EMPTY,
    NESTED,
    NUMBER,
    TEXT,
    YES_NO,
    Cell,
    CellCount,
    Column,
    Schema,
    first_cells,
    shortened,
)

# Numbers of more different units are codes, such as 12B and 7C.
MAX_UNITS = 32
# A model file holds the text of every category.
LONGEST_CATEGORY = 10_000
SHOWN_EXAMPLES = 3
SHOWN_LETTERS = 200
# Distinct cells are counted exactly up to here, and estimated beyond, to about 2 %.
KEPT_HASHES = 4096
# With an exponent, or this many digits, a number may be too large to compute with.
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
    """Profile of one column over some rows; `+` adds later rows."""

    name: str
    rows: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    """How often each null token stands for a missing cell; the empty text for an empty one."""
    classes: dict[CellClass, CellCount] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    """How the file stores the cells: "text", "number", "date", "category" or "nested".

    And "codes" if numbers have too many different units and count as words."""
    examples: tuple[str, ...] = ()
    """The first distinct cells."""
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
        """Number of distinct cells; estimated if there are very many."""
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
        """Count numbers as words if they have too many different units."""
        united = [kind for kind in self.numbers() if kind.unit]
        if CODES not in self.stored and len({kind.unit for kind in united}) <= MAX_UNITS:
            return self
        classes = dict(self.classes)
        word = classes.pop(WORD, CellCount())
        for kind in united:
            word += classes.pop(kind)
        return replace(self, classes={**classes, WORD: word}, stored=self.stored | {CODES})


def profile_column(name: str, column: pa.Array, first_row: int = 0) -> ColumnProfile:
    """Return the profile of one column over the rows from `first_row` on."""
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
        hashes=_lowest_hashes(pa.array(values[known] + 0.0)),  # -0.0 is 0.0
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
        hashes=_lowest_hashes(cells.filter(pa.array(~is_null))),
        **_range(values[plain]),
    )._without_many_units()


def _classified(cells: pa.Array) -> tuple[list[CellClass], np.ndarray, np.ndarray]:
    """Return the classes, the class of each cell by number, and a mask of plain numbers."""
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
    """Count the rows of each class, and keep its first cells."""
    ends = np.cumsum(np.bincount(of_row + 1, minlength=len(kinds) + 1))
    groups = np.split(np.argsort(of_row, kind="stable"), ends[:-1])[1:]
    found = zip(kinds, groups, strict=True)
    return {
        kind: first_cells(column, rows, first_row, SHOWN_LETTERS)
        for kind, rows in found
        if len(rows)
    }


def _range(values: np.ndarray) -> dict[str, Any]:
    """Return the range of plain numbers, and whether all are whole."""
    if not len(values):
        return {}
    all_whole = bool((values == np.floor(values)).all())
    return {"lowest": values.min(), "highest": values.max(), "all_whole": all_whole}


def _lowest_hashes(cells: pa.Array) -> np.ndarray:
    """Return the lowest hashes of the distinct cells, sorted."""
    hashes = hash_cells(cells.unique())
    if len(hashes) > KEPT_HASHES:
        hashes = np.partition(hashes, KEPT_HASHES)[:KEPT_HASHES]
    return np.sort(hashes)


def hash_cells(cells: pa.Array) -> np.ndarray:
    """Return hashes of cells, the same in every process."""
    from pandas.util import hash_array

    return hash_array(cells.to_numpy(zero_copy_only=False), categorize=False)


# A wrong parse is worse than none: at least this share of the cells has the form of a column.
NEEDED_SHARE = 0.99
MANY = 0.5
MAX_UNITS_SHOWN = 8
# Fewer rows do not tell whether a column is an ID or a constant by chance.
ENOUGH_ROWS = 20
NEARLY_ALL = 0.95
BLANKS_OF_SENTENCES = 3
LETTERS_OF_SENTENCES = 60
# The last word of a name decides: the number of visitors is no ID.
_ID_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|ids|nr|no|num|number|key|uuid|guid|ref)[^a-z]*$|^id(?:[^a-z]|$)"
    r"|(?:customer|client|user|order|account|patient|person|employee|student|product|item|case"
    r"|record|row|transaction|session|passenger|member)id[^a-z]*$|[a-z]{3}(?:nr|nummer)[^a-z]*$"
)


@dataclass(frozen=True)
class ColumnOptions:
    """Options for the columns of a table.

    Examples
    --------
    >>> from granulearn.tables import ColumnOptions, inspect_table, table_of
    >>> numbers = table_of({"zip": [10115, 20095, 80331], "age": [31, 47, 52]})
    >>> options = ColumnOptions(categorical=("zip",), ignore=("age",))
    >>> schema = inspect_table(numbers, options=options).schema
    >>> schema["zip"].becomes, schema["age"].dropped
    ('a category', 'asked')
    """

    categorical: tuple[str, ...] = ()
    """Columns to use as categories, whatever their cells are."""
    ignore: tuple[str, ...] = ()
    """Columns to drop."""
    include: tuple[str, ...] = ()
    """Columns to use that would be dropped."""
    decimal: str | None = None
    """Decimal separator, where the cells do not decide."""
    day_first: bool | None = None
    """Whether the day comes before the month, where the cells do not decide."""
    exact_labels: bool = False
    """Whether to keep labels apart that differ only in case, blanks or Unicode form."""


def infer_schema(profiles: Iterable[ColumnProfile], options: ColumnOptions | None = None) -> Schema:
    """Infer the schema from the profiles of all columns but the target."""
    profiles, options = list(profiles), options or ColumnOptions()
    if options.decimal is None:
        options = replace(options, decimal=_common_decimal(profiles))
    if options.day_first is None:
        options = replace(options, day_first=_common_order(profiles))
    return Schema(tuple(_infer_column(profile, options) for profile in profiles))


def drop_column(column: Column, reason: str) -> Column:
    """Return the column as dropped, with the option that would use it."""
    never = reason in ("asked", "empty", "nested")
    advice = () if never else (Setting("include", (column.name,)),)
    return with_fields(column, dropped=reason, advice=advice)


def _infer_column(profile: ColumnProfile, options: ColumnOptions) -> Column:
    values: tuple[str, ...] = ()
    if PLUS in profile.classes and "-" in profile.missing:
        profile, values = _with_minus_as_value(profile), ("-",)
    column = with_fields(
        _infer_type(profile, options),
        values_like_nulls=values,
        missing=dict(profile.missing),
        distinct=profile.distinct,
        examples=profile.examples,
    )
    return _drop_if_useless(column, profile, options)


def _with_minus_as_value(profile: ColumnProfile) -> ColumnProfile:
    """Return the profile with "-" as a value: it is no null token beside "+"."""
    minus, plus = Counter({"-": profile.missing["-"]}), profile.classes[PLUS]
    return replace(
        profile,
        missing=profile.missing - minus,
        classes=profile.classes | {PLUS: CellCount(plus.count + minus["-"], plus.first)},
        examples=(*profile.examples, "-")[:SHOWN_EXAMPLES],
        hashes=np.union1d(profile.hashes, hash_cells(pa.array(["-"])))[:KEPT_HASHES],
    )


def _common_decimal(profiles: list[ColumnProfile]) -> str:
    """Return the decimal separator of most columns that are unambiguous."""
    votes: Counter[str] = Counter()
    for profile in profiles:
        numbers = profile.numbers()
        # Stored numbers have no decimal separator.
        if sum(numbers.values()) < NEEDED_SHARE * profile.known or "number" in profile.stored:
            continue
        point = sum(count for kind, count in numbers.items() if not kind.comma)
        comma = sum(count for kind, count in numbers.items() if not kind.point)
        if point != comma:
            votes["." if point > comma else ","] += 1
    return "," if votes[","] > votes["."] else "."


def _common_order(profiles: list[ColumnProfile]) -> bool | None:
    """Return whether days come first in most unambiguous columns; None if there are none."""
    votes: Counter[str] = Counter()
    for profile in profiles:
        dates = profile.dates()
        if sum(dates.values()) >= NEEDED_SHARE * profile.known:
            votes += _summed(dates, "order")
    return votes["day"] >= votes["month"] if votes["day"] or votes["month"] else None


def _summed(counts: dict[Any, int], field: str) -> Counter[str]:
    """Sum the counts of classes by one of their fields."""
    total: Counter[str] = Counter()
    for kind, count in counts.items():
        total[getattr(kind, field)] += count
    return total


def _infer_type(profile: ColumnProfile, options: ColumnOptions) -> Column:
    """Infer type, form and notes of a column."""
    if "nested" in profile.stored:
        return Column(profile.name, NESTED)
    if profile.known == 0:
        return Column(profile.name, EMPTY)
    if profile.name in options.categorical or "category" in profile.stored:
        return Column(profile.name, CATEGORY, of_numbers="number" in profile.stored)
    return (
        _as_number(profile, options)
        or _as_date(profile, options)
        or _as_boolean(profile)
        or _as_category(profile)
    )


def _with_failures(profile: ColumnProfile, kind: str, fits: Callable[[CellClass], bool]) -> Column:
    """Return a column of a type; cells of other classes are its failures."""
    others = (found for own, found in profile.classes.items() if not fits(own))
    setting = "categorical" if kind in (NUMBER, YES_NO) else "ignore"
    advice = (Setting(setting, (profile.name,)),)
    failures = sum(others, start=CellCount())
    return Column(profile.name, kind, failures=failures, advice=advice)


def _is_enough(column: Column, profile: ColumnProfile) -> bool:
    return profile.known - column.failures.count >= NEEDED_SHARE * profile.known


def _as_number(profile: ColumnProfile, options: ColumnOptions) -> Column | None:
    numbers = profile.numbers()
    form = _best_form(numbers, options.decimal or ".")
    column = _with_failures(profile, NUMBER, lambda kind: _has_form(kind, form))
    # A column stored as numbers stays one, however many of them are infinite.
    is_stored = bool(numbers) and profile.stored == {"number"}
    is_enough = is_stored or _is_enough(column, profile)
    if not is_enough or _are_codes(numbers, profile.known):
        return None
    doubtful = profile.first(lambda kind: isinstance(kind, NumberClass) and kind.doubtful)
    notes: tuple[str, ...] = ()
    if doubtful and not any(kind.point != kind.comma for kind in numbers):
        other = Setting("decimal", "," if form.decimal == "." else ".")
        note = f"{doubtful[0].text!r} could be read in two ways; {form.decimal!r} is taken to stand"
        notes = (Message(f"{note} before decimals (", other, " for the other)"),)
    return with_fields(column, number=form, notes=notes)


def _best_form(numbers: dict[NumberClass, int], usual: str) -> NumberForm:
    """Return the form of most numbers; of equals, the one with the usual decimal separator."""
    units = dict.fromkeys(kind.unit for kind in numbers) or {"": None}
    signs = (".", ",") if usual == "." else (",", ".")
    forms = [NumberForm(sign, unit) for sign in signs for unit in units]
    return max(forms, key=lambda form: sum(n for k, n in numbers.items() if _has_form(k, form)))


def _has_form(kind: CellClass, form: NumberForm) -> bool:
    # A number without the unit of the others may be of another size: 0.41 is not 0.41 %.
    if not isinstance(kind, NumberClass) or kind.unit != form.unit:
        return False
    return kind.point if form.decimal == "." else kind.comma


def _are_codes(numbers: dict[NumberClass, int], known: int) -> bool:
    """Return whether the numbers are codes: whole, more than a few with leading zeros."""
    if any(kind.point != kind.comma for kind in numbers):
        return False
    return sum(n for kind, n in numbers.items() if kind.code) > (1 - NEEDED_SHARE) * known


def _best_family(profile: ColumnProfile) -> str:
    """Return the family of most dates."""
    families = _summed(profile.dates(), "family")
    return families.most_common(1)[0][0] if families else ""


def _is_date(kind: CellClass, family: str, against: str = "none") -> bool:
    return isinstance(kind, DateClass) and kind.family == family and kind.order != against


def _as_date(profile: ColumnProfile, options: ColumnOptions) -> Column | None:
    family = _best_family(profile)
    dates = {kind: n for kind, n in profile.dates().items() if kind.family == family}
    order, day_first = _summed(dates, "order"), options.day_first
    is_decided = bool(order["day"] or order["month"])
    if is_decided:
        day_first = order["day"] >= order["month"]
    first, against = ("day", "month") if day_first else ("month", "day")
    against = against if family == YEAR_LAST and day_first is not None else "none"
    column = _with_failures(profile, DATE, lambda kind: _is_date(kind, family, against))
    if not dates or not _is_enough(column, profile):
        return None
    has_clock = any(kind.has_clock for kind in dates)
    form = DateForm(family, family != YEAR_LAST or bool(day_first), has_clock)
    if family != YEAR_LAST or is_decided:
        return with_fields(column, date=form)
    if day_first is not None:
        note = f"the {first} comes first, as in other columns or as asked"
        return with_fields(column, date=form, notes=(note,))
    example = profile.first(lambda kind: isinstance(kind, DateClass))[0].text
    note = f"{example!r} and all other dates could have the day or the month first"
    advice = (Setting("day_first", True), Setting("day_first", False))
    return Column(profile.name, DATE, dropped="ambiguous date", advice=advice, notes=(note,))


def _as_boolean(profile: ColumnProfile) -> Column | None:
    column = _with_failures(profile, YES_NO, lambda kind: kind in (YES, NO))
    both = {YES, NO} <= set(profile.classes)
    return column if both and _is_enough(column, profile) else None


def _as_category(profile: ColumnProfile) -> Column:
    known, numbers = profile.known, profile.numbers()
    column = Column(profile.name, CATEGORY, advice=(Setting("ignore", (profile.name,)),))
    if _are_codes(numbers, known) and sum(numbers.values()) == known:
        note = "written with zeros in front, as codes are, so they are categories"
        return with_fields(column, notes=(note,))
    units = _summed(numbers, "unit")
    if sum(numbers.values()) >= NEEDED_SHARE * known and 2 <= len(units) <= MAX_UNITS_SHOWN:
        found = ", ".join(f"{unit or 'none'} ({count})" for unit, count in units.most_common())
        note = f"numbers of {len(units)} units, {found}, which are not compared: use one unit"
        return with_fields(column, notes=(note,))
    form, family = _best_form(numbers, "."), _best_family(profile)
    as_numbers = _with_failures(profile, CATEGORY, lambda kind: _has_form(kind, form))
    as_dates = _with_failures(profile, CATEGORY, lambda kind: _is_date(kind, family))
    use_dates = as_dates.failures.count < as_numbers.failures.count
    best, what = (as_dates, "dates") if use_dates else (as_numbers, "numbers")
    n_others = best.failures.count
    if not MANY * known < known - n_others < known:
        return column
    note = f"{known - n_others} cells are {what} of one form, but {n_others} are not"
    return with_fields(best, notes=(f"{note}, so all are categories",))


def _drop_if_useless(column: Column, profile: ColumnProfile, options: ColumnOptions) -> Column:
    """Return the column, dropped if it has no use, with the reason."""
    if column.name in options.ignore:
        return drop_column(column, "asked")
    if column.type in (NESTED, EMPTY):
        return drop_column(column, column.type)
    if column.dropped or column.name in options.include or column.name in options.categorical:
        return column
    if profile.distinct == 1 and profile.rows > 1:
        # A tick box, or a constant.
        few = (1 - NEEDED_SHARE) * profile.rows
        if profile.rows < ENOUGH_ROWS or not few < profile.known < profile.rows - few:
            return drop_column(column, "constant")
        advice = (Setting("ignore", (column.name,)),)
        return with_fields(column, type=YES_NO, filled=True, advice=advice)
    if profile.rows < ENOUGH_ROWS:
        return column
    if column.type == NUMBER:
        reason = _number_without_meaning(column, profile)
        return drop_column(column, reason) if reason else column
    reason = _text_without_meaning(profile) if column.type == CATEGORY else ""
    return drop_column(with_fields(column, type=TEXT), reason) if reason else column


def _number_without_meaning(column: Column, profile: ColumnProfile) -> str:
    all_different = profile.distinct >= NEARLY_ALL * profile.known
    if column.number.unit or not profile.all_whole or profile.lowest < 0 or not all_different:
        return ""
    if profile.known == profile.rows == profile.highest - profile.lowest + 1:
        return "row number"
    # Split CamelCase.
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column.name).lower()
    return "ID" if _ID_NAME.search(spaced) and profile.known >= ENOUGH_ROWS else ""


def _text_without_meaning(profile: ColumnProfile) -> str:
    words = sum(found.count for kind, found in profile.classes.items() if kind in (WORD, LONG))
    sentences = profile.blanks >= BLANKS_OF_SENTENCES * words > 0
    sentences = sentences or profile.letters > LETTERS_OF_SENTENCES * words > 0
    if sentences and profile.distinct >= MANY * profile.known:
        return "free text"
    codes = _are_codes(profile.numbers(), profile.known)
    all_different = profile.distinct >= NEARLY_ALL * profile.known
    mostly_words = words > MANY * profile.known or codes
    return "ID" if profile.known >= ENOUGH_ROWS and all_different and mostly_words else ""
