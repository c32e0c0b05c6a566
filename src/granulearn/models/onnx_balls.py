"""The nearest ball as ONNX: distances to all surfaces, and the shares of the nearest balls."""

from __future__ import annotations

from typing import Any

import numpy as np

from granulearn.models.onnx_graph import Graph, Name


def add_nearest_ball_scores(graph: Graph, model: Any, X: Name) -> Name:
    """Add the mean class shares of the nearest balls.

    Every ball is looked at. Squares are added feature by feature: all at once
    would need memory for rows times balls times features.

    Parameters
    ----------
    graph : Graph
        What nodes are added to.
    model : GranularBallKNNClassifier
        Fitted.
    X : str
        The inputs, in double precision.
    """
    balls = model.balls_
    centers, radii = balls.centers.astype(np.float64), balls.radii.astype(np.float64)
    squares = [
        _squared_difference(graph, graph.add("Gather", X, graph.constant([j]), axis=1), column)
        for j, column in enumerate(centers.T)
    ]
    total = squares[0]
    for square in squares[1:]:
        total = graph.plus(total, square)
    to_surface = graph.minus(graph.add("Sqrt", total), graph.constant(radii[None]))
    n_neighbors = min(model.n_neighbors, len(balls))
    nearest = graph.lowest_places(to_surface, n_neighbors)
    shares = graph.add("Gather", graph.constant(model._class_shares()), nearest, axis=0)
    return graph.scaled(
        1 / n_neighbors, graph.add("ReduceSum", shares, graph.constant([1]), keepdims=0)
    )


def _squared_difference(graph: Graph, column: Name, values: np.ndarray) -> Name:
    difference = graph.minus(column, graph.constant(values[None]))
    return graph.times(difference, difference)
