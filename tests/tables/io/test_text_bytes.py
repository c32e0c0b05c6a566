"""Bytes in which quotes and line ends are those of ASCII."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io import text_bytes
from granulearn.tables.io.text_bytes import TextBytes
from granulearn.tables.io.text_encoding import Encoding
from granulearn.tables.io.text_source import TextSource


def text_in(path: Path, content: bytes, encoding: Encoding | None) -> TextBytes:
    path.write_bytes(content)
    return TextBytes(TextSource(path, Path("t")), encoding)


@given(
    st.text('aé漢\n,"𝄞', max_size=20),
    st.sampled_from(["utf-16-le", "utf-32-be", "gb18030"]),
    st.integers(1, 9),
    st.integers(0, 30),
)
def test_other_encodings_become_utf_8_from_any_offset(tmp_path_factory, text, name, block, offset):
    path = tmp_path_factory.mktemp("text") / "t"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_bytes, "_BLOCK", block)
        source = text_in(path, text.encode(name), Encoding(name))
        with source.open(offset) as stream:
            assert stream.read() == text.encode()[offset:]
    assert not source.has_parts


def test_encodings_that_keep_ascii_are_taken_as_they_are(tmp_path):
    text = text_in(tmp_path / "t", b"\xef\xbb\xbf\xc3\xa9,b", Encoding("utf-8", 3))
    assert text.has_parts
    with text.open() as stream:
        assert stream.read() == "é,b".encode()
    with text.open(5) as stream:
        assert stream.read() == b",b"
    old = text_in(tmp_path / "t", b"\xe9,b", Encoding("cp1252"))
    with old.open() as stream:
        assert old.as_utf8(stream.read()) == "é,b".encode()
    assert old.text_of("\xe9") == "é"


@pytest.mark.parametrize("block", [1, 3, 2**20])
def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path, monkeypatch, block):
    monkeypatch.setattr(text_bytes, "_BLOCK", block)
    content = "a\nb\n".encode("utf-16-le") + b"\x00\xd8a\0"
    text = text_in(tmp_path / "t", content, Encoding("utf-16-le"))
    said = "t, line 3: the bytes are no text in utf-16-le"
    with text.open() as stream, pytest.raises(TableError, match=said):
        stream.read()
