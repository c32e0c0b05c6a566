"""From a profile to a schema: types of columns, and which are dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.messages import Message, Setting
from granulearn.tables.parse.dates import YEAR_LAST, DateClass, DateForm
from granulearn.tables.parse.numbers import NumberClass, NumberForm
from granulearn.tables.parse.written_cells import truth
from granulearn.tables.profile import WORD, CellClass, ColumnProfile, TableProfile
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


def typed_column(survey: ColumnProfile, options: ColumnOptions) -> Column:
    """Return the column with its kind and form, and what is odd about its cells.

    Parameters
    ----------
    survey : ColumnProfile
        Of all rows.
    options : ColumnOptions
        What the user says, completed by what the other columns tell.
    """
    name = survey.name
    if "nested" in survey.stored:
        return Column(name, NESTED)
    if survey.known == 0:
        return Column(name, EMPTY)
    if name in options.categorical or "category" in survey.stored:
        return Column(name, CATEGORY, of_numbers="number" in survey.stored)
    return (
        _as_number(survey, options)
        or _as_date(survey, options)
        or _as_truth(survey)
        or _as_category(survey)
    )


def _as_number(survey: ColumnProfile, options: ColumnOptions) -> Column | None:
    numbers = survey.counts(NumberClass)
    if not numbers:
        return None
    form, fitting = _best_form(numbers, options.decimal or ".")
    if fitting < NEEDED_SHARE * survey.known or are_codes(numbers, survey.known):
        return None
    column = Column(survey.name, NUMBER, number=form)
    odd = []
    doubtful = _first(survey, lambda kind: isinstance(kind, NumberClass) and kind.doubtful)
    if doubtful and not any(kind.point != kind.comma for kind in numbers):
        example = doubtful[0].text
        other = "," if form.decimal == "." else "."
        said = (
            f"{example!r} could be read in two ways; {form.decimal!r} is taken to stand before "
            "decimals ("
        )
        odd.append(Message(said, Setting("decimal", other), " for the other)"))
    misfits = _first(survey, lambda kind: not _fits(kind, form))
    return replace(
        column, odd=tuple(odd), misfits=misfits, n_misfits=survey.known - fitting,
        remedy=(Setting("categorical", (survey.name,)),),
    )  # fmt: skip


def _best_form(numbers: dict[NumberClass, int], usual: str) -> tuple[NumberForm, int]:
    marks = (usual, "," if usual == "." else ".")
    units = dict.fromkeys(kind.unit for kind in numbers)
    forms = [NumberForm(mark, unit) for mark in marks for unit in units]
    counts = [sum(count for kind, count in numbers.items() if _fits(kind, form)) for form in forms]
    best = max(range(len(forms)), key=counts.__getitem__)  # the first of equals: the usual one
    return forms[best], counts[best]


def _fits(kind: CellClass, form: NumberForm) -> bool:
    # A number without the unit of the others may be of another size: 0.41 is not 0.41 %.
    if not isinstance(kind, NumberClass) or kind.unit != form.unit:
        return False
    return kind.point if form.decimal == "." else kind.comma


def are_codes(numbers: dict[NumberClass, int], known: int) -> bool:
    """Return whether whole numbers with zeros in front are more than a few; decimals are none.

    Parameters
    ----------
    numbers : dict of NumberClass to int
        How many cells of a column are of each class.
    known : int
        Number of its cells that are not missing.
    """
    if any(kind.point != kind.comma for kind in numbers):
        return False
    codes = sum(count for kind, count in numbers.items() if kind.code)
    return codes > (1 - NEEDED_SHARE) * known


def _as_date(survey: ColumnProfile, options: ColumnOptions) -> Column | None:
    dates = survey.counts(DateClass)
    families: Counter[str] = Counter()
    for kind, count in dates.items():
        families[kind.family] += count
    if not families:
        return None
    family, fitting = families.most_common(1)[0]
    order: dict[str, int] = Counter()
    for kind, count in dates.items():
        if kind.family == family:
            order[kind.order] += count
    day_first: bool | None = True
    if family == YEAR_LAST:
        day_first = _order_of(order, options.day_first)
        fitting -= order["month" if day_first else "day"] if day_first is not None else 0
    if fitting < NEEDED_SHARE * survey.known:
        return None
    if day_first is None:
        example = _first(survey, lambda kind: isinstance(kind, DateClass))[0].text
        return Column(
            survey.name, DATE, left_out=AMBIGUOUS_DATE,
            remedy=(Setting("day_first", True), Setting("day_first", False)),
            odd=(f"{example!r} and all other dates could have the day or the month first",),
        )  # fmt: skip
    odd: tuple[str, ...] = ()
    if family == YEAR_LAST and not order["day"] and not order["month"]:
        first = "day" if day_first else "month"
        odd = (f"the {first} comes first, as in other columns or as asked",)
    has_clock = any(kind.has_clock for kind in dates if kind.family == family)
    form = DateForm(family, day_first, has_clock)
    against = "month" if day_first else "day"

    def misfit(kind: CellClass) -> bool:
        own = isinstance(kind, DateClass) and kind.family == family
        return not own or (family == YEAR_LAST and kind.order == against)  # type: ignore[union-attr]

    return Column(
        survey.name, DATE, date=form, odd=odd, misfits=_first(survey, misfit),
        n_misfits=survey.known - fitting, remedy=(Setting("ignore", (survey.name,)),),
    )  # fmt: skip


def _order_of(order: dict[str, int], usual: bool | None) -> bool | None:
    """Return whether days come first; None where nothing tells."""
    day, month = order.get("day", 0), order.get("month", 0)
    if day or month:
        return day >= month
    return usual


def _as_truth(survey: ColumnProfile) -> Column | None:
    words = survey.words
    if not words:
        return None
    fitting = sum(count for word, count in words.items() if truth(word) is not None)
    if fitting < NEEDED_SHARE * survey.known or not {0.0, 1.0} <= {truth(word) for word in words}:
        return None
    misfits = [cell for cell in _first(survey, lambda kind: True) if truth(cell.text) is None]
    return Column(
        survey.name, YES_NO, misfits=tuple(misfits), n_misfits=survey.known - fitting,
        remedy=(Setting("categorical", (survey.name,)),),
    )  # fmt: skip


def _as_category(survey: ColumnProfile) -> Column:
    known, numbers = survey.known, survey.counts(NumberClass)
    column = Column(survey.name, CATEGORY, remedy=(Setting("ignore", (survey.name,)),))
    if are_codes(numbers, known) and sum(numbers.values()) == known:
        said = "written with zeros in front, as codes are, so they are categories"
        return replace(column, odd=(said,))
    units = Counter(dict.fromkeys((kind.unit for kind in numbers), 0))
    for kind, count in numbers.items():
        units[kind.unit] += count
    if sum(numbers.values()) >= NEEDED_SHARE * known and 2 <= len(units) <= MAX_UNITS_SAID:
        found = ", ".join(f"{unit or 'none'} ({count})" for unit, count in units.most_common())
        said = f"numbers of {len(units)} units, {found}, which are not compared: use one unit"
        return replace(column, odd=(said,))
    form, of_form = _best_form(numbers, ".") if numbers else (NumberForm(), 0)
    families = Counter({kind.family: 0 for kind in survey.counts(DateClass)})
    for kind_of_date, count in survey.counts(DateClass).items():
        families[kind_of_date.family] += count
    family, of_family = families.most_common(1)[0] if families else ("", 0)
    fitting, what = max((of_form, "numbers"), (of_family, "dates"))
    if not MANY * known < fitting < known:
        return column

    def misfit(kind: CellClass) -> bool:
        if what == "numbers":
            return not _fits(kind, form)
        return not isinstance(kind, DateClass) or kind.family != family

    said = (
        f"{fitting} cells are {what} of one form, but {known - fitting} are not, so all are "
        "categories"
    )
    return replace(column, odd=(said,), misfits=_first(survey, misfit), n_misfits=known - fitting)


def _first(survey: ColumnProfile, of_class: Callable[[CellClass], bool]) -> tuple[Cell, ...]:
    """Return the first cells of some classes, in the order of the rows."""
    tallies = [tally for kind, tally in survey.classes.items() if of_class(kind)]
    return tuple(sorted(cell for tally in tallies for cell in tally.first))[:SHOWN_MISFITS]


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


def with_use(column: Column, survey: ColumnProfile, options: ColumnOptions) -> Column:
    """Return the column as used or as left out, with the reason.

    Parameters
    ----------
    column : Column
        With its kind and form.
    survey : ColumnProfile
        Of all rows.
    options : ColumnOptions
        What the user says.
    """
    if column.name in options.ignore:
        return leave_out(column, ASKED)
    if column.kind == NESTED:
        return leave_out(column, NO_SINGLE_VALUE)
    if column.kind == EMPTY:
        return leave_out(column, NO_CELLS)
    if column.left_out or column.name in options.include or column.name in options.categorical:
        return column
    if survey.distinct == 1 and survey.rows > 1:
        return _filled_or_not(column, survey)
    if survey.rows < ENOUGH_ROWS:
        return column
    if column.kind == NUMBER:
        reason = _number_without_meaning(column, survey)
        return leave_out(column, reason) if reason else column
    if column.kind == CATEGORY:
        reason = _text_without_meaning(survey)
        if reason:
            return leave_out(replace(column, kind=TEXT), reason)
    return column


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
    return replace(column, left_out=reason, remedy=remedy)


def _filled_or_not(column: Column, survey: ColumnProfile) -> Column:
    """Return a column of one value: a box that is ticked or not, or a constant."""
    few = (1 - NEEDED_SHARE) * survey.rows
    if survey.rows < ENOUGH_ROWS or not few < survey.known < survey.rows - few:
        return leave_out(column, CONSTANT)
    remedy = (Setting("ignore", (column.name,)),)
    return replace(column, kind=YES_NO, filled=True, remedy=remedy)


def _number_without_meaning(column: Column, survey: ColumnProfile) -> str:
    if column.number.unit or not survey.all_whole or survey.lowest < 0:
        return ""
    all_different = survey.distinct >= NEARLY_ALL * survey.known
    if survey.known == survey.rows:
        dense = survey.highest - survey.lowest + 1 == survey.rows
        if survey.steps or (dense and all_different):
            return ROW_NUMBER
    looks_like_id = _ID_NAME.search(_spaced(column.name)) is not None
    return ID if all_different and looks_like_id and survey.known >= ENOUGH_ROWS else ""


def _text_without_meaning(survey: ColumnProfile) -> str:
    words = survey.count(WORD)
    sentences = survey.blanks >= BLANKS_OF_SENTENCES * words > 0
    sentences = sentences or survey.letters > LETTERS_OF_SENTENCES * words > 0
    if sentences and survey.distinct >= MANY * survey.known:
        return FREE_TEXT
    mostly_words = words > MANY * survey.known or are_codes(
        survey.counts(NumberClass), survey.known
    )
    all_different = survey.distinct >= NEARLY_ALL * survey.known
    return ID if survey.known >= ENOUGH_ROWS and all_different and mostly_words else ""


def _spaced(name: str) -> str:
    """Return a name in small letters, with a blank where a CamelCase word begins."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()


