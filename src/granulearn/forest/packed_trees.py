"""The trees of a forest as a few long arrays, which is how files and other processes get them.

A tree is six small arrays. A file of a thousand trees would have thousands of members, and
to open one takes longer than to read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from granulearn._invariants import INTS, check_array, require
from granulearn.forest.tree import BallTree

N_NODES, N_FEATURES = "n_nodes", "n_features"
# A step is what takes a row, of thousands, about half a nanosecond: to look at a feature, or to add
# a class of a leaf. `benchmarks/hostile_forests.py` holds these numbers against the clock.
STEPS_OF_A_SPLIT, STEPS_OF_A_LEAF = 4, 4
_PER_NODE, _PER_FEATURE = ("children", "thresholds"), ("features", "directions")


def pack_trees(trees: Sequence[BallTree]) -> dict[str, np.ndarray]:
    """Return the arrays of all trees, one tree after the other, and how long each tree's are.

    Parameters
    ----------
    trees : sequence of BallTree
        At least one.
    """
    counts = {
        N_NODES: np.array([len(tree.children) for tree in trees], np.int64),
        N_FEATURES: np.array([len(tree.features) for tree in trees], np.int64),
    }
    names = BallTree.__dataclass_fields__
    return counts | {name: np.concatenate([vars(tree)[name] for tree in trees]) for name in names}


def unpack_trees(owner: Any, packed: Mapping[str, np.ndarray]) -> tuple[BallTree, ...]:
    """Return the trees again, as views of the long arrays.

    What the arrays hold is not looked at, only that each number of them belongs to one tree:
    `BallTree` checks the rest.

    Parameters
    ----------
    owner : BallForest
        Whose trees they are, for messages.
    packed : mapping
        As from `pack_trees`, or from a file that anyone may have written.

    Raises
    ------
    InvariantError
        If the arrays are not as long as they are said to be.
    """
    names = [*BallTree.__dataclass_fields__]
    known = isinstance(packed, dict) and packed.keys() == {N_NODES, N_FEATURES, *names}
    require(known, owner, "trees are not those of a forest")
    # Arrays of another process may be views of files, which are a kind of array of their own.
    n_nodes, n_features = np.asarray(packed[N_NODES]), np.asarray(packed[N_FEATURES])
    check_array(owner, N_NODES, n_nodes, INTS, (None,), within=(1, 2**31))
    check_array(owner, N_FEATURES, n_features, INTS, (len(n_nodes),), within=(0, 2**31))
    lengths = (
        dict.fromkeys(_PER_NODE, n_nodes)
        | dict.fromkeys(_PER_FEATURE, n_features)
        | {"offsets": n_nodes + 1, "leaf_proba": (n_nodes + 1) // 2}
    )
    parts = {}
    for name in names:
        array, ends = packed[name], np.cumsum(lengths[name])
        whole = isinstance(array, np.ndarray) and array.ndim > 0 and len(array) == [0, *ends][-1]
        require(whole, owner, f"{name} of the trees have another length than they should")
        parts[name] = np.split(array, ends[:-1])
    return tuple(BallTree(*each) for each in zip(*parts.values(), strict=True))


def n_packed(packed: Any) -> int:
    """Return how many trees `unpack_trees` would make, which is to be known before it does.

    Parameters
    ----------
    packed : object
        As for `unpack_trees`; what it would refuse has none.
    """
    n_nodes = packed.get(N_NODES) if isinstance(packed, dict) else None
    return n_nodes.size if isinstance(n_nodes, np.ndarray) else 0


def most_steps(trees: Sequence[BallTree]) -> np.ndarray:
    """Return how many steps the longest way down each tree takes a row.

    Parameters
    ----------
    trees : sequence of BallTree
        At least one; each is a tree.
    """
    sizes = np.array([len(tree.children) for tree in trees])
    begins = np.cumsum(sizes) - sizes
    children = np.concatenate([tree.children for tree in trees])
    widths = np.concatenate([np.diff(tree.offsets) for tree in trees])
    splits = np.flatnonzero(children > 0)
    lefts = (children + np.repeat(begins, sizes))[splits]
    parents, steps = np.arange(len(children)), np.zeros(len(children), np.int64)
    parents[lefts] = parents[lefts + 1] = splits
    steps[lefts] = steps[lefts + 1] = STEPS_OF_A_SPLIT + widths[splits]
    at_leaves = [STEPS_OF_A_LEAF + tree.leaf_proba.shape[1] for tree in trees]
    return np.maximum.reduceat(sums_down_from_roots(parents, steps), begins) + at_leaves


def sums_down_from_roots(parents: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the sum of what each node and all nodes above it have of their own.

    Parameters
    ----------
    parents : ndarray of shape (n_nodes,)
        Place of each node's parent, which comes before it; a root is its own.
    own : ndarray of shape (n_nodes,)
        Above zero, but zero at roots.
    """
    sums = own
    # Each round looks twice as far up, so that a chain of a million nodes takes twenty.
    while (above := sums[parents]).any():
        sums = sums + above
        parents = parents[parents]
    return sums
