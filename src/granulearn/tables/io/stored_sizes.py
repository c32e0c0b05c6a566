"""How much memory Parquet and Arrow files take, from the headers inside of them.

pyarrow allocates what such a header asks for, and does not show the headers. Of Parquet, these are
structures in the compact protocol of Thrift before each page; of Arrow, flatbuffers before each
batch. What the footer of a file says of sizes need not be true.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

from granulearn.tables.io.table_file import Expansion

# Bytes of a value in memory, by its physical type; the others have eight.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "BYTE_ARRAY": 4}
_DELTA_BYTE_ARRAY = 7
# Fields of the header of a page, and of the three kinds of headers inside of it.
_SIZE, _STORED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8
_N_VALUES, _ENCODING, _ENCODING_2 = 1, 2, 4
# Fields of a message, and kinds of messages.
_KIND, _CONTENT, _BODY = 1, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_CONTINUED = b"\xff\xff\xff\xff"
DAMAGED_HEADER = (ValueError, LookupError, struct.error, RecursionError)


@contextmanager
def _bytes_of(path: Path) -> Iterator[mmap.mmap]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def check_pages(path: Path, file: parquet.FileMetaData, expansion: Expansion) -> tuple[set, int]:
    """Count the pages of a Parquet file, decompressed.

    Returns the columns whose texts share a dictionary, and the bytes of the longest page in
    which texts can repeat the ones before them.
    """
    shared, longest = set(), 1
    with _bytes_of(path) as data:
        for number in range(file.num_row_groups * file.num_columns):
            group, index = divmod(number, file.num_columns)
            column, kind = file.row_group(group).column(index), file.schema.column(index)
            is_text = kind.physical_type == "BYTE_ARRAY"
            width = _WIDTHS.get(kind.physical_type, max(8, kind.length or 0))
            # Without rows there is no page of data, and its offset is zero.
            offsets = filter(None, (column.data_page_offset, column.dictionary_page_offset))
            at = min(offsets, default=0)
            end = at + column.total_compressed_size
            while at < end:
                page, at = _thrift(data, at)
                header = page.get(_DATA) or page.get(_DATA_2) or page.get(_DICTIONARY) or {}
                expansion.add(max(page[_SIZE], width * header.get(_N_VALUES, 0)))
                if _DICTIONARY in page and is_text:
                    shared.add(column.path_in_schema)
                if header.get(_ENCODING_2 if _DATA_2 in page else _ENCODING) == _DELTA_BYTE_ARRAY:
                    longest = max(longest, page[_SIZE])
                at += max(page[_STORED], 0)
    return shared, longest


def _thrift(data: mmap.mmap, at: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a structure, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at, kind = at + 1, head & 15
        number += head >> 4
        if kind in (4, 5, 6):  # whole numbers, with the sign in the last bit
            value, at = _varint(data, at)
            fields[number] = value >> 1 ^ -(value & 1)
        elif kind == 8:  # bytes
            value, at = _varint(data, at)
            at += value
        elif kind == 12:
            fields[number], at = _thrift(data, at)
        elif kind not in (1, 2) or not head >> 4:  # neither true nor false
            raise ValueError("the header of a page has an unknown field")
    return fields, at + 1


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := data[at]) & 128:
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
    return value | byte << shift, at + 1


def check_messages(path: Path, expansion: Expansion) -> None:
    """Count the batches of an Arrow file or stream, decompressed."""
    with _bytes_of(path) as data:
        for begin, end in _messages(data):
            message = _inside(data, begin)
            kind = data[_field(data, message, _KIND)]
            batch = _inside(data, _field(data, message, _CONTENT))
            if kind == _DICTIONARY_BATCH:
                batch = _inside(data, _field(data, batch, 1))
            elif kind != _RECORD_BATCH:
                continue
            # The second is how the first version of Arrow with compression says so.
            is_packed = _field(data, batch, 3) or b"experimental_compression" in data[begin:end]
            for at in _items(data, batch, 1, 16):
                expansion.add(max(0, _read(data, "q", at)))  # rows
            for at in _items(data, batch, 2, 16):
                offset, size = _read(data, "q", at), _read(data, "q", at + 8)
                packed = _read(data, "q", end + offset) if is_packed and size >= 8 else 0
                expansion.add(max(0, size, packed))


def _messages(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Yield where the metadata of each message begin, and where its body does."""
    if data[:6] == b"ARROW1":
        footer = _inside(data, len(data) - 10 - _read(data, "i", len(data) - 10))
        starts = (_read(data, "q", at) for f in (2, 3) for at in _items(data, footer, f, 24))
        for at in starts:
            begin = at + 8 if data[at : at + 4] == _CONTINUED else at + 4
            yield begin, begin + _read(data, "i", begin - 4)
        return
    at = 0
    while at + 8 <= len(data):
        begin = at + 8 if data[at : at + 4] == _CONTINUED else at + 4
        at = begin + _read(data, "i", begin - 4)
        if at <= begin:
            return
        yield begin, at
        field = _field(data, _inside(data, begin), _BODY)
        at += max(0, _read(data, "q", field)) if field else 0


def _read(data: mmap.mmap, kind: str, at: int) -> int:
    return struct.unpack_from(f"<{kind}", data, at)[0]


def _inside(data: mmap.mmap, at: int) -> int:
    """Return where a table or a list of a flatbuffer begins, to which a field refers."""
    return at + _read(data, "I", at)


def _field(data: mmap.mmap, table: int, number: int) -> int:
    """Return where a field of a table begins; 0 if it is missing."""
    fields = table - _read(data, "i", table)
    entry = 4 + 2 * number
    offset = _read(data, "H", fields + entry) if entry < _read(data, "H", fields) else 0
    return table + offset if offset else 0


def _items(data: mmap.mmap, table: int, number: int, size: int) -> Iterator[int]:
    """Yield where the items of a list in a field begin."""
    if field := _field(data, table, number):
        begin = _inside(data, field)
        yield from range(begin + 4, begin + 4 + size * _read(data, "I", begin), size)
