"""Medians of columns that are in parts, exact: a further look at what lies around the middle.

Some remembered cells tell between which numbers the median lies. The next look counts what
is below, and keeps the numbers in between with how often they occur. Where these are too
many, it keeps those with the least hashes, and another look is about fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask import delayed

from granulearn.balls.row_keys import draws_of, key_of_draw
from granulearn.distributed.cluster import compute
from granulearn.distributed.reduction import tree_reduce
from granulearn.tables.io.table_file import TablePart
from granulearn.training.part_rows import RowReading, read_part
from granulearn.training.part_statistics import NumberStatistics, Statistics

# Different numbers of a column that a look keeps.
ROOM = 65_536
# Each makes what is left some ten to a hundred times less; more are never needed but for odd ties.
_MOST_LOOKS = 4
_DEVIATIONS = 5.0
_KEY_NUMBER = 7

Brackets = dict[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Middle:
    """The cells of a column that lie in a bracket, over some rows."""

    below: int
    """Cells that are less."""
    n: int
    values: np.ndarray
    """Different numbers in the bracket, sorted: all, or those with the least hashes."""
    counts: np.ndarray
    """How often each of them occurs."""
    complete: bool
    """Whether these are all."""

    @classmethod
    def of(cls, cells: np.ndarray, bracket: tuple[float, float]) -> Middle:
        """Return what some cells say; NaN stands for a missing one.

        Parameters
        ----------
        cells : ndarray of shape (n_rows,)
            Numbers.
        bracket : tuple of float
            The least and the largest number of interest.
        """
        inside = cells[(cells >= bracket[0]) & (cells <= bracket[1])]
        values, counts = np.unique(inside, return_counts=True)
        below = int(np.count_nonzero(cells < bracket[0]))
        return _trimmed(cls(below, len(inside), values, counts, True))

    def __add__(self, other: Middle) -> Middle:
        """Return what these rows and the others say."""
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.intp)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        complete = self.complete and other.complete
        return _trimmed(
            Middle(self.below + other.below, self.n + other.n, values, counts, complete)
        )

    def median(self, n_cells: int) -> float | None:
        """Return the median of a column of so many cells; None if it cannot be told from these."""
        ranks = np.array([(n_cells - 1) // 2, n_cells // 2]) - self.below
        if not self.complete or ranks[0] < 0 or ranks[1] >= self.n:
            return None
        low, high = self.values[np.searchsorted(np.cumsum(self.counts), ranks, side="right")]
        return float((low + high) / 2) if low != high else float(low)

    def narrowed(self, n_cells: int) -> tuple[float, float] | None:
        """Return between which of the numbers the median lies, nearly surely; None if nowhere."""
        share = (n_cells / 2 - self.below) / self.n if self.n else -1.0
        return bracket_of(self.values, share, self.counts) if 0 <= share <= 1 else None


def _trimmed(middle: Middle) -> Middle:
    if len(middle.values) <= ROOM:
        return middle
    hashes = draws_of((middle.values + 0.0).view(np.uint64), key_of_draw(0, _KEY_NUMBER))
    kept = np.sort(np.argsort(hashes)[:ROOM])
    return replace(middle, values=middle.values[kept], counts=middle.counts[kept], complete=False)


def bracket_of(
    values: np.ndarray, share: float, counts: np.ndarray | None = None
) -> tuple[float, float]:
    """Return two of some numbers; of all that they stand for, a share lies below one in between.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Sorted numbers, drawn at random.
    share : float
        The share, from 0 to 1.
    counts : ndarray of shape (n,), default=None
        How often each occurs; None means once.
    """
    reached = np.cumsum(np.ones(len(values)) if counts is None else counts)
    margin = _DEVIATIONS * np.sqrt(share * (1 - share) / len(values)) + 1 / len(values)
    ends = np.clip([share - margin, share + margin], 0, 1) * reached[-1]
    first, last = np.minimum(np.searchsorted(reached, ends), len(values) - 1)
    return float(values[first]), float(values[last])


def with_exact_medians(
    statistics: dict[str, Statistics],
    parts: Sequence[TablePart],
    reading: RowReading,
    tell: Callable[[str], None],
) -> dict[str, Statistics]:
    """Return statistics whose medians, where cells are missing, are those of all cells.

    Where even the last look does not find one, the median of remembered cells remains.

    Parameters
    ----------
    statistics : dict
        Of the features, over all rows to learn from.
    parts : sequence of TablePart
        The table.
    reading : RowReading
        How it is read.
    tell : callable
        Told what is being done.
    """
    sought = {
        name: known
        for name, known in statistics.items()
        if isinstance(known, NumberStatistics) and known.missing and known.n > len(known.remembered)
    }
    brackets = {name: bracket_of(np.sort(known.remembered), 0.5) for name, known in sought.items()}
    found: dict[str, Statistics] = {}
    for _ in range(_MOST_LOOKS):
        if not brackets:
            break
        tell("looking for medians")
        shared, look = delayed((reading, brackets)), delayed(middles_of_part)
        (middles,) = compute(tree_reduce(_joined, [look(part, shared) for part in parts]))
        brackets = {}
        for name, middle in middles.items():
            known = sought[name]
            median, narrower = middle.median(known.n), middle.narrowed(known.n)
            if median is not None:
                found[name] = replace(known, exact_median=median)
            elif narrower is not None:
                brackets[name] = narrower
    return statistics | found


def middles_of_part(part: TablePart, shared: tuple[RowReading, Brackets]) -> dict[str, Middle]:
    """Return what the rows of a part that are learnt from have in some brackets.

    Parameters
    ----------
    part : TablePart
        Some rows, perhaps none.
    shared : tuple of RowReading and dict
        How they are read, and the bracket of each column.
    """
    reading, brackets = shared
    rows = read_part(part, reading)
    cells: Any = rows.features(rows.training).cells
    return {name: Middle.of(cells[name], bracket) for name, bracket in brackets.items()}


def _joined(first: dict[str, Middle], second: dict[str, Middle]) -> dict[str, Middle]:
    return {name: middle + second[name] for name, middle in first.items()}
