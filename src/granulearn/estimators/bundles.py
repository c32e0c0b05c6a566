"""Columns of which at most one is on, such as those of one category, as a single column of codes.

Boosted trees look at every column for every split. A category of forty values, as
forty columns of zeros and ones, costs them forty times what one column of codes does.
Codes are in the order of the labels that come with them, so that one threshold parts
the values of a category well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from granulearn.balls.narrow_tables import NarrowTable, narrow_table
from granulearn.utils.saved import FINITE, Array, offsets_fit, require

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

    _saved: ClassVar[dict] = {
        "bundled": Array("int64", ("n_bundled",), 0),
        "offsets": Array("int64", ("n_offsets",), 0),
        "middles": Array("float64", ("n_bundled",), -FINITE, FINITE),
        "codes": Array("float64", ("n_codes",), -FINITE, FINITE),
        "others": Array("int64", ("n_others",), 0),
    }

    def _check_saved(self) -> None:
        require(offsets_fit(self.offsets, len(self.bundled)), "offsets point outside of bundled")
        require(len(self.codes) == len(self.bundled) + self.n_bundles, "codes have another length")
        columns = np.sort(np.concatenate([self.bundled, self.others]))
        each_once = np.array_equal(columns, np.arange(len(columns)))
        require(each_once, "bundled and others are not all columns, each once")

    @property
    def n_features(self) -> int:
        """Number of columns that come in."""
        return len(self.bundled) + len(self.others)

    @property
    def n_inputs(self) -> int:
        """Number of columns that trees look at."""
        return self.n_bundles + len(self.others)

    @property
    def n_bundles(self) -> int:
        """Number of columns of codes; they come before the others."""
        return len(self.offsets) - 1

    def inputs(self, X: np.ndarray) -> np.ndarray:
        """Return codes, and then the other columns; the first column that is on counts."""
        if self.n_bundles == 0:
            return X
        Z = np.empty((len(X), self.n_bundles + len(self.others)))
        from granulearn.estimators import _boosted_kernels

        _boosted_kernels.set_codes(X, self.bundled, self.offsets, self.middles, self.codes, Z)
        Z[:, self.n_bundles :] = X[:, self.others]
        return Z

    def inputs_of(self, table: NarrowTable, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the same for rows of the table in which bundles were found.

        Parameters
        ----------
        table : NarrowTable
            The table.
        X : ndarray of shape (n_rows, n_features)
            Its inputs.
        rows : ndarray of int
            Which rows.
        """
        if self.n_bundles == 0:
            return X[rows]
        Z = np.empty((len(rows), self.n_bundles + len(self.others)))
        for number, places in enumerate(self._places(table, rows)):
            Z[:, number] = self.codes_of(number)[places]
        Z[:, self.n_bundles :] = X[rows[:, None], self.others]
        return Z

    def _places(self, table: NarrowTable, rows: np.ndarray) -> list[np.ndarray]:
        """Return, for each bundle, one plus the place of the column that is on, else zero."""
        found = []
        for begin, end in zip(self.offsets, self.offsets[1:], strict=False):
            marks = table.codes[rows, table.places[self.bundled[begin]]]
            # The first column of a bundle has the highest mark.
            found.append(np.where(marks > 0, end - begin + 1 - marks.astype(np.intp), 0))
        return found

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


def find_bundles(
    X: np.ndarray | NarrowTable,
    targets: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray | None = None,
) -> Bundles:
    """Bundle neighbouring columns of two values of which at most one is on in every row.

    Parameters
    ----------
    X : ndarray of shape (n_all, n_features) or NarrowTable
        Inputs.
    targets : ndarray of shape (n_rows,)
        Numbers by whose mean the values of a bundle are ordered.
    weights : ndarray of shape (n_rows,)
        Weights of the rows in that mean.
    rows : ndarray of shape (n_rows,), default=None
        The rows of `X` that targets and weights are of; None means all.
    """
    table = narrow_table(X)
    rows = np.arange(len(table)) if rows is None else rows
    groups = table.bundles()
    bundled = np.concatenate([np.empty(0, dtype=np.intp), *groups])
    low, high = table.lows[bundled], table.highs[bundled]
    bundles = Bundles(
        bundled=bundled,
        offsets=np.cumsum([0, *map(len, groups)]),
        middles=low + 0.5 * (high - low),
        codes=np.empty(0),
        others=np.setdiff1d(np.arange(table.n_features), bundled),
    )
    mean = np.average(targets, weights=weights)
    codes = []
    for places, size in zip(bundles._places(table, rows), map(len, groups), strict=True):
        counts = np.bincount(places, weights, minlength=size + 1)
        sums = np.bincount(places, weights * targets, minlength=size + 1)
        means = (sums + PRIOR_ROWS * mean) / (counts + PRIOR_ROWS)
        codes.append(np.argsort(np.argsort(means, kind="stable")).astype(float))
    return replace(bundles, codes=np.concatenate(codes)) if codes else bundles
