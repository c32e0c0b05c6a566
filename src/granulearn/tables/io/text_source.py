"""The bytes of a text file, unpacked while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from granulearn.tables.errors import TableError

PACKINGS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, pa.ArrowException)
_BUFFER = 2**18


@dataclass(frozen=True)
class TextSource:
    """A file of text, packed or not."""

    path: Path
    shown: Path
    """As the user named it, for messages."""
    packing: str | None = None

    def open(self) -> BinaryIO:
        """Open the unpacked bytes; what is wrong with an archive is a `TableError`."""
        if self.packing is None:
            return self.path.open("rb")
        raw = cast(io.RawIOBase, _Unpacked(self))
        return cast(BinaryIO, io.BufferedReader(raw, _BUFFER))


def packing_of(beginning: bytes) -> str | None:
    """Return how a file is packed, judged by its first bytes; None if it is not.

    Parameters
    ----------
    beginning : bytes
        The first bytes of the file.
    """
    return next((name for mark, name in PACKINGS.items() if beginning.startswith(mark)), None)


class _Unpacked(io.RawIOBase):
    """A stream of unpacked bytes that says which archive is broken."""

    def __init__(self, source: TextSource):
        super().__init__()
        self._source = source
        self._opened: list = []
        try:
            self._stream = self._open()
        except (*_BROKEN, OSError) as error:
            self.close()
            raise self._told(error) from error
        except BaseException:
            self.close()
            raise

    def _open(self):
        source = self._source
        if source.packing == "zip":
            archive = self._kept(zipfile.ZipFile(source.path))
            return self._kept(_open_member(archive, source.shown))
        if source.packing == "zstd":
            return self._kept(pa.CompressedInputStream(pa.OSFile(str(source.path)), "zstd"))
        if source.packing == "gzip":
            return self._kept(gzip.open(source.path, "rb"))
        if source.packing == "bz2":
            return self._kept(bz2.open(source.path, "rb"))
        return self._kept(lzma.open(source.path, "rb"))

    def _kept(self, stream):
        self._opened.append(stream)
        return stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            content = self._stream.read(len(buffer))
        except (*_BROKEN, OSError) as error:
            raise self._told(error) from error
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()
        super().close()

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, OSError) and error.errno is not None:
            return error  # of the disk, not of the archive
        return TableError(
            f"{self._source.shown} is a broken {self._source.packing} archive ({error}); copy or "
            "download it again."
        )


def _open_member(archive: zipfile.ZipFile, shown: Path):
    """Open the only file of an archive."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if any(member.filename == "granulearn.json" for member in members):
        raise TableError(f"{shown} is a model that granulearn saved, no table; name the table.")
    if not members:
        raise TableError(f"{shown} is an empty archive; name the table.")
    if len(members) != 1:
        names = ", ".join(repr(member.filename) for member in members[:20])
        raise TableError(
            f"{shown} holds {len(members)} files: {names}; one is needed. "
            "Unpack the archive and name the table."
        )
    if members[0].flag_bits & 1:
        raise TableError(f"{shown} is protected by a password; unpack it and name the table.")
    try:
        return archive.open(members[0])
    except NotImplementedError as error:
        raise TableError(f"{shown} cannot be unpacked ({error}); unpack it yourself.") from error
