"""The form of a CSV file, or the line that is wrong."""

import pytest

from granulearn.datasets import TableError
from granulearn.learning.csv_scan import check_rows, line_of_row, scan_csv


@pytest.fixture(name="scan")
def make_scan(tmp_path):
    def scan(content):
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return scan_csv(path)

    return scan


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_the_header_has_most_of(scan, separator):
    form = scan(separator.join(["a", " b ", "c"]) + "\n")
    assert form.separator == separator
    assert form.names == ["a", "b", "c"]
    assert form.header[1] == " b "


def test_a_byte_order_mark_is_no_part_of_the_first_name(scan):
    assert scan(b"\xef\xbb\xbfa,b\n1,2\n").names == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"a,b\n1,\xe9\n", "line 2: the text is not in UTF-8"),
        ("a,b\n".encode("utf-16"), "or convert it (iconv -f utf-16 -t utf-8)"),
        ("a,b\n".encode("utf-16-le"), "iconv -f utf-16le "),
        ("a,b\n".encode("utf-16-be"), "iconv -f utf-16be "),
        ("a,b\n".encode("utf-32"), "iconv -f utf-32 "),
        (b"a,b\n1,2\n3,\0\n", "line 3: a zero byte"),
        (b"a,,c\n", "column 2 has no name"),
        (b"a,b,a\n", "columns 1 and 3 are both named 'a'"),
        (b'a,"b\n1,2\n', "line 1: a quotation mark in the header"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "line 3: a quotation mark is not closed"),
        (b'a,b\n"1"x,2\n', "line 2: a quotation mark is not closed, or stands inside"),
        (b'a,b\n"x\ny",2\n"3,4"\n', "line 4: 1 cells, but the header has 2"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(scan, content, said):
    with pytest.raises(TableError) as caught:
        scan(content)
    assert said in str(caught.value)


def test_two_broken_quotes_that_seem_to_pair_are_found(scan):
    with pytest.raises(TableError, match="line 2"):
        scan('a,b\n1,"two\n3,4\n5,"six\n')


def test_rows_of_another_length_are_found_without_quotes_too(scan):
    form = scan("a,b\n1,2\n\n3,4,5\n")
    with pytest.raises(TableError, match="line 4: 3 cells, but the header has 2"):
        check_rows(form)


def test_lines_are_counted_through_empty_lines_and_cells_of_several_lines(scan):
    form = scan('\na,b\n1,2\n\n"3\n3",4\n5,6\n')
    assert [line_of_row(form, row) for row in range(3)] == [3, 5, 7]
    with pytest.raises(IndexError):
        line_of_row(form, 3)


def test_a_long_file_is_scanned_beyond_its_first_block(tmp_path):
    path = tmp_path / "long.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 400_000 + b"3,\xff\n")
    with pytest.raises(TableError, match="line 400002: the text is not in UTF-8"):
        scan_csv(path)
