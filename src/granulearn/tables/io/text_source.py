"""Bytes of a text file: compression and encoding.

Files in UTF-8 or in an encoding of one byte per character are read as they are, so parts can be
read alone. Others are transcoded to UTF-8 while they are read.
"""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import lzma
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from granulearn.tables.io.edits import changed_member
from granulearn.tables.io.table_file import AS_FOUND, Expansion, ReadOptions
from granulearn.tables.messages import Message, Setting, TableError

COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
# Of a damaged archive; the last two of a member that needs a password or an unknown method.
_DAMAGED = (
    *(EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, pa.ArrowException, OSError),
    *(RuntimeError, NotImplementedError),
)
BLOCK = 2**18
"""Bytes that are read at a time."""
# The default of gzip. The highest level takes three times as long and saves little.
_GZIP_LEVEL = 6
# UTF-32 first: its mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WITHOUT_ORDER = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
# Legacy encodings; fewer candidates make detection safer.
_LEGACY = [
    *["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"],
    *["cp932", "gb18030", "big5", "cp949", "euc_jp", "mac_roman", "cp850"],
]
_EASTERN_LANGUAGES = {"Polish", "Czech", "Slovak", "Hungarian", "Croatian", "Slovene", "Romanian"}
_WORD = re.compile(r"[^\W\d_]+(?:[^\x00-\x7f\s]+[^\W\d_]+)*", re.UNICODE)


@dataclass(frozen=True)
class Encoding:
    """Encoding of a text."""

    name: str
    bom: int = 0
    """Number of bytes of the byte-order mark at the beginning of the file."""

    @cached_property
    def keeps_ascii(self) -> bool:
        """Whether each byte below 128 is an ASCII character, never part of another."""
        if self.name in ("utf-8", "ascii", "iso8859-1"):
            return True
        decoder = codecs.lookup(self.name).incrementaldecoder
        table = getattr(sys.modules[decoder.__module__], "decoding_table", "")
        return table[:128] == bytes(range(128)).decode("ascii")


