"""Rows as points: inputs in comparable units, and how far rows are from a few others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

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
# Points are clipped here, so that distances stay exact enough.
MOST = 1e6
# Nearer rows are copies: rounding alone sets them apart.
COPY = 1e-8
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
    """(m, D) the points of some rows, with which others are compared."""

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
            Points of the rows, numbers of the nearest other references (the last one is the
            farthest of them), their distances, and the two least different distances of each
            reference to these rows.
        """
        points = self.points(X)
        away = cdist(points, self.references)
        least = _two_least(away)
        if own is not None:
            (rows,) = np.nonzero(own >= 0)
            away[rows, own[rows]] = np.inf
        k = min(NEIGHBOURS, max(len(self.references) - 1, 1))
        nearest = np.argpartition(away, k - 1, axis=1)[:, :k]
        return points, nearest, np.take_along_axis(away, nearest, axis=1), least

    def points(self, X: np.ndarray) -> np.ndarray:
        """Return rows as points."""
        return np.clip((X - self.medians) / self.scales, -MOST, MOST) @ self.directions


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
    sample = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    own = np.full(len(X), -1)
    own[sample[:REFERENCES]] = np.arange(len(sample[:REFERENCES]))
    parts = [slice(i, i + ROWS_PER_TASK) for i in range(0, len(X), ROWS_PER_TASK)]
    with limited_threads(1, "blas"):
        embedding = _fit_embedding(X, X[sample[:SAMPLE]])
        found = in_threads(lambda part: embedding.compare(X[part], own[part]), parts, n_threads)
    points, nearest, distances, least = (np.concatenate(part) for part in zip(*found, strict=True))
    return EmbeddedRows(embedding, sample, points, nearest, distances, _two_least(least))


def _fit_embedding(X: np.ndarray, sample: np.ndarray) -> Embedding:
    medians, scales = _units(X, sample)
    directions = _directions((sample - medians) / scales)
    embedding = Embedding(medians, scales, directions, np.empty((0, directions.shape[1])))
    return replace(embedding, references=embedding.points(sample[:REFERENCES]))


def _two_least(away: np.ndarray) -> np.ndarray:
    """Return the two least different distances of each column, copies left out."""
    first = away.min(axis=0, initial=np.inf, where=away > COPY)
    second = away.min(axis=0, initial=np.inf, where=away > first * (1 + COPY))
    return np.array([first, second])


def _units(X: np.ndarray, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the median and the unit of each column."""
    quantiles = [RARE, TAIL, 0.5, 1 - TAIL, 1 - RARE]
    lowest, low, medians, high, highest = np.quantile(sample, quantiles, axis=0, method="nearest")
    scales, reach = (high - low) / DEVIATIONS, (highest - lowest) / DEVIATIONS
    for j in np.flatnonzero((scales <= 0) | (reach > SAME * scales)):
        scales[j] = _rare_distance(X[:, j], medians[j]) / DEVIATIONS
    # A constant column, or one whose scale is lost in rounding, does not count.
    return medians, np.where(scales > 0, scales, np.inf)


def _rare_distance(values: np.ndarray, median: float) -> float:
    """Return how far the few values of a column that differ from the median are from it.

    It is their mean, each weighted by itself: many slight differences do not make a single
    large one absurd.
    """
    away = np.abs(values[values != median] - median)
    return float(away @ away / away.sum()) if len(away) else 0.0


def _directions(sample: np.ndarray) -> np.ndarray:
    """Return what turns columns into directions in which rows vary alike."""
    d = sample.shape[1]
    mixing = np.eye(d)
    if d > MOST_DIMENSIONS:
        mixing = np.random.RandomState(0).choice([-1.0, 1.0], size=(d, MOST_DIMENSIONS))
        mixing /= np.sqrt(MOST_DIMENSIONS)
    mixed = np.clip(sample, -DEVIATIONS, DEVIATIONS) @ mixing
    variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(mixed, rowvar=False, ddof=0)))
    floor = FLOOR * max(variances.mean(), np.finfo(float).tiny)
    return mixing @ (axes / np.sqrt(np.maximum(variances, 0) + floor))
