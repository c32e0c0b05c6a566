"""JSON objects as rows: one on each line, or all in one array."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from granulearn.tables.errors import TableError
from granulearn.tables.io.naming import check_width, named_columns
from granulearn.tables.io.row_batches import text_batches
from granulearn.tables.io.table_file import AS_FOUND, ReadOptions, TableFile, TablePart, WholePart
from granulearn.tables.io.text_bytes import TextBytes
from granulearn.tables.io.text_encoding import Encoding, evident_encoding, stated_encoding
from granulearn.tables.io.text_source import TextSource
from granulearn.tables.messages import Message, Setting


class _Number(str):
    """The spelling of a number: 1.50 stays 1.50."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number)
_BLANKS = " \t\r\n"
_NESTED = (list, dict)
_REMARKS_SHOWN = 5


class JsonTable(TableFile):
    """A file of JSON objects; the columns are their keys, in order of first appearance.

    Lines are read in constant memory, an array as a whole.

    Parameters
    ----------
    source : TextSource
        The file.
    reading : ReadOptions, optional
        What the user says about it.
    """

    def __init__(self, source: TextSource, reading: ReadOptions = AS_FOUND):
        self._arguments = (source, reading)
        with source.open() as stream:
            beginning = stream.read(2**12)
        if reading.encoding is not None:
            encoding = stated_encoding(reading.encoding, beginning)
        else:
            encoding = evident_encoding(beginning) or Encoding("utf-8")
        self._text = TextBytes(source, encoding)
        self._shown = source.shown
        keys: dict[str, None] = {}
        nested: dict[str, None] = {}
        lines = []
        for line, row in self._objects():
            keys.update(dict.fromkeys(row))
            nested.update((key, None) for key, value in row.items() if isinstance(value, _NESTED))
            check_width(source.shown, len(keys))
            lines.append(line)
        if not lines:
            raise TableError(f"{source.shown} is empty; it needs JSON objects.")
        if not keys:
            raise TableError(f"{source.shown} has only empty JSON objects; it needs some keys.")
        self._keys = list(keys)
        names, remarks = named_columns(source.shown, self._keys)
        name_of = dict(zip(self._keys, names, strict=True))
        remarks = [*remarks, *_nested_remarks([name_of[key] for key in keys if key in nested])]
        super().__init__(source.shown, names, remarks, len(lines))
        self._lines = np.array(lines)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in file order, every cell as text; a key that is not there is null.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns, and in which order; all of them unless given.
        """
        wanted = self._wanted(columns)
        key_of = dict(zip(self.names, self._keys, strict=True))
        keys = [key_of[name] for name in wanted]
        rows = ([self._cell(line, row, key) for key in keys] for line, row in self._objects())
        return text_batches(rows, wanted)

    def _cell(self, line: int, row: dict[str, Any], key: str) -> str | None:
        value = row.get(key)
        if value is None or isinstance(value, str):
            return value
        try:
            return _json_of(value)
        except RecursionError as error:
            raise TableError(
                f"{self._shown}, line {line}: {key!r} holds arrays or objects too deep in each "
                "other to be read; write its parts as keys of their own."
            ) from error

    def parts(self) -> tuple[TablePart, ...]:
        """Return the table as one part."""
        return (WholePart(JsonTable, self._arguments),)

    def place(self, row: int) -> str:
        """Say where a row stands.

        Parameters
        ----------
        row : int
            Number of the data row, from 0.
        """
        return f"line {self._lines[row]}"

    def lines(self) -> np.ndarray:
        """Return the line on which each object begins."""
        return self._lines

    def _objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects, each with the line it begins on."""
        encoding = self._text.encoding.name if self._text.as_they_are else "utf-8"  # type: ignore[union-attr]
        with self._text.open() as stream, io.TextIOWrapper(stream, encoding) as text:
            line = 0
            try:
                for line, content in enumerate(text, start=1):
                    if not content.strip():
                        continue
                    if content.lstrip().startswith("["):
                        yield from self._array(content + text.read(), line)
                        return
                    yield line, self._object(content, line)
            except UnicodeDecodeError as error:
                said = (
                    f"{self._shown}, after line {line}: the text is not in {encoding}; state its "
                    "encoding ("
                )
                raise TableError(Message(said, Setting("encoding"), ").")) from error

    def _object(self, content: str, line: int) -> dict[str, Any]:
        try:
            value = _DECODER.decode(content)
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._broken(line, error) from error
        return self._checked(value, line, "\\u" in content)

    def _checked(self, value: Any, line: int, has_escapes: bool) -> dict[str, Any]:
        if has_escapes and not _is_text(value):
            raise self._broken(line, "a character is half a surrogate pair")
        if not isinstance(value, dict):
            raise TableError(
                f"{self._shown}, line {line}: {str(value)[:40]!r} is no JSON object; each row must "
                'be one, such as {"age": 31}.'
            )
        return value

    def _array(self, content: str, line: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of an array, one at a time, to know their lines."""
        position = content.index("[") + 1
        has_escapes = "\\u" in content
        counted = 0
        while True:
            position = _after_blanks(content, position)
            line += content.count("\n", counted, position)
            counted = position
            if content[position : position + 1] == "]":
                self._check_end(content, position + 1, line)
                return
            try:
                value, position = _DECODER.raw_decode(content, position)
            except (json.JSONDecodeError, RecursionError) as error:
                raise self._broken(line, error) from error
            yield line, self._checked(value, line, has_escapes)
            position = _after_blanks(content, position)
            if content[position : position + 1] == ",":
                position += 1
            elif content[position : position + 1] != "]":
                raise self._broken(line, "a comma or ] is missing after this object")

    def _check_end(self, content: str, position: int, line: int) -> None:
        """Raise if anything follows the array: rows of a second one would be lost."""
        end = _after_blanks(content, position)
        if end < len(content):
            line += content.count("\n", position, end)
            raise self._broken(line, f"{content[end : end + 20]!r} follows the array")

    def _broken(self, line: int, error: object) -> TableError:
        return TableError(
            f"{self._shown}, line {line}: this is no JSON ({error}); write one object per line, or "
            "one array of objects."
        )


def _is_text(value: Any) -> bool:
    """Return whether all characters are some; what is too deep to tell is refused as a cell."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    except RecursionError:
        return True
    return True


def _json_of(value: Any) -> str:
    """Return a value as JSON on one line, with its numbers as they were spelt."""
    if isinstance(value, _Number):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(_json_of, value))}]"
    if isinstance(value, dict):
        items = (f"{_json_of(key)}: {_json_of(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    return json.dumps(value, ensure_ascii=False)


def _nested_remarks(names: list[str]) -> list[str]:
    remarks = [f"column {name!r} holds arrays or objects; they are read as text" for name in names]
    if len(remarks) > _REMARKS_SHOWN:
        more = f"{len(remarks) - _REMARKS_SHOWN} more columns hold arrays or objects"
        remarks = [*remarks[:_REMARKS_SHOWN], more]
    return remarks


def _after_blanks(content: str, position: int) -> int:
    while content[position : position + 1] in _BLANKS and position < len(content):
        position += 1
    return position


def looks_like_json(stream: BinaryIO) -> bool:
    """Return whether a text begins with a JSON object on a line, or with an array of them.

    Parameters
    ----------
    stream : binary file
        A text in UTF-8.
    """
    first = next((line for line in stream if line.strip()), b"").removeprefix(b"\xef\xbb\xbf")
    content = first.strip()
    if content.startswith(b"["):
        return (content[1:] + stream.read(2**12)).lstrip().startswith(b"{")
    if not content.startswith(b"{"):
        return False
    try:
        return isinstance(_DECODER.decode(content.decode()), dict)
    except (ValueError, RecursionError):
        return False