@dataclass(frozen=True)
class TextSource:
    """A file of text, its compression and encoding."""

    path: Path
    shown: Path
    """As the user named it, for messages."""
    compression: str | None = None
    encoding: Encoding | None = None
    """None while it is not known; then it keeps ASCII."""
    options: ReadOptions = AS_FOUND
    """Has the largest ratio of decompression."""
    stream: BinaryIO | None = None
    """Decompressed bytes, open at the first one, for the first look and the first pass."""

    @property
    def as_is(self) -> bool:
        """Whether `open` gives the bytes of the (decompressed) file."""
        return self.encoding is None or self.encoding.keeps_ascii

    @property
    def has_offsets(self) -> bool:
        """Whether the file can be read from any offset."""
        return self.as_is and self.compression is None

    @property
    def begin(self) -> int:
        """Offset of the first byte of text."""
        return self.encoding.bom if self.encoding and self.as_is else 0

    @property
    def text_encoding(self) -> str:
        """The encoding of what `open` gives."""
        return self.encoding.name if self.encoding and self.as_is else "utf-8"

    def decompressed(self) -> BinaryIO:
        """Open the decompressed bytes of the file."""
        if self.stream is not None and not self.stream.closed:
            return self.stream
        return self.decompress(self.path.open("rb", BLOCK))

    def decompress(self, file: BinaryIO) -> BinaryIO:
        """Return the decompressed bytes of the open file."""
        if self.compression is None:
            return file
        return io.BufferedReader(_Blocks(_decompressed(file, self), file), BLOCK)

    @cached_property
    def beginning(self) -> bytes:
        """The first decompressed bytes."""
        if isinstance(self.stream, io.BufferedReader):
            return self.stream.peek(BLOCK)
        with self.decompressed() as stream:
            return stream.read(BLOCK)

    def open(self, offset: int | None = None) -> BinaryIO:
        """Open the text, as bytes that keep ASCII, from its first byte or from an offset."""
        stream = self.decompressed()
        try:
            if not self.as_is:
                stream = io.BufferedReader(_Blocks(_transcoded(stream, self), stream), BLOCK)
            self.skip(stream, self.begin if offset is None else offset)
        except BaseException:
            stream.close()
            raise
        return stream

    def skip(self, stream: BinaryIO, n_bytes: int) -> None:
        """Skip bytes of the stream that `open` gave."""
        if self.has_offsets:
            stream.seek(n_bytes, io.SEEK_CUR)
            return
        while n_bytes > 0 and (content := stream.read(min(n_bytes, BLOCK))):
            n_bytes -= len(content)

    def as_utf8(self, content: bytes) -> bytes:
        """Return whole characters, read from what `open` gave, in UTF-8."""
        if self.text_encoding == "utf-8" or content.isascii():
            return content
        return self.decode(content).encode()

    def decode(self, content: bytes) -> str:
        """Return whole characters, read from what `open` gave."""
        return content.decode(self.text_encoding)

    def encode(self, text: str) -> bytes:
        """Return a text as `open` would give it; refuse what the encoding of the file lacks."""
        name = self.encoding.name if self.encoding else "utf-8"
        try:
            text.encode(name)
        except UnicodeEncodeError as error:
            lacking = error.object[error.start : error.end]
            raise TableError(
                f"{self.shown} is in {name}, which cannot hold {lacking!r}; save the table in "
                "UTF-8, or spell the label otherwise."
            ) from error
        return text.encode(self.text_encoding)

    def whole(self) -> bytes:
        """Return all that `open` gives, from offset 0; refuse a text that `write` would change."""
        with self.decompressed() as stream:
            content = stream.read()
        if self.as_is or self.encoding is None:
            return content
        text = content.decode(name := self.encoding.name)
        if text.encode(name) != content:
            raise TableError(
                f"{self.shown} is in {name} and spells a character in two ways, so that no "
                "cell can be changed alone; save the table in UTF-8."
            )
        return text.removeprefix("\ufeff").encode()

    def write(self, temporary: Path, content: bytes) -> None:
        """Write a text, changed since `whole` gave it, in this encoding and compression."""
        if not self.as_is and self.encoding is not None:
            mark = "\ufeff" if self.encoding.bom else ""
            content = (mark + content.decode()).encode(self.encoding.name)
        if self.compression == "zip":
            with zipfile.ZipFile(self.path) as archive:
                table = next(filter(_is_table, archive.infolist()))
            with changed_member(self.path, temporary, table.filename) as member:
                member.write(content)
        elif self.compression == "zstd":
            with pa.CompressedOutputStream(str(temporary), "zstd") as stream:
                stream.write(content)
        else:
            # Without a time stamp, so that equal tables give equal files.
            if self.compression == "gzip":
                content = gzip.compress(content, _GZIP_LEVEL, mtime=0)
            elif self.compression is not None:
                content = {"bz2": bz2, "xz": lzma}[self.compression].compress(content)
            temporary.write_bytes(content)


class _Blocks(io.RawIOBase):
    """An iterator over blocks of bytes as a stream."""

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
        expansion = Expansion(source.shown, os.fstat(file.fileno()).st_size, source.options)
        stream = _decompressor(file, source)
        while block := stream.read(BLOCK):
            expansion.add(len(block))
            yield block
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # of the disk, not of the archive, which may name a place before its beginning
        raise TableError(
            f"{source.shown} is a {source.compression} archive that is broken or cannot be read "
            f"({error}); copy or download it again, or unpack it."
        ) from error


