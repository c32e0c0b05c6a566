"""Tables whose columns of zeros and ones, such as those of one category, are few columns of codes.

Of forty columns that stand for the values of one category a row has one that is on:
one byte tells which. Forests, boosted trees and sorting read these bytes, a small part
of what they would read otherwise, and see the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from granulearn.utils.sorting import sorted_rows

MAX_BUNDLED = 250  # columns that share a code; boosted trees tell at most 255 apart
NEVER = 255  # the mark of a constant column: no row has this code


@dataclass(frozen=True, eq=False)
class NarrowTable:
    """Inputs of n rows and d features; neighbours that are never on together share a code."""

    plain: np.ndarray
    """(n, p) features of more than two values."""
    codes: np.ndarray
    """(n, c) bytes: the mark of the feature that is on, zero where none is."""
    places: np.ndarray
    """(d,) where each feature is: its column in `codes`, or in `plain`."""
    marks: np.ndarray
    """(d,) the code where a feature is on; zero for a plain one."""
    lows: np.ndarray
    """(d,) value of a feature with a mark where it is off."""
    highs: np.ndarray
    """(d,) and where it is on."""

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.marks)

    @cached_property
    def value_order(self) -> tuple[np.ndarray, np.ndarray]:
        """The order of the rows by their values, and a place for each that equal rows share."""
        return sorted_rows(self._keys(), len(self))

    def _keys(self) -> Iterator[np.ndarray]:
        """Yield columns whose order is that of all features, the first feature first.

        The first feature of a code has its highest mark: a row in which it is on comes last.
        """
        known = self.marks != NEVER  # a constant tells no rows apart
        narrow = np.where(self.marks > 0, self.places, self.codes.shape[1] + self.places)
        firsts = np.unique(narrow[known], return_index=True)[1]
        for feature in np.sort(np.flatnonzero(known)[firsts]):
            columns = self.codes if self.marks[feature] else self.plain
            yield columns[:, self.places[feature]]

    def bundles(self) -> list[np.ndarray]:
        """Return the features of each code that several share, first feature first."""
        own = np.flatnonzero((self.marks > 0) & (self.marks != NEVER))
        places = self.places[own]
        return [own[places == place] for place in np.flatnonzero(np.bincount(places) > 1)]

    def extremes(self) -> tuple[float, float]:
        """Return the least and the largest value of the table."""
        marked = self.marks > 0
        parts = [part for part in (self.plain, self.lows[marked], self.highs[marked]) if part.size]
        return min(float(part.min()) for part in parts), max(float(part.max()) for part in parts)

    def variances(self) -> np.ndarray:
        """Return the variance of each feature."""
        found = np.zeros(self.n_features)
        found[self.marks == 0] = self.plain.var(axis=0)[self.places[self.marks == 0]]
        for place, codes in enumerate(self.codes.T):
            own = np.flatnonzero((self.marks > 0) & (self.marks != NEVER) & (self.places == place))
            share = np.bincount(codes, minlength=NEVER + 1)[self.marks[own]] / len(self)
            found[own] = share * (1 - share) * np.square(self.highs[own] - self.lows[own])
        return found


def narrow_table(X: np.ndarray | NarrowTable) -> NarrowTable:
    """Return a table in which neighbouring features that exclude each other share a code.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features) or NarrowTable
        Finite inputs; a narrow table is returned as it is.
    """
    if isinstance(X, NarrowTable):
        return X
    from granulearn.balls import _narrow_kernels

    d = X.shape[1]
    lows, highs, kinds = np.zeros(d, X.dtype), np.zeros(d, X.dtype), np.empty(d, np.uint8)
    _narrow_kernels.count_values(X, lows, highs, kinds)
    plain = np.flatnonzero(kinds == _narrow_kernels.MORE_VALUES)
    two = np.flatnonzero(kinds == _narrow_kernels.TWO_VALUES)
    places, marks = np.zeros(d, np.int32), np.full(d, NEVER, np.uint8)
    places[plain], marks[plain] = np.arange(len(plain)), 0
    nearest = np.empty(d, np.int64)
    _narrow_kernels.find_neighbours_on(X, two, highs, nearest)
    groups = _groups(two, nearest, plain)
    for place, group in enumerate(groups):
        places[group], marks[group] = place, np.arange(len(group), 0, -1)
    n_codes = max(len(groups), int(len(plain) < d))  # a constant looks at a code too
    codes = np.zeros((len(X), n_codes), np.uint8)
    _narrow_kernels.fill_codes(X, two, highs, places, marks, codes)
    return NarrowTable(
        plain=X if len(plain) == d else X[:, plain],
        codes=codes,
        places=places,
        marks=marks,
        lows=lows.astype(np.float64),
        highs=highs.astype(np.float64),
    )


def plain_table(X: np.ndarray) -> NarrowTable:
    """Return a table without codes: for new rows, whose values may be any."""
    d = X.shape[1]
    nothing = np.zeros(d)
    return NarrowTable(
        X, np.empty((len(X), 0), np.uint8), np.arange(d, dtype=np.int32),
        np.zeros(d, np.uint8), nothing, nothing,
    )  # fmt: skip


def _groups(two: np.ndarray, nearest: np.ndarray, plain: np.ndarray) -> list[list[int]]:
    """Part columns of two values into runs of which at most one is on in every row."""
    # Where a plain column stands between, no run goes on.
    runs = np.searchsorted(plain, two)
    groups: list[list[int]] = []
    last_run = -1
    for j, run in zip(two.tolist(), runs.tolist(), strict=True):
        is_new = run != last_run or len(groups[-1]) == MAX_BUNDLED or nearest[j] >= groups[-1][0]
        if is_new:
            groups.append([])
        groups[-1].append(j)
        last_run = run
    return groups
