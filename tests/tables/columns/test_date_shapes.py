"""Dates that are read by their shape are those of each text alone."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse.cells import EXACT_MARKS, NULL_TOKENS, as_text
from granulearn.tables.parse.date_shapes import moments_by_shape
from granulearn.tables.parse.dates import CLOCK, FAMILIES, DateForm, read_moments
from tests.tables.columns.cell_texts import DATES, columns_of, shapes_of_few

forms = st.builds(DateForm, st.sampled_from(FAMILIES), st.booleans(), st.booleans())
MANY = 300


@given(columns_of(DATES), forms)
def test_a_date_by_its_shape_is_the_date_alone(column, form):
    text = as_text(column)
    with shapes_of_few():
        moments, known = moments_by_shape(text, form)
    expected, _ = read_moments(text, form)
    assert moments[:, known].tolist() == expected[:, known].tolist()


@pytest.mark.parametrize(
    ("text", "form"),
    [("2024-02-29", DateForm("year first")), ("2024-05", DateForm("year first")),
     ("2024-02-29T10:30:15.5Z", DateForm("year first", has_clock=True)),
     ("2024-02-29 10:30-03:30", DateForm("year first", has_clock=True)),
     ("2024-02-29 10:30+05", DateForm("year first", has_clock=True)),
     ("31.12.1999", DateForm("dotted")), ("1. 5. 68", DateForm("dotted")),
     ("1. 5. 69", DateForm("dotted")), ("31/12/1999", DateForm("year last")),
     ("12/31/1999", DateForm("year last", day_first=False)),
     ("05. März 2024", DateForm("day, name")), ("May 5th, 2024", DateForm("name, day")),
     ("12:30:01.1234567 am", DateForm(CLOCK)), ("9:05 pm", DateForm(CLOCK))],
)  # fmt: skip
def test_dates_as_people_write_them_are_known_by_their_shape(text, form):
    column = pa.array([text] * MANY)
    moments, known = moments_by_shape(column, form)
    assert known.all()
    assert moments.tolist() == read_moments(column, form)[0].tolist()


@pytest.mark.parametrize(
    ("text", "form"),
    [("2023-02-29", DateForm("year first")), ("0000-01-01", DateForm("year first")),
     ("2024-13-01", DateForm("year first")), ("2024-01-00", DateForm("year first")),
     ("13/13/2024", DateForm("year last")), ("7 Foo 2024", DateForm("day, name")),
     ("24:00", DateForm(CLOCK)), ("13:00 pm", DateForm(CLOCK)), ("12:60", DateForm(CLOCK)),
     ("2024-01-01T10:00+24:00", DateForm("year first")), ("1.2.2024", DateForm("year first"))],
)  # fmt: skip
def test_of_what_the_calendar_does_not_have_nothing_is_said(text, form):
    _, known = moments_by_shape(pa.array([text] * MANY), form)
    assert not known.any()


@pytest.mark.parametrize("mark", [*NULL_TOKENS, *EXACT_MARKS])
def test_no_mark_is_a_date_in_any_form(mark):
    for family in FAMILIES:
        _, misfit = read_moments(pa.array([mark, mark.upper()]), DateForm(family))
        assert misfit.all()
