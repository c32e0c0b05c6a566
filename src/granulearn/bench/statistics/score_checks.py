"""What every statistic takes: finite scores, rows data sets, columns models."""

import numpy as np
from numpy.typing import ArrayLike


def checked_scores(scores: ArrayLike) -> np.ndarray:
    """Return ``scores`` as a finite float array of at least 2 sets by 2 models.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_models)
        One score per data set (row) and model (column).

    Returns
    -------
    ndarray of shape (n_sets, n_models)
        The same numbers as floats.

    Raises
    ------
    ValueError
        If the table has another shape, is too small or holds a missing or
        infinite value.
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2:
        raise ValueError(
            f"scores must be a table of two dimensions (sets by models), got {table.ndim}; "
            "give one row per data set and one column per model."
        )
    n_sets, n_models = table.shape
    if n_sets < 2 or n_models < 2:
        raise ValueError(
            f"scores has {n_sets} set(s) and {n_models} model(s); "
            "a comparison needs at least 2 of each."
        )
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"scores holds {table[row, column]} at row {row}, column {column}; "
            "fill the cell or leave the set out (`compare` does so with missing='drop')."
        )
    return table


def paired_scores(first: ArrayLike, second: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of two models on the same sets as finite float arrays.

    Parameters
    ----------
    first, second : array-like of shape (n_sets,)
        One score per set for each model.

    Returns
    -------
    tuple of ndarray
        Both, of equal length.

    Raises
    ------
    ValueError
        If the lengths differ, there is no set, or a value is not finite.
    """
    left, right = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if left.ndim != 1 or left.shape != right.shape or left.size == 0:
        raise ValueError(
            "the two models need one score per set each, on the same sets; "
            f"got shapes {left.shape} and {right.shape}."
        )
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ValueError("the scores hold missing or infinite values; leave those sets out.")
    return left, right
