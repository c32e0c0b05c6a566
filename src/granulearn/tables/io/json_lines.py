"""JSON objects as rows: one on each line, or all in one array."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import pyarrow as pa

from granulearn.tables.io.edits import can_be_bare
from granulearn.tables.io.table_file import (
    AS_FOUND,
    LONGEST_ROW,
    Changes,
    ReadOptions,
    TableFile,
    check_width,
    column_indices,
    named_columns,
    rows_per_batch,
)
from granulearn.tables.io.text_source import Encoding, TextSource, find_encoding
from granulearn.tables.messages import Message, Setting, TableError
from granulearn.utils.text import listed


class Bare(str):
    """Number or Boolean as spelt: 1.50 stays 1.50."""

    __slots__ = ()


class JsonObject(NamedTuple):
    """A row of the table."""

    line: int
    """Number, from 1, of the line it begins on."""
    text: str
    """As it stands in the file."""
    content: dict[str, Any]


class _Window:
    """A part of a text, from a position on; the text before it is forgotten."""

    def __init__(self, text: TextIO, content: str, position: int, line: int):
        self.text, self.content, self.position = text, content, position
        self._line, self._counted = line, 0

    def sign(self) -> str:
        """Go to the next character that is no blank, and return it; nothing at the end."""
        while (begin := _after_blanks(self.content, self.position)) == len(self.content):
            self.position = begin
            if not self.reads_on():
                return ""
        self.position = begin
        return self.content[begin]

    def line(self) -> int:
        """Return the number of the line at the position."""
        self._line += self.content.count("\n", self._counted, self.position)
        self._counted = self.position
        return self._line

    def reads_on(self) -> bool:
        """Double the window, from the position on; say whether there was more text."""
        self.line()
        more = self.text.read(max(_PIECE, len(self.content) - self.position))
        self.content, self.position, self._counted = self.content[self.position :] + more, 0, 0
        return bool(more)


DECODER = json.JSONDecoder(parse_float=Bare, parse_int=Bare, parse_constant=Bare)
# Characters read at once; most values of a row, which take more memory than their text.
_PIECE, _MOST_VALUES = 2**20, 2**21
_BLANKS = re.compile(r"[ \t\r\n]*+")


class JsonTable(TableFile):
    """A file of JSON objects; the columns are their keys, in order of first appearance.

    Both are read in constant memory.

    Parameters
    ----------
    source : TextSource
        The file.
    options : ReadOptions, optional
        Options for reading it.
    """

    def __init__(self, source: TextSource, options: ReadOptions = AS_FOUND):
        self._shown, self._is_array = source.shown, False
        has_nested: dict[str, bool] = {}
        lines = []
        encoding = find_encoding(source.beginning, options.encoding) or Encoding("utf-8")
        self.source = replace(source, encoding=encoding, stream=None)
        for row in self.objects():
            for key, value in row.content.items():
                has_nested[key] = has_nested.get(key, False) or isinstance(value, (list, dict))
            check_width(source.shown, len(has_nested))
            lines.append(row.line)
        if not has_nested:
            found = "has only empty JSON objects" if lines else "is empty"
            raise TableError(f"{source.shown} {found}; it needs JSON objects with keys.")
        self.keys = list(has_nested)
        names, notes = named_columns(source.shown, self.keys)
        nested = [repr(name) for name, key in zip(names, self.keys, strict=True) if has_nested[key]]
        if nested:
            notes.append(f"arrays and objects are read as text in {listed(nested)}")
        super().__init__(source.shown, names, notes, len(lines))
        self._lines = np.array(lines)

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        names = wanted or self.names[:1]
        keys = [self.keys[index] for index in column_indices(self.names, names)]
        schema = pa.schema([(key, pa.string()) for key in keys])
        rows = ({key: cell_text(row.content.get(key)) for key in keys} for row in self.objects())
        while taken := list(islice(rows, rows_per_batch(len(keys)))):
            batch = pa.RecordBatch.from_pylist(taken, schema)
            yield batch.rename_columns(names).select(wanted)

    def location(self, row: int) -> str:
        """Return the location of a row, for messages.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        return f"line {self._lines[row]}"

    def lines(self) -> np.ndarray:
        """Return the line on which each object begins."""
        return self._lines

    def objects(self) -> Iterator[JsonObject]:
        """Yield the rows of the file."""
        encoding, line, is_first = self.source.text_encoding, 0, True
        with io.TextIOWrapper(self.source.open(), encoding) as text:
            try:
                for line, content in enumerate(iter(partial(text.readline, _PIECE), ""), start=1):
                    begin = _after_blanks(content, 0)
                    if is_first and content.startswith("[", begin):
                        self._is_array = True
                        yield from self._array(_Window(text, content, begin + 1, line))
                        return
                    while not content.endswith("\n") and (more := text.readline(len(content))):
                        content += more
                        self._check_length(content, 0, line)
                    begin = _after_blanks(content, begin)
                    if begin == len(content):
                        continue
                    is_first = False
                    row, end = self._decoded(content, begin, line)
                    if content[end:].strip():
                        raise self._broken(line, f"{content[end:][:20]!r} follows the object")
                    yield row
            except UnicodeDecodeError as error:
                problem = f"{self._shown}, after line {line}: the text is not in {encoding}; "
                step = Message(problem, "state its encoding (", Setting("encoding"), ").")
                raise TableError(step) from error

    def _array(self, window: _Window) -> Iterator[JsonObject]:
        """Yield the objects of an array, one at a time, to know their lines."""
        while window.sign() != "]":
            row = self._next_row(window)
            yield row
            if window.sign() == ",":
                window.position += 1
            elif window.sign() != "]":
                raise self._broken(row.line, "a comma or ] is missing after this object")
        window.position += 1
        if window.sign():  # rows of a second array would be lost
            rest = window.content[window.position :][:20]
            raise self._broken(window.line(), f"{rest!r} follows the array")

    def _next_row(self, window: _Window) -> JsonObject:
        while True:
            line = window.line()
            try:
                row, window.position = self._decoded(window.content, window.position, line)
                return row
            except TableError:  # perhaps only the beginning of the object is in the window
                self._check_length(window.content, window.position, line)
                if not window.reads_on():
                    raise

    def _check_length(self, text: str, begin: int, line: int) -> None:
        """Refuse a row that is too long, or has too many values."""
        long, many = len(text) - begin > LONGEST_ROW, text.count(",", begin) > _MOST_VALUES
        if long or many:
            found = f"more than {LONGEST_ROW if long else _MOST_VALUES:,}"
            found = f"{found} characters" if long else f"{found} values"
            raise self._broken(line, f"a row of {found}")

    def _decoded(self, text: str, begin: int, line: int) -> tuple[JsonObject, int]:
        """Return the object that begins at a position, and where it ends."""
        try:
            value, end = DECODER.raw_decode(text, begin)
            if "\\u" in text:
                json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise self._broken(line, "a character is half a surrogate pair") from error
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._broken(line, error) from error
        if isinstance(value, dict):
            return JsonObject(line, text[begin:end], value), end
        raise TableError(
            f"{self._shown}, line {line}: {str(value)[:40]!r} is no JSON object; each row must "
            'be one, such as {"age": 31}.'
        )

    def _broken(self, line: int, error: object) -> TableError:
        return TableError(
            f"{self._shown}, line {line}: this is no JSON ({error}); write one object per line, or "
            "one array of objects."
        )

    def _rewrite(self, temporary: Path, changes: Changes) -> None:
        """Write the rows, each on its line: changed ones anew, the others as they stand.

        A number or a Boolean is written as one if the column has others; else as a string.
        """
        key, rows = self.keys[self.names.index(changes.column)], list(self.objects())
        has_bare = any(isinstance(row.content.get(key), (Bare, bool)) for row in rows)

        def changed(row: JsonObject, new: str) -> str:
            old = row.content.get(key)
            if isinstance(old, (dict, list)):
                raise TableError(
                    f"{self.path}, line {row.line}: {key!r} holds an array or an object, which "
                    "cannot be changed; write its parts as keys of their own."
                )
            value = Bare(new) if has_bare and can_be_bare(new) else new
            return row.text if cell_text(old) == new else json_text(row.content | {key: value})

        texts = [
            changed(row, changes.cells[number]) if number in changes.cells else row.text
            for number, row in enumerate(rows)
            if number not in changes.drop
        ]
        content = "[\n" + ",\n".join(texts) + "\n]\n" if self._is_array else "\n".join([*texts, ""])
        mark = codecs.BOM_UTF8[: self.source.begin]
        self.source.write(temporary, mark + self.source.encode(content))


