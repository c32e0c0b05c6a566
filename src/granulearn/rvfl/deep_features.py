"""Stacked random layers, each of which reads the one before it, and their ridges.

A layer reads the columns ``[direct link, bias, hidden layer before]``, without the
direct link where inputs are not fed again. What it reads from the layer before is
centred and scaled with statistics of the training rows. This is linear, so it is
part of the drawn weights and costs nothing when features are computed.

Ridges on the first layers, or on each layer alone, go through the rows once, whatever the
number of layers, and keep sums that grow with the columns only. With fewer rows than
columns they keep the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from granulearn.rvfl.features import (
    BIAS_RANGE,
    RandomFeatures,
    activate,
    draw_random_features,
)
from granulearn.rvfl.ridge import (
    NormalEquations,
    normal_equations,
    row_blocks,
    solve_primal,
    solve_rows,
    solve_shifted,
    weighted_rows,
)
from granulearn.utils.saved import LARGEST, Array, Part, require

# Means and deviations of the layers are known well enough from so many rows.
STATISTICS_ROWS = 8192

# A layer that varies less than this, relative to its largest output, is constant.
SMALLEST_VARIATION = 1e-6


@dataclass(frozen=True, eq=False)
class DeepFeatures:
    """The map from inputs to the columns ``[direct link, bias, layer 1, ..., layer L]``.

    Fewer layers are therefore leading columns, with leading blocks of the Gram
    matrix and of its factor.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_deep_features
    >>> X = np.linspace(-1, 1, 8).reshape(4, 2)
    >>> features = draw_deep_features(
    ...     X, None, [5, 3], "relu", feeds_inputs=True, normalize=True, seed=0
    ... )
    >>> features(X).shape  # direct link, bias, five nodes, three nodes
    (4, 11)
    """

    first: RandomFeatures
    deeper: tuple[np.ndarray, ...]
    """Weights of each further layer, of shape (n_columns_read, n_hidden)."""
    feeds_inputs: bool
    """Whether further layers read the inputs, besides the layer before them."""

    dtype = np.dtype(np.float64)

    _saved: ClassVar[dict] = {
        "first": Part(RandomFeatures),
        "deeper": Array("float64", ("n_columns_read", "n_hidden"), many=tuple),
        "feeds_inputs": bool,
    }

    def _check_saved(self) -> None:
        n_linked = 1 + (self.first.bias_column if self.feeds_inputs else 0)
        width, growth = len(self.first.weights), 1.0
        for weights in self.deeper:
            require(len(weights) == n_linked + width and weights.size, "deeper layers do not fit")
            width = weights.shape[1]
            growth *= max(1.0, float(np.abs(weights).sum(axis=0).max()))
        require(growth <= LARGEST, "deeper layers have weights that overflow")

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.first.n_features

    @property
    def bias_column(self) -> int:
        """Index of the column of ones."""
        return self.first.bias_column

    @property
    def n_columns(self) -> int:
        """Number of columns that a call returns."""
        return int(self.stage_columns[-1])

    @property
    def stage_columns(self) -> np.ndarray:
        """(n_layers,) number of leading columns that the first l layers take."""
        return self.bias_column + 1 + np.cumsum(self._widths)

    @property
    def layer_columns(self) -> np.ndarray:
        """(n_layers,) number of columns of the direct link, the bias and layer l alone."""
        return self.bias_column + 1 + np.array(self._widths)

    @property
    def _widths(self) -> list[int]:
        return [len(self.first.weights), *(weights.shape[1] for weights in self.deeper)]

    def layers(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the columns ``[direct link, bias, layer l]`` of `X` for l = 1, ..., L."""
        columns = self.first(X)
        yield columns
        for weights in self.deeper:
            columns = self._next_layer(columns, weights)
            yield columns

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the features of `X`, of shape (n_rows, n_columns), in float64."""
        H = np.empty((len(X), self.n_columns))
        start = 0
        for stop, columns in zip(self.stage_columns, self.layers(X), strict=True):
            H[:, start:stop] = columns[:, columns.shape[1] - (stop - start) :]
            start = stop
        return H

    def scores(self, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return ``H theta``."""
        return self(X) @ theta

    def _next_layer(self, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        n_linked = self.bias_column + 1
        deeper = np.empty((len(columns), n_linked + weights.shape[1]))
        deeper[:, :n_linked] = columns[:, :n_linked]
        hidden = deeper[:, n_linked:]
        np.matmul(self._read(columns), weights, out=hidden)
        activate(self.first.activation, hidden)
        return deeper

    def _read(self, columns: np.ndarray) -> np.ndarray:
        """Return what the next layer reads; the column of ones carries its biases."""
        return columns if self.feeds_inputs else columns[:, self.bias_column :]


def draw_deep_features(
    X: np.ndarray,
    weights: np.ndarray | None,
    widths: Sequence[int],
    activation: str,
    *,
    feeds_inputs: bool,
    normalize: bool,
    seed: int,
) -> DeepFeatures:
    """Draw hidden layers, each from a stream of its own.

    So the first layers of a deep network are the layers of a shallower one
    drawn from the same `seed`, and the first layer is that of
    `draw_random_features`.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Training rows, for the means and deviations of the layers. Of more than
        `STATISTICS_ROWS` rows, that many are drawn at random.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows in these statistics; None means one.
    widths : sequence of int
        Number of hidden nodes of each layer.
    activation : str
        Activation of all hidden nodes.
    feeds_inputs : bool
        Whether further layers read the inputs too.
    normalize : bool
        Whether a layer hands on centred and scaled outputs, to weights whose
        size allows for their number. If not, weights are those of a first layer.
    seed : int
        Seed of all draws.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_deep_features
    >>> X = np.linspace(-1, 1, 8).reshape(4, 2)
    >>> features = draw_deep_features(
    ...     X, None, [5, 3], "relu", feeds_inputs=False, normalize=False, seed=0
    ... )
    >>> [layer.shape for layer in features.layers(X)]
    [(4, 8), (4, 6)]
    """
    first = draw_random_features(X.shape[1], widths[0], activation, direct_link=True, seed=seed)
    drawn = DeepFeatures(first, (), feeds_inputs)
    if len(X) > STATISTICS_ROWS:
        # At random: rows at even steps may all be of one class.
        chosen = np.random.default_rng([seed, 0]).choice(len(X), STATISTICS_ROWS, replace=False)
        X, weights = X[chosen], None if weights is None else weights[chosen]
    columns = first(X)
    for number, width in enumerate(widths[1:], start=1):
        read = drawn._read(columns)
        bias_row = drawn.bias_column if feeds_inputs else 0
        layer = _draw_layer(read.shape[1], width, bias_row, np.random.default_rng([seed, number]))
        if normalize:
            _normalize(layer, read, weights, bias_row, X.shape[1])
        drawn = replace(drawn, deeper=(*drawn.deeper, layer))
        if number < len(widths) - 1:
            columns = drawn._next_layer(columns, layer)
    return drawn


def _draw_layer(n_read: int, width: int, bias_row: int, stream: np.random.Generator) -> np.ndarray:
    layer = stream.random((width, n_read)).T
    biases = BIAS_RANGE * layer[bias_row]
    layer = 2 * layer - 1
    layer[bias_row] = biases
    return layer


def _normalize(
    layer: np.ndarray, read: np.ndarray, weights: np.ndarray | None, bias_row: int, n_features: int
) -> None:
    """Turn weights for centred and scaled outputs into weights for the outputs, in place.

    Inputs are used as they come. Weights are scaled so that a node receives values
    of the same size as a node of the first layer, however many columns it reads, and
    no activation saturates.
    """
    size = np.sqrt(n_features / (len(layer) - 1))
    mean, deviation = _statistics(read[:, bias_row + 1 :], weights)
    layer[:bias_row] *= size
    layer[bias_row + 1 :] *= size / deviation
    layer[bias_row] -= mean @ layer[bias_row + 1 :]


def _statistics(hidden: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Return the weighted mean of each node, and the standard deviation of the layer.

    All nodes share one deviation: divided by its own, a node that hardly varies
    in the training rows would be blown up elsewhere.
    """
    if weights is not None and not weights.any():
        weights = None
    mean = np.average(hidden, axis=0, weights=weights)
    variances = np.average(np.square(hidden - mean), axis=0, weights=weights)
    deviation = np.sqrt(variances.mean())
    varies = deviation > SMALLEST_VARIATION * np.abs(hidden).max()
    return mean, float(deviation) if varies else 1.0


def solve_stages(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, C: float
) -> list[np.ndarray]:
    """Return the output weights of the networks of the first 1, ..., L layers, in one pass."""
    columns = features.stage_columns
    if columns[-1] > len(X):
        A, B = weighted_rows(features, X, Y, weights)
        return [solve_rows(A[:, :p], B, C) for p in columns]
    equations = normal_equations(features, X, Y, weights)
    return [solve_shifted(equations.gram[:p, :p], equations.moment[:p], C) for p in columns]


def solve_layers(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, C: float
) -> list[np.ndarray]:
    """Return the output weights of each layer, with direct link and bias."""
    return [solve(C) for solve in layer_solvers(features, X, Y, weights)]


def layer_solvers(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> list[Callable[[float], np.ndarray]]:
    """Return, for each layer, the function from C to its output weights; one pass for all."""
    if features.layer_columns.max() > len(X):
        layers = _weighted_layers(features, X, Y, weights)
        return [partial(solve_rows, A, B) for A, B in layers]
    sums = [NormalEquations.zeros(p, Y.shape[1], features.dtype) for p in features.layer_columns]
    # A layer and the one it is made of are in memory together.
    for block in row_blocks(len(X), 2 * features.layer_columns.max() * features.dtype.itemsize):
        block_weights = None if weights is None else weights[block]
        layers = _weighted_layers(features, X[block], Y[block], block_weights)
        for equations, (A, B) in zip(sums, layers, strict=True):
            equations.add(A, B)
    return [partial(solve_primal, each) for each in sums]


def layer_scores(features: DeepFeatures, X: np.ndarray, thetas: list[np.ndarray]) -> np.ndarray:
    """Return the scores of each layer alone, of shape (n_layers, n_rows, n_outputs)."""
    return np.stack([H @ theta for H, theta in zip(features.layers(X), thetas, strict=True)])


def stage_scores(features: DeepFeatures, X: np.ndarray, thetas: list[np.ndarray]) -> np.ndarray:
    """Return the scores of the first 1, ..., L layers, of shape (n_layers, n_rows, n_outputs)."""
    H = features(X)
    return np.stack([H[:, : len(theta)] @ theta for theta in thetas])


def _weighted_layers(
    features: DeepFeatures, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield A and B of each layer; the next layer reads the columns without weights."""
    root = 1.0 if weights is None else np.sqrt(weights)[:, None]
    B = root * Y.astype(np.float64)
    yield from ((root * columns, B) for columns in features.layers(X))
