"""From a profile to a schema: types of columns, and which of them are dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from msgspec.structs import replace as with_fields

from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.messages import Message, Setting
from granulearn.tables.parse.cells import BOOLEANS
from granulearn.tables.parse.dates import YEAR_LAST, DateClass, DateForm
from granulearn.tables.parse.numbers import NumberClass, NumberForm
from granulearn.tables.profile import (
    REMEMBERED_HASHES,
    WORD,
    CellClass,
    ColumnProfile,
    TableProfile,
    Tally,
    hash_cells,
)
from granulearn.tables.schema import (
    AMBIGUOUS_DATE,
    ASKED,
    CATEGORY,
    CONSTANT,
    DATE,
    EMPTY,
    FREE_TEXT,
    ID,
    NESTED,
    NO_CELLS,
    NO_SINGLE_VALUE,
    NUMBER,
    ROW_NUMBER,
    SHOWN_MISFITS,
    TEXT,
    YES_NO,
    Cell,
    Column,
    Schema,
)

# A wrong parse is worse than none: so many of the cells must have the form of a column.
NEEDED_SHARE = 0.99
MANY = 0.5
MAX_UNITS_SAID = 8
SHOWN_EXAMPLES = 3
# Fewer rows do not tell whether a column is an ID or a constant by chance.
ENOUGH_ROWS = 20
NEARLY_ALL = 0.95
BLANKS_OF_SENTENCES = 3
LETTERS_OF_SENTENCES = 60
# The last word of a name tells; the number of visitors is none of theirs.
_ID_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|ids|nr|no|num|number|key|uuid|guid|ref)[^a-z]*$|^id(?:[^a-z]|$)"
    r"|(?:customer|client|user|order|account|patient|person|employee|student|product|item|case"
    r"|record|row|transaction|session|passenger|member)id[^a-z]*$|[a-z]{3}(?:nr|nummer)[^a-z]*$"
)


def infer_schema(profile: TableProfile, options: ColumnOptions | None = None) -> Schema:
    """Return what every column is and becomes.

    Parameters
    ----------
    profile : TableProfile
        Of all rows; without the target.
    options : ColumnOptions, default=None
        What the user says.
    """
    options = options or ColumnOptions()
    if options.decimal is None:
        options = replace(options, decimal=_usual_decimal(profile))
    if options.day_first is None:
        options = replace(options, day_first=_usual_order(profile))
    return Schema(tuple(_infer_column(column, options) for column in profile.columns))


def leave_out(column: Column, reason: str) -> Column:
    """Return a column that is not used.

    Parameters
    ----------
    column : Column
        As decided by its own cells.
    reason : str
        Why.
    """
    never = reason in (ASKED, NO_CELLS, NO_SINGLE_VALUE)
    remedy = () if never else (Setting("include", (column.name,)),)
    return with_fields(column, left_out=reason, remedy=remedy)


def _infer_column(profile: ColumnProfile, options: ColumnOptions) -> Column:
    values: tuple[str, ...] = ()
    if profile.words and "+" in profile.words and "-" in profile.missing:
        profile, values = _with_minus_as_value(profile), ("-",)
    cells = sorted(cell for tally in profile.classes.values() for cell in tally.first)
    examples = dict.fromkeys([*(cell.text for cell in cells), *(profile.words or ())])
    column = with_fields(
        _typed(profile, options),
        values_like_marks=values,
        missing=dict(profile.missing),
        distinct=profile.distinct,
        examples=tuple(examples)[:SHOWN_EXAMPLES],
    )
    return _used_or_not(column, profile, options)


def _with_minus_as_value(profile: ColumnProfile) -> ColumnProfile:
    """Return the profile with - as a value, where + is one, too."""
    count = profile.missing["-"]
    words, tally = profile.words or Counter(), profile.classes[WORD]
    hashes = np.union1d(profile.hashes, hash_cells(pa.array(["-"])))[:REMEMBERED_HASHES]
    return replace(
        profile,
        missing=profile.missing - Counter({"-": count}),
        words=words + Counter({"-": count}),
        classes=profile.classes | {WORD: Tally(tally.count + count, tally.first)},
        hashes=hashes,
    )


def _usual_decimal(profile: TableProfile) -> str:
    """Return the sign before decimals in the columns that leave no doubt."""
    votes: Counter[str] = Counter()
    for column in profile.columns:
        numbers = column.counts(NumberClass)
        in_doubt = sum(numbers.values()) < NEEDED_SHARE * column.known
        if in_doubt or "number" in column.stored:  # what a file stores as numbers has no sign
            continue
        point = sum(count for kind, count in numbers.items() if not kind.comma)
        comma = sum(count for kind, count in numbers.items() if not kind.point)
        if point != comma:
            votes["." if point > comma else ","] += 1
    return "," if votes[","] > votes["."] else "."


def _usual_order(profile: TableProfile) -> bool | None:
    """Return whether days come first in the columns that leave no doubt; None if there are none."""
    votes: Counter[str] = Counter()
    for column in profile.columns:
        dates = column.counts(DateClass)
        if sum(dates.values()) >= NEEDED_SHARE * column.known:
            for kind, count in dates.items():
                votes[kind.order] += count
    return votes["day"] >= votes["month"] if votes["day"] or votes["month"] else None


def _typed(profile: ColumnProfile, options: ColumnOptions) -> Column:
    """Return the column with its type and form, and what is odd about its cells."""
    name = profile.name
    if "nested" in profile.stored:
        return Column(name, NESTED)
    if profile.known == 0:
        return Column(name, EMPTY)
    if name in options.categorical or "category" in profile.stored:
        return Column(name, CATEGORY, of_numbers="number" in profile.stored)
    return (
        _as_number(profile, options)
        or _as_date(profile, options)
        or _as_boolean(profile)
        or _as_category(profile)
    )


def _as_number(profile: ColumnProfile, options: ColumnOptions) -> Column | None:
    numbers = profile.counts(NumberClass)
    form, fitting = _best_form(numbers, options.decimal or ".")
    if fitting < NEEDED_SHARE * profile.known or _are_codes(numbers, profile.known):
        return None
    odd: tuple[str, ...] = ()
    doubtful = _first(profile, lambda kind: isinstance(kind, NumberClass) and kind.doubtful)
    if doubtful and not any(kind.point != kind.comma for kind in numbers):
        said = (
            f"{doubtful[0].text!r} could be read in two ways; {form.decimal!r} is taken to stand "
            "before decimals ("
        )
        other = "," if form.decimal == "." else "."
        odd = (Message(said, Setting("decimal", other), " for the other)"),)
    return Column(
        profile.name, NUMBER, number=form, odd=odd, n_misfits=profile.known - fitting,
        misfits=_first(profile, lambda kind: not _fits(kind, form)),
        remedy=(Setting("categorical", (profile.name,)),),
    )  # fmt: skip


def _best_form(numbers: dict[NumberClass, int], usual: str) -> tuple[NumberForm, int]:
    """Return the form that most numbers have, and how many; of equals, that with the usual sign."""
    units = dict.fromkeys(kind.unit for kind in numbers) or {"": None}
    signs = (".", ",") if usual == "." else (",", ".")
    forms = [NumberForm(sign, unit) for sign in signs for unit in units]
    counts = [sum(count for kind, count in numbers.items() if _fits(kind, form)) for form in forms]
    best = counts.index(max(counts))
    return forms[best], counts[best]


def _fits(kind: CellClass, form: NumberForm) -> bool:
    # A number without the unit of the others may be of another size: 0.41 is not 0.41 %.
    if not isinstance(kind, NumberClass) or kind.unit != form.unit:
        return False
    return kind.point if form.decimal == "." else kind.comma


def _are_codes(numbers: dict[NumberClass, int], known: int) -> bool:
    """Return whether whole numbers with zeros in front are more than a few; decimals are none."""
    if any(kind.point != kind.comma for kind in numbers):
        return False
    codes = sum(count for kind, count in numbers.items() if kind.code)
    return codes > (1 - NEEDED_SHARE) * known


def _best_family(profile: ColumnProfile) -> tuple[str, int]:
    """Return the form that most dates have, and how many."""
    families: Counter[str] = Counter()
    for kind, count in profile.counts(DateClass).items():
        families[kind.family] += count
    return families.most_common(1)[0] if families else ("", 0)


def _as_date(profile: ColumnProfile, options: ColumnOptions) -> Column | None:
    family, fitting = _best_family(profile)
    dates = {k: n for k, n in profile.counts(DateClass).items() if k.family == family}
    order: Counter[str] = Counter()
    for kind, count in dates.items():
        order[kind.order] += count
    told = bool(order["day"] or order["month"])
    day_first = order["day"] >= order["month"] if told else options.day_first
    against = "month" if day_first else "day"
    if family == YEAR_LAST and day_first is not None:
        fitting -= order[against]
    if not fitting or fitting < NEEDED_SHARE * profile.known:
        return None
    odd: tuple[str, ...] = ()
    if family == YEAR_LAST and not told:
        if day_first is None:
            example = _first(profile, lambda kind: isinstance(kind, DateClass))[0].text
            return Column(
                profile.name, DATE, left_out=AMBIGUOUS_DATE,
                remedy=(Setting("day_first", True), Setting("day_first", False)),
                odd=(f"{example!r} and all other dates could have the day or the month first",),
            )  # fmt: skip
        first = "day" if day_first else "month"
        odd = (f"the {first} comes first, as in other columns or as asked",)
    has_clock = any(kind.has_clock for kind in dates)
    form = DateForm(family, family != YEAR_LAST or bool(day_first), has_clock)
    misfits = _first(profile, lambda kind: kind not in dates or kind.order == against)
    return Column(
        profile.name, DATE, date=form, odd=odd, misfits=misfits,
        n_misfits=profile.known - fitting, remedy=(Setting("ignore", (profile.name,)),),
    )  # fmt: skip


def _as_boolean(profile: ColumnProfile) -> Column | None:
    words = profile.words or Counter()
    fitting = sum(count for word, count in words.items() if word.lower() in BOOLEANS)
    both = {0.0, 1.0} <= {BOOLEANS.get(word.lower()) for word in words}
    if fitting < NEEDED_SHARE * profile.known or not both:
        return None
    first = _first(profile, lambda kind: True)
    return Column(
        profile.name, YES_NO, n_misfits=profile.known - fitting,
        misfits=tuple(cell for cell in first if cell.text.lower() not in BOOLEANS),
        remedy=(Setting("categorical", (profile.name,)),),
    )  # fmt: skip


def _as_category(profile: ColumnProfile) -> Column:
    known, numbers = profile.known, profile.counts(NumberClass)
    column = Column(profile.name, CATEGORY, remedy=(Setting("ignore", (profile.name,)),))
    if _are_codes(numbers, known) and sum(numbers.values()) == known:
        said = "written with zeros in front, as codes are, so they are categories"
        return with_fields(column, odd=(said,))
    units: Counter[str] = Counter()
    for kind, count in numbers.items():
        units[kind.unit] += count
    if sum(numbers.values()) >= NEEDED_SHARE * known and 2 <= len(units) <= MAX_UNITS_SAID:
        found = ", ".join(f"{unit or 'none'} ({count})" for unit, count in units.most_common())
        said = f"numbers of {len(units)} units, {found}, which are not compared: use one unit"
        return with_fields(column, odd=(said,))
    form, of_form = _best_form(numbers, ".")
    family, of_family = _best_family(profile)
    fitting, what = max((of_form, "numbers"), (of_family, "dates"))
    if not MANY * known < fitting < known:
        return column

    def differs(kind: CellClass) -> bool:
        if what == "numbers":
            return not _fits(kind, form)
        return not isinstance(kind, DateClass) or kind.family != family

    said = (
        f"{fitting} cells are {what} of one form, but {known - fitting} are not, so all are "
        "categories"
    )
    misfits = _first(profile, differs)
    return with_fields(column, odd=(said,), misfits=misfits, n_misfits=known - fitting)


def _first(profile: ColumnProfile, of_class: Callable[[CellClass], bool]) -> tuple[Cell, ...]:
    """Return the first cells of some classes, in the order of the rows."""
    tallies = [tally for kind, tally in profile.classes.items() if of_class(kind)]
    return tuple(sorted(cell for tally in tallies for cell in tally.first))[:SHOWN_MISFITS]


def _used_or_not(column: Column, profile: ColumnProfile, options: ColumnOptions) -> Column:
    """Return the column as used or as left out, with the reason."""
    if column.name in options.ignore:
        return leave_out(column, ASKED)
    if column.kind in (NESTED, EMPTY):
        return leave_out(column, NO_SINGLE_VALUE if column.kind == NESTED else NO_CELLS)
    if column.left_out or column.name in options.include or column.name in options.categorical:
        return column
    if profile.distinct == 1 and profile.rows > 1:
        # A box that is ticked or not, or a constant.
        few = (1 - NEEDED_SHARE) * profile.rows
        if profile.rows < ENOUGH_ROWS or not few < profile.known < profile.rows - few:
            return leave_out(column, CONSTANT)
        remedy = (Setting("ignore", (column.name,)),)
        return with_fields(column, kind=YES_NO, filled=True, remedy=remedy)
    if profile.rows < ENOUGH_ROWS:
        return column
    if column.kind == NUMBER:
        reason = _number_without_meaning(column, profile)
        return leave_out(column, reason) if reason else column
    reason = _text_without_meaning(profile) if column.kind == CATEGORY else ""
    return leave_out(with_fields(column, kind=TEXT), reason) if reason else column


def _number_without_meaning(column: Column, profile: ColumnProfile) -> str:
    if column.number.unit or not profile.all_whole or profile.lowest < 0:
        return ""
    all_different = profile.distinct >= NEARLY_ALL * profile.known
    if profile.known == profile.rows:
        dense = profile.highest - profile.lowest + 1 == profile.rows
        if profile.steps or (dense and all_different):
            return ROW_NUMBER
    # A blank where a CamelCase word begins.
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column.name).lower()
    looks_like_id = _ID_NAME.search(spaced) is not None
    return ID if all_different and looks_like_id and profile.known >= ENOUGH_ROWS else ""


def _text_without_meaning(profile: ColumnProfile) -> str:
    words = profile.classes[WORD].count if WORD in profile.classes else 0
    sentences = profile.blanks >= BLANKS_OF_SENTENCES * words > 0
    sentences = sentences or profile.letters > LETTERS_OF_SENTENCES * words > 0
    if sentences and profile.distinct >= MANY * profile.known:
        return FREE_TEXT
    codes = _are_codes(profile.counts(NumberClass), profile.known)
    all_different = profile.distinct >= NEARLY_ALL * profile.known
    mostly_words = words > MANY * profile.known or codes
    return ID if profile.known >= ENOUGH_ROWS and all_different and mostly_words else ""
