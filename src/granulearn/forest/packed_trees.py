"""The trees of a forest as a few long arrays, one after the other, as model files keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from granulearn.forest.tree import BallTree
from granulearn.utils.saved import FINITE, SHARE, Array, require, sums_from_roots

MOST_TREES = 5_000
# A step reads a feature, or adds a class of a leaf: half a nanosecond for one row of thousands.
STEPS_OF_A_SPLIT, STEPS_OF_A_LEAF = 4, 4
# Leaves are in single precision.
ROUNDING = 1e-4

PACKED = {
    "n_nodes": Array("int64", ("trees",), 1, 2**31),
    "n_features": Array("int64", ("trees",), 0, 2**31),
    "children": Array("int32", ("nodes",)),
    "offsets": Array("int32", ("offsets",), 0),
    "features": Array("int32", ("features",), 0),
    "directions": Array("float64", ("features",), -FINITE, FINITE),
    "thresholds": Array("float64", ("nodes",), -FINITE, FINITE),
    "leaf_proba": Array("float32", ("leaves", "n_outputs"), 0, SHARE),
}


def pack_trees(trees: Sequence[BallTree]) -> dict[str, np.ndarray]:
    """Return the arrays of all trees, and how many nodes and features each tree has."""
    counts = {
        "n_nodes": np.array([len(tree.children) for tree in trees], np.int64),
        "n_features": np.array([len(tree.features) for tree in trees], np.int64),
    }
    names = BallTree.__dataclass_fields__
    return counts | {name: np.concatenate([vars(tree)[name] for tree in trees]) for name in names}


def unpack_trees(packed: Mapping[str, np.ndarray]) -> tuple[BallTree, ...]:
    """Return the trees again, as views of the long arrays, which are checked."""
    nodes, features = packed["n_nodes"], packed["n_features"]
    lengths = {
        "children": nodes,
        "offsets": nodes + 1,
        "features": features,
        "directions": features,
        "thresholds": nodes,
        "leaf_proba": (nodes + 1) // 2,
    }
    each = (np.split(packed[name], np.cumsum(own)[:-1]) for name, own in lengths.items())
    return tuple(BallTree(*arrays) for arrays in zip(*each, strict=True))


def check_packed(packed: Mapping[str, np.ndarray], n_inputs: int, n_priors: int) -> None:
    """Raise unless long arrays are trees: compiled loops walk down them and check nothing."""
    nodes, children, offsets = packed["n_nodes"], packed["children"], packed["offsets"]
    require(0 < len(nodes) <= MOST_TREES, f"it has {len(nodes)} trees, not 1 to {MOST_TREES}")
    leaves = (nodes + 1) // 2
    wholes = {"children": nodes.sum(), "offsets": (nodes + 1).sum(), "leaf_proba": leaves.sum(),
              "features": packed["n_features"].sum()}  # fmt: skip
    for name, whole in wholes.items():
        require(len(packed[name]) == whole, f"{name} of the trees have another length")
    begins = np.cumsum(nodes) - nodes
    own = np.arange(len(children)) - np.repeat(begins, nodes)  # number of each node in its tree
    is_leaf, is_left = children < 0, own % 2 == 1
    n_leaves_fit = np.array_equal(np.add.reduceat(is_leaf, begins, dtype=np.int64), leaves)
    require(n_leaves_fit and (nodes % 2 == 1).all(), "children are no tree")
    splits = np.flatnonzero(~is_leaf)
    lefts, sizes = children[splits], np.repeat(nodes, nodes)[splits]
    follow = (lefts > own[splits]) & (lefts < sizes)
    require(follow.all(), "children come before their parent, or are not there")
    is_child = np.zeros(len(children), bool)
    is_child[lefts + (splits - own[splits])] = True
    # As many splits as there can be left children, and each of these is one: none is there twice.
    require(np.array_equal(is_child, is_left), "children are no tree")
    numbers = np.arange(len(packed["leaf_proba"])) - np.repeat(np.cumsum(leaves) - leaves, leaves)
    require((children[is_leaf] == -1 - numbers).all(), "children name leaves that are not there")
    starts = np.cumsum(nodes + 1) - (nodes + 1)
    ends_fit = (offsets[starts] == 0).all() and (
        offsets[starts + nodes] == packed["n_features"]
    ).all()
    widths = np.delete(np.diff(offsets), starts[1:] - 1)
    require(ends_fit and (widths >= 0).all(), "offsets point outside of features")
    require((widths[splits] > 0).all(), "offsets leave a split without features")
    known = packed["features"].max(initial=-1) < n_inputs
    require(known, "features name a column that is not there")
    sums = packed["leaf_proba"].sum(axis=1, dtype=np.float64)
    whole = np.abs(sums - n_priors).max() < ROUNDING * n_priors
    require(whole, "leaf_proba does not sum to one")


def most_steps(packed: Mapping[str, np.ndarray]) -> int:
    """Return how many steps the longest ways down all trees take a row."""
    nodes, children = packed["n_nodes"], packed["children"]
    begins = np.cumsum(nodes) - nodes
    starts = np.cumsum(nodes + 1) - (nodes + 1)
    widths = np.delete(np.diff(packed["offsets"]), starts[1:] - 1)
    splits = np.flatnonzero(children > 0)
    lefts = (children + np.repeat(begins, nodes))[splits]
    parents, steps = np.arange(len(children)), np.zeros(len(children), np.int64)
    parents[lefts] = parents[lefts + 1] = splits
    steps[lefts] = steps[lefts + 1] = STEPS_OF_A_SPLIT + widths[splits]
    longest = np.maximum.reduceat(sums_from_roots(parents, steps), begins)
    return int(longest.sum()) + len(nodes) * (STEPS_OF_A_LEAF + packed["leaf_proba"].shape[1])
