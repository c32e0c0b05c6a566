"""Dates and times as people write them, and the numbers that they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,][0-9]+)?)?"
    r" ?(?P<half>[AaPp]\.?[Mm]\.?)?"
)
_AFTER_DATE = rf"(?:(?:T|,? +){_CLOCK} ?(?P<zone>Z|UTC|[-+][0-9]{{2}}:?(?:[0-9]{{2}})?)?)?$"
_MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "january february march april may june july august september october november december",
    "jän feb mär apr mai jun jul aug sep okt nov dez",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janv févr mars avr mai juin juil août sept oct nov déc",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
_MONTH_NUMBERS = {
    name: number for names in _MONTHS for number, name in enumerate(names.split(), start=1)
}
_NAME = r"(?P<name>\p{L}{3,9})\.?"
_YEAR = r"(?P<year>[0-9]{4}|[0-9]{2})"
_FAMILIES = {
    "year first": r"^(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2}))?"
    r"|/(?P<month2>[0-9]{1,2})/(?P<day2>[0-9]{1,2})|\.(?P<month3>[0-9]{1,2})\.(?P<day3>[0-9]{1,2}))"
    + _AFTER_DATE,
    "dotted": rf"^(?P<day>[0-9]{{1,2}})\. ?(?P<month>[0-9]{{1,2}})\. ?{_YEAR}" + _AFTER_DATE,
    "year last": rf"^(?P<first>[0-9]{{1,2}})(?:/(?P<second_part>[0-9]{{1,2}})/"
    rf"|-(?P<second_part2>[0-9]{{1,2}})-){_YEAR}" + _AFTER_DATE,
    "day, name": rf"^(?:\p{{L}}{{2,3}},? )?(?P<day>[0-9]{{1,2}})\.?[ -]{_NAME}[ -]{_YEAR}"
    + _AFTER_DATE,
    "name, day": rf"^{_NAME} (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<year>[0-9]{{4}})"
    + _AFTER_DATE,
    "clock": rf"^{_CLOCK}$",
}
_LONGEST = 48
_SHORTEST = 4
_DAY = 86400.0
# As POSIX has it: 68 is 2068, 69 is 1969.
_PIVOT = 69

YEAR_LAST = "year last"
CLOCK = "clock"
PARTS_OF_A_DATE = ("year", "month", "day of year", "weekday")
HOUR = "hour"
RUNNING = "days since 1970"


class DateClass(NamedTuple):
    """What kind of date a cell holds, as far as the cell alone tells."""

    family: str
    order: str
    """Which comes first, "day" or "month", where the cell tells; "either" where it cannot."""
    has_clock: bool


@dataclass(frozen=True)
class DateForm:
    """How the dates of one column are written."""

    family: str
    day_first: bool = True
    has_clock: bool = False


def date_classes(text: pa.Array) -> dict[DateClass, np.ndarray]:
    """Return the rows of each class of dates; rows that hold no date are in none.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them, none null.
    """
    classes: dict[DateClass, list[np.ndarray]] = {}
    length = pc.utf8_length(text)
    likely = pc.and_(pc.less_equal(length, _LONGEST), pc.greater_equal(length, _SHORTEST))
    likely = pc.and_(likely, pc.match_substring_regex(text, r"[0-9].*[-/.: ]|[-/.: ].*[0-9]"))
    left = np.flatnonzero(likely.to_numpy(zero_copy_only=False))
    for family in _FAMILIES:
        if not len(left):
            break
        found = _matched(text.take(pa.array(left)), family)
        clock = ~np.isnan(found["hour"])
        taken = np.zeros(len(left), bool)
        for order, valid in _orders(found, family).items():
            for has_clock in (False, True):
                rows = valid & (clock == has_clock) & ~taken
                if rows.any():
                    classes.setdefault(DateClass(family, order, has_clock), []).append(left[rows])
            taken |= valid
        left = left[~taken]
    return {kind: np.sort(np.concatenate(rows)) for kind, rows in classes.items()}


def read_dates(text: pa.Array, form: DateForm) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return what dates become, and where a text is none in this form.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : DateForm
        How the column writes its dates.

    Returns
    -------
    numbers : dict
        Arrays of float64 by what they are; NaN where there is no date.
    misfit : ndarray of bool
        True where a cell is there, but no date in this form.
    """
    encoded = text.dictionary_encode()
    found = _matched(encoded.dictionary, form.family)
    if form.family == YEAR_LAST:
        found = _with_order(found, form.day_first)
    seconds = np.where(_is_valid(found), _local_seconds(found), np.nan)
    codes = encoded.indices.fill_null(len(seconds)).to_numpy(zero_copy_only=False)
    seconds = np.append(seconds, np.nan)[codes]
    offset = np.append(found["offset"], 0.0)[codes]
    misfit = np.isnan(seconds) & (codes < len(encoded.dictionary))
    return _numbers(seconds, offset, form), misfit


