"""The dialect is that by which the first rows agree with each other."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.io.dialect import Dialect, find_dialect, fits
from granulearn.tables.messages import TableError


def found(text: str, stated: str | None = None) -> Dialect:
    return find_dialect(text.encode(), stated, Path("t"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", Dialect(",")),
        ("a;b\n1,5;2,5\n3,5;4,0\n", Dialect(";")),
        ("Größe, in cm;Preis, in €\n1;2\n3;4\n", Dialect(";")),
        ("a\tb\nx, y\tz\n", Dialect("\t")),
        ("a|b|c\n1|2|3\n", Dialect("|")),
        ('"a;b",c\n"1;2",3\n', Dialect(",")),
        ("text\nhello, world\nfoo\n", Dialect(";")),
        ("text\nfoo\n", Dialect(",")),
        ("a,b\n1,2,,\n,,,,\n3,4\n", Dialect(",")),
        ("a,b,c\n" + "1,2,3\n" * 30 + "broken\n", Dialect(",")),
        ("x;y;note, or not\n" + "1;2;a, b, c\n3;4;d\n" * 9, Dialect(";")),
        ("\n\na;b\n1;2\n", Dialect(";")),
        ("sep=;\r\na;b\n1,5;2\n", Dialect(";", 7)),
        ("Report\na;b\n1;2\n3;4\n", Dialect(";", n_titles=1)),
        ("# one, two\n# three\n\na;b\nx;y\nu;v\n", Dialect(";", n_titles=2)),
        ("Report, 2020\na\tb\tc\n1\t2,5\t3\n4\t5,5\t6\n", Dialect("\t", n_titles=1)),
        ("a\tb\nr1\t1\t2\nr2\t3\t4\n", Dialect("\t", lacks_name=True)),
        ("a b\n1 x\n2 y\n", Dialect(" ")),
        ("a b\nr1 1 2\nr2 3 4\n", Dialect(" ", lacks_name=True)),
        # No sign of a title, nor of cells between blanks.
        ("text\nhello, world\nbye, moon\nfoo, bar\n", Dialect(";")),
        ("full name\njohn smith\nann lee\n", Dialect(",")),
        ("a b\n1 2\nx\n", Dialect(",")),
    ],
)
def test_the_dialect_that_divides_rows_alike_is_taken(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "titles", "lacks_name"),
    [
        ("Report,,/a,b,c/x,y,z/u,v,w", 0, False),
        ("Report/a,b,c/x,y,z/u,v,w", 1, False),
        ("Report//by me/a,b,c/x,y,z/u,v,w", 2, False),
        ("Report,2020/a,b,c,d/1,2,3,4/5,6,7,8", 1, False),
        ("# Years/name,2019,2020/a,1,2/b,2,3", 1, False),
        ("Report/,a,b/0,1,2/1,3,4", 1, False),
        ("a,b/r,1,2/s,3,4", 0, True),
        ("a,b/1,x,2/2,x,4", 0, True),
        # Names that are too few for the rows: the first data row is no header.
        ("a,b/1,2,3,4/5,6,7,8", 0, False),
        # Decimals with a comma, not quoted; names of rows that are not there, or not unique.
        ("a,b/1,5,2/3,5,4", 0, False),
        ("a,b/,1,2/s,3,4", 0, False),
        ("a,b/r,1,2/r,3,4", 0, False),
        # A text with a comma in each row; names that are equal.
        ("text/hello,world/bye,moon", 0, False),
        ("Report/a,a,b/1,2,3/4,5,6", 0, False),
    ],
)
def test_a_header_that_is_not_the_first_full_row_needs_signs(text, titles, lacks_name):
    dialect = found(text.replace("/", "\n"), ",")
    assert dialect == Dialect(",", n_titles=titles, lacks_name=lacks_name)


@given(st.integers(1, 20), st.integers(3, 6), st.integers(1, 60), st.integers(0, 4))
def test_any_number_of_titles_is_found_above_enough_rows(n_titles, width, n_rows, n_broken):
    titles = [f"title {number}" for number in range(n_titles)]
    names = [",".join(f"c{place}" for place in range(width))]
    rows = [",".join(map(str, range(width)))] * (n_rows + n_titles + 100)
    text = "\n".join([*titles, *names, *rows[:20], *["x"] * n_broken, *rows])
    assert found(text) == Dialect(",", n_titles=n_titles)


def test_rows_that_only_lack_blank_cells_fit():
    rows = [["1", "2", "", " "], [""], [], ["x", "y"], ["1"], ["1", "2", "3"]]
    assert [fits(row, 2) for row in rows] == [True, True, True, True, False, False]


def test_columns_that_blanks_align_are_refused():
    with pytest.raises(TableError, match="t: columns seem to be aligned by several blanks"):
        found("name   size\nfoo     1.5\nbarbar  2\n")


def test_a_very_wide_header_is_refused_before_it_is_divided():
    with pytest.raises(TableError, match="has 200,001 columns"):
        found(";" * 200_000 + "\n1\n")


@pytest.mark.parametrize(("stated", "taken"), [("^", "^"), ("\\t", "\t"), ("tab", "\t")])
def test_a_stated_separator_is_one_character(stated, taken):
    assert found("a\n1\n", stated) == Dialect(taken)


@pytest.mark.parametrize("stated", ["", ",,", '"', "\n", "§"])
def test_other_separators_are_refused(stated):
    with pytest.raises(TableError, match="is not one character"):
        found("a\n1\n", stated)
