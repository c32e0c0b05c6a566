"""Bytes that are checked while they are read: no zero bytes, and text in its encoding."""

from __future__ import annotations

import codecs
from itertools import islice
from typing import BinaryIO

from granulearn.tables.errors import TableError
from granulearn.tables.io.text_bytes import TextBytes
from granulearn.tables.io.text_encoding import Encoding, old_encoding
from granulearn.tables.io.text_marks import count_line_ends
from granulearn.tables.messages import Message, Setting

_SAMPLE_LINES = 500
_LONGEST_SAMPLE_LINE = 2**12


class CheckedBytes:
    """The bytes of a text from its beginning; what is wrong with them is named with its line.

    Parameters
    ----------
    text : TextBytes
        The text.
    stream : binary file
        What `text.open` returned.
    """

    def __init__(self, text: TextBytes, stream: BinaryIO):
        self._text = text
        self._stream = stream
        self._offset = text.begin
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._first_bad: int | None = None
        self._sample: list[bytes] = []
        stated = text.encoding.name if text.encoding and text.as_they_are else "utf-8"
        # An encoding of one byte per character: all its bytes are deleted, bad ones remain.
        self._defined = text.encoding.defined if text.encoding and stated != "utf-8" else b""

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; fewer only at the end.

        Parameters
        ----------
        n_bytes : int
            How many.
        """
        content = self._stream.read(n_bytes)
        if b"\0" in content:
            line = self.line_at(self._offset + content.index(b"\0"))
            said = (
                f"{self._text.source.shown}, line {line}: a NUL byte; this is no text, or its "
                "encoding must be stated ("
            )
            raise TableError(Message(said, Setting("encoding"), ")."))
        self._check_encoding(content)
        self._offset += len(content)
        return content

    def _check_encoding(self, content: bytes) -> None:
        if self._defined:
            bad = content.translate(None, self._defined)
            if bad:
                self._refuse(self._offset + content.index(bad[:1]), bad[0])
            return
        if self._first_bad is None:
            pending = self._decoder.getstate()[0]
            if content.isascii() and content and not pending:
                return
            try:
                self._decoder.decode(content, final=not content)
            except UnicodeDecodeError as error:
                self._first_bad = self._offset - len(pending) + error.start
                if self._text.encoding is not None:
                    self._refuse(self._first_bad, error.object[error.start])
        if len(self._sample) < _SAMPLE_LINES and not content.isascii():
            lines = (line for line in content.splitlines() if not line.isascii())
            for line in islice(lines, _SAMPLE_LINES - len(self._sample)):
                self._sample.append(line[:_LONGEST_SAMPLE_LINE])

    def _refuse(self, offset: int, byte: int) -> None:
        assert self._text.encoding is not None
        said = (
            f"{self._text.source.shown}, line {self.line_at(offset)}: the byte {byte:#04x} is no "
            f"text in {self._text.encoding.name}; state the right encoding ("
        )
        raise TableError(Message(said, Setting("encoding"), ")."))

    def line_at(self, offset: int) -> int:
        """Return the number, from 1, of the line that a byte stands on.

        Parameters
        ----------
        offset : int
            That of the byte.
        """
        line, left = 1, offset - self._text.begin
        with self._text.open() as stream:
            while left > 0 and (content := stream.read(min(left, 2**20))):
                line += count_line_ends(content)
                left -= len(content)
        return line

    def found_encoding(self) -> Encoding:
        """Return the encoding, once everything is read; that of a file in ASCII is UTF-8."""
        if self._text.encoding is not None:
            return self._text.encoding
        if self._first_bad is None:
            return Encoding("utf-8")
        return old_encoding(self._sample, self._text.source.shown, self.line_at(self._first_bad))
