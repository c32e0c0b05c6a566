"""Boosted trees as ONNX's own operator for trees, in double precision: no row changes its way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import numpy_helper

from granulearn.ensemble.boosted_trees import BoostedTrees
from granulearn.models.onnx_graph import Graph, Name


def add_boosted_mean(
    graph: Graph, boosters: Sequence[BoostedTrees], X: Name, n_classes: int
) -> Name:
    """Add the mean of what boosters predict, of shape (n_rows, n_classes).

    Parameters
    ----------
    graph : Graph
        Where to add it.
    boosters : sequence of BoostedTrees
        At least one.
    X : str
        Inputs of shape (n_rows, n_features), in double precision.
    n_classes : int
        Number of all classes.
    """
    return graph.mean([_add_proba(graph, booster, X, n_classes) for booster in boosters])


def _add_proba(graph: Graph, booster: BoostedTrees, X: Name, n_classes: int) -> Name:
    raw = _add_raw(graph, booster, X)
    k = len(booster.classes)
    if len(booster.baseline) == 1:
        # The logistic function is the softmax of the raw score beside zero.
        raw = graph.matmul(raw, graph.constant([[0.0, 1.0]]))
    proba = graph.add("Softmax", raw, axis=1)
    to_place = np.zeros((k, n_classes))
    to_place[np.arange(k), booster.classes] = 1.0
    return graph.matmul(proba, graph.constant(to_place))


def _add_raw(graph: Graph, booster: BoostedTrees, X: Name) -> Name:
    baseline = graph.constant(booster.baseline[None, :])
    if len(booster.roots) == 0:
        n_rows = graph.add("Shape", X, start=0, end=1)
        shape = graph.add("Concat", n_rows, graph.constant([len(booster.baseline)]), axis=0)
        return graph.add("Expand", baseline, shape)
    sizes = np.diff(np.append(booster.roots, len(booster.features)))
    trees = np.repeat(np.arange(len(sizes)), sizes)
    own = np.arange(len(trees)) - np.repeat(booster.roots, sizes)
    is_leaf = booster.features < 0
    root_of = np.repeat(booster.roots, sizes)
    values = graph.add(
        "TreeEnsembleRegressor",
        X,
        op_domain="ai.onnx.ml",
        op_version=3,
        n_targets=len(booster.baseline),
        aggregate_function="SUM",
        post_transform="NONE",
        nodes_treeids=trees.tolist(),
        nodes_nodeids=own.tolist(),
        nodes_featureids=np.maximum(booster.features, 0).tolist(),
        nodes_values_as_tensor=numpy_helper.from_array(booster.thresholds),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(is_leaf, 0, booster.lefts - root_of).tolist(),
        nodes_falsenodeids=np.where(is_leaf, 0, booster.rights - root_of).tolist(),
        target_treeids=trees[is_leaf].tolist(),
        target_nodeids=own[is_leaf].tolist(),
        target_ids=booster.outputs[trees[is_leaf]].tolist(),
        target_weights_as_tensor=numpy_helper.from_array(booster.values[is_leaf].astype(float)),
    )
    return graph.plus(graph.as_double(values), baseline)