def _decompressor(file: BinaryIO, source: TextSource) -> Any:
    if source.compression == "zip":
        return _only_member(zipfile.ZipFile(file), source.shown)
    if source.compression == "zstd":
        return pa.CompressedInputStream(file, "zstd")
    openers: dict[str | None, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    return openers[source.compression](file)


def _is_table(member: zipfile.ZipInfo) -> bool:
    """Return whether a member of an archive is a file, not metadata of macOS."""
    return not member.is_dir() and not member.filename.startswith("__MACOSX/")


def _only_member(archive: zipfile.ZipFile, shown: Path) -> Any:
    members = list(filter(_is_table, archive.infolist()))
    if len(members) != 1:
        names = ", ".join(repr(member.filename) for member in members[:20])
        raise TableError(
            f"{shown} is an archive of {len(members)} files ({names or 'it is empty'}), and must "
            "hold one; unpack it and name the table."
        )
    return archive.open(members[0])


def _transcoded(stream: BinaryIO, source: TextSource) -> Iterator[bytes]:
    """Transcode a text to UTF-8."""
    assert source.encoding is not None
    name, line, block = source.encoding.name, 1, b"-"
    decoder = codecs.getincrementaldecoder(name)()
    stream.read(source.encoding.bom)
    while block:
        block = stream.read(BLOCK)
        try:
            content = decoder.decode(block, final=not block).encode()
        except UnicodeError as error:
            good = getattr(error, "object", b"")[: getattr(error, "start", 0)]
            text = good.decode(name, "replace") if isinstance(good, bytes) else good
            problem = (
                f"{source.shown}, line {line + text.count(chr(10))}: the bytes are no text in "
                f"{name} ({getattr(error, 'reason', error)}); state the right encoding ("
            )
            raise TableError(Message(problem, Setting("encoding"), ").")) from error
        line += content.count(b"\n")
        yield content


def find_encoding(beginning: bytes, stated: str | None) -> Encoding | None:
    """Return the stated or the evident encoding; None if it is still to be detected.

    A byte-order mark that fits is skipped.
    """
    marked = [
        Encoding(name, len(mark)) for mark, name in _BYTE_ORDER_MARKS if beginning.startswith(mark)
    ][:1]
    if stated is None:
        # In UTF-16, every other byte of plain letters is zero.
        even, odd = beginning[::2], beginning[1::2]
        if 2 * odd.count(0) > len(odd) and not even.count(0):
            marked.append(Encoding("utf-16-le"))
        if 2 * even.count(0) > len(even) and not odd.count(0):
            marked.append(Encoding("utf-16-be"))
        return marked[0] if marked else None
    try:
        known = codecs.lookup(stated)
    except (LookupError, ValueError):
        known = None
    if known is None or not getattr(known, "_is_text_encoding", True):
        raise TableError(
            f"the encoding {stated!r} is unknown; use one that Python knows, such as utf-8, "
            "cp1252, latin-1 or utf-16."
        )
    if marked and marked[0].name.startswith(known.name.removesuffix("-sig")):
        return marked[0]
    return Encoding(_WITHOUT_ORDER.get(known.name, known.name))


def detect_legacy(lines: list[bytes], shown: Path, first_line: int) -> Encoding:
    """Detect the legacy encoding of a text by some lines that are not ASCII."""
    from charset_normalizer import from_bytes

    if 2 * sum(_decodes(line, "utf-8") for line in lines) > len(lines):
        problem = (
            f"{shown}, line {first_line}: the text is in UTF-8, but not here; correct the line, or "
            "state an encoding in which every byte is a character ("
        )
        raise TableError(Message(problem, Setting("encoding", "cp1252"), ")."))
    sample = b"\n".join(dict.fromkeys(lines))
    found = list(from_bytes(sample, cp_isolation=_LEGACY))
    if not found:
        return Encoding("cp1252" if _decodes(sample, "cp1252") else "latin-1")
    best = min(found, key=_badness)
    western = next((match for match in found if "cp1252" in match.could_be_from_charset), None)
    eastern = western and _eastern(western, found)
    if eastern is None and _reads_western(sample):
        return Encoding("cp1252")
    if western and _badness(western) <= _badness(best):
        return Encoding("cp1252" if eastern is None else eastern.encoding)
    return Encoding(best.encoding)


def _reads_western(sample: bytes) -> bool:
    """Return whether a text looks Western European: some letters of its words have accents.

    Other alphabets would give words of accented letters alone; other encodings of this alphabet
    would give symbols inside words.
    """
    if not _decodes(sample, "cp1252"):
        return False
    words = _WORD.findall(sample.decode("cp1252"))
    letters = "".join(word for word in words if not word.isascii())
    if not all(map(str.isalpha, letters)):
        return False
    return 2 * sum(not letter.isascii() for letter in letters) < len(letters)


def _eastern(western: Any, found: list[Any]) -> Any | None:
    """Return the Central European match, if the text is likely in one of these languages.

    Its letters are other letters in the Western encoding.
    """
    if not set(western.languages[:1]) & _EASTERN_LANGUAGES:
        return None
    for match in found:
        is_other = "cp1250" in match.could_be_from_charset and str(match) != str(western)
        if is_other and match.coherence > 0.9 * western.coherence:
            return match if match.chaos < 0.05 else None
    return None


def _badness(match: Any) -> tuple[float, float]:
    return round(match.chaos, 3), -round(match.coherence, 3)


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
