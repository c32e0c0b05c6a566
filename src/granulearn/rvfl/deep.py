"""Deep networks with stacked random layers: dRVFL and edRVFL, on samples and on balls.

A layer reads the columns ``[direct link, bias, hidden layer before]``, without the
direct link where inputs are not fed again. What it reads from the layer before is
centred and scaled with statistics of the training rows. This is linear, so it is
part of the drawn weights and costs nothing when features are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from granulearn._sklearn_compat import Interval, StrOptions
from granulearn.rvfl.ball_rvfl import GBRVFLClassifier
from granulearn.rvfl.features import (
    BIAS_RANGE,
    FeatureMap,
    RandomFeatures,
    activate,
    draw_random_features,
)
from granulearn.rvfl.rvfl import BaseRVFLClassifier, BaseRVFLRegressor, RandomNetwork
from granulearn.utils.estimator import Abilities, Seeds
from granulearn.utils.saved import LARGEST, LARGEST_COEF, Array, Part, require

# Means and deviations of the layers are computed on a sample of this size.
STATISTICS_ROWS = 8192
# A layer that varies less than this, relative to its largest output, is constant.
SMALLEST_VARIATION = 1e-6


@dataclass(frozen=True, eq=False)
class DeepFeatures(FeatureMap):
    """The map from inputs to the columns ``[direct link, bias, layer 1, ..., layer L]``.

    A ridge takes the columns of the first layers or, where inputs are fed again, of one layer.

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
    def _widths(self) -> list[int]:
        return [len(self.first.weights), *(weights.shape[1] for weights in self.deeper)]

    @property
    def n_columns(self) -> int:
        """Number of columns that a call returns."""
        return self.bias_column + 1 + sum(self._widths)

    @property
    def design_widths(self) -> list[int]:
        """Number of columns of each design."""
        widths = self._widths if self.feeds_inputs else np.cumsum(self._widths)
        return [self.bias_column + 1 + int(width) for width in widths]

    def first_layers(self, n_layers: int) -> DeepFeatures:
        """Return the features of the network of the first layers."""
        return replace(self, deeper=self.deeper[: n_layers - 1])

    def designs(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the columns of each layer or, where inputs are not fed again, of the first ones."""
        if self.feeds_inputs:
            yield from self.layers(X)
        else:
            H = self(X)
            yield from (H[:, :p] for p in self.design_widths)

    def layers(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the columns ``[direct link, bias, layer l]`` of `X` for l = 1, ..., L."""
        columns = self.first(X)
        yield columns
        for weights in self.deeper:
            columns = self._next_layer(columns, weights)
            yield columns

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the features of `X`, of shape (n_rows, n_columns), in float64."""
        first, *deeper = self.layers(X)
        return np.hstack([first, *(columns[:, self.bias_column + 1 :] for columns in deeper)])

    def _next_layer(self, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        linked, read = columns[:, : self.bias_column + 1], self._read(columns)
        return np.hstack([linked, activate(self.first.activation, read @ weights)])

    def _read(self, columns: np.ndarray) -> np.ndarray:
        """Return the inputs of the next layer; the column of ones carries its biases."""
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
    """Fold centring and scaling of the layer before into `layer`, in place.

    Afterwards `layer` applies to raw outputs.

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


DEEP_CONSTRAINTS: dict[str, list] = {
    "n_layers": [Interval(Integral, 1, None, closed="left")],
    "n_hidden": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "normalize": ["boolean"],
}
COMBINE_CONSTRAINT: dict[str, list] = {"combine": [StrOptions({"mean", "vote"})]}


class DeepNetwork(RandomNetwork):
    """dRVFL: one ridge on all layers; the ridges on fewer layers come with it."""

    n_layers: int
    normalize: bool
    features_: DeepFeatures
    coef_: list[np.ndarray]

    _saved: ClassVar[dict] = {
        "features_": Part(DeepFeatures),
        "coef_": Array(
            "float64", ("columns", "_n_outputs"), -LARGEST_COEF, LARGEST_COEF, many=list
        ),
    }
    _is_deep, _is_nested = True, False
    _feeds_inputs: ClassVar[bool] = False

    def _check_saved(self) -> None:
        super()._check_saved()
        features = self.features_
        agree = features.feeds_inputs == self._feeds_inputs
        require(agree, "features_ are those of another network")
        agree = [len(coef) for coef in self.coef_] == features.design_widths
        require(agree, "coef_ has other columns than features_")

    def _features(self, rows: Any, seeds: Seeds) -> DeepFeatures:
        return draw_deep_features(
            rows.X,
            rows.weights,
            self._widths(),
            self.activation,
            feeds_inputs=self._feeds_inputs,
            normalize=self.normalize,
            seed=seeds.network,
        )

    def _widths(self) -> list[int]:
        """Return the number of hidden nodes of each layer."""
        if isinstance(self.n_hidden, Integral):
            return [int(self.n_hidden)] * self.n_layers
        widths = list(self.n_hidden)
        whole = all(isinstance(width, Integral) and int(width) >= 1 for width in widths)
        if not whole or len(widths) != self.n_layers:
            raise ValueError(
                f"n_hidden={self.n_hidden!r} must be one positive int, or one for each of the "
                f"n_layers={self.n_layers} layers."
            )
        return [int(width) for width in widths]


class EnsembleNetwork(DeepNetwork):
    """edRVFL: one ridge per layer, combined; each further layer reads the inputs again."""

    _feeds_inputs = True
    combine = "mean"

    def _combined(self, outputs: np.ndarray) -> np.ndarray:
        return running_means(outputs) if self.combine == "mean" else running_votes(outputs)


class DeepClassifier(BaseRVFLClassifier):
    """Base of deep classifiers, which also have an answer after each layer."""

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield the scores of the network of the first layer, of two layers, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores of a network of that many layers; the last are those of
            `decision_function`.
        """
        for scores in self._stages(self._checked(X)):
            yield self._decisions(scores)

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the labels from the network of the first layer, of two layers, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels from a network of that many layers; the last are those of
            `predict`.
        """
        for scores in self._stages(self._checked(X)):
            yield self._labels(scores)


def running_means(scores: np.ndarray) -> np.ndarray:
    """Return the means over the first 1, ..., L of L arrays."""
    return np.cumsum(scores, axis=0) / _counts(scores)


def running_votes(scores: np.ndarray) -> np.ndarray:
    """Return shares of the votes of the first 1, ..., L of L classifiers.

    Each classifier has one vote. A further half vote is divided by the
    probabilities of their mean score: it settles ties, and nothing else.

    Parameters
    ----------
    scores : ndarray of shape (L, n_rows, n_classes)
        Scores of each classifier.
    """
    votes = scores.argmax(axis=2)[:, :, None] == np.arange(scores.shape[2])
    divided = softmax(running_means(scores), axis=2) / 2
    return (np.cumsum(votes, axis=0) + divided) / (_counts(scores) + 0.5)


def _counts(scores: np.ndarray) -> np.ndarray:
    return np.arange(1, len(scores) + 1).reshape(-1, *[1] * (scores.ndim - 1))


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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
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
    >>> from granulearn.rvfl import DeepRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = DeepRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="d-rvfl",
        summary="as rvfl, with several random layers",
        search="loo",
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


class EnsembleDeepRVFLClassifier(DeepClassifier, EnsembleNetwork):
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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
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
    >>> from granulearn.rvfl import EnsembleDeepRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = EnsembleDeepRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="ed-rvfl",
        summary="as rvfl, with several random layers averaged",
        search="loo",
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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls. The layers
        of a shallow network are the first layers of a deep one drawn from the
        same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: "two-means", "k-division", "gbg++" or "rd-gbg", a generator,
        or a function that takes the samples and returns a `BallSet`.
    purity : float, default=0.925
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is a name.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.balls.membership_names`,
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
    >>> from granulearn.rvfl import DeepGBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = DeepGBRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="d-gbrvfl",
        summary="as gb-rvfl, with several random layers",
        search="loo",
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


class EnsembleDeepGBRVFLClassifier(DeepClassifier, EnsembleNetwork, GBRVFLClassifier):
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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls. The layers
        of a shallow network are the first layers of a deep one drawn from the
        same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: "two-means", "k-division", "gbg++" or "rd-gbg", a generator,
        or a function that takes the samples and returns a `BallSet`.
    purity : float, default=0.925
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is a name.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.balls.membership_names`,
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
    >>> from granulearn.rvfl import EnsembleDeepGBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = EnsembleDeepGBRVFLClassifier(n_layers=3, random_state=0).fit(X, y)
    >>> [float((labels == y).mean()) > 0.8 for labels in model.staged_predict(X)]
    [True, True, True]
    """

    _abilities = Abilities(
        command="ed-gbrvfl",
        summary="as gb-rvfl, with several random layers averaged",
        search="loo",
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
        for outputs in self._stages(self._checked(X)):
            yield self._as_targets(outputs)


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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
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
    >>> from granulearn.rvfl import DeepRVFLRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DeepRVFLRegressor(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.5
    True
    """

    _abilities = Abilities(search="loo")


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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
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
    >>> from granulearn.rvfl import EnsembleDeepRVFLRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = EnsembleDeepRVFLRegressor(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.5
    True
    """

    _abilities = Abilities(search="loo")
