"""Text files: a changed label changes no other byte, and changing it back changes none."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io import text as text_io
from tests.tables.nasty_tables import written
from tests.tables.rewrite.rewritten_tables import read, rewritten

ENCODINGS = {
    "utf-8": "aé漢\u2028\ufeff",
    "utf-8-sig": "aé漢\u2028\ufeff",
    "utf-16": "aé漢\U0001f600",
    "utf-32": "aé漢\U0001f600",
    "cp1252": "aé€ß",
    "cp932": "a漢表ソ",  # the second bytes of two letters are ASCII
    "gb18030": "aé漢€",
}


@st.composite
def text_files(draw):
    """Draw rows of two columns, new cells for some, and a function that writes such rows."""
    encoding = draw(st.sampled_from(sorted(ENCODINGS)))
    separator, newline = draw(st.sampled_from(",;\t|")), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    quote_all = draw(st.booleans())
    cell = st.text(ENCODINGS[encoding] + "\",;\t|\n\r 'x1.0=", min_size=1, max_size=5)
    cell = cell.filter(lambda text: text.strip(" \ufeff\u2028\r\n\t"))
    rows = draw(st.lists(st.lists(cell, min_size=2, max_size=2), min_size=1, max_size=6))
    changed = draw(st.dictionaries(st.integers(0, len(rows) - 1), cell, min_size=1, max_size=3))
    rows += [["plain", "cells"], ["show", "the style"]]

    def content(rows: list[list[str]]) -> bytes:
        text = written(["first", "second"], rows, separator, newline, quote_all=quote_all)
        return text.encode(encoding)

    return rows, changed, content, {"separator": separator, "encoding": encoding}


@given(text_files(), st.sampled_from([1, 20, 2**20]))
def test_a_changed_cell_changes_no_other_byte_and_changing_back_none(file, chunk):
    rows, changed, content, options = file
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_io, "CHUNK_BYTES", chunk)
        there = rewritten(content(rows), "t.csv", "second", changed, **options)
    new_rows = [[first, changed.get(row, cell)] for row, (first, cell) in enumerate(rows)]
    assert there == content(new_rows)
    assert read(there, "t.csv", **options) == (["first", "second"], new_rows)
    back = {row: rows[row][1] for row in changed}
    assert rewritten(there, "t.csv", "second", back, **options) == content(rows)


@given(text_files(), st.data())
def test_dropped_rows_are_gone_with_their_line_and_no_other_byte(file, data):
    rows, _, content, options = file
    drop = data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1, max_size=len(rows) - 1))
    kept = [row for number, row in enumerate(rows) if number not in drop]
    assert rewritten(content(rows), "t.csv", "first", {}, drop, **options) == content(kept)


CONTENT = b'# a title, too\r\n\r\na;b ;"c"\r\n1;x;"u"\r\n\n2; y;"v ""w"""\r 3;;"";  ;\n\n4;z;u'


@pytest.mark.parametrize("cells", [{}, {0: "x"}, {1: " y"}])
def test_without_a_change_the_file_is_copied(cells):
    assert rewritten(CONTENT, "t.csv", "b", cells, separator=";") == CONTENT


def test_titles_blank_lines_surplus_cells_and_line_ends_stay():
    result = rewritten(CONTENT, "t.csv", "b", {0: "new", 2: "b;c", 3: "n"}, separator=";")
    expected = CONTENT.replace(b"1;x", b"1;new").replace(b" 3;;", b' 3;"b;c";')
    assert result == expected.replace(b"4;z", b"4;n")


def test_a_quotation_mark_inside_of_a_cell_does_not_move_the_others():
    content = b'size,label\n5" disk,x\n"3"" disk",y\n'
    assert rewritten(content, "t.csv", "label", {1: "z", 0: "w"}) == (
        b'size,label\n5" disk,w\n"3"" disk",z\n'
    )


def test_the_other_cells_of_a_column_decide_about_quotes_that_are_no_longer_needed():
    bare, marked = b'a\nx\n"p,q"\ny\n', b'a\n"x"\n"p,q"\n"y"\n'
    assert rewritten(bare, "t.csv", "a", {1: "z"}, separator=",") == b"a\nx\nz\ny\n"
    assert rewritten(marked, "t.csv", "a", {1: "z"}, separator=",") == b'a\n"x"\n"z"\n"y"\n'


def test_two_codes_of_one_character_are_refused_since_a_byte_would_change():
    other_code = b"\x87\x90"  # the usual one of this character is 81 e0
    assert other_code.decode("cp932").encode("cp932") != other_code
    with pytest.raises(TableError, match="save the table in UTF-8"):
        rewritten(b"a,b\n" + other_code + b",x\n", "t.csv", "b", {0: "表"}, encoding="cp932")


@pytest.mark.parametrize(("encoding", "label"), [("cp1252", "漢"), ("ascii", "é"), ("cp932", "é")])
def test_a_label_that_the_encoding_cannot_hold_is_named_with_it(encoding, label):
    with pytest.raises(TableError) as raised:
        rewritten(b"a,b\n1,x\n2,y\n", "t.csv", "b", {0: label}, encoding=encoding)
    assert encoding in str(raised.value)
    assert repr(label) in str(raised.value)


def test_a_cell_of_a_blank_row_that_is_too_short_is_refused_but_the_row_can_be_dropped():
    content = b"a,b,c\n1,2,x\n ,\n4,5,z\n"
    with pytest.raises(TableError, match="line 3: the row is blank"):
        rewritten(content, "t.csv", "a", {1: "9"})
    assert rewritten(content, "t.csv", "a", {}, {1}) == b"a,b,c\n1,2,x\n4,5,z\n"


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = b"a comment"
        archive.writestr("folder/", b"")
        member = zipfile.ZipInfo("folder/t.csv", (2001, 2, 3, 4, 5, 6))
        member.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(member, content)
        archive.writestr("__MACOSX/t.csv", b"something else")
    return file.getvalue()


PACKERS = {
    ".gz": (gzip.compress, gzip.decompress),
    ".bz2": (lambda content: bz2.compress(content, 3), bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
    ".zst": (
        lambda content: pa.compress(content, "zstd", asbytes=True),
        lambda packed: pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read(),
    ),
    ".zip": (zipped, lambda packed: zipfile.ZipFile(io.BytesIO(packed)).read("folder/t.csv")),
}


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_compressed_text_is_compressed_again_in_the_same_way(ending, encoding):
    pack, unpack = PACKERS[ending]
    text = "a,b\r\n1,x\r\n" + 1000 * "2,y\r\n"
    packed = pack(text.encode(encoding))
    name = f"t.csv{ending}"
    result = rewritten(packed, name, "b", {0: "z"}, {1})
    expected = text.replace("1,x", "1,z").replace("2,y\r\n", "", 1)
    assert unpack(result) == expected.encode(encoding)
    assert result == rewritten(packed, name, "b", {0: "z"}, {1})
    assert rewritten(packed, name, "b", {}) == packed
    if ending == ".zip":
        _assert_same_members(packed, result)


def _assert_same_members(before: bytes, after: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        assert new.comment == old.comment
        assert new.namelist() == old.namelist()
        for was, now in zip(old.infolist(), new.infolist(), strict=True):
            assert (was.date_time, was.compress_type) == (now.date_time, now.compress_type)
            assert was.external_attr == now.external_attr
        assert new.read("__MACOSX/t.csv") == b"something else"
