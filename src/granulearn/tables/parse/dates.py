"""Dates and times in all common forms, parsed to numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from granulearn.tables.parse.masks import MaskedTexts

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
_MONTH_NUMBERS = {
    name: number for names in _MONTHS for number, name in enumerate(names.split(), start=1)
}
_NAME = r"(?P<name>[^\W\d_]{3,9})\.?"
_YEAR = r"(?P<year>[0-9]{4}|[0-9]{2})"
YEAR_FIRST, YEAR_LAST, CLOCK = "year first", "year last", "clock"
# No text has more than one of these forms.
_FAMILIES = {
    name: re.compile(pattern)
    for name, pattern in {
        YEAR_FIRST: r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2}))?"
        r"|/(?P<month2>[0-9]{1,2})/(?P<day2>[0-9]{1,2})|\.(?P<month3>[0-9]{1,2})\.(?P<day3>[0-9]{1,2}))"
        + _AFTER_DATE,
        "dotted": rf"(?P<day>[0-9]{{1,2}})\. ?(?P<month>[0-9]{{1,2}})\. ?{_YEAR}" + _AFTER_DATE,
        YEAR_LAST: rf"(?P<first>[0-9]{{1,2}})(?:/(?P<other>[0-9]{{1,2}})/"
        rf"|-(?P<other2>[0-9]{{1,2}})-){_YEAR}" + _AFTER_DATE,
        "day, name": rf"(?:[^\W\d_]{{2,3}},? )?(?P<day>[0-9]{{1,2}})\.?[ -]{_NAME}[ -]{_YEAR}"
        + _AFTER_DATE,
        "name, day": rf"{_NAME} (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<year>[0-9]{{4}})"
        + _AFTER_DATE,
        CLOCK: rf"{_CLOCK}",
    }.items()
}
FAMILIES = tuple(_FAMILIES)
_LONGEST_DATE = 48
_SECONDS_OF_DAY = 86400
# As in POSIX: 68 is 2068, 69 is 1969.
_PIVOT = 69
# No part of a date has more; further decimals of a second are ignored.
_MOST_DIGITS = 6

PARTS_OF_A_DATE = ("year", "month", "day of year", "weekday")
HOUR = "hour"
RUNNING = "days since 1970"
_MEANINGS = {
    "year": "a whole number",
    "month": "1 to 12",
    "day of year": "1 to 366",
    "weekday": "1 for Monday to 7 for Sunday",
    HOUR: "hours since midnight, with a fraction",
    RUNNING: "days since 1970-01-01 in UTC, with a fraction",
}


class DateClass(NamedTuple):
    """Form of a date, as far as one cell tells."""

    family: str
    order: str
    """Which comes first, "day" or "month", where the cell tells; "either" where it cannot."""
    has_clock: bool
    """Whether there is a time of the day; midnight beside a date is none."""


class DateForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the dates of one column are written."""

    family: Annotated[str, msgspec.Meta(pattern=rf"\A(?:{'|'.join(FAMILIES)})\Z")]
    day_first: bool = True
    has_clock: bool = False

    @property
    def meanings(self) -> dict[str, str]:
        """The features of such a date, each with its meaning."""
        parts = [*PARTS_OF_A_DATE, *([HOUR] if self.has_clock else []), RUNNING]
        return {part: _MEANINGS[part] for part in ([HOUR] if self.family == CLOCK else parts)}


class DateMask(NamedTuple):
    """Positions of the parts of a date in texts of one digit mask."""

    family: str
    positions: dict[str, tuple[int, int]]
    """By part: its first byte, and the one after its last."""
    month: int
    """Number of a month written in letters; else 0."""
    half: str
    """Of the day: "a", "p", or empty."""
    zone: int
    """1 if the clock is ahead of UTC, -1 if behind, else 0."""


class Datetimes(NamedTuple):
    """Dates, times or both, as numbers; NaN, NaN and 0 where there is none."""

    days: np.ndarray
    """Since 1970 where the clock is; 0 for a time alone."""
    clock: np.ndarray
    """Seconds since midnight, to a microsecond."""
    ahead: np.ndarray
    """By how many seconds that clock is ahead of UTC."""


@lru_cache(2**14)
def date_mask(mask: str) -> DateMask | None:
    """Return the positions of the parts of a date in a digit mask; None if it is no date."""
    matches = ((family, pattern.fullmatch(mask)) for family, pattern in _FAMILIES.items())
    family, match = next((found for found in matches if found[1]), ("", None))
    if match is None or len(mask) > _LONGEST_DATE:
        return None
    found = {name: text for name, text in match.groupdict().items() if text is not None}
    month = _MONTH_NUMBERS.get(found["name"].lower()) if "name" in found else 0
    if month is None:
        return None
    positions = {}
    for name, text in found.items():
        if name not in ("name", "half", "zone"):
            begin = len(mask[: match.start(name)].encode())
            positions[name.rstrip("23")] = begin, begin + min(len(text), _MOST_DIGITS)
    zone = found.get("zone", "")
    sign = {"+": 1, "-": -1}.get(zone[:1], 0)
    if sign:
        end = len(mask.encode())
        begin = end - len(zone) + 1
        positions["zone hours"] = begin, begin + 2
        if end > begin + 2:
            positions["zone minutes"] = end - 2, end
    return DateMask(family, positions, month, found.get("half", "")[:1].lower(), sign)


