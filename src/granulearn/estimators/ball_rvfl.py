"""GB-RVFL and its fuzzy variants: random vector networks on weighted granular balls."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import ClassVar

import numpy as np

from granulearn.balls import BallMaker, BallSet, Samples, resolve_maker
from granulearn.balls.makers import make_balls
from granulearn.estimators.base import BaseRVFLClassifier, Seeds, TrainingRows, multiply_weights
from granulearn.estimators.estimator import SHALLOW, Abilities
from granulearn.memberships import (
    GivenMembership,
    Membership,
    resolve_membership,
)


class GBRVFLClassifier(BaseRVFLClassifier):
    r"""Random vector network on granular balls.

    Samples are gathered into balls of nearly one class, and the network is
    fitted to the centres and labels of the balls. Use it when some labels are
    wrong or the data is too large to be used sample by sample: a few wrong
    labels are outvoted inside their ball. Its weak point is that every ball
    counts the same, so a ball of one wrong label counts as much as one of a
    hundred right ones. `min_ball_size` drops such balls, but may drop small
    classes with them.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
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
        Balls with fewer samples are dropped. The paper's scripts use 2 here,
        which can drop every ball of a small class; that is an error.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.memberships.membership_names`,
        an instance, or a function that takes a `BallSet` and returns one number
        in [0, 1] per ball. Memberships passed to `fit` overrule it.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.

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
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the direct link, the bias and the hidden nodes, in
        that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    With ball centres C, :math:`H = [C, 1, \varphi(C W + b)]`, and with the
    memberships :math:`\delta_i` on the diagonal of S,

    .. math::
        \min_\Theta \tfrac{C}{2} \lVert S (H \Theta - Y) \rVert^2
        + \tfrac12 \lVert \Theta \rVert^2 .

    A sample of weight w counts as round(w) samples, at least one, when balls
    are made, and a ball's squared error is weighted by the mean of min(w, 1)
    over its samples. So integer weights are repeated rows (``balls_.counts``
    counts them), zero is absence, and weights below one reduce the pull of a
    ball. The order of the samples does not matter.

    References
    ----------
    M. Sajid, A. Quadir, M. Tanveer, "GB-RVFL: Fusion of Randomized Neural
    Network and Granular Ball Computing", Pattern Recognition 159 (2025).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.estimators import GBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = GBRVFLClassifier(random_state=0).fit(X, y)
    >>> len(model.balls_) < 100, model.score(X, y) > 0.8
    (True, True)
    """

    _abilities = Abilities(
        command="gb-rvfl",
        summary="balls that all count the same",
        in_parts=True,
        onnx="network",
        shared_work=SHALLOW,
    )
    _parameter_constraints: ClassVar[dict] = {
        **BaseRVFLClassifier._parameter_constraints,
        # Balls and memberships check these; their messages say what each setting does.
        "balls": "no_validation",
        "purity": "no_validation",
        "min_ball_size": "no_validation",
        "init": "no_validation",
        "membership": "no_validation",
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
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
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)
        self.balls = balls
        self.purity = purity
        self.min_ball_size = min_ball_size
        self.init = init
        self.membership = membership
        self.n_jobs = n_jobs

    def _maker(self) -> BallMaker:
        return resolve_maker(self.balls, purity=self.purity, init=self.init)

    def _rows(self, samples: Samples, seeds: Seeds) -> TrainingRows:
        """Return one row per ball, weighted by its membership."""
        scheme = resolve_membership(self.membership)
        ordered = samples.in_ball_order()
        balls = balls_of_all_classes(
            self._maker(), ordered, self.min_ball_size, seeds.balls, self.n_jobs
        )
        if ordered.memberships is not None:
            scheme = GivenMembership(ordered.memberships)
        delta = scheme(balls, ordered.X, ordered.codes)
        ball_weights = mean_weights(balls, ordered)
        codes = np.searchsorted(samples.classes, balls.classes)[balls.labels]
        return rated_rows(with_all_assigned(balls, ordered), codes, ball_weights, delta, scheme)


class FGBRVFLClassifier(GBRVFLClassifier):
    r"""GB-RVFL whose balls are trusted by their distance to the class centre.

    A ball far from the mean of its class counts less in the fit. Use it when
    each class is one cloud and wrong labels lie far from it. Its weak point is
    a class of several clouds: `FuzzyMembership` then trusts good balls least.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallMaker or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.maker_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.985
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is the name of a maker with a purity.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="fuzzy"
        How far a ball is trusted: a name of `granulearn.memberships.membership_names`,
        an instance, or a function that takes a `BallSet` and returns one number
        in [0, 1] per ball. Memberships passed to `fit` overrule it.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.

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
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the direct link, the bias and the hidden nodes, in
        that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    `GBRVFLClassifier` with the settings of the paper: :math:`\delta_i` is the
    mean over the ball of
    :math:`\mu(x) = 1 - \lVert x - m \rVert / (R + 10^{-5})`, with m the mean of
    the sample's class and R the largest distance to it. The paper's scripts use
    ``membership=FuzzyMembership(level="ball")``.

    References
    ----------
    A. Quadir, M. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
    Computing-Based Fuzzy Random Vector Functional Link Network", WCCI 2026.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import FGBRVFLClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = FGBRVFLClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    _abilities = Abilities(
        command="f-gbrvfl",
        summary="balls trusted by their distance to the centre of their class",
        in_parts=True,
        onnx="network",
        shared_work=SHALLOW,
    )

    def __init__(
        self,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        balls="two-means",
        purity=0.985,
        min_ball_size=1,
        init="k-means++",
        membership="fuzzy",
        n_jobs=None,
    ):
        super().__init__(
            n_hidden, activation, C, random_state, class_weight,
            balls, purity, min_ball_size, init, membership, n_jobs,
        )  # fmt: skip


class SDAPGBRVFLClassifier(GBRVFLClassifier):
    r"""GB-RVFL whose balls are trusted by class spread, neighbours and size.

    A ball counts less the farther it lies from its class and the more balls of
    other classes surround it. Use it when wrong labels sit among samples of
    another class. Its weak point is many features: the published spread then
    shrinks and nearly all balls of one sample lose their weight; see
    `SDAPMembership` and its ``spread="rms"``.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallMaker or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.maker_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.985
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is the name of a maker with a purity.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="sdap"
        How far a ball is trusted: a name of `granulearn.memberships.membership_names`,
        an instance, or a function that takes a `BallSet` and returns one number
        in [0, 1] per ball. Memberships passed to `fit` overrule it.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.

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
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the direct link, the bias and the hidden nodes, in
        that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    `GBRVFLClassifier` with the settings of the paper:
    :math:`\delta_i = \omega_i \mu_i + (1 - \omega_i) \theta_i`, with
    :math:`\mu` from the distance to the class centre, :math:`\omega` from the
    ball's radius and :math:`\theta` from its neighbours; `SDAPMembership` has
    the formula of each.

    References
    ----------
    A. Quadir, M. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
    Computing-Based Fuzzy Random Vector Functional Link Network", WCCI 2026.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import SDAPGBRVFLClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = SDAPGBRVFLClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    _abilities = Abilities(
        command="sdap-gbrvfl",
        summary="balls trusted by spread, neighbours and size",
        in_parts=True,
        onnx="network",
        shared_work=SHALLOW,
    )

    def __init__(
        self,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        balls="two-means",
        purity=0.985,
        min_ball_size=1,
        init="k-means++",
        membership="sdap",
        n_jobs=None,
    ):
        super().__init__(
            n_hidden, activation, C, random_state, class_weight,
            balls, purity, min_ball_size, init, membership, n_jobs,
        )  # fmt: skip


def rated_rows(
    balls: BallSet,
    codes: np.ndarray,
    ball_weights: np.ndarray | None,
    delta: np.ndarray,
    scheme: Membership,
) -> TrainingRows:
    """Return one row per ball, weighted by its membership and the weights of its samples.

    Parameters
    ----------
    balls : BallSet
        The balls.
    codes : ndarray of shape (n_balls,)
        Class of each ball, as an index into the model's classes.
    ball_weights : ndarray of shape (n_balls,) or None
        What `mean_weights` returned.
    delta : ndarray of shape (n_balls,)
        Membership of each ball.
    scheme : Membership
        The scheme that gave the memberships; the message names it when all are zero.
    """
    _check_some_membership(delta, scheme)
    weights = multiply_weights(ball_weights, _squares(delta))
    return TrainingRows(balls.centers, codes, weights, balls, delta)


def mean_weights(balls: BallSet, samples: Samples) -> np.ndarray | None:
    """Return each ball's mean of min(weight, 1) over its samples; None if there are no weights."""
    if samples.weights is None:
        return None
    return balls.sample_mean(np.minimum(samples.weights, 1))


def _squares(delta: np.ndarray) -> np.ndarray | None:
    """Return the weights that memberships stand for; None for all ones, which costs nothing."""
    return None if (delta == 1).all() else delta**2


def balls_of_all_classes(
    maker: BallMaker, samples: Samples, min_ball_size: int, seed: int, n_jobs: int | None
) -> BallSet:
    """Make balls to learn from; see `check_classes_kept` for classes that have none.

    Parameters
    ----------
    maker : BallMaker
        How balls are made.
    samples : Samples
        As balls are made of them.
    min_ball_size : int
        Balls with fewer samples are dropped.
    seed : int
        Seed of the balls.
    n_jobs : int or None
        Threads; they change no result.
    """
    balls = make_balls(
        maker, samples, min_ball_size=min_ball_size, random_state=seed, n_jobs=n_jobs
    )
    check_classes_kept(
        samples.classes,
        present=np.arange(len(samples.classes)),
        of_balls=np.unique(balls.labels),
        dropped=np.unique(samples.codes[balls.assignment < 0]),
        min_ball_size=min_ball_size,
    )
    return balls


def check_classes_kept(
    classes: np.ndarray,
    *,
    present: np.ndarray,
    of_balls: np.ndarray,
    dropped: np.ndarray,
    min_ball_size: int,
) -> None:
    """Raise when all balls of a class were dropped; warn when a class is no ball's majority.

    Parameters
    ----------
    classes : ndarray
        The labels that the codes stand for.
    present, of_balls, dropped : ndarray of int
        Codes of the classes of all samples, of the balls, and of samples in dropped balls.
    min_ball_size : int
        Balls with fewer samples were dropped.
    """
    lost = np.setdiff1d(present, of_balls)
    if len(lost) == 0:
        return
    dropped_classes = np.intersect1d(lost, dropped)
    if len(dropped_classes):
        raise ValueError(
            f"every ball of class {classes[dropped_classes].tolist()} has fewer than "
            f"min_ball_size={min_ball_size} samples and was dropped, so nothing is left to learn "
            "it from; lower min_ball_size."
        )
    if len(of_balls) > 1:
        warnings.warn(
            f"class {classes[lost].tolist()} is the majority of no ball and will hardly be "
            "predicted; raise purity, or let the maker make smaller balls.",
            UserWarning,
            stacklevel=2,
        )


def _check_some_membership(delta: np.ndarray, scheme: Membership) -> None:
    if not delta.any():
        raise ValueError(
            f"{scheme!r} gives every one of the {len(delta)} balls membership zero, so nothing is "
            "left to learn from; use another membership, for instance SDAPMembership(spread='rms')."
        )


def with_all_assigned(balls: BallSet, samples: Samples) -> BallSet:
    """Return the balls with one assignment per sample passed to `fit`."""
    assignment = np.full(samples.n_passed, -1)
    assignment[samples.positions] = balls.assignment
    return replace(balls, assignment=assignment)
