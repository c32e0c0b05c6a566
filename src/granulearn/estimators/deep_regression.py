"""Deep regressors: dRVFL and edRVFL for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from granulearn.estimators.deep_network import DEEP_CONSTRAINTS, DeepNetwork, EnsembleNetwork
from granulearn.estimators.estimator import DEEP, Abilities
from granulearn.estimators.regression import BaseRVFLRegressor


class DeepRegressor(BaseRVFLRegressor):
    """Base of deep regressors, which also have an answer after each layer."""

    _parameter_constraints: ClassVar[dict] = {
        **BaseRVFLRegressor._parameter_constraints,
        **DEEP_CONSTRAINTS,
    }

    def __init__(
        self,
        n_layers=5,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        normalize=True,
    ):
        super().__init__(n_hidden, activation, C, random_state)
        self.n_layers = n_layers
        self.normalize = normalize

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the outputs of the network of the first layer, of two layers, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions of a network of that many layers; the last are those of
            `predict`.
        """
        for outputs in self._staged_scores(self._checked(X)):
            yield self._as_targets(outputs)

    def _add_to_bias(self, coef: list[np.ndarray], bias_column: int, mean: np.ndarray) -> None:
        for each in coef:
            each[bias_column] += mean


class DeepRVFLRegressor(DeepRegressor, DeepNetwork):
    r"""Deep random vector network for numbers: one ridge on all of its layers.

    Each layer of random, never trained nodes reads the one before it, and one
    weighted ridge regresses the inputs and all layers on the targets. Use it
    when a function is too intricate for one layer; `staged_predict` shows from
    one fit how many layers are worth having. Its weak point is size: columns
    add up over layers.

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
    normalize : bool, default=True
        Whether a layer hands on centred and scaled outputs; see
        `DeepRVFLClassifier`.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    n_outputs_ : int or None
        Number of targets; None when y was one-dimensional.
    coef_ : list of ndarray of shape (n_columns, n_outputs)
        Output weights of the networks of one, two, ... layers: of the direct
        link, the bias and the hidden nodes layer by layer. The last is used.
    features_ : DeepFeatures
        The map from inputs to those columns.

    Notes
    -----
    The features of `DeepRVFLClassifier`, :math:`H = [X, 1, H_1, \dots, H_L]`,
    with the ridge of `RVFLRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from granulearn.estimators import DeepRVFLRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DeepRVFLRegressor(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.5
    True
    """

    _abilities = Abilities(onnx="deep network", shared_work=DEEP)


class EnsembleDeepRVFLRegressor(DeepRegressor, EnsembleNetwork):
    r"""Ensemble deep random vector network for numbers: one ridge per layer, averaged.

    Each layer reads the inputs and the layer before it, and has output weights
    of its own; the layers' outputs are averaged. Use it as the stronger form of
    `RVFLRegressor`: averaging layers takes away much of the chance in random
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
    normalize : bool, default=True
        Whether a layer hands on centred and scaled outputs; see
        `DeepRVFLClassifier`.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    n_outputs_ : int or None
        Number of targets; None when y was one-dimensional.
    coef_ : list of ndarray of shape (n_columns, n_outputs)
        Output weights of each layer: of the direct link, the bias and its hidden
        nodes, in that order.
    features_ : DeepFeatures
        The map from inputs to those columns.

    Notes
    -----
    The features of `EnsembleDeepRVFLClassifier`, :math:`[X, 1, H_l]` for each
    layer, with the ridge of `RVFLRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from granulearn.estimators import EnsembleDeepRVFLRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = EnsembleDeepRVFLRegressor(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.5
    True
    """

    _abilities = Abilities(
        onnx="ensemble of layers", shared_work=replace(DEEP, ridge_per_layer=True)
    )
