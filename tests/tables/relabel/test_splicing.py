"""Stretches of a text are replaced in any encoding, and nothing else is."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io.encoding import Encoding
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.relabel import splicing
from granulearn.tables.relabel.splicing import (
    Edit,
    Line,
    LineRemoval,
    check_encodable,
    write_spliced,
)

ENCODINGS = ["utf-8", "utf-16-le", "utf-32-be", "cp932", "cp037", "gb18030"]
MARKS = {"utf-16-le": b"\xff\xfe", "utf-8": b"\xef\xbb\xbf"}


def text_in(folder: str, content: bytes, encoding: Encoding) -> TextSource:
    path = Path(folder) / "table.csv"
    path.write_bytes(content)
    return TextSource(path, Path("t.csv"), None, encoding)


@given(
    st.lists(
        st.tuples(st.text("a漢,\n"), st.text("b表\r", min_size=1), st.text("c,漢")), max_size=5
    ),
    st.text("z漢"),
    st.sampled_from(ENCODINGS),
    st.sampled_from([3, 2**18]),
)
def test_only_the_stretches_are_replaced(pieces, rest, encoding, block):
    if encoding == "cp037":  # a code of mainframes, in which a comma is another byte
        pieces = [tuple(text.replace("漢", "é").replace("表", "ö") for text in p) for p in pieces]
        rest = rest.replace("漢", "é")
    mark = MARKS.get(encoding, b"")
    before = "".join(kept + old for kept, old, _ in pieces) + rest
    after = "".join(kept + new for kept, _, new in pieces) + rest
    offset, edits = len(mark) if encoding == "utf-8" else 0, []
    for kept, old, new in pieces:
        begin = offset + len(kept.encode())
        offset = begin + len(old.encode())
        edits.append(Edit(begin, offset, new))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(splicing, "_BLOCK", block)
        text = text_in(folder, mark + before.encode(encoding), Encoding(encoding, len(mark)))
        draft = Path(folder) / "draft.csv"
        write_spliced(text, edits[::-1], draft)
        assert draft.read_bytes() == mark + after.encode(encoding)


def test_an_edit_behind_the_end_means_that_the_file_changed(tmp_path):
    text = text_in(str(tmp_path), b"abc", Encoding("utf-8"))
    with pytest.raises(TableError, match="changed"):
        write_spliced(text, [Edit(10, 11, "x")], tmp_path / "draft.csv")


def test_what_cannot_be_encoded_is_named(tmp_path):
    text = text_in(str(tmp_path), b"abc", Encoding("cp1252"))
    check_encodable(text, "é")
    with pytest.raises(TableError, match=r"t\.csv is in cp1252, which cannot hold the label '漢'"):
        check_encodable(text, "漢")


@given(st.sets(st.integers(0, 5), max_size=5), st.booleans())
def test_dropped_lines_leave_the_end_of_the_file_as_it_was(drop, ended):
    lines = ["first\n", *[f"{i}\n" for i in range(6)]]
    content = "".join(lines) if ended else "".join(lines)[:-1]
    removal = LineRemoval(drop, 6)
    edits = []
    for row in sorted(removal.rows):
        begin = 6 + 2 * row
        next_line = begin + 2 if ended or row < 5 else begin + 1
        edits += removal.edits(row, Line(begin, begin + 1, next_line))
    for begin, end, new in sorted(edits, reverse=True):
        content = content[:begin] + new + content[end:]
    kept = "".join(["first\n", *[f"{i}\n" for i in range(6) if i not in drop]])
    assert content == (kept if ended else kept[:-1])
