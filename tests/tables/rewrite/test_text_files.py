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
from tests.tables.rewrite.rewritten_tables import (
    changed_files,
    in_quotes,
    needs_quotes,
    read,
    rewritten,
    text_files,
)


@given(changed_files(), st.sampled_from([1, 20, 2**20]))
def test_a_changed_cell_changes_no_other_byte(changed, chunk):
    file, place, cells = changed
    column = file.names[place]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_io, "CHUNK_BYTES", chunk)
        result = rewritten(file.content(), "t.csv", column, cells, **file.reading)
    possible = {(row, place): {text, in_quotes(text)} for row, text in cells.items()}
    for (row, _), pieces in possible.items():
        old = file.written[row][place]
        if cells[row] == file.rows[row][place]:
            pieces &= {old}
        if needs_quotes(cells[row], file.separator, len(file.names)):
            pieces -= {cells[row]}
        elif not old.startswith('"'):
            pieces -= {in_quotes(cells[row])}
        elif not needs_quotes(file.rows[row][place], file.separator, len(file.names)):
            pieces -= {cells[row]}
    assert result in _all_files(file, possible)
    expected = [
        [cells.get(i, text) if j == place else text for j, text in enumerate(row)]
        for i, row in enumerate(file.rows)
    ]
    assert read(result, "t.csv", **file.reading) == (file.names, expected)


def _all_files(file, possible):
    """Return every file with one of the possible pieces in each place."""
    choices = [{}]
    for where, pieces in possible.items():
        choices = [{**choice, where: piece} for choice in choices for piece in pieces]
    return [file.content(changed=choice) for choice in choices]


@given(changed_files())
def test_changing_back_gives_the_bytes_that_were(changed):
    file, place, cells = changed
    column, content = file.names[place], file.content()
    there = rewritten(content, "t.csv", column, cells, **file.reading)
    old = {row: file.rows[row][place] for row in cells}
    assert rewritten(there, "t.csv", column, old, **file.reading) == content


@given(text_files(), st.data())
def test_dropped_rows_are_gone_with_their_line_and_no_other_byte(file, data):
    numbers = st.integers(0, len(file.rows) - 1)
    drop = data.draw(st.sets(numbers, min_size=1, max_size=len(file.rows) - 1))
    content = file.content()
    result = rewritten(content, "t.csv", file.names[0], {}, drop, **file.reading)
    kept = [row for i, row in enumerate(file.rows) if i not in drop]
    assert read(result, "t.csv", **file.reading) == (file.names, kept)
    if len(file.rows) - 1 not in drop:
        assert result == file.content(drop=drop)


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


@pytest.mark.parametrize(
    ("encoding", "label"), [("cp1252", "漢"), ("ascii", "é"), ("cp932", "é"), ("utf-8", "\ud800")]
)
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
def test_packed_text_is_packed_again_in_the_same_way(ending, encoding):
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
