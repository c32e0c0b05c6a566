"""Rows as points: inputs in comparable units, and how far rows are from a few others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from granulearn.audit._nearness import nearest_references, place_rows
from granulearn.utils.threads import in_threads, limited_threads

# A sample of this size stands for a larger table.
MOST_ROWS = 50_000
# Rows of which the units are found, and rows that all are compared with.
SAMPLE = 4_096
REFERENCES = 256
NEIGHBOURS = 5
# A column is measured between these quantiles: the width of a normal one is about four
# deviations, and one row in fifty may be absurd without changing it.
TAIL = 0.02
DEVIATIONS = 4.0
# A column is nearly constant if it reaches 100 times farther between these quantiles.
RARE, SAME = 0.005, 100.0
# More columns are mixed at random, which hardly changes distances between rows.
MOST_DIMENSIONS = 48
# Directions in which rows hardly vary count no more than one of this share of the mean variance.
FLOOR = 0.02
# Points are clipped here, so that squares stay exact enough.
MOST = 1e6
ROWS_PER_TASK = 8_192


@dataclass(frozen=True, eq=False)
class Embedding:
    """How rows become points, in which distances do not depend on units and correlations."""

    medians: np.ndarray
    """(d,) of each column."""
    scales: np.ndarray
    """(d,) about the deviation of each column; infinite where it is constant."""
    directions: np.ndarray
    """(d, D) what turns columns into directions in which rows vary alike."""
    references: np.ndarray
    """(D, m) the points of some rows, with which others are compared."""

    def compare(
        self, X: np.ndarray, own: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Compare rows with the references.

        Parameters
        ----------
        X : ndarray of shape (n_rows, d)
            Rows.
        own : ndarray of shape (n_rows,), default=None
            Which reference each row is; -1 for none.

        Returns
        -------
        tuple of ndarray
            Points of the rows, numbers of the nearest other references, their distances, and the
            two least squared distances of each reference to these rows.
        """
        n_references = self.references.shape[1]
        k = min(NEIGHBOURS, max(n_references - 1, 1))
        X = np.ascontiguousarray(X, dtype=np.float64)
        own = np.full(len(X), -1) if own is None else own
        nearest, squares = np.empty((len(X), k), dtype=np.int64), np.empty((len(X), k))
        least = np.full((2, n_references), np.inf)
        points = self.points(X)
        nearest_references(points, own, self.references, nearest, squares, least)
        return points, nearest, np.sqrt(squares), least

    def points(self, X: np.ndarray) -> np.ndarray:
        """Return rows as points."""
        points = np.empty((len(X), self.directions.shape[1]))
        place_rows(X, self.medians, self.scales, self.directions, MOST, points)
        return points


@dataclass(frozen=True, eq=False)
class EmbeddedRows:
    """The rows of a table as points."""

    embedding: Embedding
    sample: np.ndarray
    """Rows, drawn at random, that stand for all; the first ones are the references."""
    points: np.ndarray
    """(n, D) the rows."""
    nearest: np.ndarray
    """(n, k) the nearest other references of each row, as numbers below m."""
    distances: np.ndarray
    """(n, k) how far they are."""
    gaps: np.ndarray
    """(2, m) from each reference to the nearest row that lies elsewhere, and to the next that is
    farther; infinite if there is none."""


def embed_rows(X: np.ndarray, n_threads: int = 1) -> EmbeddedRows:
    """Return the rows of a table as points.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite inputs, in any units.
    n_threads : int, default=1
        Threads; they change no result.
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    sample = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    embedding = _fit_embedding(X, X[sample])
    own = np.full(len(X), -1)
    own[sample[:REFERENCES]] = np.arange(len(sample[:REFERENCES]))
    parts = [slice(i, i + ROWS_PER_TASK) for i in range(0, len(X), ROWS_PER_TASK)]
    found = in_threads(lambda part: embedding.compare(X[part], own[part]), parts, n_threads)
    points, nearest, distances, least = (np.concatenate(part) for part in zip(*found, strict=True))
    return EmbeddedRows(embedding, sample, points, nearest, distances, np.sqrt(_two_least(least)))


def _fit_embedding(X: np.ndarray, sample: np.ndarray) -> Embedding:
    medians, scales = _units(X, sample[:SAMPLE])
    directions = _directions((sample[:SAMPLE] / 2 - medians / 2) / (scales / 2))
    embedding = Embedding(medians, scales, directions, np.empty((directions.shape[1], 0)))
    references = np.ascontiguousarray(embedding.points(sample[:REFERENCES]).T)
    return replace(embedding, references=references)


def _two_least(values: np.ndarray) -> np.ndarray:
    """Return the two least different values of each column."""
    first = values.min(axis=0)
    return np.array([first, np.where(values > first, values, np.inf).min(axis=0)])


def _units(X: np.ndarray, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the median and the unit of each column."""
    quantiles = [RARE, TAIL, 0.5, 1 - TAIL, 1 - RARE]
    lowest, low, medians, high, highest = np.quantile(sample, quantiles, axis=0, method="nearest")
    scales = high / DEVIATIONS - low / DEVIATIONS
    reach = highest / DEVIATIONS - lowest / DEVIATIONS
    for j in np.flatnonzero((scales <= 0) | (reach / SAME > scales)):
        scales[j] = _rare_distance(X[:, j], medians[j]) / DEVIATIONS
    # A constant column, or one whose scale is lost in rounding, does not count.
    return medians, np.where(scales > 0, scales, np.inf)


def _rare_distance(values: np.ndarray, median: float) -> float:
    """Return how far the few values of a column that differ from the median are from it.

    It is their mean, each weighted by itself: many slight differences do not make a single
    large one absurd.
    """
    away = np.abs(values[values != median] / 2 - median / 2)
    if len(away) == 0:
        return 0.0
    largest = away.max()
    away /= largest
    return float(2 * (np.square(away).sum() / away.sum()) * largest)


def _directions(sample: np.ndarray) -> np.ndarray:
    """Return what turns columns into directions in which rows vary alike."""
    d = sample.shape[1]
    mixing = _mixing(d) if d > MOST_DIMENSIONS else np.eye(d)
    with limited_threads(1, "blas"):
        mixed = np.clip(sample, -DEVIATIONS, DEVIATIONS) @ mixing
        mixed -= mixed.mean(axis=0)
        variances, axes = np.linalg.eigh(mixed.T @ mixed / len(mixed))
        floor = FLOOR * max(variances.mean(), np.finfo(float).tiny)
        return np.ascontiguousarray(mixing @ (axes / np.sqrt(np.maximum(variances, 0) + floor)))


def _mixing(d: int) -> np.ndarray:
    signs = np.random.RandomState(0).randint(2, size=(d, MOST_DIMENSIONS)) * 2 - 1
    return signs / np.sqrt(MOST_DIMENSIONS)
