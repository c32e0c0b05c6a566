"""Deep networks on granular balls: dRVFL and edRVFL."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from granulearn.estimators.ball_rvfl import GBRVFLClassifier
from granulearn.estimators.deep_network import (
    COMBINE_CONSTRAINT,
    DEEP_CONSTRAINTS,
    DeepClassifier,
    DeepNetwork,
    EnsembleClassifier,
    EnsembleNetwork,
)
from granulearn.estimators.estimator import DEEP, Abilities


class DeepGBRVFLClassifier(DeepClassifier, DeepNetwork, GBRVFLClassifier):
    r"""Deep random vector network on granular balls: one ridge on all layers.

    `DeepRVFLClassifier` on the centres of balls, each weighted by its
    membership. Use it where labels may be wrong and one layer is not enough, or
    where there are too many samples for a deep network. Its weak point is a
    small number of balls, each of which many columns then fit too closely.

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
        Draws the hidden nodes and, independently of them, the balls. The layers
        of a shallow network are the first layers of a deep one drawn from the
        same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallMaker or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.maker_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.925
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is the name of a maker with a purity.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.memberships.membership_names`,
        an instance, or a function that takes a `BallSet` and returns one number
        in [0, 1] per ball. Memberships passed to `fit` overrule it.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.
    normalize : bool, default=True
        Whether a layer hands on centred and scaled outputs; see
        `DeepRVFLClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    balls_ : BallSet
        The balls; samples of weight zero belong to none (assignment -1).
    membership_ : ndarray of shape (n_balls,)
        Membership of each ball.
    coef_ : list of ndarray of shape (n_columns, n_classes)
        Output weights of the networks of one, two, ... layers: of the direct
        link, the bias and the hidden nodes layer by layer. The last is used.
    features_ : DeepFeatures
        The map from inputs to those columns.

    Notes
    -----
    `DeepRVFLClassifier` with ball centres in the place of samples, also in the
    statistics of the layers. The weight of a ball is its squared membership.
    `GBRVFLClassifier` says how sample weights are used.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.estimators import DeepGBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = DeepGBRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="d-gbrvfl",
        summary="as gb-rvfl, with several random layers",
        onnx="deep network",
        shared_work=DEEP,
    )
    _parameter_constraints: ClassVar[dict] = {
        **GBRVFLClassifier._parameter_constraints,
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
        balls="two-means",
        purity=0.925,
        min_ball_size=1,
        init="k-means++",
        membership="uniform",
        n_jobs=None,
        normalize=True,
    ):
        super().__init__(
            n_hidden, activation, C, random_state, class_weight,
            balls, purity, min_ball_size, init, membership, n_jobs,
        )  # fmt: skip
        self.n_layers = n_layers
        self.normalize = normalize


class EnsembleDeepGBRVFLClassifier(EnsembleClassifier, EnsembleNetwork, GBRVFLClassifier):
    r"""Ensemble deep random vector network on granular balls: one ridge per layer.

    `EnsembleDeepRVFLClassifier` on the centres of balls, each weighted by its
    membership. Use it where labels may be wrong: balls outvote single wrong
    labels, and averaged layers even out the chance in random nodes. Its weak
    point is that of balls: where classes overlap, most balls hold one sample,
    right or wrong.

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
        Draws the hidden nodes and, independently of them, the balls. The layers
        of a shallow network are the first layers of a deep one drawn from the
        same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallMaker or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.maker_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.925
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is the name of a maker with a purity.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.memberships.membership_names`,
        an instance, or a function that takes a `BallSet` and returns one number
        in [0, 1] per ball. Memberships passed to `fit` overrule it.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.
    normalize : bool, default=True
        Whether a layer hands on centred and scaled outputs; see
        `DeepRVFLClassifier`.
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
    balls_ : BallSet
        The balls; samples of weight zero belong to none (assignment -1).
    membership_ : ndarray of shape (n_balls,)
        Membership of each ball.
    coef_ : list of ndarray of shape (n_columns, n_classes)
        Output weights of each layer: of the direct link, the bias and its hidden
        nodes, in that order.
    features_ : DeepFeatures
        The map from inputs to those columns.

    Notes
    -----
    `EnsembleDeepRVFLClassifier` with ball centres in the place of samples, also
    in the statistics of the layers. The weight of a ball is its squared
    membership. `GBRVFLClassifier` says how sample weights are used.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.estimators import EnsembleDeepGBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = EnsembleDeepGBRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="ed-gbrvfl",
        summary="as gb-rvfl, with several random layers averaged",
        onnx="ensemble of layers",
        shared_work=replace(DEEP, ridge_per_layer=True),
    )
    _parameter_constraints: ClassVar[dict] = {
        **GBRVFLClassifier._parameter_constraints,
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
        balls="two-means",
        purity=0.925,
        min_ball_size=1,
        init="k-means++",
        membership="uniform",
        n_jobs=None,
        normalize=True,
        combine="mean",
    ):
        super().__init__(
            n_hidden, activation, C, random_state, class_weight,
            balls, purity, min_ball_size, init, membership, n_jobs,
        )  # fmt: skip
        self.n_layers = n_layers
        self.normalize = normalize
        self.combine = combine
