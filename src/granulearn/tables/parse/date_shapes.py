"""Dates and times of a column by the shape of their texts: each part is a sum of digits."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from granulearn.tables.parse.dates import (
    CLOCK,
    DIGITS_OF_A_SECOND,
    MONTH_NUMBERS,
    PIVOT,
    DateForm,
    looked_up,
    match_date,
)
from granulearn.tables.parse.masks import by_shape, powers_of_ten

# Parts of a date, and the groups of the patterns that hold them.
_GROUPS = {
    "year": ("year",),
    "month": ("month", "month2", "month3"),
    "day": ("day", "day2", "day3"),
    "first": ("first",),
    "other": ("second_part", "second_part2"),
    "hour": ("hour",),
    "minute": ("minute",),
    "second": ("second",),
}
_YEAR_OF_TWO_DIGITS = 2


class _Plan(NamedTuple):
    """How the texts of one shape are read."""

    names: tuple[str, ...]
    """Of the parts that stand in digits."""
    worth: np.ndarray
    """Of each byte, as a digit of each part; 0 where it is none."""
    month: int | None
    """Where it stands in letters."""
    short_year: bool
    half: str
    """Of the day: "a", "p", or empty."""
    zone: float
    """1 if the clock is ahead of UTC, -1 if behind."""


def moments_by_shape(text: pa.Array, form: DateForm) -> tuple[np.ndarray, np.ndarray]:
    """Return the moments that texts are, as `read_moments` has them, and where they are known.

    Texts of rare shapes are left out, as is whatever is no date in this form: nothing is said
    of those.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : DateForm
        How the column writes its dates.

    Returns
    -------
    moments : ndarray of float64 of shape (3, n)
        Days, clock and by how much the clock is ahead; not to be used where nothing is said.
    known : ndarray of bool
        Where a date was read.
    """
    moments, known = np.empty((3, len(text))), np.zeros(len(text), bool)
    for plan, rows, digits in by_shape(text, partial(_plan, form)):
        parts = dict(zip(plan.names, plan.worth @ digits.T, strict=True))
        clock, ahead, is_time = _clocks(plan, parts, len(rows))
        days, is_date = (0.0, True) if form.family == CLOCK else _days(plan, parts, form)
        own = slice(None) if len(rows) == len(text) else rows  # all of them stand in order
        moments[0, own], moments[1, own], moments[2, own] = days, clock, ahead
        known[own] = is_date & is_time
    return moments, known


def _days(
    plan: _Plan, parts: dict[str, np.ndarray], form: DateForm
) -> tuple[np.ndarray, np.ndarray]:
    """Return days since 1970, and where there is such a day."""
    year = parts["year"]
    if plan.short_year:
        year = year + np.where(year < PIVOT, 2000, 1900)
    if "first" in parts:
        day, month = parts["first"], parts["other"]
        if not form.day_first:
            day, month = month, day
    else:
        day = parts.get("day", np.ones(len(year)))
        month = parts["month"] if plan.month is None else np.full(len(year), plan.month)
    is_month = (year >= 1) & (month >= 1) & (month <= 12)
    begin, length = looked_up(_months, ((year - 1970) * 12 + month - 1).astype(np.int64))
    return begin + day - 1, is_month & (day >= 1) & (day <= length)


def _months(months: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return when months since 1970 begin, in days, and how many days they have."""
    begin, end = (
        number.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        for number in (months, months + 1)
    )
    return begin, end - begin


def _clocks(
    plan: _Plan, parts: dict[str, np.ndarray], n_rows: int
) -> tuple[np.ndarray | float, np.ndarray | float, np.ndarray | bool]:
    """Return the seconds since midnight, those ahead of UTC, and where there is such a time."""
    if "hour" not in parts:
        return 0.0, 0.0, True
    hour, minute = parts["hour"], parts["minute"]
    second = parts.get("second", np.zeros(n_rows))
    is_time = (hour <= (12 if plan.half else 23)) & (minute <= 59) & (second <= 59)
    if plan.half:
        hour = hour % 12 + (12 if plan.half == "p" else 0)
    clock = hour * 3600 + minute * 60 + second + parts.get("micros", 0.0) / 1e6
    if not plan.zone:
        return clock, 0.0, is_time
    hours, minutes = parts["zone hours"], parts.get("zone minutes", np.zeros(n_rows))
    is_time &= (hours <= 23) & (minutes <= 59)
    return clock, plan.zone * (hours * 3600 + minutes * 60), is_time


@lru_cache(1024)
def _plan(form: DateForm, shape: str) -> _Plan | None:
    match = match_date(shape, form)
    if match is None:
        return None
    found = match.groupdict()
    name = found.get("name")
    month = None if name is None else MONTH_NUMBERS.get(name.lower())
    if name is not None and month is None:
        return None
    zone = found.get("zone") or ""
    spans = _spans(match)
    worth = np.zeros((len(spans), len(shape.encode())))
    for number, (part, (begin, end)) in enumerate(spans.items()):
        first = len(shape[:begin].encode())
        powers = powers_of_ten(DIGITS_OF_A_SECOND if part == "micros" else end - begin)
        worth[number, first : first + end - begin] = powers[: end - begin]
    return _Plan(
        tuple(spans),
        worth,
        month,
        len(found.get("year") or "") == _YEAR_OF_TWO_DIGITS,
        (found["half"] or "")[:1].lower(),
        {"+": 1.0, "-": -1.0}.get(zone[:1], 0.0),
    )


def _spans(match: re.Match) -> dict[str, tuple[int, int]]:
    """Return where the digits of each part stand."""
    found = match.groupdict()
    spans = {
        part: match.span(group)
        for part, groups in _GROUPS.items()
        for group in groups
        if found.get(group) is not None
    }
    if found["part"] is not None:
        begin, end = match.span("part")
        spans["micros"] = begin, min(end, begin + DIGITS_OF_A_SECOND)
    if (found.get("zone") or "")[:1] in ("+", "-"):
        begin, end = match.span("zone")
        spans["zone hours"] = begin + 1, begin + 3
        if end > begin + 3:
            spans["zone minutes"] = end - 2, end
    return spans
