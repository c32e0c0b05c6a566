"""What the writers of all formats share: edits of a text, quoting style, archives."""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
import re
import shutil
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

import pyarrow as pa

from granulearn.tables.io.text_source import TextSource, is_table
from granulearn.tables.messages import TableError

_Text = TypeVar("_Text", str, bytes)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
# The quoting style of a column is judged by its first cells.
_JUDGED_CELLS = 1000
# That of the program gzip: the highest level takes three times as long for a few bytes.
_GZIP_LEVEL = 6
_LONG_MEMBER = 2**30


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


def stays_quoted(*, was_quoted: bool, old_needs: bool, new_needs: bool, usual: bool) -> bool:
    """Return whether a changed cell is to be quoted: as text in CSV, as a string in JSON and Excel.

    A cell keeps its style where the new text allows it. If only the old text needed quotes, the
    usual style of the column decides. So changing a cell and changing it back gives the same cell.
    """
    return new_needs or (was_quoted and (usual or not old_needs))


def are_mostly_quoted(quoted: Iterable[bool], otherwise: bool) -> bool:
    """Return whether most cells that need no quotes have them."""
    judged = list(islice(quoted, _JUDGED_CELLS))
    return 2 * sum(judged) > len(judged) if judged else otherwise


def is_number(text: str) -> bool:
    """Return whether a text is a number as JSON and workbooks spell them."""
    return _NUMBER.fullmatch(text) is not None


def can_be_bare(text: str) -> bool:
    """Return whether a text is a number or a truth value."""
    return text in ("true", "false") or is_number(text)


def text_of_file(source: TextSource) -> bytes:
    """Return the whole text, in bytes that keep ASCII, if it can be written again as it was."""
    if not source.as_is and source.encoding is not None:
        name = source.encoding.name
        with source.decompressed() as stream:
            content = stream.read()
        if content.decode(name).encode(name) != content:
            raise TableError(
                f"{source.shown} is in {name} and spells a character in two ways, so that no cell "
                "can be changed alone; save the table in UTF-8."
            )
    with source.open(0) as stream:
        return stream.read()


def write_text(source: TextSource, temporary: Path, content: bytes) -> None:
    """Write a text that `text_of_file` gave, in the encoding and compression of the source."""
    if not source.as_is and source.encoding is not None:
        mark = "\ufeff" if source.encoding.bom else ""
        content = (mark + content.decode()).encode(source.encoding.name)
    if source.compression == "zip":
        with zipfile.ZipFile(source.path) as archive:
            table = next(filter(is_table, archive.infolist()))
        with changed_member(source.path, temporary, table.filename) as member:
            member.write(content)
    elif source.compression == "zstd":
        with pa.CompressedOutputStream(str(temporary), "zstd") as stream:
            stream.write(content)
    else:
        # No time of writing is stored, so that equal tables give equal files.
        if source.compression == "gzip":
            content = gzip.compress(content, _GZIP_LEVEL, mtime=0)
        elif source.compression is not None:
            content = {"bz2": bz2, "xz": lzma}[source.compression].compress(content)
        temporary.write_bytes(content)


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


@contextmanager
def changed_member(path: Path, temporary: Path, changed: str) -> Iterator[BinaryIO]:
    """Give one member of a ZIP archive to be written again; all others are copied."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(temporary, "w") as new:
        new.comment = old.comment
        for member in old.infolist():
            is_long = member.file_size > _LONG_MEMBER
            with new.open(copy.copy(member), "w", force_zip64=is_long) as file:
                if member.filename == changed:
                    yield cast(BinaryIO, file)
                    continue
                try:
                    with old.open(member) as content:
                        shutil.copyfileobj(content, file)
                except (NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
                    raise TableError(
                        f"{path}: its part {member.filename!r} cannot be copied ({error}); open "
                        "it in a spreadsheet program and save it again."
                    ) from error
