"""The rules by which a column is a number, a date, a truth value or a category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from granulearn.tables.columns.column_options import ColumnOptions
from granulearn.tables.columns.dates import YEAR_LAST, DateClass, DateForm
from granulearn.tables.columns.numbers import NumberClass, NumberForm
from granulearn.tables.columns.schema import (
    AMBIGUOUS_DATE,
    CATEGORY,
    DATE,
    EMPTY,
    NESTED,
    NUMBER,
    YES_NO,
    Column,
)
from granulearn.tables.columns.survey_records import Cell, CellClass, ColumnSurvey
from granulearn.tables.columns.typed_rows import SHOWN_MISFITS
from granulearn.tables.columns.written_cells import truth
from granulearn.tables.messages import Message, Setting

# A wrong parse is worse than none: so many of the cells must have the form of a column.
NEEDED_SHARE = 0.99
MANY = 0.5
MAX_UNITS_SAID = 8


def typed_column(survey: ColumnSurvey, options: ColumnOptions) -> Column:
    """Return the column with its kind and form, and what is odd about its cells.

    Parameters
    ----------
    survey : ColumnSurvey
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


def _as_number(survey: ColumnSurvey, options: ColumnOptions) -> Column | None:
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


def _as_date(survey: ColumnSurvey, options: ColumnOptions) -> Column | None:
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


def _as_truth(survey: ColumnSurvey) -> Column | None:
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


def _as_category(survey: ColumnSurvey) -> Column:
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


def _first(survey: ColumnSurvey, of_class: Callable[[CellClass], bool]) -> tuple[Cell, ...]:
    """Return the first cells of some classes, in the order of the rows."""
    tallies = [tally for kind, tally in survey.classes.items() if of_class(kind)]
    return tuple(sorted(cell for tally in tallies for cell in tally.first))[:SHOWN_MISFITS]
