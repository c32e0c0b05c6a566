"""JSON objects as rows: one on each line, or all in one array."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from granulearn.tables.io.edits import Edit, can_be_bare, edited
from granulearn.tables.io.table_file import (
    AS_FOUND,
    Changes,
    ReadOptions,
    TableFile,
    check_width,
    column_indices,
    named_columns,
    rows_per_batch,
    shortened,
)
from granulearn.tables.io.text_source import Encoding, TextSource, find_encoding
from granulearn.tables.messages import Message, Setting, TableError


class Bare(str):
    """Number or Boolean as spelt: 1.50 stays 1.50."""

    __slots__ = ()


class _Nested(Bare):
    """An array or an object as text."""

    __slots__ = ()


DECODER = json.JSONDecoder(parse_float=Bare, parse_int=Bare, parse_constant=Bare)
_LINE_END = re.compile(r"[ \t]*(?:\r\n|\r|\n)|")
_ESCAPED_LETTER = re.compile(r"\\u(?!00[0-7])")
_BLANKS = re.compile(r"[ \t\r\n]*+")


class JsonTable(TableFile):
    """A file of JSON objects; the columns are their keys, in order of first appearance.

    Lines are read in constant memory, an array as a whole.

    Parameters
    ----------
    source : TextSource
        The file.
    options : ReadOptions, optional
        Options for reading it.
    stream : binary file, optional
        What `source.decompressed` gave, if it is open already.
    """

    def __init__(
        self,
        source: TextSource,
        options: ReadOptions = AS_FOUND,
        stream: io.BufferedReader | None = None,
    ):
        self._shown = source.shown
        keys: dict[str, bool] = {}
        lines = []
        with stream or source.decompressed() as stream:
            found = find_encoding(stream.peek(2**12), options.encoding) or Encoding("utf-8")
            self.source = replace(source, encoding=found)
            for line, row in self.objects(stream):
                for key, value in row.items():
                    keys[key] = keys.get(key, False) or isinstance(value, _Nested)
                check_width(source.shown, len(keys))
                lines.append(line)
        if not keys:
            what = "has only empty JSON objects; it needs some keys."
            raise TableError(
                f"{source.shown} {what if lines else 'is empty; it needs JSON objects.'}"
            )
        self.keys = list(keys)
        names, notes = named_columns(source.shown, self.keys)
        nested = [name for name, is_nested in zip(names, keys.values(), strict=True) if is_nested]
        nested = shortened(
            [f"column {name!r} holds arrays or objects; they are read as text" for name in nested],
            "more columns hold arrays or objects",
        )
        super().__init__(source.shown, names, [*notes, *nested], len(lines))
        self._lines = np.array(lines)

    def _batches(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        names = wanted or self.names[:1]
        keys = [self.keys[index] for index in column_indices(self.names, names)]
        schema = pa.schema([(key, pa.string()) for key in keys])
        rows = (row for _, row in self.objects())
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

    def objects(
        self, stream: io.BufferedReader | None = None
    ) -> Iterator[tuple[int, dict[str, str | None]]]:
        """Yield the objects, each with the line it begins on; a value that is no text is bare."""
        encoding, line, is_first = self.source.text_encoding, 0, True
        with io.TextIOWrapper(self.source.open(stream=stream), encoding) as text:
            try:
                for line, content in enumerate(text, start=1):
                    if is_first and content.lstrip().startswith("["):
                        yield from self._array(content + text.read(), line)
                        return
                    if content.strip():
                        is_first = False
                        value, end = self._decoded(content, content.index(content.strip()), line)
                        if content[end:].strip():
                            raise self._broken(line, f"{content[end:][:20]!r} follows the object")
                        yield line, value
            except UnicodeDecodeError as error:
                problem = (
                    f"{self._shown}, after line {line}: the text is not in {encoding}; state its"
                )
                raise TableError(
                    Message(f"{problem} encoding (", Setting("encoding"), ").")
                ) from error

    def _array(self, content: str, line: int) -> Iterator[tuple[int, dict[str, str | None]]]:
        """Yield the objects of an array, one at a time, to know their lines."""
        counted, position = 0, _after_blanks(content, content.index("[") + 1)
        while not content.startswith("]", position):
            line, counted = line + content.count("\n", counted, position), position
            value, position = self._decoded(content, position, line)
            yield line, value
            position = _after_blanks(content, position)
            if content.startswith(",", position):
                position = _after_blanks(content, position + 1)
            elif not content.startswith("]", position):
                raise self._broken(line, "a comma or ] is missing after this object")
        rest = content[position + 1 :].strip()
        if rest:  # rows of a second array would be lost
            line += content.count("\n", counted, content.rindex(rest))
            raise self._broken(line, f"{rest[:20]!r} follows the array")

    def _decoded(self, content: str, position: int, line: int) -> tuple[dict[str, str | None], int]:
        """Return the object that begins at a position, and where it ends."""
        try:
            value, end = DECODER.raw_decode(content, position)
            if "\\u" in content:
                json.dumps(value, ensure_ascii=False).encode()
            if isinstance(value, dict):
                return {key: _cell(item) for key, item in value.items()}, end
        except UnicodeEncodeError as error:
            raise self._broken(line, "a character is half a surrogate pair") from error
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._broken(line, error) from error
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
        """Write a file of JSON objects with some values of one key changed, without some rows.

        A number or a Boolean is written as one if the column has others; else as a string.
        """
        source, key = self.source, self.keys[self.names.index(changes.column)]
        text = source.whole().decode(source.text_encoding)
        objects = list(_objects(text))
        is_unicode = source.encoding is None or source.encoding.name.startswith("utf")
        has_bare = any(isinstance(value.get(key), (Bare, bool)) for _, _, value in objects)

        def change(row: int, new: str) -> Edit:
            begin, end, value = objects[row]
            old, raw = value.get(key), text[begin:end]
            if isinstance(old, (dict, list)):
                raise TableError(
                    f"{self.path}, {self.location(row)}: {key!r} holds an array or an object, "
                    "which cannot be changed; write its parts as keys of their own."
                )
            if old is not None and new == (old if isinstance(old, str) else json_text(old)):
                return Edit(begin, end, raw)
            spelt = json_text(
                value | {key: Bare(new) if has_bare and can_be_bare(new) else new},
                gap=" " if '": ' in raw or not value else "",
                ascii_only=bool(_ESCAPED_LETTER.search(raw)) or not is_unicode,
            )
            return Edit(begin, end, spelt)

        edits = [change(row, new) for row, new in changes.cells.items()]
        is_array = text.lstrip("\ufeff \t\r\n").startswith("[")
        bounds = [(begin, end) for begin, end, _ in objects]
        edits += _removals(text, bounds, changes.drop, is_array=is_array)
        source.write(temporary, edited(text, edits).encode(source.text_encoding))


def _cell(value: Any) -> str | None:
    if isinstance(value, (list, dict)):
        return _Nested(json_text(value))
    return Bare(json_text(value)) if isinstance(value, bool) else value


def json_text(value: Any, *, gap: str = " ", ascii_only: bool = False) -> str:
    """Return a value as JSON on one line, numbers as spelt.

    `gap` follows each comma and colon.
    """
    if isinstance(value, Bare):
        return value
    spelt = partial(json_text, gap=gap, ascii_only=ascii_only)
    if isinstance(value, list):
        return f"[{f',{gap}'.join(map(spelt, value))}]"
    if isinstance(value, dict):
        items = (f"{spelt(key)}:{gap}{spelt(item)}" for key, item in value.items())
        return f"{{{f',{gap}'.join(items)}}}"
    return json.dumps(value, ensure_ascii=ascii_only)


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


def _objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the objects of lines or of an array: begin, end and content."""
    end = 0
    while (begin := text.find("{", end)) >= 0:
        value, end = DECODER.raw_decode(text, begin)
        yield begin, end, value


def _removals(
    text: str, bounds: list[tuple[int, int]], drop: Collection[int], *, is_array: bool
) -> Iterator[Edit]:
    """Yield the stretches to remove: objects with their line end, or with one comma of an array."""
    last_kept = max(row for row in range(len(bounds)) if row not in drop)
    for row in drop:
        begin, end = bounds[row]
        if not is_array:
            line_end = _LINE_END.match(text, end)
            yield Edit(begin, line_end.end() if line_end else end, "")
        elif row < last_kept:
            yield Edit(begin, bounds[row + 1][0], "")
    if is_array and last_kept < len(bounds) - 1:
        # The last elements go with the comma before them.
        yield Edit(bounds[last_kept][1], bounds[-1][1], "")
