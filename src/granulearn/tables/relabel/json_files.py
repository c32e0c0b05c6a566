"""Files of JSON objects with some labels changed: only the lines of these objects differ."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import chain, count, islice
from pathlib import Path

from granulearn.tables.errors import TableError
from granulearn.tables.io.json_lines import JsonTable, after_blanks
from granulearn.tables.relabel.edits import Changes, Edit, edited, rewriting
from granulearn.tables.relabel.quoting import (
    JUDGED_ROWS,
    are_mostly_quoted,
    can_be_bare,
    stays_quoted,
)

_DECODER = json.JSONDecoder()
_ESCAPED_LETTER = re.compile(r"\\u(?!00[0-7])")
_BLOCK = 2**20


def rewrite_json(table: JsonTable, temporary: Path, changes: Changes) -> None:
    """Write a file of JSON objects with some values of one key changed, without some rows.

    A number or a truth value stays one where the new text is one.
    """
    source, values = table.source, _Values(table, changes)
    with rewriting(source, temporary) as (stream, write):
        rows = count()
        write(stream.read(source.begin))
        while block := stream.readlines(_BLOCK):
            lines = chain.from_iterable(line.splitlines(keepends=True) for line in block)
            pieces = []
            for line in lines:
                if line.lstrip().startswith(b"["):  # all in one array
                    line = b"".join([line, *lines, stream.read()])
                text = line.decode(source.text_encoding)
                new = _rewritten(text, rows, values, changes.drop)
                pieces.append(line if new == text else new.encode(source.text_encoding))
            write(b"".join(pieces))


def _rewritten(line: str, rows: Iterator[int], values: _Values, drop: Collection[int]) -> str:
    """Return a line, or all lines of an array, with new values; dropped rows are taken out."""
    if not line.strip():
        return line
    if not line.lstrip().startswith("["):
        row = next(rows)
        return "" if row in drop else edited(line, values.edits(line, row, line.index("{")))
    found = [(row, *bounds) for bounds, row in zip(_elements(line), rows, strict=False)]
    edits = [edit for row, begin, _ in found for edit in values.edits(line, row, begin)]
    return edited(line, [*edits, *_removed(found, drop)])


class _Values:
    """The new values of one key."""

    def __init__(self, table: JsonTable, changes: Changes):
        self._table, self._cells = table, changes.cells
        self._key = table.keys[table.names.index(changes.column)]
        encoding = table.source.encoding
        self._encoding = "utf-8" if encoding is None else encoding.name

    def edits(self, content: str, row: int, begin: int) -> list[Edit]:
        """Return what changes the object that begins at an offset; nothing for most rows."""
        if row not in self._cells:
            return []
        new, (first, end, last) = self._cells[row], _value(content, begin, self._key)
        raw = content[first:end]
        if raw.startswith(("[", "{")):
            raise TableError(
                f"{self._table.path}, {self._table.place(row)}: {self._key!r} holds an array or an "
                "object, which cannot be changed; write its parts as keys of their own."
            )
        old = _DECODER.decode(raw) if raw.startswith('"') else raw
        if raw and old == new:
            return []
        is_string = stays_quoted(
            was_quoted=raw in ("", "null") or raw.startswith('"'),
            old_needs=not can_be_bare(old),
            new_needs=not can_be_bare(new),
            usual=lambda: self._strings_are_usual,
        )
        value = self._string(new, content) if is_string else new
        if raw:
            return [Edit(first, end, value)]
        blank = "" if last and '": ' not in content[begin:last] else " "
        comma = f",{blank}" if last else ""
        offset = last or begin + 1
        return [Edit(offset, offset, f"{comma}{self._string(self._key, content)}:{blank}{value}")]

    @cached_property
    def _strings_are_usual(self) -> bool:
        """Whether numbers and truth values of the column stand in quotation marks."""
        rows = enumerate(islice(self._table.objects(), JUDGED_ROWS))
        others = [row.get(self._key) for number, (_, row) in rows if number not in self._cells]
        judged = (type(value) is str for value in others if value and can_be_bare(value))
        return are_mostly_quoted(judged) is not False

    def _string(self, text: str, content: str) -> str:
        """Return a text as a string, its letters spelt as others of the line are."""
        escapes = _ESCAPED_LETTER.search(content) or not self._encoding.startswith("utf")
        return json.dumps(text, ensure_ascii=bool(escapes))


def _elements(content: str) -> Iterator[tuple[int, int]]:
    """Yield where the objects of an array stand."""
    end = content.index("[") + 1
    while (begin := content.find("{", end)) >= 0:
        _, end = _DECODER.raw_decode(content, begin)
        yield begin, end


def _value(content: str, begin: int, key: str) -> tuple[int, int, int]:
    """Return where the last value of a key stands in an object, and where the last value ends.

    A stretch of no length is returned if the object has no such key.
    """
    found, last = (0, 0), 0
    position = after_blanks(content, begin + 1)
    while content[position] != "}":
        name, position = _DECODER.raw_decode(content, position)
        first = after_blanks(content, after_blanks(content, position) + 1)
        _, last = _DECODER.raw_decode(content, first)
        found = (first, last) if name == key else found
        position = after_blanks(content, last)
        if content[position] == ",":
            position = after_blanks(content, position + 1)
    return *found, last


def _removed(rows: list[tuple[int, int, int]], drop: Collection[int]) -> Iterator[Edit]:
    """Yield the stretches of an array that are to go, with a comma each."""
    kept = [index for index, (row, _, _) in enumerate(rows) if row not in drop]
    last_kept = kept[-1] if kept else -1
    for index in range(last_kept):
        if rows[index][0] in drop:
            yield Edit(rows[index][1], rows[index + 1][1], "")
    if last_kept < len(rows) - 1:
        # The last elements go with the comma before them; the first one has none.
        yield Edit(rows[last_kept][2] if kept else rows[0][1], rows[-1][2], "")
