"""CRVFL and ACRVFL: random vector networks with complex weights, on inputs as points of a circle.

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

from granulearn._sklearn_compat import StrOptions
from granulearn.rvfl.features import BIAS_RANGE, FeatureMap
from granulearn.rvfl.rvfl import BaseRVFLClassifier
from granulearn.utils.estimator import Abilities
from granulearn.utils.saved import LARGEST, Array, Part, require

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
    >>> from granulearn.rvfl import complex_activation_names
    >>> complex_activation_names()
    ['acos', 'asin', 'asinh']
    """
    return sorted(_COMPLEX_ACTIVATIONS)


@dataclass(frozen=True, eq=False)
class ComplexFeatures(FeatureMap):
    """The map from real inputs to the complex columns ``[Z, bias, hidden layer]``.

    ``Z = exp(i pi x)`` with each feature scaled to [0, 1] by its range in the
    training rows; a feature that was constant there is encoded as one.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_complex_features
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
        Z = np.exp(1j * np.pi * ((X - self.lowest) / self.width))
        hidden = _COMPLEX_ACTIVATIONS[self.activation](Z @ self.weights.T + self.biases)
        H = np.hstack([Z, np.ones((len(X), 1)), hidden])
        return H.view(np.float64) if self.as_real_pairs else H


def draw_complex_features(
    X: np.ndarray, n_hidden: int, activation: str, *, as_real_pairs: bool, seed: int
) -> ComplexFeatures:
    """Draw a complex hidden layer for training rows `X`, node by node.

    The first nodes of a wide layer are therefore the nodes of a narrow one
    drawn from the same `seed`.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.rvfl import draw_complex_features
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


class CRVFLClassifier(BaseRVFLClassifier):
    r"""Complex-valued random vector network.

    Each feature becomes a point on the unit circle, hidden nodes are complex,
    and a complex ridge is fitted to the classes. Use it when features act
    through their phase, such as angles or times of day, or to compare with
    the paper's table. Its weak points are that a value outside the training
    range goes on around the circle and meets others, and that its output
    ignores half of what complex data can say; `ACRVFLClassifier` uses both halves.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of complex hidden nodes.
    activation : {"acos", "asin", "asinh"}, default="asinh"
        Fully complex function of the hidden nodes.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : complex ndarray of shape (n_columns, n_classes)
        Output weights of the encoded features, the bias and the hidden nodes,
        in that order.
    features_ : ComplexFeatures
        The map from inputs to those columns.

    Notes
    -----
    With each feature scaled to [0, 1] by its training range,
    :math:`z = e^{i \pi x}` and :math:`H = [Z, 1, g(Z W + b)]`;
    :math:`\Theta = (H^H H + I/C)^{-1} H^H Y`, and the class is that of the
    largest real part of :math:`h' \Theta`. The paper's table has no public
    code; this follows the fully complex extreme learning machine.

    References
    ----------
    M.-B. Li, G.-B. Huang, P. Saratchandran, N. Sundararajan, "Fully complex
    extreme learning machine", Neurocomputing 68 (2005).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import CRVFLClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = CRVFLClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    # Leave-one-out is written for real systems only.
    _abilities = Abilities(
        command="c-rvfl",
        summary="no balls: a complex-valued random network",
        search="cv",
    )
    _as_real_pairs = False
    _saved: ClassVar[dict] = {"features_": Part(ComplexFeatures)}
    _parameter_constraints: ClassVar[dict] = {
        **BaseRVFLClassifier._parameter_constraints,
        "activation": [StrOptions(set(complex_activation_names()))],
    }

    def __init__(
        self, n_hidden=100, activation="asinh", C=1.0, random_state=None, class_weight=None
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)

    def _features(self, rows, seeds):
        return draw_complex_features(
            rows.X,
            self.n_hidden,
            self.activation,
            as_real_pairs=self._as_real_pairs,
            seed=seeds.network,
        )


class ACRVFLClassifier(CRVFLClassifier):
    r"""Augmented complex-valued random vector network.

    Like `CRVFLClassifier`, but regressed on the complex features and their
    conjugates together (widely linear estimation), which makes its output
    real. Use it in place of `CRVFLClassifier`, at about the same cost. Its weak
    point is the same encoding: a value outside the training range goes on
    around the circle and meets others.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of complex hidden nodes.
    activation : {"acos", "asin", "asinh"}, default="asinh"
        Fully complex function of the hidden nodes.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the real and the imaginary part of each encoded
        feature, of the bias and of each hidden node, part beside part. The
        complex weight of a column with parts (b, c) is (b - ic)/2, and that of
        its conjugate (b + ic)/2.
    features_ : ComplexFeatures
        The map from inputs to those columns.

    Notes
    -----
    The ridge on :math:`[H, \bar H]` with penalty 1/C. For real targets its
    weights are conjugate pairs, and it equals the real ridge on
    :math:`[\Re H, \Im H]` with penalty 1/(2C), which is what is solved.

    References
    ----------
    B. Picinbono, P. Chevalier, "Widely linear estimation with complex data",
    IEEE Transactions on Signal Processing 43 (1995).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import ACRVFLClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = ACRVFLClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    # The augmented ridge is a real ridge with half the penalty.
    _abilities = Abilities(
        command="ac-rvfl",
        summary="as c-rvfl, with conjugates: real-valued output",
        search="loo",
    )

    _as_real_pairs, _penalty_factor = True, 2
