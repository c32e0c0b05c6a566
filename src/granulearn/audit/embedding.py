"""Where rows lie: inputs in comparable units, and how far rows are from a few of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from granulearn.audit._nearness import nearest_references, place_rows
from granulearn.utils.sorting import order_and_ties
from granulearn.utils.threads import in_threads, limited_threads

# Rows of which the units are found.
SAMPLE = 4_096
REFERENCES = 256
NEIGHBOURS = 5
# A column is measured between these shares of its values: the width of a normal one is about
# four deviations, and one row in fifty may be absurd without changing it.
TAIL = 0.02
DEVIATIONS = 4.0
# A column is nearly constant if it reaches so many times farther between these shares.
RARE, SAME = 0.005, 100.0
# Columns beyond so many are mixed at random: distances between rows hardly change by it.
MOST_DIMENSIONS = 48
# Directions in which rows hardly vary count no more than one of this share of the mean variance.
FLOOR = 0.02
# Farther is not told from far, and squares stay exact enough.
MOST = 1e6
ROWS_PER_TASK = 8_192


@dataclass(frozen=True, eq=False)
class Placing:
    """How rows become points, and the points that they are compared with."""

    middles: np.ndarray
    """(d,) the middle of each column."""
    widths: np.ndarray
    """(d,) about the deviation of each column; infinite where it is constant."""
    directions: np.ndarray
    """(d, D) what turns columns into directions in which rows vary alike."""
    columns: np.ndarray
    """(D, m) the references."""

    def compare(
        self, X: np.ndarray, own: np.ndarray, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Place rows, and find the nearest other references of each.

        Parameters
        ----------
        X : ndarray of shape (n_rows, d)
            Rows.
        own : ndarray of shape (n_rows,)
            Which reference each row is; -1 for none.
        points : ndarray of shape (n_rows, D)
            Is set to where the rows lie.

        Returns
        -------
        tuple of ndarray
            Numbers of the nearest references, their squared distances, and the two least
            squared distances of each reference to these rows.
        """
        n_references = self.columns.shape[1]
        k = min(NEIGHBOURS, max(n_references - 1, 1))
        nearest, squares = np.empty((len(X), k), dtype=np.int64), np.empty((len(X), k))
        least = np.full((2, n_references), np.inf)
        place_rows(X, self.middles, self.widths, self.directions, MOST, points)
        nearest_references(points, own, self.columns, nearest, squares, least)
        return nearest, squares, least


@dataclass(frozen=True, eq=False)
class Places:
    """Rows as points: distances do not depend on the units of columns, nor on their correlation."""

    points: np.ndarray
    """(n, D) the rows."""
    order: np.ndarray
    """(n,) an order of the rows that depends on their values alone."""
    ties: np.ndarray
    """(n,) of each row of the order, where the first one with equal inputs is in it."""
    references: np.ndarray
    """(m,) rows spread evenly over the order."""
    nearest: np.ndarray
    """(n, k) the nearest other references of each row, as numbers below m."""
    distances: np.ndarray
    """(n, k) how far they are."""
    gaps: np.ndarray
    """(2, m) from each reference to the nearest row that lies elsewhere, and to the next that is
    farther; infinite if there is none."""
    placing: Placing
    typical: np.ndarray | slice
    """Rows that say what is usual: all, or those that were drawn."""

    @property
    def middles(self) -> np.ndarray:
        """(d,) the middle of each column."""
        return self.placing.middles

    @property
    def widths(self) -> np.ndarray:
        """(d,) about the deviation of each column; infinite where it is constant."""
        return self.placing.widths


def place(X: np.ndarray, n_threads: int = 1, drawn: np.ndarray | None = None) -> Places:
    """Return where the rows of a table lie.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite inputs, in any units.
    n_threads : int, default=1
        Threads; they change no result.
    drawn : ndarray of int, default=None
        Rows, in the order in which they were drawn of a large table, that say what units and
        references are; None means rows at even steps of their order by value.
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    order, ties = order_and_ties(X)
    if drawn is None:
        sample, references = _spread(order, SAMPLE), _spread(order, REFERENCES)
        placing = _placing(X, X[sample], X[references])
    else:
        references = drawn[:REFERENCES]
        placing = placing_of_drawn(X[drawn])
    points = np.empty((len(X), placing.directions.shape[1]))
    own = np.full(len(X), -1)
    own[references] = np.arange(len(references))

    def compare(part: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return placing.compare(X[part], own[part], points[part])

    parts = [slice(i, i + ROWS_PER_TASK) for i in range(0, len(X), ROWS_PER_TASK)]
    compared = in_threads(compare, parts, n_threads)
    nearest, squares, least = (np.concatenate(found) for found in zip(*compared, strict=True))
    return Places(
        points,
        order,
        ties,
        references,
        nearest,
        np.sqrt(squares),
        np.sqrt(_two_least(least)),
        placing,
        slice(None) if drawn is None else drawn,
    )


def placing_of_drawn(drawn: np.ndarray) -> Placing:
    """Return how rows of a large table are placed, by rows that were drawn of it.

    Parameters
    ----------
    drawn : ndarray of shape (n_drawn, n_features)
        Rows in the order in which they were drawn: the first ones are the references.
    """
    drawn = np.ascontiguousarray(drawn, dtype=np.float64)
    return _placing(drawn, drawn[:SAMPLE], drawn[:REFERENCES])


def _placing(X: np.ndarray, sample: np.ndarray, references: np.ndarray) -> Placing:
    middles, widths = _units(X, sample)
    directions = _directions((sample / 2 - middles / 2) / (widths / 2))
    turned = np.empty((len(references), directions.shape[1]))
    place_rows(references, middles, widths, directions, MOST, turned)
    return Placing(middles, widths, directions, np.ascontiguousarray(turned.T))


def _two_least(values: np.ndarray) -> np.ndarray:
    """Return the two least different values of each column."""
    first = values.min(axis=0)
    return np.array([first, np.where(values > first, values, np.inf).min(axis=0)])


def _spread(order: np.ndarray, n_wanted: int) -> np.ndarray:
    """Return rows at even distances in an order, all of them if they are few."""
    n_wanted = min(n_wanted, len(order))
    return order[(2 * np.arange(n_wanted) + 1) * len(order) // (2 * n_wanted)]


def _units(X: np.ndarray, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle and the unit of each column."""
    shares = [RARE, TAIL, 0.5, 1 - TAIL, 1 - RARE]
    lowest, low, middles, high, highest = np.quantile(sample, shares, axis=0, method="nearest")
    widths = high / DEVIATIONS - low / DEVIATIONS
    reach = highest / DEVIATIONS - lowest / DEVIATIONS
    for j in np.flatnonzero((widths <= 0) | (reach / SAME > widths)):
        widths[j] = _rare_distance(X[:, j], middles[j]) / DEVIATIONS
    # A constant column, or one whose width is lost in rounding, has no say.
    return middles, np.where(widths > 0, widths, np.inf)


def _rare_distance(values: np.ndarray, middle: float) -> float:
    """Return how far the few values of a column that differ from the middle are from it.

    It is their mean, each weighted by itself: many slight differences do not make a single
    large one absurd.
    """
    away = np.abs(values[values != middle] / 2 - middle / 2)
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
