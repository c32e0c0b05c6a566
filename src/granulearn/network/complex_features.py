"""Complex random features: inputs as points of the unit circle.

The widely linear (augmented) model regresses on ``[H, conj(H)]``. For real
targets its weights are conjugate pairs and its output is real, so the same
model with half the penalty is a real regression on ``[Re H, Im H]``. A complex
array read as pairs of reals is exactly that, with each column's two parts side
by side, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from granulearn.network.random_features import BIAS_RANGE
from granulearn.utils.saved import LARGEST, Array, require

# Branches of the logarithm: fully complex, and finite for every finite input.
_COMPLEX_ACTIVATIONS: dict[str, Callable[..., np.ndarray]] = {
    "acos": np.arccos,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
}


def complex_activation_names() -> list[str]:
    """Return the names of the fully complex activations, sorted.

    Examples
    --------
    >>> from granulearn.network import complex_activation_names
    >>> complex_activation_names()
    ['acos', 'asin', 'asinh']
    """
    return sorted(_COMPLEX_ACTIVATIONS)


@dataclass(frozen=True, eq=False)
class ComplexFeatures:
    """The map from real inputs to the complex columns ``[Z, bias, hidden layer]``.

    ``Z = exp(i pi x)`` with each feature scaled to [0, 1] by its range in the
    training rows; a feature that was constant there is encoded as one.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.network import draw_complex_features
    >>> features = draw_complex_features(
    ...     np.array([[0.0], [1.0]]), 3, "asinh", as_real_pairs=False, seed=0
    ... )
    >>> features.n_columns, features.dtype
    (5, dtype('complex128'))
    >>> complex(features(np.array([[0.5]]))[0, 0].round(2))
    1j
    """

    lowest: np.ndarray
    """(n_features,) smallest training value."""
    width: np.ndarray
    """(n_features,) range of the training values; 1 where the range is zero."""
    weights: np.ndarray
    """(n_hidden, n_features) complex, both parts drawn from U(-1, 1)."""
    biases: np.ndarray
    """(n_hidden,) complex, both parts drawn from U(0, 0.1)."""
    activation: str
    as_real_pairs: bool
    """Whether a call returns [Re, Im] of each column instead of the column."""

    _saved: ClassVar[dict] = {
        "lowest": Array("float64", ("n_features",)),
        "width": Array("float64", ("n_features",), 1 / LARGEST, LARGEST),
        "weights": Array("complex128", ("n_hidden", "n_features")),
        "biases": Array("complex128", ("n_hidden",)),
        "activation": Literal[tuple(_COMPLEX_ACTIVATIONS)],
        "as_real_pairs": bool,
    }

    def _check_saved(self) -> None:
        require(self.weights.size, "weights are none")

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.weights.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """Type of the columns that a call returns."""
        return np.dtype(np.float64 if self.as_real_pairs else np.complex128)

    @property
    def bias_column(self) -> int:
        """Index of the column of ones."""
        return self.weights.shape[1] * (2 if self.as_real_pairs else 1)

    @property
    def n_columns(self) -> int:
        """Number of columns that a call returns."""
        n_complex = self.weights.shape[1] + 1 + len(self.weights)
        return n_complex * (2 if self.as_real_pairs else 1)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the features of `X`, of shape (n_rows, n_columns)."""
        X = np.asarray(X, dtype=np.float64)
        n_features = X.shape[1]
        H = np.empty((len(X), n_features + 1 + len(self.weights)), dtype=np.complex128)
        np.exp(1j * np.pi * ((X - self.lowest) / self.width), out=H[:, :n_features])
        H[:, n_features] = 1
        hidden = H[:, n_features + 1 :]
        np.matmul(H[:, :n_features], self.weights.T, out=hidden)
        hidden += self.biases
        _COMPLEX_ACTIVATIONS[self.activation](hidden, out=hidden)
        return H.view(np.float64) if self.as_real_pairs else H

    def scores(self, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return the real part of ``H theta``."""
        return (self(X) @ theta).real


def draw_complex_features(
    X: np.ndarray, n_hidden: int, activation: str, *, as_real_pairs: bool, seed: int
) -> ComplexFeatures:
    """Draw a complex hidden layer for training rows `X`, node by node.

    The first nodes of a wide layer are therefore the nodes of a narrow one
    drawn from the same `seed`.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.network import draw_complex_features
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> draw_complex_features(X, 4, "asinh", as_real_pairs=True, seed=0)(X).dtype
    dtype('float64')
    """
    if activation not in _COMPLEX_ACTIVATIONS:
        raise ValueError(
            f"activation={activation!r} is not known: use one of {complex_activation_names()}."
        )
    n_features = X.shape[1]
    unit = np.random.default_rng(seed).random((n_hidden, 2, n_features + 1))
    weights, biases = 2 * unit[:, :, :-1] - 1, BIAS_RANGE * unit[:, :, -1]
    lowest = X.min(axis=0).astype(np.float64)
    width = X.max(axis=0) - lowest
    return ComplexFeatures(
        lowest=lowest,
        width=np.where(width > 0, width, 1),
        weights=weights[:, 0] + 1j * weights[:, 1],
        biases=biases[:, 0] + 1j * biases[:, 1],
        activation=activation,
        as_real_pairs=as_real_pairs,
    )
