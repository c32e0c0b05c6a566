"""Bytes are checked while they are read, in pieces of any size."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io.text_bytes import TextBytes
from granulearn.tables.io.text_check import CheckedBytes
from granulearn.tables.io.text_encoding import Encoding
from granulearn.tables.io.text_source import TextSource


def read_all(path: Path, content: bytes, encoding: Encoding | None, step: int) -> Encoding:
    path.write_bytes(content)
    text = TextBytes(TextSource(path, Path("t")), encoding)
    with text.open() as stream:
        checked = CheckedBytes(text, stream)
        read = b""
        while block := checked.read(step):
            read += block
        assert read == content[text.begin :]
        return checked.found_encoding()


@given(st.text("aé漢𝄞\n", max_size=20), st.integers(1, 9))
def test_utf_8_is_found_in_pieces_of_any_size(tmp_path_factory, text, step):
    path = tmp_path_factory.mktemp("text") / "t"
    assert read_all(path, text.encode(), None, step) == Encoding("utf-8")


@pytest.mark.parametrize("step", [1, 2, 5, 100])
def test_what_is_not_utf_8_is_found_wherever_pieces_end(tmp_path, step):
    content = "Größe\nStraße\nKöln\n".encode("cp1252")
    with pytest.raises(TableError, match="t, line 1: the byte 0xf6 is no text in utf-8"):
        read_all(tmp_path / "t", content, Encoding("utf-8"), step)
    if step == 100:
        assert read_all(tmp_path / "t", content, None, step) == Encoding("cp1252")


@pytest.mark.parametrize("step", [1, 4, 100])
def test_a_character_that_is_cut_at_the_end_is_no_utf_8(tmp_path, step):
    with pytest.raises(TableError, match="t, line 2: the byte 0xc3"):
        read_all(tmp_path / "t", b"a\nb\xc3", Encoding("utf-8"), step)


@pytest.mark.parametrize("step", [1, 100])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_bytes_without_a_meaning_are_named_with_their_line(tmp_path, step, newline):
    with pytest.raises(TableError, match="t, line 3: the byte 0x81 is no text in cp1252"):
        read_all(tmp_path / "t", newline.join([b"a", b"b\xe4", b"c\x81"]), Encoding("cp1252"), step)
    with pytest.raises(TableError, match="t, line 2: a NUL byte"):
        read_all(tmp_path / "t", newline.join([b"a", b"b\0"]), None, step)
