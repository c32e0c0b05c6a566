"""Rows moved far out, to ask how much a method minds. For training data only."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_array, check_random_state


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
    if not 0 <= rate <= 1:
        raise ValueError(f"rate={rate!r} must lie in [0, 1]; 0.1 moves a tenth of the rows.")
    if not 1 < scale < np.inf:
        raise ValueError(f"scale={scale!r} must be above 1, or the rows are no outliers.")
    random = check_random_state(random_state)
    if not isinstance(X, pd.DataFrame):
        return _moved(check_array(X, dtype=float, copy=True), rate, scale, random)
    numeric = X.select_dtypes("number").columns
    if len(numeric) == 0:
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