def read_dates(
    masked: MaskedTexts, rows: np.ndarray, mask: DateMask, day_first: bool
) -> tuple[Datetimes, np.ndarray]:
    """Parse dates of one digit mask; return them with a mask of valid dates."""
    found = {name: masked.digits(rows, *positions) for name, positions in mask.positions.items()}
    zero = np.zeros(len(rows), np.int64)
    hour, minute, second = (found.get(part, zero) for part in ("hour", "minute", "second"))
    valid = (hour <= (12 if mask.half else 23)) & (minute <= 59) & (second <= 59)
    if mask.half:
        hour = hour % 12 + (12 if mask.half == "p" else 0)
    clock = (hour * 3600 + minute * 60 + second).astype(float)
    if "part" in found:
        begin, end = mask.positions["part"]
        clock += found["part"] * 10 ** (_MOST_DIGITS - (end - begin)) / 1e6
    hours, minutes = found.get("zone hours", zero), found.get("zone minutes", zero)
    valid &= (hours <= 23) & (minutes <= 59)
    ahead = mask.zone * (hours * 3600.0 + minutes * 60)
    if mask.family == CLOCK:
        return Datetimes(zero.astype(float), clock, ahead), valid
    year, day = found["year"], found.get("day", zero + 1)
    month = found.get("month", zero + mask.month)
    if "first" in found:
        day, month = found["first"], found["other"]
        if not day_first:
            day, month = month, day
    if mask.positions["year"][1] - mask.positions["year"][0] == 2:
        year = year + np.where(year < _PIVOT, 2000, 1900)
    begin_of_month, end_of_month = (
        ((year - 1970) * 12 + month - 1 + more).astype("datetime64[M]").astype("datetime64[D]")
        for more in (0, 1)
    )
    days = begin_of_month.astype(np.int64) + day - 1
    valid &= (year >= 1) & (month >= 1) & (month <= 12)
    valid &= (day >= 1) & (days < end_of_month.astype(np.int64))
    return Datetimes(days.astype(float), clock, ahead), valid


def date_classes(
    masked: MaskedTexts, rows: np.ndarray, mask: DateMask
) -> dict[DateClass, np.ndarray]:
    """Return the rows of each class among texts of one digit mask; some may be no date at all."""
    dates, valid = read_dates(masked, rows, mask, day_first=True)
    orders = {"": valid}
    if mask.family == YEAR_LAST:
        _, other = read_dates(masked, rows, mask, day_first=False)
        orders = {"either": valid & other, "day": valid & ~other, "month": other & ~valid}
    has_clock = (dates.clock != 0) | (mask.family == CLOCK)
    found = {
        DateClass(mask.family, order, clock): rows[own & (has_clock == clock)]
        for order, own in orders.items()
        for clock in (True, False)
    }
    return {kind: own for kind, own in found.items() if len(own)}


def parse_dates(text: pa.Array, form: DateForm) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Parse dates; return the numbers that they become, by part, with a mask of failures."""
    masked = MaskedTexts(text)
    every = np.array([np.nan, np.nan, 0.0])[:, None].repeat(len(text), axis=1)
    for number, mask in masked.candidates():
        found = date_mask(mask)
        if found is not None and found.family == form.family:
            rows = masked.rows(number)
            dates, valid = read_dates(masked, rows, found, form.day_first)
            every[:, rows[valid]] = np.array(dates)[:, valid]
    failed = np.isnan(every[0]) & text.is_valid().to_numpy(zero_copy_only=False)
    return _date_parts(Datetimes(*every), form), failed


def _date_parts(dates: Datetimes, form: DateForm) -> dict[str, np.ndarray]:
    """Return the numbers that dates become, by part."""
    missing = np.isnan(dates.days)
    days = np.where(missing, 0, dates.days).astype(np.int64)
    day = days.astype("datetime64[D]")
    month, year = day.astype("datetime64[M]"), day.astype("datetime64[Y]")
    parts = {
        "year": year.astype(np.int64) + 1970,
        "month": month.astype(np.int64) % 12 + 1,
        "day of year": (day - year).astype(np.int64) + 1,
        "weekday": (days + 3) % 7 + 1,  # Monday is 1, and 1970 began on a Thursday
        HOUR: dates.clock / 3600,
        RUNNING: dates.days + (dates.clock - dates.ahead) / _SECONDS_OF_DAY,
    }
    return {part: np.where(missing, np.nan, parts[part]) for part in form.meanings}
