"""Files of JSON objects with some labels changed: only the bytes of these values differ."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from granulearn.tables.errors import TableError
from granulearn.tables.io.json_lines import JsonTable
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.relabel.habits import (
    JUDGED_ROWS,
    are_mostly_marked,
    can_be_bare,
    stays_marked,
)
from granulearn.tables.relabel.json_values import JsonObject, Spelling, object_at, spelt
from granulearn.tables.relabel.splicing import Edit, Line, LineRemoval, write_spliced

_DECODER = json.JSONDecoder()


class _Stretch(NamedTuple):
    """A line, or all lines of an array."""

    content: str
    begin: int
    """Offset in the file, in bytes."""
    is_array: bool


@dataclass(frozen=True)
class _Row:
    """An object, and the stretch of text that it stands in."""

    number: int
    stretch: _Stretch
    begin: int
    """Of the object in the stretch."""
    end: int

    @property
    def found(self) -> JsonObject:
        """What is in it; it is looked into when it is asked for."""
        return object_at(self.stretch.content, self.begin)


def rewrite_json(
    table: JsonTable, draft: Path, column: str, cells: Mapping[int, str], drop: Collection[int]
) -> None:
    """Write a file of JSON objects with some values of one key changed.

    Parameters
    ----------
    table : JsonTable
        The table.
    draft : Path
        Where to write.
    column : str
        The column.
    cells : mapping of int to str
        New texts by row; a number or a truth value may stay one.
    drop : collection of int
        Rows to leave out.
    """
    file = _JsonFile(table, table.source, column, cells)
    write_spliced(file.text, [*file.changes(), *file.removals(drop)], draft)


class _JsonFile:
    """A file, and what is to be changed in it."""

    def __init__(self, table: JsonTable, text: TextSource, column: str, cells: Mapping[int, str]):
        self.text = text
        self._table = table
        self._cells = cells
        self._column = column

    @property
    def _encoding(self) -> str:
        """Of the bytes that `TextSource` gives."""
        return self.text.text_encoding

    def changes(self) -> Iterator[Edit]:
        """Yield what changes values."""
        changed = (row for row in self._rows() if row.number in self._cells)
        for stretch, rows in groupby(changed if self._cells else (), lambda row: row.stretch):
            edits = [self._change(row, self._cells[row.number]) for row in rows]
            yield from self._in_bytes(stretch, [edit for edit in edits if edit is not None])

    def _change(self, row: _Row, new: str) -> Edit | None:
        found = row.found
        value = found.values.get(self._key)
        if value is None:
            written = self._written("", new, is_string=True)
            return found.with_key(self._key, written, self._spelling(""))
        if value.is_nested:
            raise TableError(
                f"{self._table.path}, {self._table.place(row.number)}: {self._key!r} holds an "
                "array or an object, which cannot be changed; write its parts as keys of their "
                "own."
            )
        if value.text == new:
            return None
        return Edit(value.begin, value.end, self._written(value.raw, new, value.is_string))

    def _written(self, raw: str, new: str, is_string: bool) -> str:
        """Return the new text as a string, or bare if it was or the habit of the column is so."""
        old = spelt(raw)
        stays = stays_marked(
            was_marked=is_string or raw == "null",
            old_needs=not can_be_bare(old),
            new_needs=not can_be_bare(new),
            habit=lambda: self._strings_are_usual,
        )
        return self._spelling(raw).string(new) if stays else new

    def _spelling(self, raw: str) -> Spelling:
        """Return how letters outside of ASCII are spelt, shown by the old value or by the file."""
        assert self.text.encoding is not None
        escapes = Spelling.habit_of(raw)
        return Spelling(self._is_ascii if escapes is None else escapes, self.text.encoding.name)

    @cached_property
    def _key(self) -> str:
        """The key of the column, whose name may be another: keys come in order of appearance."""
        place = self._table.names.index(self._column)
        keys: dict[str, None] = {}
        for row in self._rows():
            keys.update(dict.fromkeys(row.found.values))
            if len(keys) > place:
                break
        return list(keys)[place]

    @cached_property
    def _strings_are_usual(self) -> bool:
        """Whether numbers and truth values of the column stand in quotation marks."""
        others = (row.found.values.get(self._key) for row in islice(self._others(), JUDGED_ROWS))
        judged = (value.is_string for value in others if value and can_be_bare(value.text or ""))
        return are_mostly_marked(judged) is not False

    def _others(self) -> Iterator[_Row]:
        return (row for row in self._rows() if row.number not in self._cells)

    @cached_property
    def _is_ascii(self) -> bool:
        with self.text.open() as stream:
            return all(block.isascii() for block in iter(lambda: stream.read(2**20), b""))

    def removals(self, drop: Collection[int]) -> Iterator[Edit]:
        """Yield what leaves out rows: whole lines, or elements of an array with their comma.

        Parameters
        ----------
        drop : collection of int
            The rows.
        """
        lines = LineRemoval(drop, self._table.rows_about)
        in_array: list[_Row] = []
        for row in self._rows() if drop else ():
            if row.stretch.is_array:
                in_array.append(row)
            elif row.number in lines.rows:
                content, begin, _ = row.stretch
                end = begin + self._n_bytes(content.rstrip("\r\n"))
                yield from lines.edits(row.number, Line(begin, end, begin + self._n_bytes(content)))
        if in_array:
            removed = list(_removed_elements(in_array, drop))
            yield from self._in_bytes(in_array[0].stretch, removed)

    def _in_bytes(self, stretch: _Stretch, edits: list[Edit]) -> Iterator[Edit]:
        """Yield edits of a stretch, which are in order, as edits of the file."""
        place, offset = 0, stretch.begin
        for edit in edits:
            begin = offset + self._n_bytes(stretch.content[place : edit.begin])
            place, offset = edit.end, begin + self._n_bytes(stretch.content[edit.begin : edit.end])
            yield Edit(begin, offset, edit.text)

    def _n_bytes(self, content: str) -> int:
        return len(content) if content.isascii() else len(content.encode(self._encoding))

    def _rows(self) -> Iterator[_Row]:
        number = 0
        for stretch in self._stretches():
            content = stretch.content
            if not stretch.is_array:
                yield _Row(number, stretch, content.index("{"), len(content))
                number += 1
                continue
            end = content.index("[") + 1
            while number < self._table.rows_about:
                begin = content.index("{", end)
                _, end = _DECODER.raw_decode(content, begin)
                yield _Row(number, stretch, begin, end)
                number += 1

    def _stretches(self) -> Iterator[_Stretch]:
        """Yield lines that are not blank; an array comes as a whole, with all that follows."""
        begin = self.text.begin
        with (
            self.text.open() as stream,
            io.TextIOWrapper(stream, self._encoding, newline="") as text,
        ):
            for line in text:
                if line.lstrip().startswith("["):
                    yield _Stretch(line + text.read(), begin, True)
                    return
                if line.strip():
                    yield _Stretch(line, begin, False)
                begin += self._n_bytes(line)


def _removed_elements(rows: list[_Row], drop: Collection[int]) -> Iterator[Edit]:
    """Yield the stretches of an array that are to go."""
    kept = [place for place, row in enumerate(rows) if row.number not in drop]
    last_kept = kept[-1] if kept else -1
    for place in range(last_kept):
        if rows[place].number in drop:
            yield Edit(rows[place].begin, rows[place + 1].begin, "")
    if last_kept < len(rows) - 1:
        # The last elements go with the comma before them; the first one has none.
        begin = rows[last_kept].end if kept else rows[0].begin
        yield Edit(begin, rows[-1].end, "")