def cell_text(value: Any) -> str | None:
    """Return a value as the text of a cell; None for null."""
    return value if value is None or isinstance(value, str) else json_text(value)


def json_text(value: Any) -> str:
    """Return a value as JSON on one line, numbers as spelt."""
    if isinstance(value, Bare):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(json_text, value))}]"
    if isinstance(value, dict):
        items = (f"{json_text(key)}: {json_text(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    return json.dumps(value, ensure_ascii=False)


def _after_blanks(content: str, position: int) -> int:
    """Return the position of the next character that is no blank."""
    found = _BLANKS.match(content, position)
    return found.end() if found else position


def looks_like_json(beginning: bytes) -> bool:
    """Return whether a text begins with a JSON object on a line, or with an array of them.

    Parameters
    ----------
    beginning : bytes
        The first bytes of a text in UTF-8.
    """
    content = beginning.removeprefix(b"\xef\xbb\xbf").strip()
    if content.startswith(b"["):
        return content[1:].lstrip().startswith(b"{")
    first, newline, _ = content.partition(b"\n")
    if not content.startswith(b"{") or (not newline and len(beginning) > 2**16):
        return content.startswith(b"{")
    try:
        return isinstance(DECODER.decode(first.decode()), dict)
    except (ValueError, RecursionError):
        return False
