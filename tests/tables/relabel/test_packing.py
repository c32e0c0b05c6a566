"""Archives: all but one member stays, and what is packed comes out again."""

import io
import random
import zipfile
from pathlib import Path

import pytest

from granulearn.tables import TableError
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.relabel import packing
from granulearn.tables.relabel.packing import copy_archive, packed_like
from tests.tables.relabel.test_text_files import PACKERS


@pytest.mark.parametrize("ending", PACKERS)
def test_what_is_written_in_small_pieces_is_unpacked_as_a_whole(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "_PIECE", 1000)
    pack, unpack = PACKERS[ending]
    path, draft = tmp_path / f"t.csv{ending}", tmp_path / f"draft{ending}"
    path.write_bytes(pack(b"old"))
    names = {".gz": "gzip", ".zst": "zstd"}
    source = TextSource(path, path, names.get(ending, ending[1:]))
    pieces = [random.Random(i).randbytes(i) for i in range(100)]
    with packed_like(source, draft) as file:
        for piece in pieces:
            file.write(piece)
    assert unpack(draft.read_bytes()) == b"".join(pieces)


def test_block_size_of_bz2_stays(tmp_path):
    path, draft = tmp_path / "t.csv.bz2", tmp_path / "draft.bz2"
    path.write_bytes(PACKERS[".bz2"][0](b"old"))
    with packed_like(TextSource(path, path, "bz2"), draft) as file:
        file.write(b"new")
    assert draft.read_bytes()[:4] == path.read_bytes()[:4] == b"BZh3"


def test_members_keep_their_order_names_times_and_content(tmp_path):
    path, draft = tmp_path / "book.xlsx", tmp_path / "draft.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"a comment"
        for name in ("a.xml", "é/picture.png", "z.xml"):
            archive.writestr(zipfile.ZipInfo(name, (1990, 1, 2, 3, 4, 6)), name.encode() * 100)
    copy_archive(path, path, draft, {"a.xml": b"new"})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(draft) as new:
        assert new.comment == old.comment
        assert [(member.filename, member.date_time) for member in new.infolist()] == [
            (member.filename, member.date_time) for member in old.infolist()
        ]
        assert new.read("a.xml") == b"new"
        assert new.read("é/picture.png") == old.read("é/picture.png")


def test_a_member_that_cannot_be_read_is_named(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.xml", b"old")
        archive.writestr("b.xml", b"content")
    path = tmp_path / "book.xlsx"
    path.write_bytes(file.getvalue().replace(b"content", b"rubbish"))
    with pytest.raises(TableError, match=r"shown: its part 'b\.xml' cannot be copied"):
        copy_archive(path, Path("shown"), tmp_path / "draft.xlsx", {"a.xml": b"new"})
