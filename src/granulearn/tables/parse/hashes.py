"""Hashes of cells and rows that are the same in every process, batch and order of columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

# Longer texts are rare: they are hashed one by one, shorter ones eight bytes at a time.
LONGEST_VECTORISED = 256
# So many rows at once stay in the cache.
_BLOCK = 1 << 15
_MISSING = np.uint64(0x9AE16A3B2F90404F)
_GOLDEN = 0x9E3779B97F4A7C15


def hash_rows(cells: Mapping[str, np.ndarray | pa.Array], n_rows: int) -> np.ndarray:
    """Return one hash, uint64, for each row: equal rows, equal hashes.

    Parameters
    ----------
    cells : mapping of str to ndarray or pyarrow Array
        Columns by name: floats with NaN for a missing cell, or strings with null.
    n_rows : int
        Number of rows, which a table without columns does not tell.
    """
    total = np.zeros(n_rows, dtype=np.uint64)
    for name, column in cells.items():
        values = hash_cells(column)
        key = np.uint64(hash_text(name))
        for start in range(0, n_rows, _BLOCK):
            block = slice(start, start + _BLOCK)
            total[block] += mixed(values[block] ^ key)
    return mixed(total)


def hash_cells(column: np.ndarray | pa.Array) -> np.ndarray:
    """Return one number, uint64, for each cell: equal cells, equal numbers.

    Parameters
    ----------
    column : ndarray or pyarrow Array
        Floats with NaN for a missing cell, or strings with null.
    """
    if isinstance(column, np.ndarray):
        # Adding zero makes -0.0 the same as 0.0.
        values = np.asarray(column, dtype=np.float64) + 0.0
        bits, missing = values.view(np.uint64), np.isnan(values)
        if missing.any():
            bits[missing] = _MISSING
        return bits
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    hashes = _hash_strings(column.cast(pa.large_string()))
    if column.null_count:
        hashes[np.asarray(column.is_null(), dtype=bool)] = _MISSING
    return hashes


def hash_text(text: str) -> int:
    """Return a number of 64 bits for a text.

    Parameters
    ----------
    text : str
        Any text.
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def mixed(values: np.ndarray) -> np.ndarray:
    """Return numbers whose bits depend on all bits of the given ones, one to one (splitmix64).

    Parameters
    ----------
    values : ndarray of uint64
        Any numbers.
    """
    values = values + np.uint64(_GOLDEN)
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def _hash_strings(column: pa.Array) -> np.ndarray:
    """Return the sum of the mixed words of eight bytes of each text, and of its length."""
    n_rows = len(column)
    _, offset_buffer, data = column.buffers()
    if n_rows == 0 or offset_buffer is None:
        return np.zeros(n_rows, dtype=np.uint64)
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[column.offset :][: n_rows + 1]
    begin, end = int(offsets[0]), int(offsets[-1])
    padded = np.zeros(end - begin + 8, dtype=np.uint8)
    if data is not None:
        padded[:-8] = np.frombuffer(data, dtype=np.uint8)[begin:end]
    # One word begins at every byte.
    words = np.ndarray((end - begin + 1,), dtype="<u8", buffer=padded, strides=(1,))
    starts, lengths = offsets[:-1] - begin, np.diff(offsets)
    hashes = mixed(lengths.astype(np.uint64))
    rows = np.flatnonzero((lengths > 0) & (lengths <= LONGEST_VECTORISED))
    position = 0
    while len(rows):
        left = lengths[rows] - position
        unused = np.uint64(8) * (8 - np.minimum(left, 8)).astype(np.uint64)
        word = (words[starts[rows] + position] << unused) >> unused
        # Each place has a key of its own, or "ab" would be "ba" for long words.
        key = np.uint64((position // 8 + 1) * _GOLDEN % 2**64)
        hashes[rows] += mixed(word ^ mixed(np.array([key]))[0])
        rows = rows[left > 8]
        position += 8
    for row in np.flatnonzero(lengths > LONGEST_VECTORISED):
        text = padded[starts[row] : starts[row] + lengths[row]]
        digest = hashlib.blake2b(text.tobytes(), digest_size=8).digest()
        hashes[row] = np.uint64(int.from_bytes(digest, "little"))
    return hashes
