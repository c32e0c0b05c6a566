"""Random features: the direct link, the bias and a random hidden layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from granulearn.network.activations import activate

BIAS_RANGE = 0.1


@dataclass(frozen=True, eq=False)
class RandomFeatures:
    """The map from inputs to the columns ``[direct link, bias, hidden layer]``.

    The hidden layer comes last so that a narrower network's columns are the
    leading columns of a wider one's, and so are its Gram matrix and factor.
    """

    weights: np.ndarray
    """(n_hidden, n_features) drawn from U(-1, 1)."""
    biases: np.ndarray
    """(n_hidden,) drawn from U(0, 0.1)."""
    activation: str
    direct_link: bool

    dtype = np.dtype(np.float64)

    @property
    def bias_column(self) -> int:
        """Index of the column of ones."""
        return self.weights.shape[1] if self.direct_link else 0

    @property
    def n_columns(self) -> int:
        """Number of columns that a call returns."""
        return self.bias_column + 1 + len(self.weights)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the features of `X`, of shape (n_rows, n_columns), in float64."""
        X = np.asarray(X, dtype=np.float64)
        H = np.empty((len(X), self.n_columns))
        H[:, : self.bias_column] = X[:, : self.bias_column]
        H[:, self.bias_column] = 1
        self._hidden(X, out=H[:, self.bias_column + 1 :])
        return H

    def scores(self, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return ``H theta`` part by part: H itself is never put together."""
        X = np.asarray(X, dtype=np.float64)
        scores = self._hidden(X) @ theta[self.bias_column + 1 :]
        scores += theta[self.bias_column]
        if self.direct_link:
            scores += X @ theta[: self.bias_column]
        return scores

    def _hidden(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        hidden = np.matmul(X, self.weights.T, out=out)
        hidden += self.biases
        return activate(self.activation, hidden)


def draw_random_features(
    n_features: int, n_hidden: int, activation: str, *, direct_link: bool, seed: int
) -> RandomFeatures:
    """Draw a hidden layer, node by node.

    The first nodes of a wide layer are therefore the nodes of a narrow one
    drawn from the same `seed`.
    """
    unit = np.random.default_rng(seed).random((n_hidden, n_features + 1))
    return RandomFeatures(
        weights=2 * unit[:, :-1] - 1,
        biases=BIAS_RANGE * unit[:, -1],
        activation=activation,
        direct_link=direct_link,
    )
