"""An order of rows that depends on their values alone."""

from __future__ import annotations

import numpy as np


def order_and_ties(X: np.ndarray, *tie_breakers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the rows by their values, and the place of each of its rows.

    Equal rows share a place. They are ordered by the tie-breakers, the last one first, and
    then stay in the order they have.
    """
    keys = (*tie_breakers, *X.T[::-1])
    order = np.lexsort(keys)
    differs = np.ones(len(X), dtype=bool)
    differs[1:] = False
    for key in keys:
        ordered = key[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    return order, np.maximum.accumulate(np.where(differs, np.arange(len(X)), 0))
