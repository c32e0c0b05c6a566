"""Stretches of a text replaced, and every other byte written as it was."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from granulearn.tables.errors import TableError
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.relabel.compression import compressed_like

_Text = TypeVar("_Text", str, bytes)
_BLOCK = 2**18


class Changes(NamedTuple):
    """What is to change in a table."""

    column: str
    cells: Mapping[int, str]
    """New texts by row."""
    drop: Collection[int]
    """Rows to leave out."""


class Edit(NamedTuple):
    """A stretch of a text, and what is to stand there."""

    begin: int
    end: int
    new: Any
    """Text or bytes, as the text is."""


def edited(content: _Text, edits: Iterable[Edit]) -> _Text:
    """Return a text with some stretches replaced, no two of which overlap."""
    pieces: list[_Text] = []
    position = 0
    for begin, end, new in sorted(edits):
        pieces += [content[position:begin], new]
        position = end
    pieces.append(content[position:])
    return content[:0].join(pieces)


@contextmanager
def rewriting(
    source: TextSource, temporary: Path
) -> Iterator[tuple[BinaryIO, Callable[[bytes], object]]]:
    """Give the text of a file from its first byte, and a function that writes text again."""
    if not source.as_is:
        _check_encoded_alike(source)
    with source.open(0) as stream, compressed_like(source, temporary) as file:
        if source.as_is or source.encoding is None:
            yield stream, file.write
            return
        decode = codecs.getincrementaldecoder("utf-8")().decode
        encode = codecs.getincrementalencoder(source.encoding.name)().encode
        if source.encoding.bom:
            file.write(encode("\ufeff"))
        yield stream, lambda content: file.write(encode(decode(content)))


def _check_encoded_alike(source: TextSource) -> None:
    """Refuse a file that has other bytes once it is decoded and encoded again."""
    assert source.encoding is not None
    decode = codecs.getincrementaldecoder(source.encoding.name)().decode
    encode = codecs.getincrementalencoder(source.encoding.name)().encode
    with source.decompressed() as stream:
        left = b""
        while block := stream.read(_BLOCK):
            left += block
            again = encode(decode(block))
            if not left.startswith(again):
                raise TableError(
                    f"{source.shown} is in {source.encoding.name} and spells a character in two "
                    "ways, so that no cell can be changed alone; save the table in UTF-8."
                )
            left = left[len(again) :]


def check_encodable(source: TextSource, label: str) -> None:
    """Refuse a label that cannot be written in the encoding of a file."""
    name = "utf-8" if source.encoding is None else source.encoding.name
    try:
        label.encode(name)
    except UnicodeEncodeError as error:
        raise TableError(
            f"{source.shown} is in {name}, which cannot hold the label {label!r}; save the "
            "table in UTF-8, or spell the label otherwise."
        ) from error
    if "\0" in label:
        raise TableError(
            f"{source.shown}: the label {label!r} holds a NUL character, which no table of "
            "text can hold; spell the label otherwise."
        )
