"""The separator is found by rows that agree with each other."""

from pathlib import Path

import pytest

from granulearn.tables import TableError
from granulearn.tables.io.text_header import Header
from granulearn.tables.io.text_separator import (
    announced_separator,
    check_separator,
    header_with,
    likely_separator,
)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,0\n", ";"),
        ("Größe, in cm;Preis, in €\n1;2\n3;4\n", ";"),
        ("a\tb\nx, y\tz\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ('"a;b",c\n"1;2",3\n', ","),
        ("text\nhello, world\nfoo\n", ";"),
        ("text\nfoo\n", ","),
        ("a,b\n", ","),
        ("a,b\n1,2,,\n,,,,\n3,4\n", ","),
        ("a,b,c\n" + "1,2,3\n" * 30 + "broken\n", ","),
        ("x;y;note, or not\n" + "1;2;a, b, c\n3;4;d\n" * 9, ";"),
        ("\n\na;b\n1;2\n", ";"),
    ],
)
def test_the_separator_that_divides_rows_alike_is_taken(text, separator):
    assert likely_separator(text.encode(), Path("t")) == (separator, Header())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Report\na;b\n1;2\n3;4\n", (";", Header(1))),
        ("# one, two\n# three\n\na;b\nx;y\nu;v\n", (";", Header(2))),
        ("Report, 2020\na\tb\tc\n1\t2,5\t3\n4\t5,5\t6\n", ("\t", Header(1))),
        ("a\tb\nr1\t1\t2\nr2\t3\t4\n", ("\t", Header(lacks_name=True))),
        ("a b\n1 x\n2 y\n", (" ", Header())),
        ("a b\nr1 1 2\nr2 3 4\n", (" ", Header(lacks_name=True))),
        # No sign of a title, nor of cells between blanks.
        ("text\nhello, world\nbye, moon\nfoo, bar\n", (";", Header())),
        ("full name\njohn smith\nann lee\n", (",", Header())),
        ("a b\n1 2\nx\n", (",", Header())),
    ],
)
def test_titles_names_of_rows_and_blanks_are_found_where_there_are_signs(text, expected):
    assert likely_separator(text.encode(), Path("t")) == expected


def test_columns_that_blanks_align_are_refused():
    text = b"name   size\nfoo     1.5\nbarbar  2\n"
    with pytest.raises(TableError, match="t: columns seem to be aligned by several blanks"):
        likely_separator(text, Path("t"))


def test_titles_are_found_if_the_separator_is_known():
    assert header_with(b"Report\na^b\n1^2\n3^4\n", "^") == Header(1)
    assert header_with(b"a^b\n1^2\n3^4\n", "^") == Header()
    assert header_with(b"a^b\n1^2^3^4\n3^4^5^6\n", "^") == Header()


def test_a_very_wide_header_is_refused_before_it_is_divided():
    with pytest.raises(TableError, match="has 200,001 columns"):
        likely_separator(b";" * 200_000 + b"\n1\n", Path("t"))


def test_an_announced_separator_is_taken_with_its_line():
    assert announced_separator(b"sep=;\r\na,b\n") == (";", 7)
    assert announced_separator(b"SEP=|\n") == ("|", 6)
    assert announced_separator(b"separate;b\n") is None


@pytest.mark.parametrize(
    ("stated", "taken"), [("^", "^"), ("\\t", "\t"), ("tab", "\t"), (" ", " ")]
)
def test_a_stated_separator_is_one_character(stated, taken):
    assert check_separator(stated) == taken


@pytest.mark.parametrize("stated", ["", ",,", '"', "\n", "§"])
def test_other_separators_are_refused(stated):
    with pytest.raises(TableError, match="is not one character"):
        check_separator(stated)
