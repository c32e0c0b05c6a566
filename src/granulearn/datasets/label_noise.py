"""Wrong labels on purpose: uniform, class-conditional, or where classes overlap.

For training labels only: a test on noisy labels measures something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, check_random_state, column_or_1d


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
        Where the noise falls.
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
    classes, codes = _encode(given)
    random = check_random_state(random_state)
    _refuse_stray_arguments(kind, rate=rate, X=X, transition=transition, pairs=pairs)
    if kind == "uniform":
        noisy = _flip_uniform(codes, len(classes), _checked_rate(rate), random)
    elif kind == "boundary":
        noisy = _flip_boundary(codes, _checked_rate(rate), X, n_neighbors, random)
    elif kind == "pair":
        matrix = _pair_matrix(classes, _checked_rate(rate), pairs)
        noisy = _flip_by_matrix(codes, matrix, random)
    else:
        noisy = _flip_by_matrix(codes, _checked_matrix(transition, len(classes)), random)
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
    features = check_array(X)
    if len(features) != len(codes):
        raise ValueError(f"X has {len(features)} rows and y has {len(codes)}; they must agree.")
    if not 1 <= n_neighbors < len(codes):
        raise ValueError(
            f"n_neighbors={n_neighbors!r} must lie between 1 and {len(codes) - 1}, "
            "the number of other samples."
        )
    # kneighbors() without samples leaves out each sample itself, duplicates or not.
    neighbours = NearestNeighbors(n_neighbors=n_neighbors).fit(features).kneighbors()[1]
    overlap = (codes[neighbours] != codes[:, None]).mean(axis=1)
    distance, rival = _nearest_other_class(features, codes)
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
    noisy[nearest] = rival[nearest]
    return noisy


def _nearest_other_class(features, codes) -> tuple[np.ndarray, np.ndarray]:
    """Return for each sample the distance to the nearest other class, and that class."""
    distance, rival = np.empty(len(codes)), np.empty(len(codes), dtype=codes.dtype)
    for code in np.unique(codes):
        own, others = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        search = NearestNeighbors(n_neighbors=1).fit(features[others])
        gaps, found = search.kneighbors(features[own])
        distance[own], rival[own] = gaps[:, 0], codes[others[found[:, 0]]]
    return distance, rival


def _pair_matrix(classes, rate, pairs) -> np.ndarray:
    n_classes = len(classes)
    position = {label: i for i, label in enumerate(classes.tolist())}
    if pairs is None:
        partners = {i: (i + 1) % n_classes for i in range(n_classes)}
    else:
        unknown = [label for pair in pairs.items() for label in pair if label not in position]
        if unknown:
            raise ValueError(f"pairs names {unknown[0]!r}, which is no class of y: {[*position]}.")
        partners = {position[a]: position[b] for a, b in pairs.items()}
    matrix = np.eye(n_classes)
    for i, j in partners.items():
        if i == j:
            raise ValueError(f"pairs maps {classes.tolist()[i]!r} to itself; name another class.")
        matrix[i, i], matrix[i, j] = 1 - rate, rate
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
            f"rate={rate!r} must lie in [0, 1]; 0.1 makes a tenth of the labels wrong."
        )
    return float(rate)


def _encode(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n_absent = int(np.sum(pd.isna(labels)))
    if n_absent:
        raise ValueError(f"y holds {n_absent} missing label(s); remove those rows.")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds {len(classes)} class(es); a wrong label needs a second one.")
    return classes, codes


_USES = {
    "uniform": ("rate",),
    "pair": ("rate", "pairs"),
    "transition": ("transition",),
    "boundary": ("rate", "X"),
}


def _refuse_stray_arguments(kind: str, **arguments) -> None:
    if kind not in _USES:
        raise ValueError(f"kind={kind!r} is unknown; use one of {', '.join(_USES)}.")
    for name, value in arguments.items():
        if value is not None and name not in _USES[kind]:
            raise ValueError(f"kind={kind!r} does not use {name}=; leave it out.")
    if kind in ("transition", "boundary"):
        needed = _USES[kind][-1]
        if arguments[needed] is None:
            raise ValueError(f"kind={kind!r} needs {needed}=.")
