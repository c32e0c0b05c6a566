"""64-bit hashes of cells, the same in every process, and how many different ones there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from granulearn.tables.columns.cells import characters

# Of a longer text the first and the last bytes, and its length, are looked at.
_HASHED_BYTES = 48
# The sketch counts exactly up to here; beyond, it is off by about 2 %.
_REMEMBERED = 4096
_TEXT_SEED = np.uint64(0x9E3779B97F4A7C15)


def mixed(words: np.ndarray) -> np.ndarray:
    """Return 64-bit words in which every bit depends on every bit (splitmix64).

    Parameters
    ----------
    words : ndarray of uint64
        Any words.
    """
    words = words ^ (words >> np.uint64(30))
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def hash_numbers(values: np.ndarray) -> np.ndarray:
    """Return a hash of each number; zeros of both signs are one, and so are all NaN.

    Parameters
    ----------
    values : ndarray of float64
        The numbers.
    """
    plain = values + 0.0
    missing = np.isnan(plain)
    if missing.any():
        plain[missing] = np.nan
    return mixed(plain.view(np.uint64))


def hash_texts(texts: pa.Array) -> np.ndarray:
    """Return a hash of each text.

    Parameters
    ----------
    texts : pyarrow Array of strings
        Without nulls.
    """
    every, offsets = characters(texts)
    begins, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64)
    lengths = ends - begins
    hashes = mixed(lengths.astype(np.uint64) + _TEXT_SEED)
    longest = int(lengths.max(initial=0))
    for position in range(min(longest, _HASHED_BYTES)):
        rows = np.flatnonzero(lengths > position)
        byte = every[begins[rows] + position].astype(np.uint64)
        hashes[rows] = (hashes[rows] ^ byte) * np.uint64(0x100000001B3)
    for position in range(1, min(longest - _HASHED_BYTES, _HASHED_BYTES) + 1):
        rows = np.flatnonzero(lengths >= _HASHED_BYTES + position)
        byte = every[ends[rows] - position].astype(np.uint64)
        hashes[rows] = (hashes[rows] ^ byte) * np.uint64(0x100000001B3)
    return mixed(hashes)


@dataclass(frozen=True, eq=False)
class Sketch:
    """The lowest of the different hashes; their density tells how many there are."""

    lowest: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    bound: np.uint64 | None = None
    """Hashes from here on are of no use; None if all are."""

    def with_hashes(self, hashes: np.ndarray) -> Sketch:
        """Return the sketch of these hashes, too.

        Parameters
        ----------
        hashes : ndarray of uint64
            In any order, with repetitions.
        """
        if self.bound is not None:
            hashes = hashes[hashes < self.bound]
        elif len(hashes) > 4 * _REMEMBERED:
            # A share of them that is sure to hold the lowest, unless most are repeated.
            share = np.unique(hashes[hashes < np.uint64(2 * _REMEMBERED / len(hashes) * 2.0**64)])
            hashes = share if len(share) >= _REMEMBERED else hashes
        together = _joined(self.lowest, np.unique(hashes))[:_REMEMBERED]
        full = len(together) == _REMEMBERED
        return Sketch(together, together[-1] if full else self.bound)

    def with_texts(self, texts: Sequence[str]) -> Sketch:
        """Return the sketch of these texts, too.

        Parameters
        ----------
        texts : sequence of str
            Cells that are no plain numbers.
        """
        return self.with_hashes(hash_texts(pa.array(texts, pa.string())))

    def __or__(self, other: Sketch) -> Sketch:
        return self.with_hashes(other.lowest)

    @property
    def is_exact(self) -> bool:
        """Whether `count` is a count and no estimate."""
        return len(self.lowest) < _REMEMBERED

    @property
    def count(self) -> int:
        """How many different hashes there are."""
        if self.is_exact:
            return len(self.lowest)
        return round((_REMEMBERED - 1) / (float(self.lowest[-1]) / 2.0**64))


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return two sorted sets as one: a few new ones are put in their places."""
    if not len(first):
        return second
    places = np.minimum(np.searchsorted(first, second), len(first) - 1)
    new = second[first[places] != second]
    return np.insert(first, np.searchsorted(first, new), new) if len(new) else first
