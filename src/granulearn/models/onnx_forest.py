"""A ball forest as ONNX nodes: every row walks down all trees at once.

ONNX has an operator for trees, but its splits look at one feature, and ours at a
dot product of a few. So the walk is a loop: a table of nodes, and one round per level
in which every row looks up where it stands in each tree and moves on.
The dot products are summed in the order of our kernels and in double precision.
So even a row on a boundary goes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from granulearn.forest.forest import BallForest
from granulearn.forest.tree import BallTree
from granulearn.models.onnx_graph import Graph, Name


@dataclass(frozen=True, eq=False)
class NodeTable:
    """The nodes of all trees, one after another."""

    roots: np.ndarray
    """(n_trees,) where each tree begins."""
    children: np.ndarray
    """(n_nodes,) the left child, which the right one follows; a leaf is its own child."""
    features: np.ndarray
    """(n_nodes, width) features that a split looks at; 0 where there are fewer."""
    directions: np.ndarray
    """(n_nodes, width) factor of each of them; 0 where there are fewer."""
    thresholds: np.ndarray
    """(n_nodes,) a row goes right beyond it; infinite at a leaf, where rows stay."""
    proba: np.ndarray
    """(n_nodes, K) posterior at a leaf; 0 elsewhere."""
    depth: int
    """Steps after which every row is at a leaf."""


def node_table(forest: BallForest) -> NodeTable:
    """Join the trees of a forest into one table.

    Parameters
    ----------
    forest : BallForest
        Its trees are left as they are.
    """
    sizes = [len(tree.children) for tree in forest.trees]
    roots = np.concatenate([[0], np.cumsum(sizes)])
    n_nodes = int(roots[-1])
    width = max(1, *(int(np.diff(tree.offsets).max()) for tree in forest.trees))
    table = NodeTable(
        roots=roots[:-1],
        children=np.arange(n_nodes),
        features=np.zeros((n_nodes, width), dtype=np.int64),
        directions=np.zeros((n_nodes, width)),
        thresholds=np.full(n_nodes, np.inf),
        proba=np.zeros((n_nodes, forest.n_outputs)),
        depth=max(map(_depth, forest.trees)),
    )
    for root, tree in zip(table.roots, forest.trees, strict=True):
        splits, leaves = np.flatnonzero(tree.children > 0), np.flatnonzero(tree.children <= 0)
        table.children[root + splits] = root + tree.children[splits]
        table.thresholds[root + splits] = tree.thresholds[splits]
        table.proba[root + leaves] = tree.leaf_proba[-1 - tree.children[leaves]]
        widths = np.diff(tree.offsets)
        of_node = np.repeat(np.arange(len(widths)), widths)
        place = np.arange(len(of_node)) - tree.offsets[of_node]
        table.features[root + of_node, place] = tree.features
        table.directions[root + of_node, place] = tree.directions
    return table


def _depth(tree: BallTree) -> int:
    """Return the number of splits on the longest path; children come after their parent."""
    depth = np.zeros(len(tree.children), dtype=np.int64)
    for node in np.flatnonzero(tree.children > 0):
        left = tree.children[node]
        depth[left : left + 2] = depth[node] + 1
    return int(depth.max())


def add_posterior(graph: Graph, forest: BallForest, X: Name) -> Name:
    """Add the forest's class probabilities: the mean of the trees' posteriors.

    Parameters
    ----------
    graph : Graph
        Where to add it.
    forest : BallForest
        The trees.
    X : str
        Inputs of shape (n_rows, n_features), in double precision.
    """
    table = node_table(forest)
    children, thresholds = graph.constant(table.children), graph.constant(table.thresholds)
    splits = [
        (graph.constant(features), graph.constant(directions))
        for features, directions in zip(table.features.T, table.directions.T, strict=True)
    ]
    rows = graph.minus(graph.scaled(forest.scale, X), graph.constant(forest.shift))
    n_rows, n_trees = graph.add("Shape", X, start=0, end=1), graph.constant([len(table.roots)])
    by_tree = graph.add("Concat", n_rows, n_trees, axis=0)
    node = _flat(graph, graph.add("Expand", graph.constant(table.roots[None, :]), by_tree))

    def one_level(level: Graph, node: Name) -> tuple[Name, Name]:
        terms = []
        for features, directions in splits:
            feature = level.add("Reshape", _entries(level, features, node), by_tree)
            values = _flat(level, level.add("GatherElements", rows, feature, axis=1))
            terms.append(level.times(values, _entries(level, directions, node)))
        product = reduce(level.plus, terms)
        right = level.add("Greater", product, _entries(level, thresholds, node))
        below = level.plus(_entries(level, children, node), level.as_integer(right))
        # At a leaf rows stay: where all do, the walk is at its end.
        moves = level.as_integer(level.add("Not", level.add("Equal", below, node)))
        n_moves = level.add("ReduceSum", moves, keepdims=0)
        return below, level.add("Greater", n_moves, level.constant(0))

    node = graph.repeat(table.depth, node, one_level)
    leaf = graph.add("Reshape", node, by_tree)
    posteriors = graph.add("Gather", graph.constant(table.proba), leaf, axis=0)
    total = graph.add("ReduceSum", posteriors, graph.constant([1]), keepdims=0)
    # Divided by their sum, as ours are, and not by the number of trees: leaves are rounded.
    return graph.over(total, graph.add("ReduceSum", total, graph.constant([1]), keepdims=1))


def _entries(graph: Graph, column: Name, node: Name) -> Name:
    """Return the entry of each node in a column of the table; both have one dimension."""
    # GatherElements is faster than Gather, with which onnxruntime copies numbers one by one.
    return graph.add("GatherElements", column, node, axis=0)


def _flat(graph: Graph, values: Name) -> Name:
    return graph.add("Reshape", values, graph.constant([-1]))