SHOWN_EXAMPLES = 3


def infer_schema(survey: TableProfile, options: ColumnOptions | None = None) -> Schema:
    """Return what every column is and becomes.

    Parameters
    ----------
    survey : TableProfile
        Of all rows; without the target.
    options : ColumnOptions, default=None
        What the user says.
    """
    options = options or ColumnOptions()
    if options.decimal is None:
        options = replace(options, decimal=_usual_decimal(survey))
    if options.day_first is None:
        options = replace(options, day_first=_usual_order(survey))
    return Schema(tuple(decide_column(column, options) for column in survey.columns))


def decide_column(survey: ColumnProfile, options: ColumnOptions) -> Column:
    """Return what one column is and becomes.

    Parameters
    ----------
    survey : ColumnProfile
        Of all rows.
    options : ColumnOptions
        What the user says, completed by what the other columns tell.
    """
    survey, like_marks = _with_values_like_marks(survey)
    column = typed_column(survey, options)
    column = replace(
        column,
        values_like_marks=like_marks,
        missing={mark: count for mark, count in survey.missing.items() if count},
        distinct=survey.distinct,
        examples=_examples(survey),
    )
    return with_use(column, survey, options)


def _with_values_like_marks(survey: ColumnProfile) -> tuple[ColumnProfile, tuple[str, ...]]:
    """Return the survey with - as a value where + is one, too."""
    if not survey.words or "+" not in survey.words or "-" not in survey.missing:
        return survey, ()
    count = survey.missing["-"]
    words = survey.words | {"-": count}
    tally = survey.classes[WORD]
    return replace(
        survey,
        missing={mark: n for mark, n in survey.missing.items() if mark != "-"},
        words=words,
        classes=survey.classes | {WORD: replace(tally, count=tally.count + count)},
        sketch=survey.sketch.with_cells(pa.array(["-"])),
    ), ("-",)


