"""A text file with some stretches of it replaced, and every other byte as it was."""

from __future__ import annotations

import codecs
import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from granulearn.tables.errors import TableError
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.relabel.packing import Writer, packed_like

_BLOCK = 2**18
# What a byte means in these depends on the bytes before it.
_WITH_STATES = ("iso2022", "hz", "utf-7", "punycode", "idna", "unicode_escape", "raw_unicode")


class Edit(NamedTuple):
    """A stretch of text that is to be replaced."""

    begin: int
    """Offset in the bytes that `TextSource.open` gives, counted from the beginning of the file."""
    end: int
    text: str


class Line(NamedTuple):
    """Where a row stands."""

    begin: int
    end: int
    """Offset before its line end."""
    next: int
    """Offset after its line end; the same if it has none."""


class LineRemoval:
    """The edits that leave out whole lines.

    A line goes with the line end after it. Where the last line goes and had no line end, the
    last line that is kept loses its own, so that the file ends as it did.

    Parameters
    ----------
    drop : collection of int
        Rows that are left out.
    n_rows : int
        How many rows there are.
    """

    def __init__(self, drop: Collection[int], n_rows: int):
        last_kept = n_rows - 1
        while last_kept in drop:
            last_kept -= 1
        self._last_row, self._last_kept = n_rows - 1, last_kept
        self._open_end: Edit | None = None
        also = {last_kept} if last_kept < n_rows - 1 else set()
        self.rows = frozenset(drop) | also
        """The rows that must be told to `edits`."""

    def edits(self, row: int, line: Line) -> list[Edit]:
        """Return what is to be done at a row; rows must come in order.

        Parameters
        ----------
        row : int
            Its number, one of `rows`.
        line : Line
            Where it stands.
        """
        if row == self._last_kept:
            self._open_end = Edit(line.end, line.next, "")
            return []
        edits = [Edit(line.begin, line.next, "")]
        if row == self._last_row and line.next == line.end and self._open_end:
            edits.append(self._open_end)
        return edits


def check_encodable(text: TextSource, label: str) -> None:
    """Raise a `TableError` if a label cannot be written in the encoding of a file.

    Parameters
    ----------
    text : TextSource
        The file.
    label : str
        The new text of a cell.
    """
    name = _encoding_of(text)
    try:
        label.encode(name)
    except UnicodeEncodeError as error:
        raise TableError(
            f"{text.shown} is in {name}, which cannot hold the label {label!r}; save the "
            "table in UTF-8, or spell the label otherwise."
        ) from error
    if "\0" in label:
        raise TableError(
            f"{text.shown}: the label {label!r} holds a NUL character, which no table of "
            "text can hold; spell the label otherwise."
        )


def write_spliced(text: TextSource, edits: Sequence[Edit], draft: Path) -> None:
    """Write a file with some stretches replaced; without any, the file as it is.

    Parameters
    ----------
    text : TextSource
        The file.
    edits : sequence of Edit
        In any order; no two overlap, or begin and end at the same place.
    draft : Path
        Where to write; packed as the file is.
    """
    if not edits:
        shutil.copyfile(text.path, draft)
        return
    name = _encoding_of(text)
    if not text.as_is and name.startswith(_WITH_STATES):
        raise TableError(
            f"{text.shown} is in {name}, in which no cell can be changed alone; save the "
            "table in UTF-8."
        )
    with text.decompressed() as stream, packed_like(text, draft) as target:
        source: _Source = _Bytes(stream)
        if not text.as_is:
            assert text.encoding is not None
            target.write(stream.read(text.encoding.bom))
            source = _Characters(stream, name)
        position = 0
        for begin, end, new in sorted(edits):
            _pass_on(source, begin - position, target)
            target.write(new.encode(name))
            _pass_on(source, end - begin, None)
            position = end
        while content := source.some(sys.maxsize)[0]:
            target.write(content)


def _encoding_of(text: TextSource) -> str:
    return "utf-8" if text.encoding is None else text.encoding.name


def _pass_on(source: _Source, n_bytes: int, target: Writer | None) -> None:
    """Read a stretch; what is read is written, or lost if there is no target."""
    while n_bytes > 0:
        content, counted = source.some(n_bytes)
        if not counted:
            raise TableError("the table changed while it was read; try again.")
        n_bytes -= counted
        if target is not None:
            target.write(content)


class _Source(Protocol):
    """Bytes of a file, counted as the reader of tables counts them."""

    def some(self, most: int) -> tuple[bytes, int]:
        """Return bytes that count at most so much, and how much; none at the end."""


class _Bytes:
    """A file whose bytes are read as they are."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream

    def some(self, most: int) -> tuple[bytes, int]:
        content = self._stream.read(min(most, _BLOCK))
        return content, len(content)


class _Characters:
    """A file that is read as UTF-8: bytes count as much as their text has bytes in UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str):
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._raw = self._text = b""
        self._raw_done = self._text_done = 0

    def some(self, most: int) -> tuple[bytes, int]:
        while self._text_done == len(self._text):
            # A character may be cut at the end of a block; its first bytes wait in the decoder.
            block = self._stream.read(_BLOCK)
            if not block:
                return b"", 0
            self._raw = self._raw[self._raw_done :] + block
            self._text = self._decoder.decode(block).encode()
            self._raw_done = self._text_done = 0
        taken = self._text[self._text_done : min(self._text_done + most, len(self._text))]
        begin = self._raw_done
        self._raw_done += self._raw_length(taken.decode())
        self._text_done += len(taken)
        return self._raw[begin : self._raw_done], len(taken)

    def _raw_length(self, text: str) -> int:
        """Return how many of the next raw bytes are a text that they begin with."""
        usual = text.encode(self._encoding, "replace")
        if self._raw.startswith(usual, self._raw_done):
            return len(usual)
        # Some encodings have two codes for one character: only reading tells which it is.
        decoder = codecs.getincrementaldecoder(self._encoding)()
        n_raw, left = 0, len(text)
        while left > 0:
            place = self._raw_done + n_raw
            left -= len(decoder.decode(self._raw[place : place + 1]))
            n_raw += 1
        return n_raw
