"""CRVFL and ACRVFL: random vector networks with complex weights."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from granulearn._sklearn_compat import StrOptions
from granulearn.estimators.base import BaseRVFLClassifier
from granulearn.estimators.estimator import SHALLOW, Abilities
from granulearn.network import (
    complex_activation_names,
    draw_complex_features,
    solve_weighted_ridge,
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
        onnx="complex network",
        shared_work=replace(SHALLOW, leave_one_out=False),
    )
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
            rows.X, self.n_hidden, self.activation, as_real_pairs=False, seed=seeds.network
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
        onnx="complex network",
        shared_work=replace(SHALLOW, inverse_penalty_factor=2),
    )

    def _features(self, rows, seeds):
        return draw_complex_features(
            rows.X, self.n_hidden, self.activation, as_real_pairs=True, seed=seeds.network
        )

    def _solve(self, features, rows, Y):
        return solve_weighted_ridge(features, rows.X, Y, rows.weights, 2 * self.C)
