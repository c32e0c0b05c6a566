"""How many different cells there are, in constant memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from granulearn.tables.columns.hashes import hash_cells, mixed

# The sketch counts exactly up to here; beyond, it is off by about 2 %.
_REMEMBERED = 4096


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
            share = _different(hashes[hashes < np.uint64(2 * _REMEMBERED / len(hashes) * 2.0**64)])
            hashes = share if len(share) >= _REMEMBERED else hashes
        together = _joined(self.lowest, _different(hashes))[:_REMEMBERED]
        full = len(together) == _REMEMBERED
        return Sketch(together, together[-1] if full else self.bound)

    def with_cells(self, cells: np.ndarray | pa.Array) -> Sketch:
        """Return the sketch of these cells, too.

        Parameters
        ----------
        cells : ndarray of float64, or pyarrow Array of strings
            Plain numbers, or texts that are none; without missing ones.
        """
        # Numbers are their own bits so far: without mixing, the lowest would be small numbers.
        return self.with_hashes(mixed(hash_cells(cells)))

    def __or__(self, other: Sketch) -> Sketch:
        together = _joined(self.lowest, other.lowest)[:_REMEMBERED]
        return Sketch(together, together[-1] if len(together) == _REMEMBERED else self.bound)

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


def _different(hashes: np.ndarray) -> np.ndarray:
    """Return the different hashes, sorted."""
    if len(hashes) > 4 * _REMEMBERED:  # most are repeated
        return np.unique(hashes)
    # NumPy would put a few thousand into a table of hashes first, which takes far longer.
    ordered = np.sort(hashes)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return two sorted sets as one: a few new ones are put in their places."""
    if not len(first):
        return second
    places = np.minimum(np.searchsorted(first, second), len(first) - 1)
    new = second[first[places] != second]
    return np.insert(first, np.searchsorted(first, new), new) if len(new) else first
