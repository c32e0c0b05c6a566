"""Ridge regressions of a deep network: on its first layers, or on each layer alone.

Both go through the rows once, whatever the number of layers, and keep sums that
grow with the columns only. With fewer rows than columns they keep the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from granulearn.network.deep_features import DeepFeatures, linked_scores
from granulearn.network.ridge import (
    NormalEquations,
    normal_equations,
    row_blocks,
    solve_primal,
    solve_rows,
    solve_shifted,
    weighted_rows,
)


def solve_stages(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, C: float
) -> list[np.ndarray]:
    """Return the output weights of the networks of the first 1, ..., L layers.

    Parameters
    ----------
    features : DeepFeatures
        Turns rows of `X` into rows of H.
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets.
    weights : ndarray of shape (n_rows,) or None
        Sample weights; None means one.
    C : float
        Inverse of the penalty.
    """
    columns = features.stage_columns
    if columns[-1] > len(X):
        A, B = weighted_rows(features, X, Y, weights)
        return [solve_rows(A[:, :p], B, C) for p in columns]
    equations = normal_equations(features, X, Y, weights)
    return [solve_shifted(equations.gram[:p, :p], equations.moment[:p], C) for p in columns]


def solve_layers(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, C: float
) -> list[np.ndarray]:
    """Return the output weights of each layer, with direct link and bias, on its own.

    Parameters
    ----------
    features : DeepFeatures
        Turns rows of `X` into the columns of each layer.
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets.
    weights : ndarray of shape (n_rows,) or None
        Sample weights; None means one.
    C : float
        Inverse of the penalty.
    """
    return [solve(C) for solve in layer_solvers(features, X, Y, weights)]


def layer_solvers(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> list[Callable[[float], np.ndarray]]:
    """Return, for each layer, the function from C to its output weights.

    All that does not depend on C is done beforehand.
    """
    if features.layer_columns.max() > len(X):
        layers = _weighted_layers(features, X, Y, weights)
        return [partial(solve_rows, A, B) for A, B in layers]
    return [partial(solve_primal, each) for each in _layer_equations(features, X, Y, weights)]


def _layer_equations(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> list[NormalEquations]:
    """Sum the normal equations of every layer over blocks of rows."""
    sums = [NormalEquations.zeros(p, Y.shape[1], features.dtype) for p in features.layer_columns]
    # A layer and the one it is made of are in memory together.
    layers_at_once = min(2, len(sums))
    bytes_per_row = layers_at_once * features.layer_columns.max() * features.dtype.itemsize
    for block in row_blocks(len(X), bytes_per_row):
        block_weights = None if weights is None else weights[block]
        layers = _weighted_layers(features, X[block], Y[block], block_weights)
        for equations, (A, B) in zip(sums, layers, strict=True):
            equations.add(A, B)
    return sums


def layer_scores(features: DeepFeatures, X: np.ndarray, thetas: list[np.ndarray]) -> np.ndarray:
    """Return the scores of each layer alone, of shape (n_layers, n_rows, n_outputs)."""
    each = zip(features.layers(X), thetas, strict=True)
    return np.stack(
        [linked_scores(columns, theta, features.bias_column) for columns, theta in each]
    )


def stage_scores(features: DeepFeatures, X: np.ndarray, thetas: list[np.ndarray]) -> np.ndarray:
    """Return the scores of the first 1, ..., L layers, of shape (n_layers, n_rows, n_outputs)."""
    H = features(X)
    each = [linked_scores(H[:, : len(theta)], theta, features.bias_column) for theta in thetas]
    return np.stack(each)


def _weighted_layers(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield A and B of each layer; the next layer reads the columns without weights."""
    B = Y.astype(np.float64)
    if weights is None:
        yield from ((columns, B) for columns in features.layers(X))
        return
    root = np.sqrt(weights)[:, None]
    B *= root
    yield from ((root * columns, B) for columns in features.layers(X))
