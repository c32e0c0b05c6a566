"""Statistics of typed training rows as sums that can be joined: all that a pipeline learns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from granulearn.datasets.target_encoding import N_FOLDS
from granulearn.persistence import ColumnCard

# Values that a part remembers of a column of numbers, evenly spaced in rank, for its median.
_REMEMBERED = 33


@dataclass(frozen=True, eq=False)
class ClassedRows:
    """Class and fold of some training rows, by which categories are counted."""

    codes: np.ndarray
    """Class of each row, as its place among all classes."""
    folds: np.ndarray
    """As of `folds_of_rows`."""
    n_classes: int

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
    """A feature of numbers over some training rows."""

    n: int = 0
    """Rows in which the cell is not missing."""
    missing: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared deviations from the mean."""
    lowest: float = np.inf
    highest: float = -np.inf
    remembered: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    """Values, each with the number of cells that it stands for."""

    @classmethod
    def of(cls, values: np.ndarray) -> NumberStatistics:
        """Return the statistics of some cells.

        Parameters
        ----------
        values : ndarray of shape (n_samples,)
            Numbers, with NaN for a missing cell.
        """
        known = values[~np.isnan(values)]
        missing = len(values) - len(known)
        if not len(known):
            return cls(missing=missing)
        mean = known.mean()
        remembered = np.quantile(known, np.linspace(0, 1, _REMEMBERED))
        share = len(known) / _REMEMBERED
        return cls(
            n=len(known),
            missing=missing,
            mean=float(mean),
            squares=float(((known - mean) ** 2).sum()),
            lowest=float(known.min()),
            highest=float(known.max()),
            remembered=np.column_stack([remembered, np.full(_REMEMBERED, share)]),
        )

    def __add__(self, other: NumberStatistics) -> NumberStatistics:
        """Return the statistics of these rows and of the others."""
        n = self.n + other.n
        gap = other.mean - self.mean
        share = other.n / n if n else 0.0
        return NumberStatistics(
            n=n,
            missing=self.missing + other.missing,
            mean=self.mean + gap * share,
            squares=self.squares + other.squares + gap**2 * self.n * share,
            lowest=min(self.lowest, other.lowest),
            highest=max(self.highest, other.highest),
            remembered=np.concatenate([self.remembered, other.remembered]),
        )

    @property
    def median(self) -> float:
        """The middle of the remembered values; exact for a single part."""
        if not self.n:
            return 0.0
        values, weights = self.remembered[np.argsort(self.remembered[:, 0])].T
        reached = np.cumsum(weights)
        return float(values[np.searchsorted(reached, reached[-1] / 2)])

    def filled(self) -> tuple[float, float]:
        """Return mean and variance with the median in place of missing cells."""
        total = self.n + self.missing
        if not self.n:
            return 0.0, 0.0
        gap, share = self.median - self.mean, self.missing / total
        return self.mean + gap * share, (self.squares + gap**2 * self.n * share) / total


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
        name: NumberStatistics.of(cell)
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
