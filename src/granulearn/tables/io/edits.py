"""Edits of texts and ZIP archives, to write files again."""

from __future__ import annotations

import copy
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

from granulearn.tables.messages import TableError

_Text = TypeVar("_Text", str, bytes)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Edit(NamedTuple):
    """A range of a text, and its replacement."""

    begin: int
    end: int
    new: Any
    """Text or bytes, as the text is."""


def edited(content: _Text, edits: Iterable[Edit]) -> _Text:
    """Apply edits that do not overlap."""
    pieces: list[_Text] = []
    position = 0
    for begin, end, new in sorted(edits):
        pieces += [content[position:begin], new]
        position = end
    pieces.append(content[position:])
    return content[:0].join(pieces)


def is_json_number(text: str) -> bool:
    """Return whether a text is a number as in JSON and workbooks."""
    return _NUMBER.fullmatch(text) is not None


def can_be_bare(text: str) -> bool:
    """Return whether a text is a number or a Boolean."""
    return text in ("true", "false") or is_json_number(text)


@contextmanager
def changed_member(path: Path, temporary: Path, changed: str) -> Iterator[BinaryIO]:
    """Give one member of a ZIP archive to be written again; all others are copied."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(temporary, "w") as new:
        new.comment = old.comment
        for member in old.infolist():
            with new.open(copy.copy(member), "w") as file:
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