def read_stored_dates(column: pa.Array, form: DateForm) -> dict[str, np.ndarray]:
    """Return what dates become that a file stores as such.

    Parameters
    ----------
    column : pyarrow Array
        Dates, timestamps or times of the day.
    form : DateForm
        Of the column.
    """
    if pa.types.is_time(column.type):
        unit = pa.time64("us")
        micros = column.cast(unit).cast(pa.int64())
    else:
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = pc.local_timestamp(column)
        micros = column.cast(pa.timestamp("us")).cast(pa.int64())
    seconds = micros.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) / 1e6
    return _numbers(seconds, np.zeros(len(seconds)), form)


def stored_class(kind: pa.DataType) -> DateClass:
    """Return the class of dates that a file stores as such.

    Parameters
    ----------
    kind : pyarrow DataType
        A temporal type, but no duration.
    """
    if pa.types.is_time(kind):
        return DateClass(CLOCK, "", True)
    return DateClass("year first", "", not pa.types.is_date(kind))


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


def _numbers(seconds: np.ndarray, offset: np.ndarray, form: DateForm) -> dict[str, np.ndarray]:
    known = ~np.isnan(seconds)
    hour = np.where(known, (seconds % _DAY) / 3600, np.nan)
    if form.family == CLOCK:
        return {HOUR: hour}
    days = np.where(known, np.floor(seconds / _DAY), 0).astype("datetime64[D]")
    months, years = days.astype("datetime64[M]"), days.astype("datetime64[Y]")
    parts = {
        "year": years.astype(int) + 1970,
        "month": months.astype(int) % 12 + 1,
        "day of year": (days - years).astype(int) + 1,
        "weekday": (days.astype(int) + 3) % 7 + 1,  # Monday is 1, and 1970 began on a Thursday
    }
    numbers = {name: np.where(known, part.astype(float), np.nan) for name, part in parts.items()}
    if form.has_clock:
        numbers[HOUR] = hour
    return numbers | {RUNNING: (seconds - offset) / _DAY}


def _matched(text: pa.Array, family: str) -> dict[str, np.ndarray]:
    """Return year, month and so on of each text; NaN where it does not match."""
    groups = pc.extract_regex(text, _FAMILIES[family])
    nothing = np.full(len(text), np.nan)
    fields = {field.name: groups.field(field.name) for field in groups.type}
    matched = groups.is_valid().to_numpy(zero_copy_only=False)

    def number(*names: str) -> np.ndarray:
        values = nothing.copy()
        for name in names:
            if name in fields:
                cells = pc.if_else(pc.equal(fields[name], ""), pa.scalar(None), fields[name])
                found = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
                values = np.where(np.isnan(values) & matched, found, values)
        return values

    found = {
        "year": number("year"),
        "month": number("month", "month2", "month3"),
        "day": number("day", "day2", "day3"),
        "first": number("first"),
        "second_part": number("second_part", "second_part2"),
        "hour": number("hour"),
        "minute": number("minute"),
        "second": number("second"),
        "offset": np.zeros(len(text)),
    }
    if "name" in fields:
        names = pc.utf8_lower(fields["name"]).to_pylist()
        found["month"] = np.array([_MONTH_NUMBERS.get(name or "", np.nan) for name in names], float)
    if "half" in fields:
        found["hour"] = _in_24_hours(found["hour"], fields["half"].to_pylist())
    if "zone" in fields:
        found["offset"] = _offsets(fields["zone"].to_pylist())
    if family == "year first":  # 2020-12 is the first of December
        found["day"] = np.where(matched & np.isnan(found["day"]), 1.0, found["day"])
    if "year" in fields:
        two_digits = pc.equal(pc.binary_length(fields["year"]), 2).fill_null(False)
        short = two_digits.to_numpy(zero_copy_only=False) & matched
        century = np.where(found["year"] < _PIVOT, 2000, 1900)
        found["year"] = np.where(short, found["year"] + century, found["year"])
    return found


