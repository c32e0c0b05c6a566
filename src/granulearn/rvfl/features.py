"""Random features: the direct link, the bias and a random hidden layer with its activation.

No activation overflows, however large its input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit

from granulearn.utils.saved import Array, require

BIAS_RANGE = 0.1
LEAKY_SLOPE = 0.1
SELU_SCALE = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772
# exp(-z**2) is zero in double precision from about 27 on; z**2 must not overflow.
RADBAS_ZERO_FROM = 40.0


_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hardlim": lambda z: np.heaviside(z, 0.5),
    "leaky_relu": lambda z: np.maximum(z, LEAKY_SLOPE * z),
    "radbas": lambda z: np.exp(-np.square(np.clip(z, -RADBAS_ZERO_FROM, RADBAS_ZERO_FROM))),
    "relu": lambda z: np.maximum(z, 0, out=z),
    "selu": lambda z: SELU_SCALE * np.where(z > 0, z, SELU_ALPHA * np.expm1(np.minimum(z, 0))),
    "sigmoid": lambda z: expit(z, out=z),
    "sign": lambda z: np.sign(z, out=z),
    "sine": lambda z: np.sin(z, out=z),
    "tanh": lambda z: np.tanh(z, out=z),
    "tribas": lambda z: np.maximum(1 - np.abs(z), 0),
}


def activation_names() -> list[str]:
    """Return the names that `activate` knows, sorted.

    The activations of z, the value that a node receives, are:

    - "hardlim": 0, 1/2 or 1 by the sign of z
    - "leaky_relu": z, a tenth of it where z is negative
    - "radbas": exp(-z^2)
    - "relu": z, zero where z is negative
    - "selu": the self-normalising exponential linear unit
    - "sigmoid": 1 / (1 + exp(-z))
    - "sign": -1, 0 or 1
    - "sine": sin z
    - "tanh": the hyperbolic tangent
    - "tribas": 1 - abs(z), zero where that is negative

    Examples
    --------
    >>> from granulearn.rvfl import activation_names
    >>> activation_names()
    ['hardlim', 'leaky_relu', 'radbas', 'relu', 'selu', 'sigmoid', 'sign', 'sine', 'tanh', 'tribas']
    """
    return sorted(_ACTIVATIONS)


def activate(name: str, z: np.ndarray) -> np.ndarray:
    """Overwrite `z`, an array of floats, by the activation of each entry.

    Parameters
    ----------
    name : str
        One of `activation_names`.
    z : ndarray of floats
        The inputs of the hidden nodes.

    Returns
    -------
    ndarray
        `z` itself.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import activate
    >>> activate("tribas", np.array([-2.0, -0.5, 0.0, 0.25]))
    array([0.  , 0.5 , 1.  , 0.75])
    """
    if name not in _ACTIVATIONS:
        raise ValueError(f"activation={name!r} is not known: use one of {activation_names()}.")
    z[...] = _ACTIVATIONS[name](z)
    return z


class FeatureMap(ABC):
    """A map from rows of inputs to rows of H, and to the columns that each ridge takes."""

    @property
    def dtype(self) -> np.dtype:
        """Type of H."""
        return np.dtype(np.float64)

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of columns of H."""

    @property
    @abstractmethod
    def bias_column(self) -> int:
        """Index of the column of ones."""

    @abstractmethod
    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the rows of H for the rows of X, a new array."""

    @property
    def design_widths(self) -> list[int]:
        """Number of columns of each design."""
        return [self.n_columns]

    def designs(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield, for the rows of X, the columns of each ridge."""
        yield self(X)


@dataclass(frozen=True, eq=False)
class RandomFeatures(FeatureMap):
    """The map from inputs to the columns ``[direct link, bias, hidden layer]``.

    The hidden layer comes last so that a narrower network's columns are the
    leading columns of a wider one's, and so are its Gram matrix and factor.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_random_features
    >>> features = draw_random_features(2, 4, "relu", direct_link=True, seed=0)
    >>> H = features(np.array([[1.0, 2.0]]))
    >>> H.shape, H[0, :3].tolist()  # the direct link, then the bias
    ((1, 7), [1.0, 2.0, 1.0])
    """

    weights: np.ndarray
    """(n_hidden, n_features) drawn from U(-1, 1)."""
    biases: np.ndarray
    """(n_hidden,) drawn from U(0, 0.1)."""
    activation: str
    direct_link: bool

    _saved: ClassVar[dict] = {
        "weights": Array("float64", ("n_hidden", "n_features")),
        "biases": Array("float64", ("n_hidden",)),
        "activation": Literal[tuple(_ACTIVATIONS)],
        "direct_link": bool,
    }

    def _check_saved(self) -> None:
        require(self.weights.size, "weights are none")

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.weights.shape[1]

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
        hidden = H[:, self.bias_column + 1 :]
        np.matmul(X, self.weights.T, out=hidden)
        hidden += self.biases
        activate(self.activation, hidden)
        return H


def draw_random_features(
    n_features: int, n_hidden: int, activation: str, *, direct_link: bool, seed: int
) -> RandomFeatures:
    """Draw a hidden layer, node by node.

    The first nodes of a wide layer are therefore the nodes of a narrow one
    drawn from the same `seed`.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_random_features
    >>> narrow = draw_random_features(2, 3, "sine", direct_link=True, seed=0)
    >>> wide = draw_random_features(2, 9, "sine", direct_link=True, seed=0)
    >>> X = np.array([[1.0, 2.0]])
    >>> bool(np.all(wide(X)[:, :6] == narrow(X)))
    True
    """
    unit = np.random.default_rng(seed).random((n_hidden, n_features + 1))
    return RandomFeatures(
        weights=2 * unit[:, :-1] - 1,
        biases=BIAS_RANGE * unit[:, -1],
        activation=activation,
        direct_link=direct_link,
    )
