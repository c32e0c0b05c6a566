"""Dates are read back in every form, as pandas reads them, and as files store them."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse.dates import (
    CLOCK,
    FAMILIES,
    DateClass,
    DateForm,
    date_classes,
    date_mask,
    parse_dates,
)
from granulearn.tables.parse.masks import MaskedTexts
from granulearn.tables.schema import DATE, Column, read_column

# Forms of strftime by the family to which they belong; %q is a day without a zero in front.
DAYS = {
    "year first": ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"],
    "dotted": ["%d.%m.%Y", "%d. %m. %Y", "%q.%m.%Y"],
    "year last": ["%d/%m/%Y", "%d-%m-%Y", "%q/%m/%Y"],
    "day, name": ["%d %b %Y", "%d-%b-%Y", "%d. %B %Y", "%a, %d %b %Y"],
    "name, day": ["%B %d, %Y", "%b %q, %Y", "%b. %d %Y", "%B %qth, %Y"],
}
CLOCKS = ["", " %H:%M", "T%H:%M:%S", " %H:%M:%S", ", %I:%M %p", " %I:%M:%S%p", "T%H:%M:%S.%f"]
MONTHS_ABROAD = {
    "Januar": 1, "märz": 3, "Mai": 5, "Okt.": 10, "Dezember": 12, "févr.": 2, "août": 8,
    "DÉCEMBRE": 12, "juillet": 7, "Sept.": 9,
}  # fmt: skip

datetimes = st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2200, 12, 31))


@st.composite
def written_dates(draw):
    """Draw a date as far as a style writes it, its text, and the form of the text."""
    family = draw(st.sampled_from(sorted(DAYS)))
    style = draw(st.sampled_from(DAYS[family])) + draw(st.sampled_from(CLOCKS))
    when = draw(datetimes)
    text = when.strftime(style.replace("%q", str(when.day)))
    kept = {"hour": "%M", "minute": "%M", "second": "%S", "microsecond": "%f"}
    when = when.replace(**{part: 0 for part, sign in kept.items() if sign not in style})
    return when, text, DateForm(family, True, "%M" in style)


def numbers_by_pandas(when: datetime.datetime, zone: float = 0.0) -> dict[str, float]:
    stamp = pd.Timestamp(when).as_unit("us")
    utc = (when - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return {
        "year": stamp.year,
        "month": stamp.month,
        "day of year": stamp.day_of_year,
        "weekday": stamp.isoweekday(),
        "hour": (stamp - stamp.normalize()).total_seconds() / 3600,
        "days since 1970": utc - zone / 24,
    }


def parse_one(text: str, form: DateForm) -> dict[str, float] | None:
    numbers, failed = parse_dates(pa.array([text]), form)
    return None if failed[0] else {name: values[0] for name, values in numbers.items()}


def class_of(text: str) -> DateClass | None:
    masked = MaskedTexts(pa.array([text]))
    mask = date_mask(masked.masks[0].as_py())
    found = date_classes(masked, masked.rows(0), mask) if mask else {}
    return next(iter(found), None)


def assert_same(found: dict[str, float] | None, expected: dict[str, float]):
    assert found is not None
    assert found == pytest.approx({name: expected[name] for name in found}, rel=1e-14, abs=1e-9)


@given(written_dates())
def test_every_date_in_every_form_is_what_pandas_says(case):
    when, text, form = case
    found = parse_one(text, form)
    assert_same(found, numbers_by_pandas(when))
    assert list(found) == list(form.meanings)


@given(written_dates())
def test_the_class_of_a_date_is_its_family_its_order_and_its_clock(case):
    when, text, form = case
    order = ""
    if form.family == "year last":
        order = "day" if when.day > 12 else "either"
    assert class_of(text) == DateClass(form.family, order, when.time() != datetime.time())


@given(written_dates(), st.sampled_from(FAMILIES))
def test_a_date_of_another_family_is_a_failure(case, other):
    _, text, form = case
    assert (parse_one(text, DateForm(other)) is None) == (other != form.family)


@given(datetimes, st.integers(0, 23), st.sampled_from([0, 30, 45]), st.booleans(), st.booleans())
def test_running_days_are_counted_in_utc_and_the_rest_where_the_clock_is(
    when, hours, minutes, west, colon
):
    zone = f"{'-' if west else '+'}{hours:02}{':' if colon else ''}{minutes:02}"
    text = when.strftime(f"%Y-%m-%dT%H:%M:%S{zone}")
    shift = (hours + minutes / 60) * (-1 if west else 1)
    found = parse_one(text, DateForm("year first", has_clock=True))
    assert_same(found, numbers_by_pandas(when.replace(microsecond=0), shift))


@pytest.mark.parametrize(
    "text",
    ["31.02.2024", "2023-02-29", "29 Feb 2023", "Feb 30, 2024", "30/02/2024", "0000-01-01",
     "2024-13-01", "2024-00-10", "2024-01-00", "12.31.2024", "31 Foo 2024", "24:00", "12:60",
     "10:30:60", "13:00 pm", "2024-01-01T25:00", "2024-01-01T10:00+24:00", "2024-01-01T10:00+01:60",
     "2024-01-01T10:00+01:", "2024", "20240101", "1-2", "1.2.3.4", "2024-01-01x", "x2024-01-01",
     "2024/01-02", "1/2-2024", "٢٠٢٤-٠١-٠١", "5 May", "10", ""],
)  # fmt: skip
def test_what_the_calendar_and_the_clock_do_not_have_is_no_date(text):
    assert class_of(text) is None
    for family in FAMILIES:
        for day_first in (True, False):
            assert parse_one(text, DateForm(family, day_first)) is None


@given(st.dates(datetime.date(1600, 1, 1), datetime.date(2200, 12, 31)), st.sampled_from("/-"))
def test_day_and_month_are_told_apart_only_by_what_no_month_can_be(date, sign):
    day_first = date.strftime(f"%d{sign}%m{sign}%Y")
    month_first = date.strftime(f"%m{sign}%d{sign}%Y")
    assert class_of(month_first).order == ("month" if date.day > 12 else "either")
    expected = numbers_by_pandas(datetime.datetime(date.year, date.month, date.day))
    assert_same(parse_one(day_first, DateForm("year last", day_first=True)), expected)
    assert_same(parse_one(month_first, DateForm("year last", day_first=False)), expected)
    if date.day > 12:
        assert parse_one(day_first, DateForm("year last", day_first=False)) is None


@given(st.dates(datetime.date(1969, 1, 1), datetime.date(2068, 12, 31)))
def test_years_of_two_digits_are_those_of_posix(date):
    expected = numbers_by_pandas(datetime.datetime(date.year, date.month, date.day))
    for style, family in (("%d.%m.%y", "dotted"), ("%d-%b-%y", "day, name")):
        assert_same(parse_one(date.strftime(style), DateForm(family)), expected)


@pytest.mark.parametrize(("name", "month"), MONTHS_ABROAD.items())
def test_months_have_names_in_three_languages(name, month):
    assert parse_one(f"3 {name} 2024", DateForm("day, name"))["month"] == month


@given(st.times())
def test_a_time_alone_is_an_hour(time):
    expected = time.hour + time.minute / 60 + (time.second + time.microsecond / 1e6) / 3600
    found = parse_one(time.isoformat(), DateForm(CLOCK, has_clock=True))
    assert found == {"hour": pytest.approx(expected, abs=1e-9)}
    assert class_of(time.isoformat()).family == CLOCK


def test_the_last_nanosecond_of_a_day_belongs_to_it():
    column = pa.array([-1, 86_400 * 10**9 - 1], pa.timestamp("ns"))
    years, _, days, *_ = read_column(Column("c", DATE), column)[0]
    assert years.tolist() == [1969, 1970]
    assert days.tolist() == [365, 1]


@pytest.mark.parametrize("family", FAMILIES)
def test_columns_without_dates_are_read_as_missing(family):
    form = DateForm(family, has_clock=True)
    for column in (pa.array([], pa.string()), pa.array([None, None], pa.string())):
        numbers, failed = parse_dates(column, form)
        assert not failed.any()
        assert list(numbers) == list(form.meanings)
        assert all(np.isnan(values).tolist() == [True] * len(column) for values in numbers.values())


@pytest.mark.parametrize("sign", ["1", "a", " ", "1 ", "a.", "12:", "1.", "1/", "ä", "\n1"])
def test_a_text_that_is_nearly_a_date_is_refused_at_once(sign):
    for start in ("", "1.1.2020 ", "2020-01-01", "1 May 2020,", "May 1, 2020 ", "10:00 "):
        assert class_of((start + sign * 48)[:47] + "!") is None
    assert parse_one(sign * 10**6, DateForm("dotted")) is None
