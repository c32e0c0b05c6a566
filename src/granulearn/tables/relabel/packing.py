"""Archives written again: packed in the same way, with all but one member as they were."""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import pyarrow as pa

from granulearn.tables.errors import TableError
from granulearn.tables.io.text_source import TextSource

_PIECE = 2**20
# That of the program gzip: the highest level takes three times as long for a few bytes.
_GZIP_LEVEL = 6
_LONG_MEMBER = 2**30


@contextmanager
def packed_like(source: TextSource, draft: Path) -> Iterator[Writer]:
    """Give a file to write text to; it is packed as the source is.

    No time of writing is stored, so that equal tables give equal files.

    Parameters
    ----------
    source : TextSource
        The file that is written again.
    draft : Path
        Where to write.
    """
    if source.compression == "zip":
        with _zipped_like(source.path, draft) as member, _in_large_pieces(member) as file:
            yield file
        return
    with draft.open("wb") as packed:
        if source.compression is None:
            yield packed
            return
        with _packer(source, packed) as packer, _in_large_pieces(packer) as file:
            yield file


def _packer(source: TextSource, packed: BinaryIO):
    if source.compression == "gzip":
        return gzip.GzipFile("", "wb", _GZIP_LEVEL, packed, mtime=0)
    if source.compression == "bz2":
        with source.path.open("rb") as old:
            level = old.read(4)[3:]  # a digit: how large blocks are
        return bz2.BZ2File(packed, "wb", compresslevel=int(level))
    if source.compression == "xz":
        return lzma.LZMAFile(packed, "wb")
    return pa.CompressedOutputStream(pa.PythonFile(packed), "zstd")


class Writer(Protocol):
    """Anything that bytes can be written to."""

    def write(self, content: bytes, /) -> object:
        """Write some bytes."""


@contextmanager
def _in_large_pieces(packer: Writer) -> Iterator[Writer]:
    """Give a file that hands large pieces on: a small one costs a packer as much."""
    gathered = _Gathered(packer)
    yield gathered
    gathered.flush()


class _Gathered:
    """Bytes that are kept until they are many."""

    def __init__(self, target: Writer):
        self._target = target
        self._pieces: list[bytes] = []
        self._length = 0

    def write(self, content: bytes) -> None:
        self._pieces.append(content)
        self._length += len(content)
        if self._length >= _PIECE:
            self.flush()

    def flush(self) -> None:
        self._target.write(b"".join(self._pieces))
        self._pieces, self._length = [], 0


@contextmanager
def _zipped_like(path: Path, draft: Path) -> Iterator[BinaryIO]:
    """Give the only table in an archive to be written; all else is copied."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(draft, "w") as new:
        new.comment = old.comment
        members = old.infolist()
        table = next(place for place, member in enumerate(members) if _is_table(member))
        for member in members[:table]:
            _copy_member(old, member, new)
        with _opened_member(new, members[table]) as file:
            yield file
        for member in members[table + 1 :]:
            _copy_member(old, member, new)


def _is_table(member: zipfile.ZipInfo) -> bool:
    """Return whether a member is the one that `TextSource` reads."""
    return not member.is_dir() and not member.filename.startswith("__MACOSX/")


def copy_archive(path: Path, shown: Path, draft: Path, changed: dict[str, bytes]) -> None:
    """Write a ZIP archive again, with other content for some of its members.

    Parameters
    ----------
    path : Path
        The archive.
    shown : Path
        As the user named it, for messages.
    draft : Path
        Where to write.
    changed : dict of str to bytes
        New content by the name of the member.
    """
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(draft, "w") as new:
        new.comment = old.comment
        for member in old.infolist():
            if member.filename in changed:
                with _opened_member(new, member) as file:
                    file.write(changed[member.filename])
                continue
            try:
                _copy_member(old, member, new)
            except (NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
                raise TableError(
                    f"{shown}: its part {member.filename!r} cannot be copied ({error}); open it "
                    "in a spreadsheet program and save it again."
                ) from error


def _copy_member(old: zipfile.ZipFile, member: zipfile.ZipInfo, new: zipfile.ZipFile) -> None:
    if member.is_dir():
        new.writestr(copy.copy(member), b"")
        return
    with old.open(member) as content, _opened_member(new, member) as file:
        shutil.copyfileobj(content, file, _PIECE)


def _opened_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> BinaryIO:
    """Open a member for writing, with name, time and packing of another."""
    is_long = member.file_size > _LONG_MEMBER
    return cast(BinaryIO, archive.open(copy.copy(member), "w", force_zip64=is_long))
