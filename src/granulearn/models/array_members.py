"""The arrays of a model file: headers are looked at, and numbers read, without numpy's reader.

`numpy.load` reads a header as Python, twice if it is to be looked at first, and holds a large
array in memory twice. Model files have one form of header, the one that `numpy.save` writes.
"""

from __future__ import annotations

import re
import zipfile
from itertools import chain
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from granulearn.models.archives import MOST_BYTES, ArchiveError, chunks_of

_NPY_MARK = b"\x93NUMPY\x01\x00"
_ARRAY_HEADER = re.compile(
    re.escape(_NPY_MARK) + rb"(..)\{'descr': '([<>|][biufcUS]\d{1,10})', "
    rb"'fortran_order': (True|False), 'shape': \(((?:\d{1,10}(?:, \d{1,10})*,?)?)\), \} *\n",
    re.DOTALL,
)


def check_array_header(entry: zipfile.ZipInfo, start: bytes) -> None:
    """Raise unless an array is as long as its header says, and holds numbers or text.

    Parameters
    ----------
    entry : ZipInfo
        The member.
    start : bytes
        Its first piece.
    """
    header = _header_of(entry.filename, start)
    n_bytes = header.n_before + prod(header.shape) * header.dtype.itemsize
    if n_bytes != entry.file_size:
        raise ArchiveError(f"{entry.filename} has another size than it says")


def read_array(members: zipfile.ZipFile, name: str) -> np.ndarray:
    """Return the array that a member holds; it is never in memory twice.

    Parameters
    ----------
    members : ZipFile
        The archive.
    name : str
        A member that `check_array_header` has passed.
    """
    pieces = chunks_of(members, name)
    start = next(pieces, b"")
    header = _header_of(name, start)
    flat = np.empty(prod(header.shape), header.dtype)
    raw, end = flat.view(np.uint8), 0
    for piece in chain((start[header.n_before :],), pieces):
        begin, end = end, end + len(piece)
        raw[begin:end] = np.frombuffer(piece, np.uint8)
    return flat.reshape(header.shape, order=header.order)


class _Header(NamedTuple):
    """What the first bytes of a member say of its array."""

    dtype: np.dtype
    order: Literal["C", "F"]
    shape: tuple[int, ...]
    n_before: int
    """How many bytes come before its numbers."""


def _header_of(name: str, start: bytes) -> _Header:
    """Return what an array says of itself, if it says it just as numpy writes it."""
    found = _ARRAY_HEADER.match(start)
    if found is None:
        raise ArchiveError(f"{name} is no array of numbers or text")
    length, descr, in_columns, lengths = found.groups()
    n_before = found.end()
    if n_before != len(_NPY_MARK) + 2 + int.from_bytes(length, "little"):
        raise ArchiveError(f"{name} has a header of another length than it says")
    shape = tuple(int(each) for each in lengths.replace(b",", b" ").split())
    try:
        dtype = np.dtype(descr.decode())
    except (TypeError, ValueError) as error:  # as numbers of seven bytes
        raise ArchiveError(f"{name} holds {descr.decode()}") from error
    if dtype.itemsize == 0 or any(each > MOST_BYTES for each in shape):
        raise ArchiveError(f"{name} has no size, or one that no array has")
    return _Header(dtype, "F" if in_columns == b"True" else "C", shape, n_before)
