"""JSON objects with some labels changed: only these objects are written anew."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from granulearn.tables.io.json_lines import DECODER, Bare, JsonTable, json_text
from granulearn.tables.messages import TableError
from granulearn.tables.relabel.edits import (
    Changes,
    Edit,
    are_mostly_quoted,
    can_be_bare,
    edited,
    stays_quoted,
    text_of_file,
    write_text,
)

# The style of a column is judged by its first rows.
_JUDGED_ROWS = 100_000
_LINE_END = re.compile(r"[ \t]*(?:\r\n|\r|\n)")
_ESCAPED_LETTER = re.compile(r"\\u(?!00[0-7])")


def rewrite_json(table: JsonTable, temporary: Path, changes: Changes) -> None:
    """Write a file of JSON objects with some values of one key changed, without some rows.

    A number or a truth value stays one where the new text is one.
    """
    source, key = table.source, table.keys[table.names.index(changes.column)]
    text = text_of_file(source).decode(source.text_encoding)
    objects = list(_objects(text))
    is_unicode = source.encoding is None or source.encoding.name.startswith("utf")

    @cache
    def strings_are_usual() -> bool:
        values = (_spelling(value.get(key)) for _, _, value in islice(objects, _JUDGED_ROWS))
        judged = (is_string for old, is_string in values if can_be_bare(old))
        return are_mostly_quoted(judged, otherwise=True)

    def change(row: int, new: str) -> Edit:
        begin, end, value = objects[row]
        if isinstance(value.get(key), (dict, list)):
            raise TableError(
                f"{table.path}, {table.place(row)}: {key!r} holds an array or an object, which "
                "cannot be changed; write its parts as keys of their own."
            )
        old, was_string = _spelling(value.get(key))
        raw = text[begin:end]
        if old == new and value.get(key) is not None:
            return Edit(begin, end, raw)
        is_string = stays_quoted(
            was_quoted=was_string or old == "null",
            old_needs=not can_be_bare(old),
            new_needs=not can_be_bare(new),
            usual=strings_are_usual(),
        )
        spelt = json_text(
            value | {key: new if is_string else Bare(new)},
            gap=" " if '": ' in raw or not value else "",
            ascii_only=bool(_ESCAPED_LETTER.search(raw)) or not is_unicode,
        )
        return Edit(begin, end, spelt)

    edits = [change(row, new) for row, new in changes.cells.items()]
    remove = _removed_elements if text.lstrip("\ufeff \t\r\n").startswith("[") else _removed_lines
    edits += remove(text, [(begin, end) for begin, end, _ in objects], changes.drop)
    write_text(source, temporary, edited(text, edits).encode(source.text_encoding))


def _objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield where the objects stand, of lines or of an array, and what they hold."""
    end = 0
    while (begin := text.find("{", end)) >= 0:
        value, end = DECODER.raw_decode(text, begin)
        yield begin, end, value


def _spelling(value: Any) -> tuple[str, bool]:
    """Return a value as it is spelt, and whether it is a string."""
    is_string = type(value) is str
    return value if is_string else json_text(value), is_string


def _removed_lines(
    text: str, bounds: list[tuple[int, int]], drop: Collection[int]
) -> Iterator[Edit]:
    for row in drop:
        line_end = _LINE_END.match(text, bounds[row][1])
        yield Edit(bounds[row][0], line_end.end() if line_end else bounds[row][1], "")


def _removed_elements(
    text: str, bounds: list[tuple[int, int]], drop: Collection[int]
) -> Iterator[Edit]:
    """Yield the stretches of an array that are to go, with a comma each."""
    last_kept = max(row for row in range(len(bounds)) if row not in drop)
    for row in drop:
        if row < last_kept:
            yield Edit(bounds[row][0], bounds[row + 1][0], "")
    if last_kept < len(bounds) - 1:
        # The last elements go with the comma before them.
        yield Edit(bounds[last_kept][1], bounds[-1][1], "")
