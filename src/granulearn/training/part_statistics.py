"""Statistics of typed training rows as sums that can be joined: all that a pipeline learns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import pyarrow as pa

from granulearn.balls.row_keys import draws_of, exact_sums, exact_totals, key_of_draw
from granulearn.datasets.target_encoding import N_FOLDS
from granulearn.models import ColumnCard

# Cells of a column of numbers that are remembered for its median: those of the rows that a draw by
# the number of the row takes, the same ones however the table is cut.
REMEMBERED = 4096
_KEY_NUMBER = 5
# Larger numbers count as this where columns are scaled: their squares are no numbers.
_LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class ClassedRows:
    """Class, fold and number of some training rows, by which categories are counted."""

    codes: np.ndarray
    """Class of each row, as its place among all classes."""
    folds: np.ndarray
    """As of `folds_of_rows`."""
    n_classes: int
    numbers: np.ndarray
    """Number of each row in the whole table."""

    @cached_property
    def draws(self) -> np.ndarray:
        """A random number for each row."""
        return draws_of(self.numbers.astype(np.uint64), key_of_draw(0, _KEY_NUMBER))

    @cached_property
    def by_draw(self) -> np.ndarray:
        """Places of the rows, the least random number first."""
        return np.argsort(self.draws)

    def counts(self, values: np.ndarray, n_values: int) -> np.ndarray:
        """Return how many rows have a value, a fold and a class.

        Parameters
        ----------
        values : ndarray of shape (n_samples,)
            One of `n_values` values for each row, as a number.
        n_values : int
            How many different values there can be.
        """
        shape = (n_values, N_FOLDS, self.n_classes)
        places = (values * N_FOLDS + self.folds) * self.n_classes + self.codes
        return np.bincount(places, minlength=math.prod(shape)).reshape(shape)


@dataclass(frozen=True, eq=False)
class NumberStatistics:
    """A feature of numbers over some training rows; however these are cut, the same."""

    n: int = 0
    """Rows in which the cell is not missing."""
    missing: int = 0
    lowest: float = np.inf
    highest: float = -np.inf
    sums: np.ndarray = field(default_factory=lambda: _moments(np.empty(0)))
    """(3, n_limbs) exact sums of numbers, of their squares, of what these were rounded by."""
    draws: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    """Random numbers of the rows whose cells are remembered: the least ones, sorted."""
    remembered: np.ndarray = field(default_factory=lambda: np.empty(0))
    """The cells of these rows, none of them missing."""
    exact_median: float | None = None
    """Of all cells, where it was looked for, see `part_medians`."""

    @classmethod
    def of(cls, values: np.ndarray, rows: ClassedRows) -> NumberStatistics:
        """Return the statistics of some cells.

        Parameters
        ----------
        values : ndarray of shape (n_samples,)
            Numbers, with NaN for a missing cell.
        rows : ClassedRows
            Of the same rows.
        """
        known = values[~np.isnan(values)]
        missing = len(values) - len(known)
        if not len(known):
            return cls(missing=missing)
        drawn = rows.by_draw[~np.isnan(values[rows.by_draw])][:REMEMBERED]
        return cls(
            n=len(known),
            missing=missing,
            lowest=float(known.min()),
            highest=float(known.max()),
            sums=_moments(known),
            draws=rows.draws[drawn],
            remembered=values[drawn],
        )

    def __add__(self, other: NumberStatistics) -> NumberStatistics:
        """Return the statistics of these rows and of the others."""
        draws = np.concatenate([self.draws, other.draws])
        least = np.argsort(draws)[:REMEMBERED]
        return NumberStatistics(
            n=self.n + other.n,
            missing=self.missing + other.missing,
            lowest=min(self.lowest, other.lowest),
            highest=max(self.highest, other.highest),
            sums=self.sums + other.sums,
            draws=draws[least],
            remembered=np.concatenate([self.remembered, other.remembered])[least],
        )

    @property
    def median(self) -> float:
        """The median; that of the remembered cells, all of up to `REMEMBERED`, if none is known."""
        if self.exact_median is not None:
            return self.exact_median
        return float(np.median(self.remembered)) if self.n else 0.0

    def filled(self) -> tuple[float, float]:
        """Return mean and variance with the median in place of missing cells, each rounded once."""
        if not self.n:
            return 0.0, 0.0
        total, median = self.n + self.missing, Fraction(self.median)
        numbers, squares, rests = exact_totals(self.sums)
        mean = (numbers + self.missing * median) / total
        variance = (squares + rests + self.missing * median**2) / total - mean**2
        return float(mean), max(float(variance), 0.0)  # squares of tiny numbers are rounded


def _moments(values: np.ndarray) -> np.ndarray:
    """Return exact sums of numbers, of their rounded squares, and of what rounding took away."""
    values = np.clip(values, -_LARGEST, _LARGEST)
    squares = values * values
    # Both halves have 26 bits, so that no product of them is rounded (Dekker 1971).
    wide = values * (2.0**27 + 1)
    high = wide - (wide - values)
    low = values - high
    rests = high * high - squares + 2 * high * low + low * low
    return exact_sums(np.column_stack([values, squares, rests]), np.empty(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class CategoryStatistics:
    """A feature of categories over some training rows."""

    names: np.ndarray
    """The categories, sorted."""
    counts: np.ndarray
    """(n_categories, n_folds, n_classes) rows of each category, fold and class."""
    without: np.ndarray
    """(n_folds, n_classes) rows of each fold and class in which the cell is missing."""

    @classmethod
    def of(cls, text: pa.Array, rows: ClassedRows) -> CategoryStatistics:
        """Return the statistics of some cells.

        Parameters
        ----------
        text : pyarrow Array of strings
            Categories, with null for a missing cell.
        rows : ClassedRows
            Of the same rows.
        """
        encoded = text.dictionary_encode()
        names = np.array(encoded.dictionary.to_pylist(), dtype=object)
        order = np.argsort(names)
        values = np.asarray(encoded.indices.fill_null(len(names))).astype(np.int64)
        counts = rows.counts(values, len(names) + 1)
        return cls(names[order], counts[order], counts[-1])

    def __add__(self, other: CategoryStatistics) -> CategoryStatistics:
        """Return the statistics of these rows and of the others."""
        without = self.without + other.without
        if np.array_equal(self.names, other.names):
            return CategoryStatistics(self.names, self.counts + other.counts, without)
        names = np.unique(np.concatenate([self.names, other.names]))
        counts = np.zeros((len(names), *without.shape), dtype=np.int64)
        for part in (self, other):
            counts[np.searchsorted(names, part.names)] += part.counts
        return CategoryStatistics(names, counts, without)

    @property
    def missing(self) -> int:
        """Rows in which the cell is missing."""
        return int(self.without.sum())

    @property
    def usual(self) -> int:
        """Place of the most frequent category; of the first one of several."""
        return int(self.counts.sum(axis=(1, 2)).argmax())

    def filled(self) -> np.ndarray:
        """Return counts with the most frequent category in place of missing cells.

        Returns
        -------
        ndarray of shape (n_folds, n_categories, n_classes)
            As `cross_fitted` takes them.
        """
        counts = self.counts.copy()
        counts[self.usual] += self.without
        return np.ascontiguousarray(counts.transpose(1, 0, 2))


Statistics = NumberStatistics | CategoryStatistics


def statistics_of_rows(
    cells: Mapping[str, np.ndarray | pa.Array], rows: ClassedRows
) -> dict[str, Statistics]:
    """Return the statistics of each feature.

    Parameters
    ----------
    cells : mapping of str to ndarray or pyarrow Array
        Features of training rows: floats with NaN, or text with null, for a missing cell.
    rows : ClassedRows
        Of the same rows.
    """
    return {
        name: NumberStatistics.of(cell, rows)
        if isinstance(cell, np.ndarray)
        else CategoryStatistics.of(cell, rows)
        for name, cell in cells.items()
    }


def join_statistics(
    first: Mapping[str, Statistics], second: Mapping[str, Statistics]
) -> dict[str, Statistics]:
    """Return the statistics of earlier and of later rows.

    Parameters
    ----------
    first, second : mapping of str to statistics
        Of the same features.
    """
    return {name: first[name] + second[name] for name in first}  # type: ignore[operator]


def card_of(name: str, statistics: Statistics) -> ColumnCard:
    """Return what a model card says about a feature.

    Parameters
    ----------
    name : str
        The feature.
    statistics : NumberStatistics or CategoryStatistics
        Over all training rows.
    """
    if isinstance(statistics, CategoryStatistics):
        names = tuple(statistics.names.tolist())
        return ColumnCard(name, "category", statistics.missing, categories=names)
    if not statistics.n:
        return ColumnCard(name, "number", statistics.missing)
    return ColumnCard(name, "number", statistics.missing, statistics.lowest, statistics.highest)
