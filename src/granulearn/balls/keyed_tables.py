"""A large table, or a block of one, with the keys of its rows and what all its rows share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from granulearn.balls.ball_set import power_of_two_scale
from granulearn.balls.row_keys import (
    RowKeys,
    base_keys,
    class_numbers,
    class_sums,
    copies_of,
    exact_means,
    exact_sums,
    find_twins,
    keys_of_rows,
    value_hashes,
)


@dataclass(frozen=True, eq=False)
class TableFrame:
    """What all rows of a table share: found from all of them, and the same in every block."""

    numbers: np.ndarray
    """(K,) number of each class, whatever it is called."""
    lows: np.ndarray
    """(d,) least value of each feature."""
    highs: np.ndarray
    """(d,) largest value of each feature."""
    copies: np.ndarray
    """(K,) how many samples each class has; one of weight two counts as two."""
    rows: np.ndarray
    """(K,) rows of positive weight of each class."""
    totals: np.ndarray
    """(K,) weight of each class."""
    sums: np.ndarray
    """(d, n_limbs) sums of the features, as of `exact_sums`."""

    @property
    def n_counted(self) -> int:
        """How many samples there are."""
        return int(self.copies.sum())

    @cached_property
    def scale(self) -> float:
        """The power of two that keeps squares from overflowing."""
        return power_of_two_scale(np.array([self.lows.min(), self.highs.max()], dtype=np.float64))

    @cached_property
    def shift(self) -> np.ndarray:
        """(d,) the mean of each scaled feature."""
        return self.scale * exact_means(self.sums, self.n_counted)


@dataclass(frozen=True, eq=False)
class KeyedTable:
    """The keys of the rows of a table, and what they share."""

    frame: TableFrame
    keys: RowKeys


def key_table(
    X: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> KeyedTable:
    """Return the keys of the rows of a table in memory.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite inputs.
    codes : ndarray of shape (n_rows,)
        Class of each row.
    n_classes : int
        Number of classes.
    weights : ndarray of shape (n_rows,), default=None
        A row of weight w counts as round(w) samples, at least one; zero leaves it out.
    """
    copies, hashes = copies_of(weights), value_hashes(X)
    counts = np.bincount(codes, copies if len(copies) else None, minlength=n_classes)
    counts = counts.astype(np.int64)
    numbers = class_numbers(counts, class_sums(hashes, codes, copies, n_classes))
    bases = base_keys(hashes, codes, numbers)
    lows, highs = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    known = None if weights is None else weights > 0
    frame = TableFrame(
        numbers=numbers,
        lows=lows,
        highs=highs,
        copies=counts,
        rows=np.bincount(codes, known, minlength=n_classes).astype(np.int64),
        totals=np.bincount(codes, weights, minlength=n_classes).astype(np.float64),
        sums=exact_sums(X, copies),
    )
    (twins,) = find_twins([(bases, copies)])
    return KeyedTable(frame, keys_of_rows(bases, copies, twins))