def _in_24_hours(hour: np.ndarray, halves: list[str | None]) -> np.ndarray:
    half = np.array([(text or "")[:1].lower() for text in halves])
    on_twelve = np.where(hour > 12, 99.0, hour % 12)
    return np.select([half == "a", half == "p"], [on_twelve, on_twelve + 12], hour)


def _offsets(zones: list[str | None]) -> np.ndarray:
    """Return by how many seconds each zone is ahead of UTC."""
    seconds = np.zeros(len(zones))
    for row, zone in enumerate(zones):
        if zone and zone[0] in "+-":
            digits = zone[1:].replace(":", "").ljust(4, "0")
            ahead = int(digits[:2]) * 3600 + int(digits[2:4]) * 60
            seconds[row] = ahead if zone[0] == "+" else -ahead
    return seconds


def _orders(found: dict[str, np.ndarray], family: str) -> dict[str, np.ndarray]:
    """Return where the texts are dates, by what they say about the order of day and month."""
    if family != YEAR_LAST:
        return {"": _is_valid(found)}
    day_first = _is_valid(_with_order(found, True))
    month_first = _is_valid(_with_order(found, False))
    return {
        "either": day_first & month_first,
        "day": day_first & ~month_first,
        "month": month_first & ~day_first,
    }


def _with_order(found: dict[str, np.ndarray], day_first: bool) -> dict[str, np.ndarray]:
    day, month = ("first", "second_part") if day_first else ("second_part", "first")
    return found | {"day": found[day], "month": found[month]}


def _is_valid(found: dict[str, np.ndarray]) -> np.ndarray:
    hour, minute, second = (found[name] for name in ("hour", "minute", "second"))
    good_clock = (hour < 24) & (minute < 60) & ~(second >= 61)
    if np.isnan(found["year"]).all() and np.isnan(found["day"]).all():
        return good_clock
    year, month, day = found["year"], found["month"], found["day"]
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    in_range = (month >= 1) & (month <= 12)
    number = np.where(in_range, month, 1).astype(int) - 1
    longest = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])[number]
    longest = longest + (leap & (number == 1))
    good_date = in_range & (day >= 1) & (day <= longest) & (year >= 1) & (year <= 9999)
    return good_date & (np.isnan(hour) | good_clock)


def _local_seconds(found: dict[str, np.ndarray]) -> np.ndarray:
    """Return the seconds since 1970 on the clock that was read; of the day, for a clock alone."""
    clock = sum(
        np.nan_to_num(found[name]) * length
        for name, length in (("hour", 3600.0), ("minute", 60.0), ("second", 1.0))
    )
    if np.isnan(found["year"]).all() and np.isnan(found["day"]).all():
        return clock
    year, month, day = (
        np.nan_to_num(found[name], nan=1.0).astype(int) for name in ("year", "month", "day")
    )
    in_range = np.clip(month, 1, 12)
    months = (year - 1970) * 12 + in_range - 1
    days = months.astype("datetime64[M]").astype("datetime64[D]").astype(int) + day - 1
    return days * _DAY + clock
