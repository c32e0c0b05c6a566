"""Dates and times as people write them, and the numbers that they become."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.parse.cells import by_different_text
from granulearn.tables.parse.json_entries import check_entries, is_truth

_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]+))?)?"
    r" ?(?P<half>[AaPp]\.?[Mm]\.?)?"
)
_AFTER_DATE = rf"(?:(?:T|,? +){_CLOCK} ?(?P<zone>Z|UTC|[-+][0-9]{{2}}(?::?[0-9]{{2}})?)?)?"
_MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "january february march april may june july august september october november december",
    "jän feb mär apr mai jun jul aug sep okt nov dez",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janv févr mars avr mai juin juil août sept oct nov déc",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
MONTH_NUMBERS = {
    name: number for names in _MONTHS for number, name in enumerate(names.split(), start=1)
}
_NAME = r"(?P<name>[^\W\d_]{3,9})\.?"
_YEAR = r"(?P<year>[0-9]{4}|[0-9]{2})"
_FAMILIES = {
    name: re.compile(pattern)
    for name, pattern in {
        "year first": r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2}))?"
        r"|/(?P<month2>[0-9]{1,2})/(?P<day2>[0-9]{1,2})|\.(?P<month3>[0-9]{1,2})\.(?P<day3>[0-9]{1,2}))"
        + _AFTER_DATE,
        "dotted": rf"(?P<day>[0-9]{{1,2}})\. ?(?P<month>[0-9]{{1,2}})\. ?{_YEAR}" + _AFTER_DATE,
        "year last": rf"(?P<first>[0-9]{{1,2}})(?:/(?P<second_part>[0-9]{{1,2}})/"
        rf"|-(?P<second_part2>[0-9]{{1,2}})-){_YEAR}" + _AFTER_DATE,
        "day, name": rf"(?:[^\W\d_]{{2,3}},? )?(?P<day>[0-9]{{1,2}})\.?[ -]{_NAME}[ -]{_YEAR}"
        + _AFTER_DATE,
        "name, day": rf"{_NAME} (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<year>[0-9]{{4}})"
        + _AFTER_DATE,
        "clock": rf"{_CLOCK}",
    }.items()
}
_LIKELY = re.compile("[0-9].*[-/.: ]|[-/.: ].*[0-9]")
_DAYS_BEFORE_1970 = datetime.date(1970, 1, 1).toordinal()
_LONGEST = 48
_SHORTEST = 4
_DAY = 86400.0
_TICKS = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
# As POSIX has it: 68 is 2068, 69 is 1969.
PIVOT = 69

# Days or months of which numbers are kept, by the block.
_MANY_KEYS, _KEYS_PER_BLOCK, _MOST_BLOCKS = 256, 2**12, 8

FAMILIES = tuple(_FAMILIES)
YEAR_LAST = "year last"
CLOCK = "clock"
PARTS_OF_A_DATE = ("year", "month", "day of year", "weekday")
HOUR = "hour"
RUNNING = "days since 1970"
DIGITS_OF_A_SECOND = 6
"""How many decimals of a second are read."""
_MEANINGS = {
    "month": "1 to 12",
    "day of year": "1 to 366",
    "weekday": "1 for Monday to 7 for Sunday",
    HOUR: "hours since midnight, with a fraction",
    RUNNING: "days since 1970-01-01 in UTC, with a fraction",
}


class DateClass(NamedTuple):
    """What kind of date a cell holds, as far as the cell alone tells."""

    family: str
    order: str
    """Which comes first, "day" or "month", where the cell tells; "either" where it cannot."""
    has_clock: bool
    """Whether there is a time of the day; midnight beside a date is none."""


@dataclass(frozen=True)
class DateForm:
    """How the dates of one column are written."""

    family: str
    day_first: bool = True
    has_clock: bool = False

    @classmethod
    def from_json(cls, content: Any) -> DateForm:
        """Return the form that a model file has; anything else raises TypeError."""
        entries = {
            "family": lambda name: name in FAMILIES,
            "day_first": is_truth,
            "has_clock": is_truth,
        }
        check_entries(content, entries, "a form of dates", needed=("family",))
        return cls(**content)


class _Moment(NamedTuple):
    """A date, a time or both, as numbers."""

    days: float
    """Since 1970 where the clock is; 0 for a time alone."""
    clock: float
    """Seconds since midnight, to a microsecond."""
    ahead: float
    """By how many seconds that clock is ahead of UTC."""


_NO_MOMENT = _Moment(np.nan, np.nan, 0.0)


def date_class(text: str) -> DateClass | None:
    """Return what kind of date a text is; None if it is none.

    Parameters
    ----------
    text : str
        A cell without blanks around it.
    """
    return _remembered_class(text) if _SHORTEST <= len(text) <= _LONGEST else None


@lru_cache(2**16)
def _remembered_class(text: str) -> DateClass | None:
    if not _LIKELY.search(text):
        return None
    for family, pattern in _FAMILIES.items():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        moments = {first: _moment(match, first == "day") for first in ("day", "month")}
        orders = [first for first, moment in moments.items() if moment]
        if orders:
            order = "either" if len(orders) == 2 else orders[0]
            moment = moments[orders[0]]
            has_clock = family == CLOCK or (moment is not None and moment.clock != 0)
            return DateClass(family, order if family == YEAR_LAST else "", has_clock)
    return None


def read_moments(text: pa.Array, form: DateForm) -> tuple[np.ndarray, np.ndarray]:
    """Return what dates are, and where a text is none in this form.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : DateForm
        How the column writes its dates.

    Returns
    -------
    moments : ndarray of float64 of shape (3, n)
        Days since 1970 where the clock is, seconds since midnight, and by how many seconds that
        clock is ahead of UTC; NaN, NaN and 0 where there is no date.
    misfit : ndarray of bool
        True where a cell is there, but no date in this form.
    """

    def moment(cell: str) -> _Moment | None:
        match = match_date(cell, form)
        return match and _moment(match, form.day_first)

    found = by_different_text(text, moment)
    moments = np.array([value or _NO_MOMENT for value in found.values]).T[:, found.codes]
    return moments, np.isnan(moments[0]) & found.known


def match_date(text: str, form: DateForm) -> re.Match | None:
    """Return the parts of a text that has the form of a column's dates.

    Parameters
    ----------
    text : str
        A cell without blanks around it.
    form : DateForm
        How the column writes its dates.
    """
    return _FAMILIES[form.family].fullmatch(text) if len(text) <= _LONGEST else None


def read_stored_dates(column: pa.Array, form: DateForm) -> dict[str, np.ndarray]:
    """Return what dates become that a file stores as such.

    Parameters
    ----------
    column : pyarrow Array
        Dates, timestamps or times of the day.
    form : DateForm
        Of the column.
    """
    return numbers_of_moments(_stored_moments(column), form)


def stored_clocks(column: pa.Array) -> np.ndarray:
    """Return where a stored date, timestamp or time of the day has a clock, as of `DateClass`.

    Parameters
    ----------
    column : pyarrow Array
        Dates, timestamps or times of the day.
    """
    if pa.types.is_time(column.type):
        return column.is_valid().to_numpy(zero_copy_only=False)
    _, clock, _ = _stored_moments(column)
    return ~np.isnan(clock) & (clock != 0)


def _stored_moments(column: pa.Array) -> np.ndarray:
    """Return what `read_moments` does."""
    if pa.types.is_time(column.type):
        column = column.cast(pa.time64("ns"))
    elif pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    local = column
    if pa.types.is_timestamp(column.type) and column.type.tz:
        local = pc.local_timestamp(column)
    ticks, in_utc = _ticks(local), _ticks(column)
    per_second = _TICKS[column.type.unit]
    days, of_day = np.divmod(ticks, 86400 * per_second)
    seconds, rest = np.divmod(of_day, per_second)
    # A float does not tell nanoseconds apart over centuries: texts, too, are read to micros.
    micros = rest // 1000 if column.type.unit == "ns" else rest * (1_000_000 // per_second)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return np.stack(
        [
            np.where(missing, np.nan, days),
            np.where(missing, np.nan, seconds + micros / 1e6),
            (ticks - in_utc) / per_second,
        ]
    )


def _ticks(column: pa.Array) -> np.ndarray:
    return column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)


def stored_class(kind: pa.DataType, has_clock: bool = False) -> DateClass:
    """Return the class of dates that a file stores as such.

    Parameters
    ----------
    kind : pyarrow DataType
        A temporal type, but no duration.
    has_clock : bool, default=False
        Whether there is a time of the day beside the date.
    """
    if pa.types.is_time(kind):
        return DateClass(CLOCK, "", True)
    return DateClass("year first", "", has_clock)


def is_stored_date(kind: pa.DataType, form: DateForm) -> bool:
    """Return whether a file stores dates as such; a time of the day is none of a date.

    Parameters
    ----------
    kind : pyarrow DataType
        Of the cells.
    form : DateForm
        Of the column.
    """
    if not pa.types.is_temporal(kind) or pa.types.is_duration(kind):
        return False
    return (stored_class(kind).family == CLOCK) == (form.family == CLOCK)


def names_of_dates(name: str, form: DateForm) -> list[str]:
    """Return the names of the numbers that a column of dates becomes.

    Parameters
    ----------
    name : str
        The column.
    form : DateForm
        How it writes its dates.
    """
    if form.family == CLOCK:
        return [f"{name}: {HOUR}"]
    parts = [*PARTS_OF_A_DATE, *([HOUR] if form.has_clock else []), RUNNING]
    return [f"{name}: {part}" for part in parts]


def meanings_of_dates(name: str, form: DateForm) -> dict[str, str]:
    """Return in words what each number is that a column of dates becomes, by its name.

    Parameters
    ----------
    name : str
        The column.
    form : DateForm
        How it writes its dates.
    """
    return {
        own: _MEANINGS.get(own.removeprefix(f"{name}: "), "a whole number")
        for own in names_of_dates(name, form)
    }


def numbers_of_moments(moments: np.ndarray, form: DateForm) -> dict[str, np.ndarray]:
    """Return the numbers that moments become.

    Parameters
    ----------
    moments : ndarray of shape (3, n)
        As `read_moments` returns them.
    form : DateForm
        Of the column.
    """
    days, clock, ahead = moments
    if form.family == CLOCK:
        return {HOUR: clock / 3600}
    missing = np.isnan(days)
    some = bool(missing.any())
    if some:
        known = days[~missing]
        days = np.where(missing, known[0] if len(known) else 0.0, days)
    parts = looked_up(_parts_of_days, days.astype(np.int64))
    numbers = dict(zip(PARTS_OF_A_DATE, parts, strict=True))
    if form.has_clock:
        numbers[HOUR] = clock / 3600
    numbers[RUNNING] = days + (clock - ahead) / _DAY
    if not some:
        return numbers
    return {name: np.where(missing, np.nan, part) for name, part in numbers.items()}


def _parts_of_days(days: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return year, month, day of the year and weekday of days since 1970."""
    dates = days.astype("datetime64[D]")
    months, years = dates.astype("datetime64[M]"), dates.astype("datetime64[Y]")
    parts = (
        years.astype(int) + 1970,
        months.astype(int) % 12 + 1,
        (dates - years).astype(int) + 1,
        (days + 3) % 7 + 1,  # Monday is 1, and 1970 began on a Thursday
    )
    return tuple(part.astype(float) for part in parts)


