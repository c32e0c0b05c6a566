"""The header is what names the rows below it; without a sign of that, it is the first row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.io.text_header import (
    Header,
    lacking_header,
    names_numbers,
    share_of_fitting,
    unusual_header,
)


def rows_of(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.split("/")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Report/a,b/1,2/3,4", Header(1)),
        ("Report/a,b,c/x,y,z/u,v,w", Header(1)),
        ("Report//by me/a,b,c/x,y,z/u,v,w", Header(2)),
        ("Report,2020/a,b,c,d/1,2,3,4/5,6,7,8", Header(1)),
        ("# Report,2020/a,b,c,d/u,v,w,x/y,z,u,v", Header(1)),
        ("# Years/name,2019,2020/a,1,2/b,2,3", Header(1)),
        ("Report/,a,b/0,1,2/1,3,4", Header(1)),
        ("a,b/r,1,2/s,3,4", Header(lacks_name=True)),
        ("a,b/1,x,2/2,x,4", Header(lacks_name=True)),
        # Names that are too few for the rows: the first data row is no header.
        ("a,b/1,2,3,4/5,6,7,8", None),
        ("a,b/u,v,w,x/y,z,u,v", None),
        # Decimals with a comma, not quoted.
        ("a,b/1,5,2/3,5,4", None),
        ("a,b/r,1,2/r,3,4", None),
        # A text with a comma in each row.
        ("text/hello,world/bye,moon", None),
        ("Report/a,a,b/1,2,3/4,5,6", None),
        ("Report/a,b/1,2/1/2/3", None),
        ("Report/a/b", None),
        ("Report", None),
    ],
)
def test_a_header_that_is_not_the_first_full_row_needs_signs(text, expected):
    assert unusual_header(rows_of(text)) == expected


@given(st.integers(1, 20), st.integers(3, 6), st.integers(1, 300), st.integers(0, 4))
def test_any_number_of_titles_is_found_above_enough_rows(n_titles, width, n_rows, n_broken):
    titles = [[f"title {number}"] for number in range(n_titles)]
    names = [[f"c{place}" for place in range(width)]]
    rows = [[str(place) for place in range(width)]] * (n_rows + n_titles + 100)
    broken = [["x"]] * n_broken
    assert unusual_header([*titles, *names, *rows[:20], *broken, *rows]) == Header(n_titles)


def test_rows_that_only_lack_blank_cells_fit():
    assert share_of_fitting(rows_of("a,b/1,2,,/,/1/x,y")) == 0.8


def test_numbers_below_a_name_are_a_sign_of_a_header():
    assert names_numbers(rows_of("a,b/x,1/y,2,5"))
    assert names_numbers(rows_of("a,b/x,/y,2"))
    assert not names_numbers(rows_of("a,7/x,1/y,2"))
    assert not names_numbers(rows_of("a,b/x,y/u,v"))


def test_names_of_rows_are_all_there_and_differ():
    assert lacking_header(rows_of("a,b/,1,2/s,3,4")) is None
    assert lacking_header(rows_of("a,b/r,1,2")) is None
    assert lacking_header(rows_of("a,b/r,1,2/s,3,4/t,5")) is None
