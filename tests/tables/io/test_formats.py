"""Formats are known by their first bytes."""

import zipfile
from pathlib import Path

import pytest

from granulearn.tables import TableError
from granulearn.tables.io.formats import Format, format_of, refuse_foreign, refuse_packed

SHOWN = Path("t.csv")


@pytest.mark.parametrize(
    ("beginning", "found"),
    [
        (b"PAR1\x15\x04", Format.PARQUET),
        (b"ARROW1\0\0", Format.ARROW),
        (b"\xff\xff\xff\xff\x10", Format.ARROW),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Format.WORKBOOK),
        (b"\x1f\x8b\x08\0", Format.PACKED),
        (b"BZh91AY&SY\x01", Format.PACKED),
        (b"\xfd7zXZ\0", Format.PACKED),
        (b"\x28\xb5\x2f\xfd\0", Format.PACKED),
        (b"a,b\n1,2\n", Format.TEXT),
        (b"\xff\xfea\0,\0", Format.TEXT),
        (b"PAR1,x\n", Format.TEXT),
    ],
)
def test_marks_decide(beginning, found):
    assert format_of(SHOWN, SHOWN, beginning) is found


@pytest.mark.parametrize(
    ("member", "found"),
    [
        ("xl/workbook.xml", Format.WORKBOOK),
        ("xl/workbook.bin", Format.WORKBOOK),
        ("content.xml", Format.WORKBOOK),
        ("t.csv", Format.PACKED),
    ],
)
def test_archives_are_looked_into(tmp_path, member, found):
    with zipfile.ZipFile(tmp_path / "t", "w") as archive:
        archive.writestr("mimetype", "")
        archive.writestr(member, "")
    assert format_of(tmp_path / "t", SHOWN, b"PK\x03\x04") is found


@pytest.mark.parametrize(
    ("beginning", "what"),
    [
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x93NUMPY\x01", "an array of NumPy"),
        (b"\x80\x04\x95", "a pickle of Python"),
        (b"\xef\xbb\xbf\n <HTML>", "a web page"),
        (b"<?xml version", "an XML document"),
        (b"a" * 257 + b"ustar", "tar"),
    ],
)
def test_what_is_no_table_is_named(beginning, what):
    with pytest.raises(TableError, match=what):
        refuse_foreign(SHOWN, beginning)


def test_what_is_packed_twice_is_refused_and_text_is_not():
    with pytest.raises(TableError, match="packed itself"):
        refuse_packed(SHOWN, b"\x1f\x8b\x08")
    refuse_packed(SHOWN, b"a,b\n")