def looked_up(
    function: Callable[[np.ndarray], tuple[np.ndarray, ...]], keys: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return functions of whole numbers, from a table where these lie close together.

    Parameters
    ----------
    function : callable
        Told whole numbers, it returns arrays of as many entries.
    keys : ndarray of int
        The numbers; dates of a few years are the same few thousand days.
    """
    if len(keys) < _MANY_KEYS:
        return function(keys)
    first, last = int(keys.min()) // _KEYS_PER_BLOCK, int(keys.max()) // _KEYS_PER_BLOCK
    if last - first >= _MOST_BLOCKS:
        return function(keys)
    places = keys - first * _KEYS_PER_BLOCK
    return tuple(values.take(places) for values in _table(function, first, last))


@lru_cache(8)
def _table(
    function: Callable[[np.ndarray], tuple[np.ndarray, ...]], first: int, last: int
) -> tuple[np.ndarray, ...]:
    """Return functions of the whole numbers of some blocks; a block of days is eleven years."""
    return function(np.arange(first * _KEYS_PER_BLOCK, (last + 1) * _KEYS_PER_BLOCK))


def _moment(match: re.Match, day_first: bool) -> _Moment | None:
    """Return the moment that a text names; None for a 31st of February."""
    found = match.groupdict()
    clock, ahead = _clock(found)
    if clock is None or "year" not in found:
        return None if clock is None else _Moment(0.0, clock, 0.0)
    month_of = found.get("name")
    if "first" in found:
        parts = found["first"], found["second_part"] or found["second_part2"]
        day, month = parts if day_first else parts[::-1]
    else:
        day = found["day"] or found.get("day2") or found.get("day3") or "1"
        month = found.get("month") or found.get("month2") or found.get("month3") or "0"
    number = int(month) if month_of is None else MONTH_NUMBERS.get(month_of.lower(), 0)
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 2000 if year < PIVOT else 1900
    try:
        days = datetime.date(year, number, int(day)).toordinal() - _DAYS_BEFORE_1970
    except ValueError:
        return None
    return _Moment(days, clock, ahead)


def _clock(found: dict[str, str | None]) -> tuple[float | None, float]:
    """Return the seconds since midnight, and by how many the clock is ahead of UTC."""
    if found["hour"] is None:
        return 0.0, 0.0
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    second = int(found["second"] or 0)
    half = (found["half"] or "")[:1].lower()
    if hour > (12 if half else 23) or minute > 59 or second > 59:
        return None, 0.0
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    zone, ahead = found.get("zone") or "", 0.0
    if zone[:1] in ("+", "-"):
        digits = zone[1:].replace(":", "").ljust(4, "0")
        hours, minutes = int(digits[:2]), int(digits[2:])
        if hours > 23 or minutes > 59:
            return None, 0.0
        ahead = float(f"{zone[0]}1") * (hours * 3600 + minutes * 60)
    decimals = (found["part"] or "").ljust(DIGITS_OF_A_SECOND, "0")
    micros = int(decimals[:DIGITS_OF_A_SECOND])
    return hour * 3600 + minute * 60 + second + micros / 1e6, ahead
