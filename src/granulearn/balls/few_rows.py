"""Walks of a few rows down the trees of a forest, for a process that ends after them.

To load the compiled loops takes longer than to walk a hundred rows without them; to compile
them, where no process has done so before, up to a minute. A verb that is about to predict
says so (`loops_may_wait`), and what few rows it has are walked by NumPy, to the same bits.
A program that asks again and again is better off with the loops, and gets them at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import numpy as np

from granulearn.balls.packed_trees import pack_trees

if TYPE_CHECKING:
    from granulearn.balls.forest_tree import BallTree

MOST_ROWS = 1_000
# Beyond so many walks, or so many looks at a feature one after another, loops are faster.
MOST_WALKS, MOST_LOOKS = 200_000, 5_000
_LOOPS_MAY_WAIT = ContextVar("loops_may_wait", default=False)


@contextmanager
def loops_may_wait() -> Iterator[None]:
    """Have a few rows predicted without compiled loops, as long as these are not loaded."""
    token = _LOOPS_MAY_WAIT.set(True)
    try:
        yield
    finally:
        _LOOPS_MAY_WAIT.reset(token)


def are_few(n_rows: int, n_trees: int = 1) -> bool:
    """Say whether so many rows are to be predicted without compiled loops.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_trees : int, default=1
        Number of trees that each of them walks down.
    """
    loaded = "granulearn.balls._compiled" in sys.modules
    few = n_rows <= MOST_ROWS and n_rows * n_trees <= MOST_WALKS
    return few and _LOOPS_MAY_WAIT.get() and not loaded


def leaves_of_few(trees: Sequence[BallTree], rows: np.ndarray) -> np.ndarray | None:
    """Return the number of the leaf that each row comes to, of shape (n_trees, n_rows).

    All rows take a step down all trees at once, as `_walk_kernels.find_leaf` takes it. None
    means that they would be on their way for too long.

    Parameters
    ----------
    trees : sequence of BallTree
        At least one.
    rows : ndarray of shape (n_rows, n_features)
        Shifted and scaled as the trees need them.
    """
    packed = pack_trees(trees)
    children, features, directions = packed["children"], packed["features"], packed["directions"]
    first_nodes, first_features = (
        np.repeat(np.cumsum(packed[name]) - packed[name], len(rows))
        for name in ("n_nodes", "n_features")
    )
    row_of = np.tile(np.arange(len(rows)), len(trees))
    tree_of = np.repeat(np.arange(len(trees)), len(rows))
    nodes, n_looks = first_nodes.copy(), 0
    going = np.flatnonzero(children[nodes] > 0)
    while len(going):
        at = nodes[going]
        # A tree has one offset more than nodes.
        begins, ends = (packed["offsets"][at + tree_of[going] + step] for step in (0, 1))
        looks_at, widths = first_features[going] + begins, ends - begins
        # One split may look at any number of features.
        n_looks += int(widths.max())
        if n_looks > MOST_LOOKS:
            return None
        products = np.zeros(len(going))
        for look in range(widths.max()):
            own = np.flatnonzero(widths > look)
            place = looks_at[own] + look
            products[own] += rows[row_of[going[own]], features[place]] * directions[place]
        goes_right = products > packed["thresholds"][at]
        nodes[going] = first_nodes[going] + children[at] + goes_right
        going = going[children[nodes[going]] > 0]
    return -1 - children[nodes].reshape(len(trees), len(rows))
