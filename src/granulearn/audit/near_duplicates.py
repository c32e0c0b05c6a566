"""Rows that are nearly equal and should not be: under different labels, or in different groups.

Near is what hardly any pair of rows is by chance. How far rows are from their nearest ones
says how fast such distances become rare, and so how near a pair must be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist

from granulearn.audit.embedding import EmbeddedRows
from granulearn.audit.ratings import Issue, named_rows, worst_first
from granulearn.utils.sampling import row_hashes

CONTRADICTION = "contradictory duplicates"
SHARED = "duplicates across groups"
# What differs, and what to do.
_MESSAGES = {
    CONTRADICTION: ("and different labels", "check them together"),
    SHARED: (
        "in different groups",
        "what is learned from one group is known of the other, so keep them in one group",
    ),
}

# Pairs of a whole table that may be near by chance.
BY_CHANCE = 0.05
# Near is never more than this share of the typical distance to the nearest row.
NEAREST = 0.05
# Shares of the rows whose nearest row is as near as the first and the second quantile.
_RARE, _HALF = 0.1, 0.5
# A search that finds more pairs per row looks for nearer ones instead.
_PAIRS_PER_ROW = 4
_MOST_TRIES = 12
# Rows that are compared pair by pair: so few, or so many where they cannot be divided.
_FEW_ROWS, _MOST_ROWS = 128, 2_048
# A division that repeats more of the rows on both sides is not worth it.
_MOST_REPEATED = 0.3


@dataclass(frozen=True, eq=False)
class CloseRows:
    """Rows that are equal or nearly so."""

    clusters: np.ndarray
    """(n,) a number for each row; close rows, also by way of others, have the same."""
    distances: np.ndarray
    """(n_clusters,) the largest step from a row to the next in a cluster."""
    typical: float
    """The typical distance of a row to the nearest other one."""
    radius: float
    """What counts as near."""
    repeated: float
    """Share of the rows that are close to another."""


def close_rows(X: np.ndarray, rows: EmbeddedRows) -> CloseRows:
    """Return which rows of a table are equal or nearly so.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    rows : EmbeddedRows
        The rows of X.
    """
    # Copies are found by hashes, however many they are; the search sees one of each.
    _, first, which = np.unique(row_hashes(X), return_index=True, return_inverse=True)
    typical, radius = near_radius(rows.gaps, len(first))
    points = rows.points[first]
    pairs, radius = _pairs_within(points, radius)
    weights = np.ones(len(pairs), dtype=np.int8)
    graph = coo_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(len(first),) * 2)
    n_clusters, clusters = connected_components(graph, directed=False)
    steps = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    largest = np.zeros(n_clusters)
    np.maximum.at(largest, clusters[pairs[:, 0]], steps)
    of_rows = clusters[which]
    sizes = np.bincount(of_rows, minlength=n_clusters)
    repeated = float((sizes[of_rows] > 1).mean())
    return CloseRows(of_rows, largest, typical, radius, repeated)


def near_radius(gaps: np.ndarray, n_rows: int) -> tuple[float, float]:
    """Return the typical distance of a row to the nearest other one, and what counts as near.

    Among points thrown at random, the share of those with another within r grows like a power
    of r. The power follows from how much nearer the nearest row is than the next, and from two
    quantiles of the distances to the nearest. The second is lower where some parts of a table
    are much denser than others. The truth lies between, and so does what is taken.

    Parameters
    ----------
    gaps : ndarray of shape (2, n)
        Distances of some rows to the nearest other row and to the next; infinite if there is none.
    n_rows : int
        Different rows of the table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> gaps = rng.exponential(size=(2, 1000)).cumsum(axis=0)  # of points on a line
    >>> typical, radius = near_radius(gaps, 1000)
    >>> radius / typical < 1e-3
    True
    >>> typical, radius = near_radius(gaps ** (1 / 10), 1000)  # in ten dimensions
    >>> round(radius / typical, 3)
    0.05
    """
    nearest, next_ones = gaps[:, np.isfinite(gaps[0])]
    if len(nearest) == 0:
        return 0.0, 0.0
    rare, typical = (float(gap) for gap in np.quantile(nearest, [_RARE, _HALF]))
    some = np.isfinite(next_ones)
    ratios = np.log(next_ones[some]) - np.log(nearest[some])
    slow = float(ratios.mean()) if len(ratios) else 1.0
    fast = (np.log(typical) - np.log(rare)) / np.log(np.log1p(-_HALF) / np.log1p(-_RARE))
    by_chance = np.log(BY_CHANCE / (-np.log1p(-_RARE) * n_rows)) * (slow + fast) / 2
    return typical, min(rare * float(np.exp(min(by_chance, 0.0))), NEAREST * typical)


def _pairs_within(points: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
    for _ in range(_MOST_TRIES):
        pairs = close_pairs(points, radius, _PAIRS_PER_ROW * len(points) + 64)
        if pairs is not None:
            return pairs, radius
        radius /= 2
    return np.empty((0, 2), dtype=np.intp), 0.0


def close_pairs(points: np.ndarray, radius: float, most: int) -> np.ndarray | None:
    """Return all pairs of points within a radius, the smaller number first.

    Points are divided at the mean of their widest column again and again. Those within the radius
    above it go to both sides, so each pair is together on one of them.

    Parameters
    ----------
    points : ndarray of shape (n, D)
        The points.
    radius : float
        How far apart the points of a pair may be.
    most : int
        None is returned if there are more pairs, or if the radius is too large to divide points.
    """
    found, n_found = [np.empty((0, 2), dtype=np.intp)], 0
    waiting = [np.arange(len(points))]
    while waiting:
        rows = waiting.pop()
        part = points[rows]
        if len(rows) > _FEW_ROWS:
            values = part[:, part.var(axis=0).argmax()]
            above, below = values > values.mean(), values <= values.mean() + radius
            smaller = min(above.sum(), below.sum())
            if smaller and (above & below).sum() <= _MOST_REPEATED * smaller:
                waiting += [rows[above], rows[below]]
                continue
            if len(rows) > _MOST_ROWS:
                return None
        (near,) = np.nonzero(pdist(part) <= radius)
        if len(near):
            found.append(rows[np.transpose(np.triu_indices(len(rows), 1))[near]])
            n_found += len(near)
            if n_found > most:
                return None
    return np.unique(np.concatenate(found), axis=0)


def find_mixed(
    close: CloseRows, values: np.ndarray, kind: str, positions: np.ndarray | None = None
) -> list[Issue]:
    """Return an issue for each set of close rows with different labels, or in different groups.

    Parameters
    ----------
    close : CloseRows
        Of all rows.
    values : ndarray of shape (n_rows,)
        The label of each row, or its group: a patient, a source, training or test part.
    kind : str
        `CONTRADICTION` for labels, `SHARED` for groups.
    positions : ndarray of shape (n_rows,), default=None
        Number by which a reader finds each row.
    """
    differ, advice = _MESSAGES[kind]
    names, codes = np.unique(values, return_inverse=True)
    n_clusters = len(close.distances)
    lowest, highest = np.full(n_clusters, len(names)), np.full(n_clusters, -1)
    np.minimum.at(lowest, close.clusters, codes)
    np.maximum.at(highest, close.clusters, codes)
    rows = np.flatnonzero((lowest < highest)[close.clusters])
    rows = rows[np.argsort(close.clusters[rows], kind="stable")]
    parts = np.split(rows, np.flatnonzero(np.diff(close.clusters[rows])) + 1) if len(rows) else []
    found = []
    for part in parts:
        distance = close.distances[close.clusters[part[0]]]
        # Where many rows have copies, that two of them do not agree means little.
        score = (1 - distance / max(close.typical, distance, 1e-300)) * (1 - close.repeated)
        different = names[np.unique(codes[part])].tolist()
        equal = "equal" if distance == 0 else "nearly equal"
        message = (
            f"{named_rows(part.tolist(), positions).capitalize()} have {equal} inputs {differ} "
            f"({', '.join(map(str, different[:5]))}); {advice}."
        )
        classes = tuple(different) if kind == CONTRADICTION else ()
        found.append(Issue(kind, float(score), tuple(part.tolist()), message, classes=classes))
    return worst_first(
        found, f"{{n}} more sets of rows have equal or nearly equal inputs {differ}."
    )
