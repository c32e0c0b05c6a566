"""Ball forests, boosted trees and nearest balls as ONNX.

ONNX has an operator for trees whose splits use one feature. Boosted trees use it. The splits of
a ball forest use a dot product of a few features, so its walk is a loop: a table of nodes,
and one round per level in which every row moves on in all trees. All is in double precision and
summed in the order of our kernels, so even a row on a boundary goes the same way.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from onnx import numpy_helper

from granulearn.models.onnx.graph import Value


def forest_proba(forest: Any, X: Value) -> Value:
    """Return the mean of the leaves of all trees that a row ends in."""
    graph = X.graph
    trees = forest.trees
    sizes = np.array([len(tree.children) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    n_nodes, width = sizes.sum(), max(1, *(np.diff(tree.offsets).max() for tree in trees))
    # A leaf is its own child, and its threshold keeps rows there.
    children, thresholds = np.arange(n_nodes), np.full(n_nodes, np.inf)
    features, directions = np.zeros((width, n_nodes), np.int64), np.zeros((width, n_nodes))
    proba = np.zeros((n_nodes, forest.n_outputs))
    for root, tree in zip(roots, trees, strict=True):
        is_split = tree.children > 0
        splits, leaves = np.flatnonzero(is_split), np.flatnonzero(~is_split)
        children[root + splits] = root + tree.children[splits]
        thresholds[root + splits] = tree.thresholds[splits]
        proba[root + leaves] = tree.leaf_proba[-1 - tree.children[leaves]]
        widths = np.diff(tree.offsets)
        node = np.repeat(np.arange(len(widths)), widths)
        term = np.arange(len(node)) - tree.offsets[node]
        features[term, root + node], directions[term, root + node] = tree.features, tree.directions

    rows = X * forest.scale - forest.shift
    by_tree = graph.add("Concat", X.op("Shape", start=0, end=1), [len(trees)], axis=0)
    start = graph.add("Expand", roots[None], by_tree).op("Reshape", [-1])
    tables = [graph.constant(table) for table in (children, thresholds, *features, *directions)]

    def one_level(node: Value) -> tuple[Value, Value]:
        # GatherElements is faster than Gather, with which onnxruntime copies numbers one by one.
        left, threshold, *terms = [each.op("GatherElements", node, axis=0) for each in tables]
        products = []
        for feature, direction in zip(terms[:width], terms[width:], strict=True):
            values = rows.op("GatherElements", feature.op("Reshape", by_tree), axis=1)
            products.append(values.op("Reshape", [-1]) * direction)
        below = left + (reduce(add, products) > threshold).as_integer()
        moved = below.op("Equal", node).op("Not").as_integer()
        return below, moved.op("ReduceSum", keepdims=0) > 0  # at its leaf a row stays

    leaf = graph.repeat(int(sizes.max()), start, one_level).op("Reshape", by_tree)
    total = graph.add("Gather", proba, leaf, axis=0).op("ReduceSum", [1], keepdims=0)
    # Divided by their sum, as ours are, and not by the number of trees: leaves are rounded.
    return total / total.op("ReduceSum", [1], keepdims=1)


def boosted_proba(booster: Any, X: Value, n_classes: int) -> Value:
    """Return class probabilities of boosted trees; a class that they did not see has none."""
    raw = _raw_scores(booster, X)
    if len(booster.baseline) == 1:
        # The logistic function is the softmax of the raw score beside zero.
        raw = raw @ np.array([[0.0, 1.0]])
    return raw.op("Softmax", axis=1) @ np.eye(n_classes)[booster.classes]


def _raw_scores(booster: Any, X: Value) -> Value:
    graph, baseline = X.graph, booster.baseline[None, :]
    if len(booster.roots) == 0:
        n_rows = X.op("Shape", start=0, end=1)
        return graph.add("Expand", baseline, graph.add("Concat", n_rows, [baseline.size], axis=0))
    sizes = np.diff(np.append(booster.roots, len(booster.features)))
    trees, root = np.repeat(np.arange(len(sizes)), sizes), np.repeat(booster.roots, sizes)
    own, is_leaf = np.arange(len(trees)) - root, booster.features < 0
    values = _joined_columns(booster, X).op(
        "TreeEnsembleRegressor",
        domain="ai.onnx.ml",
        n_targets=baseline.size,
        nodes_treeids=trees.tolist(),
        nodes_nodeids=own.tolist(),
        nodes_featureids=np.maximum(booster.features, 0).tolist(),
        nodes_values_as_tensor=numpy_helper.from_array(booster.thresholds),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(is_leaf, 0, booster.lefts - root).tolist(),
        nodes_falsenodeids=np.where(is_leaf, 0, booster.rights - root).tolist(),
        target_treeids=trees[is_leaf].tolist(),
        target_nodeids=own[is_leaf].tolist(),
        target_ids=booster.outputs[trees[is_leaf]].tolist(),
        target_weights_as_tensor=numpy_helper.from_array(booster.values[is_leaf].astype(float)),
    )
    return values.as_double() + baseline


def _joined_columns(booster: Any, X: Value) -> Value:
    """Return the columns that boosted trees split: one-hot encoded inputs are added up."""
    widths = np.diff(np.append(booster.starts, booster.n_features))
    single, joined = np.flatnonzero(widths == 1), np.flatnonzero(widths > 1)
    if len(joined) == 0:
        return X
    column_of = np.repeat(np.arange(len(widths)), widths)
    inputs = np.flatnonzero(np.isin(column_of, joined))
    factors = booster.factors[inputs, None] * (column_of[inputs, None] == joined)
    sums = X.columns(inputs) @ factors
    both = X.graph.add("Concat", X.columns(booster.starts[single]), sums, axis=1)
    return both.columns(np.argsort(np.append(single, joined)))


def nearest_ball_scores(model: Any, X: Value) -> Value:
    """Return the mean class shares of the balls with the nearest surfaces."""
    balls, graph = model.balls_, X.graph
    # Feature by feature: all at once would need memory for rows times balls times features.
    squares = []
    for number, column in enumerate(balls.centers.astype(np.float64).T):
        difference = X.columns([number]) - column[None]
        squares.append(difference * difference)
    to_surface = reduce(add, squares).op("Sqrt") - balls.radii.astype(np.float64)[None]
    n_neighbors = min(model.n_neighbors, len(balls))
    nearest = to_surface.op("TopK", [n_neighbors], axis=1, largest=0, n_outputs=2)
    shares = graph.add("Gather", model._class_proba(), nearest, axis=0)
    return (1 / n_neighbors) * shares.op("ReduceSum", [1], keepdims=0)
