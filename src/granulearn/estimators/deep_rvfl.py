"""Deep networks on every sample: dRVFL and edRVFL, with stacked random layers."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from granulearn.estimators.base import BaseRVFLClassifier
from granulearn.estimators.deep_network import (
    COMBINE_CONSTRAINT,
    DEEP_CONSTRAINTS,
    DeepClassifier,
    DeepNetwork,
    EnsembleClassifier,
    EnsembleNetwork,
)
from granulearn.estimators.estimator import DEEP, Abilities


class DeepRVFLClassifier(DeepClassifier, DeepNetwork):
    r"""Deep random vector network: one ridge on all of its layers.

    Each layer of random, never trained nodes reads the one before it, and one
    weighted ridge regresses the inputs and all layers on the classes. Use it
    when a boundary is too intricate for one layer; `staged_predict` shows from
    one fit how many layers are worth having. Its weak point is size: columns
    add up over layers, and many columns follow wrong labels closely.
    `EnsembleDeepRVFLClassifier` is cheaper and steadier.

    Parameters
    ----------
    n_layers : int, default=5
        Number of hidden layers.
    n_hidden : int or sequence of int, default=100
        Hidden nodes of every layer, or one number for each.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes. The layers of a shallow network are the first
        layers of a deep one drawn from the same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.
    normalize : bool, default=True
        Whether a layer hands on centred and scaled outputs; see Notes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : list of ndarray of shape (n_columns, n_classes)
        Output weights of the networks of one, two, ... layers: of the direct
        link, the bias and the hidden nodes layer by layer. The last is used.
    features_ : DeepFeatures
        The map from inputs to those columns.

    Notes
    -----
    With :math:`H_0 = X`, :math:`H_l = \varphi(\bar H_{l-1} W_l + b_l)` and
    :math:`H = [X, 1, H_1, \dots, H_L]`,

    .. math::
        \min_\Theta \tfrac{C}{2} \sum_i w_i \lVert h_i' \Theta - y_i \rVert^2
        + \tfrac12 \lVert \Theta \rVert^2 .

    The first layer is that of `RVFLClassifier`. Further layers read
    :math:`\bar H_l`, the nodes' outputs minus their means, divided by the
    standard deviation of the layer. Means and deviation are those of the training
    rows, or of 8,192 drawn at random where there are more: the order of the rows
    then matters a little, and a weight of two is only nearly a repeated row.
    The weights of further layers are drawn from :math:`\sqrt{d/m}\, U(-1, 1)` for
    d inputs and m values read, so that nodes of every layer receive values of the
    same size. With ``normalize=False`` outputs are handed on as they are, to
    weights from :math:`U(-1, 1)`.

    Memory grows with the square of the number of columns and not with the
    number of rows, which are read once, in blocks.

    References
    ----------
    Q. Shi, R. Katuwal, P. N. Suganthan, M. Tanveer, "Random vector functional
    link neural network based ensemble deep learning", Pattern Recognition 117
    (2021).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.estimators import DeepRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = DeepRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="d-rvfl",
        summary="as rvfl, with several random layers",
        onnx="deep network",
        shared_work=DEEP,
    )
    _parameter_constraints: ClassVar[dict] = {
        **BaseRVFLClassifier._parameter_constraints,
        **DEEP_CONSTRAINTS,
    }

    def __init__(
        self,
        n_layers=5,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        normalize=True,
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)
        self.n_layers = n_layers
        self.normalize = normalize


class EnsembleDeepRVFLClassifier(EnsembleClassifier, EnsembleNetwork):
    r"""Ensemble deep random vector network: one ridge per layer, combined.

    Each layer reads the inputs and the layer before it, and has output weights
    of its own; the layers' scores are averaged. Use it as the stronger form of
    `RVFLClassifier`: averaging layers takes away much of the chance in random
    nodes. Its weak point is data that is learnt by one layer already, where
    the others only cost time.

    Parameters
    ----------
    n_layers : int, default=5
        Number of hidden layers.
    n_hidden : int or sequence of int, default=100
        Hidden nodes of every layer, or one number for each.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes. The layers of a shallow network are the first
        layers of a deep one drawn from the same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.
    normalize : bool, default=True
        Whether a layer hands on centred and scaled outputs; see Notes.
    combine : {"mean", "vote"}, default="mean"
        Whether the scores of the layers are averaged, or each layer votes for
        a class; the mean score then settles ties.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : list of ndarray of shape (n_columns, n_classes)
        Output weights of each layer: of the direct link, the bias and its hidden
        nodes, in that order.
    features_ : DeepFeatures
        The map from inputs to those columns.

    Notes
    -----
    With :math:`H_1 = \varphi(X W_1 + b_1)` and
    :math:`H_l = \varphi([\bar H_{l-1}, X] W_l + b_l)`, layer l has the features
    :math:`[X, 1, H_l]` and the output weights

    .. math::
        \min_{\Theta_l} \tfrac{C}{2}
        \sum_i w_i \lVert h_{l,i}' \Theta_l - y_i \rVert^2
        + \tfrac12 \lVert \Theta_l \rVert^2 .

    The first layer is that of `RVFLClassifier`; :math:`\bar H_l` and memory are
    as in `DeepRVFLClassifier`.

    References
    ----------
    Q. Shi, R. Katuwal, P. N. Suganthan, M. Tanveer, "Random vector functional
    link neural network based ensemble deep learning", Pattern Recognition 117
    (2021).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.estimators import EnsembleDeepRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = EnsembleDeepRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="ed-rvfl",
        summary="as rvfl, with several random layers averaged",
        onnx="ensemble of layers",
        shared_work=replace(DEEP, ridge_per_layer=True),
    )
    _parameter_constraints: ClassVar[dict] = {
        **BaseRVFLClassifier._parameter_constraints,
        **DEEP_CONSTRAINTS,
        **COMBINE_CONSTRAINT,
    }

    def __init__(
        self,
        n_layers=5,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        normalize=True,
        combine="mean",
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)
        self.n_layers = n_layers
        self.normalize = normalize
        self.combine = combine
