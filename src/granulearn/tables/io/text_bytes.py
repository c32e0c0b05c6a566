"""The bytes of a text file such that quotes, separators and line ends are those of ASCII.

Files in UTF-8 or in an encoding of one byte per character are taken as they are, so that
a part of them can be read on its own; others become UTF-8 while they are read.
"""

from __future__ import annotations

import codecs
import io
from dataclasses import dataclass
from typing import BinaryIO, cast

from granulearn.tables.errors import TableError
from granulearn.tables.io.text_encoding import Encoding
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.messages import Message, Setting

_BLOCK = 2**20


@dataclass(frozen=True)
class TextBytes:
    """A source, and how its bytes become text."""

    source: TextSource
    encoding: Encoding | None
    """None while it is not known; then it keeps ASCII."""

    @property
    def as_they_are(self) -> bool:
        """Whether the bytes are those of the (unpacked) file."""
        return self.encoding is None or self.encoding.keeps_ascii

    @property
    def has_parts(self) -> bool:
        """Whether the bytes from some offset can be read without those before it."""
        return self.as_they_are and self.source.packing is None

    @property
    def begin(self) -> int:
        """Offset of the first byte of text."""
        return self.encoding.mark if self.encoding and self.as_they_are else 0

    def open(self, offset: int | None = None) -> BinaryIO:
        """Open the bytes from an offset on.

        Parameters
        ----------
        offset : int, optional
            That of the first byte of text unless given.
        """
        stream = self.source.open()
        try:
            if not self.as_they_are:
                raw = cast(io.RawIOBase, _Transcoded(stream, self))
                stream = cast(BinaryIO, io.BufferedReader(raw, _BLOCK))
            skip(stream, self.begin if offset is None else offset, seekable=self.has_parts)
        except BaseException:
            stream.close()
            raise
        return stream

    def as_utf8(self, content: bytes) -> bytes:
        """Return a stretch of the bytes in UTF-8.

        Parameters
        ----------
        content : bytes
            Whole characters.
        """
        if not self.as_they_are or self.encoding is None or self.encoding.name == "utf-8":
            return content
        return content if content.isascii() else content.decode(self.encoding.name).encode()

    def text_of(self, cell: str) -> str:
        """Return a cell that was decoded as latin-1 as the text that it is.

        Parameters
        ----------
        cell : str
            As `strict_rows` gives it.
        """
        return self.as_utf8(cell.encode("latin-1")).decode()


def skip(stream: BinaryIO, n_bytes: int, *, seekable: bool) -> None:
    """Go forward in a stream.

    Parameters
    ----------
    stream : binary file
        Any stream.
    n_bytes : int
        How far.
    seekable : bool
        Whether it need not be read.
    """
    if seekable:
        stream.seek(n_bytes, io.SEEK_CUR)
        return
    while n_bytes > 0 and (content := stream.read(min(n_bytes, _BLOCK))):
        n_bytes -= len(content)


class _Transcoded(io.RawIOBase):
    """A stream in another encoding as one in UTF-8."""

    def __init__(self, stream: BinaryIO, text: TextBytes):
        super().__init__()
        assert text.encoding is not None
        self._stream = stream
        self._text = text
        self._name = text.encoding.name
        self._decoder = codecs.getincrementaldecoder(self._name)()
        self._rest = memoryview(b"")
        self._lines = 0
        skip(stream, text.encoding.mark, seekable=False)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        while not self._rest:
            block = self._stream.read(_BLOCK)
            self._rest = memoryview(self._decoded(block))
            if not block:
                break
        taken = min(len(buffer), len(self._rest))
        buffer[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return taken

    def _decoded(self, block: bytes) -> bytes:
        before = self._decoder.getstate()
        try:
            content = self._decoder.decode(block, final=not block).encode()
        except UnicodeError as error:
            self._decoder.setstate(before)
            line = self._lines + 1 + self._lines_before(block)
            said = (
                f"{self._text.source.shown}, line {line}: the bytes are no text in {self._name} "
                f"({getattr(error, 'reason', error)}); state the right encoding ("
            )
            raise TableError(Message(said, Setting("encoding"), ").")) from error
        self._lines += content.count(b"\n")
        return content

    def _lines_before(self, block: bytes) -> int:
        """Return how many lines end in a block before its first bad bytes."""
        good, bad = 0, len(block)
        state = self._decoder.getstate()
        text = ""
        while good < bad:  # the longest beginning that can be decoded
            middle = (good + bad + 1) // 2
            self._decoder.setstate(state)
            try:
                text = self._decoder.decode(block[:middle])
                good = middle
            except UnicodeError:
                bad = middle - 1
        self._decoder.setstate(state)
        return text.count("\n") if good else 0

    def close(self) -> None:
        self._stream.close()
        super().close()
