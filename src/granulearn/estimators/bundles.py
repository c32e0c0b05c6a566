"""Columns of which at most one is on, such as those of one category, as a single column of codes.

Boosted trees look at every column for every split. A category of forty values, as
forty columns of zeros and ones, costs them forty times what one column of codes does.
Codes are in the order of the labels that come with them, so that one threshold parts
the values of a category well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

MAX_BUNDLED = 250  # columns; the booster tells at most 255 codes apart
# A value that few rows have is placed as if so many more had the labels of all.
PRIOR_ROWS = 20


@dataclass(frozen=True, eq=False)
class Bundles:
    """Which columns are bundled, and when each of them is on."""

    bundled: np.ndarray
    """(b,) columns that are bundled, bundle by bundle."""
    offsets: np.ndarray
    """(n_bundles + 1,) where each bundle begins in `bundled`, and where the last one ends."""
    middles: np.ndarray
    """(b,) a bundled column is on where it is above this."""
    codes: np.ndarray
    """(b + n_bundles,) for each bundle the code where no column is on, then of each column."""
    others: np.ndarray
    """Columns that are not bundled."""

    @property
    def n_bundles(self) -> int:
        """Number of columns of codes; they come before the others."""
        return len(self.offsets) - 1

    def inputs(self, X: np.ndarray) -> np.ndarray:
        """Return codes, and then the other columns; the first column that is on counts."""
        if self.n_bundles == 0:
            return X
        Z = np.empty((len(X), self.n_bundles + len(self.others)))
        for number, places in enumerate(self.places(X)):
            Z[:, number] = self.codes_of(number)[places]
        Z[:, self.n_bundles :] = X[:, self.others]
        return Z

    def places(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield, for each bundle, one plus the place of the first column that is on, else zero."""
        for begin, end in zip(self.offsets, self.offsets[1:], strict=False):
            on = X[:, self.bundled[begin:end]] > self.middles[begin:end]
            yield np.where(on.any(axis=1), on.argmax(axis=1) + 1, 0)

    def codes_of(self, number: int) -> np.ndarray:
        """Return the code of each place in a bundle."""
        return self.codes[self.offsets[number] + number : self.offsets[number + 1] + number + 1]

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return numbers for the columns of X; those of a bundle share its number evenly."""
        spread = np.zeros(len(self.bundled) + len(self.others))
        sizes = np.diff(self.offsets)
        spread[self.bundled] = np.repeat(values[: self.n_bundles] / sizes, sizes)
        spread[self.others] = values[self.n_bundles :]
        return spread


def find_bundles(X: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> Bundles:
    """Bundle neighbouring columns of two values of which at most one is on in every row.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    targets : ndarray of shape (n_rows,)
        Numbers by whose mean the values of a bundle are ordered.
    weights : ndarray of shape (n_rows,)
        Weights of the rows in that mean.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    groups: list[list[int]] = []
    occupied = np.zeros(len(X), dtype=bool)
    for j in range(X.shape[1]):
        if low[j] == high[j]:
            continue  # a value of the category that no row has
        column = X[:, j]
        on = column == high[j]
        if not (on | (column == low[j])).all():
            occupied[:] = True  # no bundle goes on beyond this column
            continue
        if not groups or len(groups[-1]) == MAX_BUNDLED or (on & occupied).any():
            groups.append([])
            occupied[:] = False
        groups[-1].append(j)
        occupied |= on
    groups = [group for group in groups if len(group) > 1]
    bundled = np.array([j for group in groups for j in group], dtype=np.intp)
    bundles = Bundles(
        bundled=bundled,
        offsets=np.cumsum([0, *map(len, groups)]),
        middles=low[bundled] + 0.5 * (high[bundled] - low[bundled]),
        codes=np.empty(0),
        others=np.setdiff1d(np.arange(X.shape[1]), bundled),
    )
    mean = np.average(targets, weights=weights)
    codes = []
    for places, size in zip(bundles.places(X), map(len, groups), strict=True):
        rows = np.bincount(places, weights, minlength=size + 1)
        sums = np.bincount(places, weights * targets, minlength=size + 1)
        means = (sums + PRIOR_ROWS * mean) / (rows + PRIOR_ROWS)
        codes.append(np.argsort(np.argsort(means, kind="stable")).astype(float))
    return replace(bundles, codes=np.concatenate(codes)) if codes else bundles