def _usual_decimal(survey: TableProfile) -> str:
    """Return the sign before decimals in the columns that leave no doubt."""
    votes: Counter[str] = Counter()
    for column in survey.columns:
        numbers = column.counts(NumberClass)
        in_doubt = sum(numbers.values()) < NEEDED_SHARE * column.known
        if in_doubt or "number" in column.stored:  # what a file stores as numbers has no sign
            continue
        point = sum(count for kind, count in numbers.items() if not kind.comma)
        comma = sum(count for kind, count in numbers.items() if not kind.point)
        if point != comma:
            votes["." if point > comma else ","] += 1
    return "," if votes[","] > votes["."] else "."


def _usual_order(survey: TableProfile) -> bool | None:
    """Return whether days come first in the columns that leave no doubt; None if there are none."""
    votes: Counter[str] = Counter()
    for column in survey.columns:
        dates = column.counts(DateClass)
        if sum(dates.values()) < NEEDED_SHARE * column.known:
            continue
        for kind, count in dates.items():
            if kind.order in ("day", "month"):
                votes[kind.order] += count
    return None if not votes else votes["day"] >= votes["month"]


def _examples(survey: ColumnProfile) -> tuple[str, ...]:
    cells = sorted(cell for tally in survey.classes.values() for cell in tally.first)
    texts = [*(cell.text for cell in cells), *(survey.words or ())]
    return tuple(dict.fromkeys(texts))[:SHOWN_EXAMPLES]
