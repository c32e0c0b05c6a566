"""A malformed CSV file gets an error that names file and line."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.datasets.csv_structure import TableError, read_csv_cells


def read(path, **options):
    return read_csv_cells(path, **{"encoding": "utf-8-sig", "separator": None, **options})


@pytest.fixture
def file(tmp_path):
    return tmp_path / "some.csv"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"some\.csv is empty"),
        (b"\n \n", r"some\.csv is empty"),
        (b"a,b\n", r"some\.csv has a header but no data rows"),
        (b"a,b\n1,2\n3\n", r"some\.csv, line 3: 1 cells, but the header has 2"),
        (b"a,b\n1,2\n\n3,4,5\n", r"some\.csv, line 4: 3 cells, but the header has 2"),
        (b'a,b\n"x\ny",2\n3,4,\n', r"some\.csv, line 4: 3 cells"),
        (b"a,b,a\n1,2,3\n", r"some\.csv: columns 1 and 3 are both named 'a'"),
        (b"a,b, a\n1,2,3\n", "columns 1 and 3 are both named 'a'"),
        (b",a,b\n0,1,2\n", r"column 1 has no name.*index=False"),
        (b"a,b\n1,2\ncaf\xe9,4\n", r"some\.csv, line 3: byte 0xe9 is not UTF-8 text.*latin-1"),
        (b'a,b\n1,2\n"3,4\n', r"some\.csv, line 3"),
    ],
)
def test_a_malformed_file_is_refused_with_the_place(file, content, message):
    file.write_bytes(content)
    with pytest.raises(TableError, match=message):
        read(file)


def test_the_right_encoding_makes_the_file_readable(file):
    file.write_bytes("a,b\ncafé,4\n".encode("latin-1"))
    assert read(file, encoding="latin-1").frame["a"].tolist() == ["café"]


def test_an_unknown_encoding_is_named(file):
    file.write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="encoding='utf-99'"):
        read(file, encoding="utf-99")


def test_a_byte_order_mark_is_no_part_of_the_first_name(file):
    file.write_text("a,b\n1,2\n", encoding="utf-8-sig")
    assert list(read(file).frame.columns) == ["a", "b"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_that_of_the_header(file, separator):
    file.write_text(f"a{separator}b\n1{separator}2\n")
    pd.testing.assert_frame_equal(read(file).frame, pd.DataFrame({"a": [1], "b": [2]}))


def test_a_stated_separator_wins(file):
    file.write_text("a,x;b,y\n1;2\n")
    assert list(read(file, separator=";").frame.columns) == ["a,x", "b,y"]


def test_rows_know_their_lines(file):
    file.write_text('a,b\n1,x\n\n2,"two\nlines"\n3,z\n')
    assert read(file).lines.tolist() == [2, 5, 6]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=6).filter(
    lambda text: text == text.strip()
)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=8))
def test_what_pandas_writes_is_read_with_one_line_number_per_row(tmp_path_factory, rows):
    file = tmp_path_factory.mktemp("tables") / "some.csv"
    frame = pd.DataFrame(rows, columns=["first", "second"]).assign(number=range(len(rows)))
    frame.to_csv(file, index=False)
    found = read(file)
    assert found.frame["number"].tolist() == list(range(len(rows)))
    assert len(found.lines) == len(rows)
