"""The bytes of a text file: decompressed, and such that quotes and line ends are those of ASCII.

Files in UTF-8 or in an encoding of one byte per character are taken as they are, so that
a part of them can be read on its own; others become UTF-8 while they are read.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from granulearn.tables.errors import TableError
from granulearn.tables.io.encoding import Encoding
from granulearn.tables.messages import Message, Setting

COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, pa.ArrowException, OSError)
_BLOCK = 2**18


@dataclass(frozen=True)
class TextSource:
    """A file of text, compressed or not, and how its bytes become text."""

    path: Path
    shown: Path
    """As the user named it, for messages."""
    compression: str | None = None
    encoding: Encoding | None = None
    """None while it is not known; then it keeps ASCII."""

    @property
    def as_is(self) -> bool:
        """Whether `open` gives the bytes of the (decompressed) file."""
        return self.encoding is None or self.encoding.keeps_ascii

    @property
    def has_offsets(self) -> bool:
        """Whether the bytes from some offset can be read without those before it."""
        return self.as_is and self.compression is None

    @property
    def begin(self) -> int:
        """Offset of the first byte of text."""
        return self.encoding.bom if self.encoding and self.as_is else 0

    @property
    def text_encoding(self) -> str:
        """The encoding of what `open` gives."""
        return self.encoding.name if self.encoding and self.as_is else "utf-8"

    def decompressed(self, file: BinaryIO | None = None) -> io.BufferedReader:
        """Open the decompressed bytes of the file, or of one that is open already."""
        file = file or self.path.open("rb", _BLOCK)
        if self.compression is None:
            return cast(io.BufferedReader, file)
        return io.BufferedReader(_Blocks(_decompressed(file, self), file), _BLOCK)

    def open(self, offset: int | None = None, stream: BinaryIO | None = None) -> BinaryIO:
        """Open the text, as bytes that keep ASCII, from its first byte or from an offset.

        `stream` is what `decompressed` gave, if it is open already.
        """
        stream = stream or self.decompressed()
        try:
            if not self.as_is:
                stream = io.BufferedReader(_Blocks(_transcoded(stream, self), stream), _BLOCK)
            self.skip(stream, self.begin if offset is None else offset)
        except BaseException:
            stream.close()
            raise
        return stream

    def skip(self, stream: BinaryIO, n_bytes: int) -> None:
        """Go forward in the stream that `open` gave."""
        if self.has_offsets:
            stream.seek(n_bytes, io.SEEK_CUR)
            return
        while n_bytes > 0 and (content := stream.read(min(n_bytes, _BLOCK))):
            n_bytes -= len(content)

    def as_utf8(self, content: bytes) -> bytes:
        """Return whole characters, read from what `open` gave, in UTF-8."""
        if self.text_encoding == "utf-8" or content.isascii():
            return content
        return self.decode(content).encode()

    def decode(self, content: bytes) -> str:
        """Return whole characters, read from what `open` gave."""
        return content.decode(self.text_encoding)


class _Blocks(io.RawIOBase):
    """Blocks of bytes, made of a file, as a stream."""

    def __init__(self, blocks: Iterator[bytes], file: BinaryIO):
        super().__init__()
        self._blocks, self._file, self._rest = filter(None, blocks), file, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or next(self._blocks, b"")
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        self._file.close()
        super().close()


def _decompressed(file: BinaryIO, source: TextSource) -> Iterator[bytes]:
    """Yield the decompressed bytes; a damaged archive is a `TableError`."""
    try:
        stream = _decompressor(file, source)
        while block := stream.read(_BLOCK):
            yield block
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk, not of the archive
        raise TableError(
            f"{source.shown} is a broken {source.compression} archive ({error}); copy or download "
            "it again."
        ) from error


def _decompressor(file: BinaryIO, source: TextSource) -> Any:
    if source.compression == "zip":
        return _only_member(zipfile.ZipFile(file), source.shown)
    if source.compression == "zstd":
        return pa.CompressedInputStream(file, "zstd")
    openers: dict[str | None, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    return openers[source.compression](file)


def is_table(member: zipfile.ZipInfo) -> bool:
    """Return whether a member of an archive is no folder, and none of the notes of macOS."""
    return not member.is_dir() and not member.filename.startswith("__MACOSX/")


def _only_member(archive: zipfile.ZipFile, shown: Path) -> Any:
    members = list(filter(is_table, archive.infolist()))
    names = [member.filename for member in members]
    if len(members) != 1:
        found = f"holds {len(members)} files: {', '.join(map(repr, names[:20]))}"
        raise TableError(
            f"{shown} {found if members else 'is an empty archive'}; one is needed. Unpack the "
            "archive and name the table."
        )
    if members[0].flag_bits & 1:
        raise TableError(f"{shown} is protected by a password; unpack it and name the table.")
    try:
        return archive.open(members[0])
    except NotImplementedError as error:
        raise TableError(f"{shown} cannot be unpacked ({error}); unpack it yourself.") from error


def _transcoded(stream: BinaryIO, source: TextSource) -> Iterator[bytes]:
    """Yield a text in another encoding as UTF-8."""
    assert source.encoding is not None
    name, line, block = source.encoding.name, 1, b"-"
    decoder = codecs.getincrementaldecoder(name)()
    stream.read(source.encoding.bom)
    while block:
        block = stream.read(_BLOCK)
        try:
            content = decoder.decode(block, final=not block).encode()
        except UnicodeError as error:
            good = getattr(error, "object", b"")[: getattr(error, "start", 0)]
            text = good.decode(name, "replace") if isinstance(good, bytes) else good
            said = (
                f"{source.shown}, line {line + text.count(chr(10))}: the bytes are no text in "
                f"{name} ({getattr(error, 'reason', error)}); state the right encoding ("
            )
            raise TableError(Message(said, Setting("encoding"), ").")) from error
        line += content.count(b"\n")
        yield content
