"""Random layers as ONNX: each is a product with the layer before it, and an activation."""

from __future__ import annotations

from typing import Any

import numpy as np

from granulearn.models.onnx_activations import add_activation
from granulearn.models.onnx_graph import Graph, Name
from granulearn.rvfl import DeepFeatures, RandomFeatures


def add_hidden(graph: Graph, features: RandomFeatures, X: Name) -> Name:
    """Add the hidden nodes of one random layer.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    features : RandomFeatures
        The layer.
    X : str
        Its inputs.
    """
    received = graph.plus(
        graph.matmul(X, graph.constant(features.weights.T)), graph.constant(features.biases)
    )
    return add_activation(graph, features.activation, received)


def add_linked(graph: Graph, hidden: Name, X: Name, weights: np.ndarray, n_linked: int) -> Name:
    """Add ``[X, 1, hidden] weights``, without X where no inputs are linked.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    hidden : str
        Hidden nodes.
    X : str
        Inputs.
    weights : ndarray of shape (n_linked + 1 + n_hidden, n_outputs)
        What multiplies them.
    n_linked : int
        Number of inputs with a link, all or none.
    """
    total = graph.plus(
        graph.matmul(hidden, graph.constant(weights[n_linked + 1 :])),
        graph.constant(weights[n_linked]),
    )
    if n_linked:
        total = graph.plus(total, graph.matmul(X, graph.constant(weights[:n_linked])))
    return total


def add_one_ridge_scores(graph: Graph, model: Any, X: Name) -> Name:
    """Add the outputs of a network with one ridge on all its layers.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    model : estimator
        Fitted, with one ridge on all layers.
    X : str
        Its inputs.
    """
    features: DeepFeatures = model.features_
    hidden = graph.columns(_hidden_layers(graph, features, X))
    return add_linked(graph, hidden, X, model.coef_[-1], features.bias_column)


def add_ensemble_scores(graph: Graph, model: Any, X: Name) -> Name:
    """Add the outputs of a network with one ridge per layer, combined as the model combines them.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    model : estimator
        Fitted, with one ridge per layer.
    X : str
        Its inputs.
    """
    scores = _layer_scores(graph, model, X)
    mean = graph.mean(scores)
    if getattr(model, "combine", "mean") == "mean":  # regressors have no votes
        return mean
    votes = [_vote(graph, each, len(model.classes_)) for each in scores]
    divided = graph.scaled(0.5, graph.add("Softmax", mean, axis=1))  # settles ties
    return graph.scaled(1 / (len(votes) + 0.5), graph.add("Sum", *votes, divided))


def _layer_scores(graph: Graph, model: Any, X: Name) -> list[Name]:
    features: DeepFeatures = model.features_
    return [
        add_linked(graph, hidden, X, theta, features.bias_column)
        for hidden, theta in zip(_hidden_layers(graph, features, X), model.coef_, strict=True)
    ]


def _hidden_layers(graph: Graph, features: DeepFeatures, X: Name) -> list[Name]:
    layers = [add_hidden(graph, features.first, X)]
    n_read = features.bias_column if features.feeds_inputs else 0
    for weights in features.deeper:
        received = add_linked(graph, layers[-1], X, weights, n_read)
        layers.append(add_activation(graph, features.first.activation, received))
    return layers


def _vote(graph: Graph, scores: Name, n_classes: int) -> Name:
    best = graph.add("ArgMax", scores, axis=1, keepdims=1)
    return graph.as_double(graph.add("Equal", best, graph.constant(np.arange(n_classes))))
