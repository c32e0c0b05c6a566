"""Label noise, outliers and class imbalance for experiments; for training data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d


class NoisyLabels(NamedTuple):
    """Labels after noise, and where they were changed.

    Examples
    --------
    >>> from granulearn.datasets import flip_labels
    >>> noisy = flip_labels([0, 0, 0, 0, 1, 1, 1, 1], 0.25, "uniform", random_state=0)
    >>> noisy.labels.tolist()
    [0, 0, 1, 0, 1, 1, 0, 1]
    >>> int(noisy.mask.sum())
    2
    """

    labels: np.ndarray
    mask: np.ndarray
    """True where the label differs from the given one."""


def flip_labels(
    y: ArrayLike,
    rate: float | None = None,
    kind: Literal["uniform", "pair", "transition", "boundary"] = "uniform",
    random_state=None,
    *,
    X: ArrayLike | None = None,
    transition: ArrayLike | None = None,
    pairs: Mapping[Any, Any] | None = None,
    n_neighbors: int = 10,
) -> NoisyLabels:
    """Replace some labels by wrong ones.

    - ``"uniform"``: exactly ``round(rate * n)`` labels, each to one of the other
      classes, all equally likely.
    - ``"pair"``: a share ``rate`` of each class becomes one fixed other class: the
      next one in sorted order (the last becomes the first), or what ``pairs`` says.
    - ``"transition"``: class i becomes class j at the rate ``transition[i, j]``.
    - ``"boundary"``: exactly ``round(rate * n)`` labels, drawn where the classes
      overlap: with probability proportional to the share of other classes among a
      sample's nearest neighbours. Once these are used up, the samples nearest to
      another class follow. A label becomes the commonest other class around it.

    Class-conditional counts (pair, transition) are ``n_i * rate_ij`` rounded up
    or down at random, so that they are right on average even in small classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any type, at least two classes, none missing.
    rate : float, default=None
        Share of wrong labels, in [0, 1]. Not for ``"transition"``.
    kind : {"uniform", "pair", "transition", "boundary"}, default="uniform"
        How the wrong labels are distributed.
    random_state : int, RandomState or None, default=None
        Seed.
    X : array-like of shape (n, d), default=None
        Features in the scale in which distance means something; for ``"boundary"``.
    transition : array-like of shape (K, K), default=None
        Rows sum to 1, classes in sorted order; for ``"transition"``.
    pairs : mapping, default=None
        Class to the class it is mistaken for; for ``"pair"``. Others stay.
    n_neighbors : int, default=10
        Neighbours that show an overlap; for ``"boundary"``.

    Returns
    -------
    NoisyLabels
        ``labels`` and ``mask``.

    See Also
    --------
    granulearn.datasets.add_outliers : Noise in the inputs.
    granulearn.datasets.make_imbalanced : A class that becomes rare.

    Examples
    --------
    >>> from granulearn.datasets import flip_labels
    >>> labels, mask = flip_labels(["a", "b"] * 50, 0.1, random_state=0)
    >>> int(mask.sum())
    10
    """
    given = column_or_1d(np.asarray(y))
    if pd.isna(given).any():
        raise ValueError(f"y holds {pd.isna(given).sum()} missing label(s); remove those rows.")
    classes, codes = np.unique(given, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds {len(classes)} class(es); a wrong label needs a second one.")
    random = check_random_state(random_state)
    if kind == "uniform":
        noisy = _flip_uniform(codes, len(classes), _checked_rate(rate), random)
    elif kind == "boundary":
        noisy = _flip_boundary(codes, _checked_rate(rate), X, n_neighbors, random)
    elif kind == "pair":
        noisy = _flip_by_matrix(codes, _pair_matrix(classes, _checked_rate(rate), pairs), random)
    elif kind == "transition":
        noisy = _flip_by_matrix(codes, _checked_matrix(transition, len(classes)), random)
    else:
        raise ValueError(f"kind={kind!r} is unknown; use uniform, pair, transition or boundary.")
    return NoisyLabels(classes[noisy], noisy != codes)


def _flip_uniform(codes, n_classes, rate, random) -> np.ndarray:
    noisy = codes.copy()
    chosen = random.permutation(len(codes))[: round(rate * len(codes))]
    # A shift by 1 .. K-1 around the circle of classes is another class, uniformly.
    noisy[chosen] = (codes[chosen] + random.randint(1, n_classes, len(chosen))) % n_classes
    return noisy


def _flip_by_matrix(codes, matrix, random) -> np.ndarray:
    noisy = codes.copy()
    for code, shares in enumerate(matrix):
        members = random.permutation(np.flatnonzero(codes == code))
        ends = np.cumsum(shares) * len(members)
        ends[-1] = len(members)
        # One random offset rounds all counts: each is off by less than one, and
        # right on average.
        ends = np.floor(ends + random.uniform())
        counts = np.diff(np.minimum(ends, len(members)), prepend=0).astype(int)
        noisy[members] = np.repeat(np.arange(len(shares)), counts)
    return noisy


def _flip_boundary(codes, rate, X, n_neighbors, random) -> np.ndarray:
    if X is None:
        raise ValueError("kind='boundary' needs X=, the features that say where classes overlap.")
    features = check_array(X)
    check_consistent_length(features, codes)
    # kneighbors() without samples leaves out each sample itself, duplicates or not.
    neighbours = NearestNeighbors(n_neighbors=n_neighbors).fit(features).kneighbors()[1]
    overlap = (codes[neighbours] != codes[:, None]).mean(axis=1)
    distance, second = _nearest_other_class(features, codes)
    count = round(rate * len(codes))
    overlapping = np.flatnonzero(overlap)
    weights = overlap[overlapping] / overlap.sum() if len(overlapping) else None
    drawn = random.choice(overlapping, size=min(count, len(overlapping)), replace=False, p=weights)
    apart = np.flatnonzero(overlap == 0)
    nearest = apart[np.argsort(distance[apart], kind="stable")][: count - len(drawn)]
    noisy = codes.copy()
    for sample in drawn:
        around = codes[neighbours[sample]]
        noisy[sample] = np.bincount(around[around != codes[sample]]).argmax()
    noisy[nearest] = second[nearest]
    return noisy


def _nearest_other_class(features, codes) -> tuple[np.ndarray, np.ndarray]:
    """Return for each sample the distance to the nearest other class, and that class."""
    distance, second = np.empty(len(codes)), np.empty_like(codes)
    for code in np.unique(codes):
        own, others = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        search = NearestNeighbors(n_neighbors=1).fit(features[others])
        gaps, found = search.kneighbors(features[own])
        distance[own], second[own] = gaps[:, 0], codes[others[found[:, 0]]]
    return distance, second


def _pair_matrix(classes, rate, pairs) -> np.ndarray:
    labels = classes.tolist()
    if pairs is None:
        pairs = dict(zip(labels, [*labels[1:], labels[0]], strict=True))
    unknown = [label for pair in pairs.items() for label in pair if label not in labels]
    if unknown:
        raise ValueError(f"pairs names {unknown[0]!r}, which is no class of y: {labels}.")
    matrix = np.eye(len(labels))
    for before, after in pairs.items():
        i, j = labels.index(before), labels.index(after)
        matrix[i, i] -= rate
        matrix[i, j] += rate
    return matrix


def _checked_matrix(transition, n_classes) -> np.ndarray:
    matrix = np.asarray(transition, dtype=float)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"transition has shape {matrix.shape}, but y has {n_classes} classes; "
            f"it must be {n_classes} by {n_classes}, classes in sorted order."
        )
    if not ((matrix >= 0).all() and np.allclose(matrix.sum(axis=1), 1)):
        raise ValueError(
            "each row of transition must hold probabilities that sum to 1; "
            f"the rows sum to {matrix.sum(axis=1).tolist()}."
        )
    return matrix


def _checked_rate(rate) -> float:
    if rate is None or not 0 <= rate <= 1:
        raise ValueError(
            f"rate={rate!r} must lie in [0, 1]; 0.1 changes a tenth of the labels or rows."
        )
    return float(rate)


class WithOutliers(NamedTuple):
    """Features after some rows were moved, and which.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.datasets import add_outliers
    >>> moved = add_outliers(np.arange(40.0).reshape(20, 2), 0.1, random_state=0)
    >>> int(moved.mask.sum()), moved.X.shape
    (2, (20, 2))
    """

    X: Any
    """A DataFrame if one was given, else an array."""
    mask: np.ndarray
    """True for the rows that were moved."""


def add_outliers(X, rate: float, scale: float = 5.0, random_state=None) -> WithOutliers:
    """Move a share of the rows far out, each in a random direction.

    Exactly ``round(rate * n)`` rows are placed at ``scale`` times the distance of
    the farthest row from the mean, measured in standard deviations of each
    column. Columns that do not vary, and columns that are not numeric, stay.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        Features; numeric cells finite, none missing.
    rate : float
        Share of rows to move, in [0, 1].
    scale : float, default=5.0
        How far, in units of the farthest row; above 1.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    WithOutliers
        ``X`` and ``mask``.

    Examples
    --------
    >>> from granulearn.datasets import add_outliers
    >>> moved, mask = add_outliers([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0]], 0.25)
    >>> int(mask.sum())
    1
    """
    rate = _checked_rate(rate)
    if not 1 < scale < np.inf:
        raise ValueError(f"scale={scale!r} must be above 1, or the rows are no outliers.")
    random = check_random_state(random_state)
    if not isinstance(X, pd.DataFrame):
        return _moved(check_array(X, dtype=float, copy=True), rate, scale, random)
    numeric = X.select_dtypes("number").columns
    if numeric.empty:
        raise ValueError("X has no numeric column, so no row can be moved.")
    values, mask = _moved(check_array(X[numeric], dtype=float, copy=True), rate, scale, random)
    moved = X.copy()
    moved[numeric] = pd.DataFrame(values, index=X.index, columns=numeric)
    return WithOutliers(moved, mask)


def _moved(values: np.ndarray, rate: float, scale: float, random) -> WithOutliers:
    centre, spread = values.mean(axis=0), values.std(axis=0)
    varies = spread > 0
    if not varies.any():
        raise ValueError("X does not vary in any numeric column, so there is no far and near.")
    chosen = random.permutation(len(values))[: round(rate * len(values))]
    standard = (values[:, varies] - centre[varies]) / spread[varies]
    farthest = np.linalg.norm(standard, axis=1).max()
    direction = random.standard_normal((len(chosen), int(varies.sum())))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    target = centre[varies] + scale * farthest * direction * spread[varies]
    values[np.ix_(chosen, np.flatnonzero(varies))] = target
    mask = np.zeros(len(values), dtype=bool)
    mask[chosen] = True
    return WithOutliers(values, mask)


class Imbalanced(NamedTuple):
    """The rows that were kept, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.datasets import make_imbalanced
    >>> X, y = np.arange(12).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
    >>> fewer = make_imbalanced(X, y, 0.5, random_state=0)
    >>> fewer.y.tolist(), fewer.kept.tolist()
    ([0, 0, 0, 1, 1], [True, True, True, False, True, True])
    """

    X: Any
    y: Any
    kept: np.ndarray
    """(n,) True for the rows of the given table that were kept."""


def make_imbalanced(X, y, ratio: float, random_state=None) -> Imbalanced:
    """Drop rows of the smallest class until it is ``ratio`` times the largest.

    Keeps ``round(ratio * rows of the largest class)`` rows of the smallest class,
    drawn at random, and every other row. If several classes are equally small, the
    one that sorts last is thinned.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        Features.
    y : array-like of shape (n,)
        Labels.
    ratio : float
        Rows of the smallest class per row of the largest, in (0, 1]; not above
        what the data has.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Imbalanced
        ``X``, ``y`` and ``kept``.

    Examples
    --------
    >>> from granulearn.datasets import make_imbalanced
    >>> X, y, kept = make_imbalanced([[i] for i in range(20)], [0, 1] * 10, 0.2)
    >>> int(sum(y))
    2
    """
    check_consistent_length(X, y)
    labels = column_or_1d(np.asarray(y))
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"y holds {len(classes)} class(es); imbalance needs at least 2.")
    smallest = len(counts) - 1 - int(np.argmin(counts[::-1]))
    wanted = round(ratio * int(counts.max()))
    if not (ratio <= 1 and 1 <= wanted <= counts[smallest]):
        raise ValueError(
            f"ratio={ratio!r} asks for {wanted} rows of class {classes.tolist()[smallest]!r}, "
            f"which has {counts[smallest]}; pass a ratio in (0, 1] that keeps one row or more, "
            "and no more than there are."
        )
    members = np.flatnonzero(labels == classes[smallest])
    dropped = check_random_state(random_state).permutation(members)[wanted:]
    kept = np.ones(len(labels), dtype=bool)
    kept[dropped] = False
    return Imbalanced(_rows(X, kept), _rows(y, kept), kept)


def _rows(values, kept: np.ndarray):
    """Return the kept rows, as the type that was given (lists become arrays)."""
    return values.loc[kept] if hasattr(values, "loc") else np.asarray(values)[kept]
