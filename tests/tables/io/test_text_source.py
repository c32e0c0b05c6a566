"""Packed files are unpacked while they are read."""

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from granulearn.tables import TableError
from granulearn.tables.io.text_source import TextSource, packing_of

CONTENT = b"some, text\n" * 100_000


def packed(packing: str, path: Path) -> TextSource:
    if packing == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/", b"")
            archive.writestr("folder/t.csv", CONTENT)
            archive.writestr("__MACOSX/folder/._t.csv", b"of no use")
    else:
        half = len(CONTENT) // 2  # packed in two pieces, as `cat a.gz b.gz` does
        pack = {
            "gzip": gzip.compress,
            "bz2": bz2.compress,
            "xz": lzma.compress,
            "zstd": lambda content: pa.compress(content, "zstd", asbytes=True),
        }[packing]
        path.write_bytes(pack(CONTENT[:half]) + pack(CONTENT[half:]))
    assert packing_of(path.read_bytes()[:8]) == packing
    return TextSource(path, Path("t"), packing)


PACKINGS = ["gzip", "bz2", "xz", "zstd", "zip"]


@pytest.mark.parametrize("packing", PACKINGS)
def test_what_was_packed_comes_out(tmp_path, packing):
    with packed(packing, tmp_path / "t").open() as stream:
        assert stream.read(4) == CONTENT[:4]
        assert stream.read() == CONTENT[4:]


@pytest.mark.parametrize("packing", PACKINGS)
def test_an_archive_that_was_cut_is_broken(tmp_path, packing):
    source = packed(packing, tmp_path / "t")
    source.path.write_bytes(source.path.read_bytes()[:-9])
    with (
        pytest.raises(TableError, match=f"t is a broken {packing} archive"),
        source.open() as stream,
    ):
        stream.read()


def test_plain_files_are_what_they_are(tmp_path):
    (tmp_path / "t").write_bytes(CONTENT)
    assert packing_of(CONTENT) is None
    with TextSource(tmp_path / "t", tmp_path).open() as stream:
        assert stream.read() == CONTENT


def test_a_member_with_a_password_is_refused(tmp_path):
    source = packed("zip", tmp_path / "t")
    content = bytearray(source.path.read_bytes())
    at = content.rindex(b"PK\x01\x02", 0, content.rindex(b"PK\x01\x02"))
    content[at + 8] |= 1  # the bit that says so, in the directory of the archive
    source.path.write_bytes(content)
    with pytest.raises(TableError, match="protected by a password"):
        source.open()
