"""An order of rows that depends on their values alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def order_by_value(X: np.ndarray, *tie_breakers: np.ndarray) -> np.ndarray:
    """Return an order of the rows of `X` that depends on their values, not on their positions.

    See `order_and_ties`.
    """
    return order_and_ties(X, *tie_breakers)[0]


def order_and_ties(X: np.ndarray, *tie_breakers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return such an order, and the place of each of its rows; equal rows share one.

    Rows are drawn by position, so in any other order a permutation of the data
    would change the draws. Equal rows are ordered by the tie-breakers, the last
    one first, and then stay in the order they have.
    """
    return sorted_rows(iter((*X.T, *tie_breakers[::-1])), len(X))


def sorted_rows(keys: Iterator[np.ndarray], n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of rows by keys, the first first, and a place of each of its rows.

    Equal rows share a place, and stay in the order they have. Rows are drawn by
    position, so in any other order a permutation of the data would change the draws.

    Parameters
    ----------
    keys : iterator of ndarray of shape (n_rows,)
        One column after the other; no more are asked for than needed.
    n_rows : int
        Number of rows.
    """
    order = np.arange(n_rows)
    place = np.zeros(n_rows, dtype=np.intp)  # of each row of the order; ties share one
    tied = np.ones(n_rows, dtype=bool)
    for key in keys:
        at = np.flatnonzero(tied)
        values = key[order[at]]
        moved = np.lexsort((values, place[at]))
        order[at], values = order[at[moved]], values[moved]
        differs = np.ones(len(at), dtype=bool)
        differs[1:] = (place[at][1:] != place[at][:-1]) | (values[1:] != values[:-1])
        place[at] = at[np.maximum.accumulate(np.where(differs, np.arange(len(at)), 0))]
        tied[at] = ~differs | ~np.append(differs[1:], True)
        # Most rows differ in the first few columns; only ties need look at the others.
        if not tied.any():
            break
    return order, place
