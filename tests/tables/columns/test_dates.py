"""Dates are read back in every form, as pandas reads them, and as files store them."""

import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.tables.parse.cells import as_text
from granulearn.tables.parse.dates import (
    CLOCK,
    FAMILIES,
    DateForm,
    date_class,
    names_of_dates,
    numbers_of_moments,
    read_moments,
    read_stored_dates,
    stored_class,
    stored_clocks,
)
from granulearn.tables.parse.numbers import number_class

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

moments = st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2200, 12, 31))


@st.composite
def written_dates(draw):
    """Draw a moment, its text, the form of the text, and how it was written."""
    family = draw(st.sampled_from(sorted(DAYS)))
    style = draw(st.sampled_from(DAYS[family])) + draw(st.sampled_from(CLOCKS))
    moment = draw(moments)
    text = moment.strftime(style.replace("%q", str(moment.day)))
    return moment, text, DateForm(family, True, "%M" in style), style


def told_by_pandas(moment: datetime.datetime, zone: float = 0.0) -> dict[str, float]:
    """Return what a moment becomes, by pandas and Python."""
    stamp = pd.Timestamp(moment).as_unit("us")
    midnight = stamp.normalize()
    utc = (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return {
        "year": stamp.year,
        "month": stamp.month,
        "day of year": stamp.day_of_year,
        "weekday": stamp.isoweekday(),
        "hour": (stamp - midnight).total_seconds() / 3600,
        "days since 1970": utc - zone / 24,
    }


def shortened(moment: datetime.datetime, style: str) -> datetime.datetime:
    """Return the moment as far as a style writes it."""
    kept = {"hour": "%M", "minute": "%M", "second": "%S", "microsecond": "%f"}
    return moment.replace(**{part: 0 for part, sign in kept.items() if sign not in style})


def read_dates(text: pa.Array, form: DateForm) -> tuple[dict[str, np.ndarray], np.ndarray]:
    moments, misfit = read_moments(text, form)
    return numbers_of_moments(moments, form), misfit


def read_one(text: str, form: DateForm) -> dict[str, float] | None:
    numbers, misfit = read_dates(pa.array([text]), form)
    return None if misfit[0] else {name: values[0] for name, values in numbers.items()}


def assert_same(found: dict[str, float], expected: dict[str, float]):
    assert found is not None
    for name, value in found.items():
        assert value == pytest.approx(expected[name], rel=1e-14, abs=1e-9), name


@given(written_dates())
def test_every_date_in_every_form_is_what_pandas_says(case):
    moment, text, form, style = case
    found = read_one(text, form)
    expected = told_by_pandas(shortened(moment, style))
    assert_same(found, expected)
    names = {name.removeprefix("x: ") for name in names_of_dates("x", form)}
    assert set(found) == names
    for exact in ("year", "month", "day of year", "weekday"):
        assert found[exact] == expected[exact]


@given(written_dates())
def test_the_class_of_a_date_is_its_family_and_its_clock(case):
    moment, text, form, style = case
    found = date_class(text)
    at_midnight = shortened(moment, style).time() == datetime.time()
    assert (found.family, found.has_clock) == (form.family, not at_midnight)
    if form.family == "year last":
        assert found.order == ("day" if moment.day > 12 else "either")
    else:
        assert found.order == ""


@given(written_dates())
def test_no_date_is_a_number(case):
    assert number_class(case[1]) is None


@given(written_dates(), st.sampled_from(FAMILIES))
def test_a_date_of_another_family_is_a_misfit(case, other):
    _, text, form, _ = case
    assert (read_one(text, DateForm(other)) is None) == (other != form.family)


@given(moments, st.integers(0, 23), st.sampled_from([0, 30, 45]), st.booleans(), st.booleans())
def test_running_days_are_counted_in_utc_and_the_rest_where_the_clock_is(
    moment, hours, minutes, west, colon
):
    zone = f"{'-' if west else '+'}{hours:02}{':' if colon else ''}{minutes:02}"
    found = read_one(
        moment.strftime(f"%Y-%m-%dT%H:%M:%S{zone}"), DateForm("year first", has_clock=True)
    )
    shift = (hours + minutes / 60) * (-1 if west else 1)
    assert_same(found, told_by_pandas(moment.replace(microsecond=0), shift))


@pytest.mark.parametrize("zone", ["Z", " UTC", "+00", "+00:00"])
def test_names_of_utc_are_no_shift(zone):
    form = DateForm("year first", has_clock=True)
    assert read_one(f"2024-05-06 07:08{zone}", form) == read_one("2024-05-06 07:08", form)


@pytest.mark.parametrize(
    "text",
    ["31.02.2024", "2023-02-29", "29 Feb 2023", "Feb 30, 2024", "30/02/2024", "0000-01-01",
     "2024-13-01", "2024-00-10", "2024-01-00", "12.31.2024", "31 Foo 2024", "24:00", "12:60",
     "10:30:60", "13:00 pm", "2024-01-01T25:00", "2024-01-01T10:00+24:00", "2024-01-01T10:00+01:60",
     "2024-01-01T10:00+01:", "2024", "20240101", "1-2", "1.2.3.4", "2024-01-01x", "x2024-01-01",
     "2024/01-02", "1/2-2024", "٢٠٢٤-٠١-٠١", "5 May", "10", ""],
)  # fmt: skip
def test_what_the_calendar_and_the_clock_do_not_have_is_no_date(text):
    assert date_class(text) is None
    for family in FAMILIES:
        for day_first in (True, False):
            assert read_one(text, DateForm(family, day_first)) is None


@given(st.dates(datetime.date(1600, 1, 1), datetime.date(2200, 12, 31)), st.sampled_from("/-"))
def test_day_and_month_are_told_apart_only_by_what_no_month_can_be(date, sign):
    day_first = date.strftime(f"%d{sign}%m{sign}%Y")
    month_first = date.strftime(f"%m{sign}%d{sign}%Y")
    assert date_class(day_first).order == ("day" if date.day > 12 else "either")
    assert date_class(month_first).order == ("month" if date.day > 12 else "either")
    expected = told_by_pandas(datetime.datetime(date.year, date.month, date.day))
    assert_same(read_one(day_first, DateForm("year last", day_first=True)), expected)
    assert_same(read_one(month_first, DateForm("year last", day_first=False)), expected)
    if date.day > 12:
        assert read_one(day_first, DateForm("year last", day_first=False)) is None


@given(st.dates(datetime.date(1969, 1, 1), datetime.date(2068, 12, 31)))
def test_years_of_two_digits_are_those_of_posix(date):
    expected = told_by_pandas(datetime.datetime(date.year, date.month, date.day))
    for style, family in (("%d.%m.%y", "dotted"), ("%d/%m/%y", "year last"), ("%d-%b-%y", None)):
        found = read_one(date.strftime(style), DateForm(family or "day, name"))
        assert_same(found, expected)


@pytest.mark.parametrize(("name", "month"), MONTHS_ABROAD.items())
def test_months_have_names_in_three_languages(name, month):
    assert read_one(f"3 {name} 2024", DateForm("day, name"))["month"] == month


def test_a_month_alone_is_its_first_day():
    form = DateForm("year first")
    assert read_one("2024-05", form) == read_one("2024-05-01", form)


@given(st.times())
def test_a_time_alone_is_an_hour(time):
    expected = time.hour + time.minute / 60 + (time.second + time.microsecond / 1e6) / 3600
    found = read_one(time.isoformat(), DateForm(CLOCK, has_clock=True))
    assert found == {"hour": pytest.approx(expected, abs=1e-9)}
    assert date_class(time.isoformat()).family == CLOCK


@pytest.mark.parametrize(
    ("text", "hour"),
    [("12:00 AM", 0), ("12:30 am", 0.5), ("1:00 p.m.", 13), ("12:00pm", 12), ("0:15", 0.25)],
)
def test_midnight_and_noon_of_twelve_hours(text, hour):
    assert read_one(text, DateForm(CLOCK)) == {"hour": hour}


STORED = {
    "date32": pa.date32(),
    "date64": pa.date64(),
    **{f"timestamp {unit}": pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"zoned {unit}": pa.timestamp(unit, "America/New_York") for unit in ("s", "ms", "us", "ns")},
    "offset": pa.timestamp("us", "+05:30"),
    **{f"time32 {unit}": pa.time32(unit) for unit in ("s", "ms")},
    **{f"time64 {unit}": pa.time64(unit) for unit in ("us", "ns")},
}
# Earlier, zones differed from UTC by odd seconds, which their text leaves out.
recent_moments = st.one_of(
    st.datetimes(datetime.datetime(1920, 1, 1), datetime.datetime(2200, 12, 31)),
    st.dates(datetime.date(1920, 1, 1), datetime.date(2200, 12, 31)).map(
        lambda day: datetime.datetime(day.year, day.month, day.day)
    ),
)


@pytest.mark.parametrize("kind", STORED)
@settings(max_examples=20)
@given(st.lists(st.one_of(st.none(), recent_moments), max_size=6))
def test_stored_dates_are_what_their_texts_are(kind, drawn):
    stored = STORED[kind]
    times = pa.types.is_time(stored)
    values = [moment and (moment.time() if times else moment) for moment in drawn]
    if pa.types.is_date(stored):
        values = [moment and moment.date() for moment in drawn]
    exact = pa.array(values, None if values and not times else pa.time64("us") if times else stored)
    column = exact.cast(stored, safe=False) if values else pa.array([], stored)
    clocks = stored_clocks(column)
    form = DateForm(stored_class(stored).family, has_clock=bool(clocks.any()))
    text = as_text(column)
    numbers, misfit = read_dates(text, form)
    found = read_stored_dates(column, form)
    assert not misfit.any()
    assert list(found) == list(numbers)
    for name, expected in numbers.items():
        np.testing.assert_array_equal(found[name], expected)
    for cell, has_clock in zip(text.to_pylist(), clocks.tolist(), strict=True):
        assert cell is None or date_class(cell) == stored_class(stored, has_clock)


@given(moments)
def test_stored_dates_of_all_centuries_are_exact_in_every_unit(moment):
    form = DateForm("year first", has_clock=True)
    for unit in ("s", "ms", "us"):
        column = pa.array([moment], pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
        found = read_stored_dates(column, form)
        text, _ = read_dates(as_text(column), form)
        assert {name: values[0] for name, values in found.items()} == {
            name: values[0] for name, values in text.items()
        }


def test_the_last_nanosecond_of_a_day_belongs_to_it():
    column = pa.array([-1, 86_400 * 10**9 - 1], pa.timestamp("ns"))
    found = read_stored_dates(column, DateForm("year first", has_clock=True))
    assert found["year"].tolist() == [1969, 1970]
    assert found["day of year"].tolist() == [365, 1]


def test_stored_dates_with_a_zone_are_local_and_run_in_utc():
    moment = datetime.datetime(2024, 7, 1, 0, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    column = pa.array([moment], pa.timestamp("s", "Europe/Berlin"))
    found = read_stored_dates(column, DateForm("year first", has_clock=True))
    assert (found["month"][0], found["hour"][0]) == (7, 0.5)
    assert found["days since 1970"][0] == moment.timestamp() / 86400


def test_stored_dates_far_away_and_slices_are_read():
    column = pa.array([None, 2**60, 0, None], pa.timestamp("s"))
    found = read_stored_dates(column, DateForm("year first"))
    assert found["year"][2] == 1970
    assert np.isnan(found["year"][[0, 3]]).all()
    part = read_stored_dates(column[2:], DateForm("year first"))
    for name, values in found.items():
        np.testing.assert_array_equal(part[name], values[2:])


@pytest.mark.parametrize("family", FAMILIES)
def test_columns_without_dates_are_read_as_missing(family):
    for column in (pa.array([], pa.string()), pa.array([None, None], pa.string())):
        numbers, misfit = read_dates(column, DateForm(family, has_clock=True))
        assert not misfit.any()
        assert len(numbers) == len(names_of_dates("x", DateForm(family, has_clock=True)))
        for values in numbers.values():
            assert np.isnan(values).all()
            assert len(values) == len(column)


@pytest.mark.parametrize("sign", ["1", "a", " ", "1 ", "a.", "12:", "1.", "1/", "ä", "\n1"])
def test_a_text_that_is_nearly_a_date_is_refused_at_once(sign):
    for start in ("", "1.1.2020 ", "2020-01-01", "1 May 2020,", "May 1, 2020 ", "10:00 "):
        assert date_class((start + sign * 48)[:47] + "!") is None
    assert date_class(sign * 10**6) is None


@pytest.mark.parametrize("years", [(1969, 1971), (1900, 1960), (1, 9999)])
def test_many_dates_are_the_numbers_of_each(years):
    """Those of a few decades are taken from a table."""
    first, last = (datetime.date(year, 1, 1).toordinal() for year in years)
    days = (
        np.random.default_rng(0).integers(first, last, 400) - datetime.date(1970, 1, 1).toordinal()
    )
    moments = np.stack([days.astype(float), np.full(400, 3600.0), np.zeros(400)])
    moments[:2, 7] = np.nan
    form = DateForm("year first", has_clock=True)
    found = numbers_of_moments(moments, form)
    each = [numbers_of_moments(moments[:, [row]], form) for row in range(400)]
    for name, values in found.items():
        np.testing.assert_array_equal(values, [numbers[name][0] for numbers in each])
