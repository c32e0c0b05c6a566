"""GB-RVFL and its fuzzy kin: a random vector network on weighted granular balls."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

from sklearn.utils._param_validation import StrOptions

from granulearn.estimators.ball_rows import ball_rows
from granulearn.estimators.base import BaseRVFLClassifier
from granulearn.memberships import Membership, membership_names


class GBRVFLClassifier(BaseRVFLClassifier):
    r"""Random vector network on granular balls.

    Samples are gathered into balls of nearly one class, and the network is
    fitted to the centres and labels of the balls. Use it when some labels are
    wrong or the data is too large to be used sample by sample: a few wrong
    labels are outvoted inside their ball. Its weak point is that every ball
    counts the same, so a ball of one wrong label counts as much as one of a
    hundred right ones; `min_ball_size` drops such balls, and with them small
    classes.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Of the hidden nodes: "hardlim", "leaky_relu", "radbas", "relu", "selu",
        "sigmoid", "sign", "sine", "tanh" or "tribas".
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    purity : float, default=0.925
        Balls below this share of their most frequent class are split.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped. The paper's scripts use 2 here,
        which can drop every ball of a small class; that is an error.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: "uniform", "fuzzy", "sdap", "evidence",
        "given", an instance from `granulearn.memberships`, or a function that
        takes a `BallSet` and returns one number in [0, 1] per ball. Memberships
        passed to `fit` as ``sample_membership`` overrule it: a ball then gets
        the mean of its samples'.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had column names.
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

    _parameter_constraints: ClassVar[dict] = {
        **BaseRVFLClassifier._parameter_constraints,
        # The engine checks these three; its messages say what each setting does.
        "purity": "no_validation",
        "min_ball_size": "no_validation",
        "init": "no_validation",
        "membership": [StrOptions(set(membership_names())), Membership, callable],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        purity=0.925,
        min_ball_size=1,
        init="k-means++",
        membership="uniform",
        n_jobs=None,
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)
        self.purity = purity
        self.min_ball_size = min_ball_size
        self.init = init
        self.membership = membership
        self.n_jobs = n_jobs

    def _rows(self, samples, seeds):
        return ball_rows(
            samples,
            self.membership,
            self.classes_,
            purity=self.purity,
            min_ball_size=self.min_ball_size,
            init=self.init,
            random_state=seeds.balls,
            n_jobs=self.n_jobs,
        )


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
        Of the hidden nodes: "hardlim", "leaky_relu", "radbas", "relu", "selu",
        "sigmoid", "sign", "sine", "tanh" or "tribas".
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    purity : float, default=0.985
        Balls below this share of their most frequent class are split.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start.
    membership : str, Membership or callable, default="fuzzy"
        How far a ball is trusted: "uniform", "fuzzy", "sdap", "evidence",
        "given", an instance from `granulearn.memberships`, or a function that
        takes a `BallSet` and returns one number in [0, 1] per ball. Memberships
        passed to `fit` as ``sample_membership`` overrule it: a ball then gets
        the mean of its samples'.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had column names.
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
    """

    def __init__(
        self,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        purity=0.985,
        min_ball_size=1,
        init="k-means++",
        membership="fuzzy",
        n_jobs=None,
    ):
        super().__init__(
            n_hidden, activation, C, random_state, class_weight,
            purity, min_ball_size, init, membership, n_jobs,
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
        Of the hidden nodes: "hardlim", "leaky_relu", "radbas", "relu", "selu",
        "sigmoid", "sign", "sine", "tanh" or "tribas".
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    purity : float, default=0.985
        Balls below this share of their most frequent class are split.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start.
    membership : str, Membership or callable, default="sdap"
        How far a ball is trusted: "uniform", "fuzzy", "sdap", "evidence",
        "given", an instance from `granulearn.memberships`, or a function that
        takes a `BallSet` and returns one number in [0, 1] per ball. Memberships
        passed to `fit` as ``sample_membership`` overrule it: a ball then gets
        the mean of its samples'.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had column names.
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
    """

    def __init__(
        self,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        purity=0.985,
        min_ball_size=1,
        init="k-means++",
        membership="sdap",
        n_jobs=None,
    ):
        super().__init__(
            n_hidden, activation, C, random_state, class_weight,
            purity, min_ball_size, init, membership, n_jobs,
        )  # fmt: skip
