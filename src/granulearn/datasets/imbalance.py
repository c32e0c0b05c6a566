"""Thin the smallest class, to ask how a method bears imbalance. For training data only."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d


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
    name, present = classes.tolist()[smallest], counts[smallest] / counts.max()
    if not 0 < ratio <= 1:
        raise ValueError(
            f"ratio={ratio!r} must lie in (0, 1]; 0.1 is one row in the small class per ten."
        )
    wanted = round(ratio * int(counts.max()))
    if wanted > counts[smallest]:
        raise ValueError(
            f"ratio={ratio!r} asks for {wanted} rows of class {name!r}, which has "
            f"{counts[smallest]}; thinning can only go below {present:.3g}."
        )
    if wanted < 1:
        raise ValueError(
            f"ratio={ratio!r} would leave no row of class {name!r}; "
            f"ask for more than {0.5 / counts.max():.3g}."
        )
    members = np.flatnonzero(labels == classes[smallest])
    dropped = check_random_state(random_state).permutation(members)[wanted:]
    kept = np.ones(len(labels), dtype=bool)
    kept[dropped] = False
    return Imbalanced(_rows(X, kept), _rows(y, kept), kept)


def _rows(values, kept: np.ndarray):
    """Return the kept rows, as the type that was given (lists become arrays)."""
    return values.loc[kept] if hasattr(values, "loc") else np.asarray(values)[kept]
