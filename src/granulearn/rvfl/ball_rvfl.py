"""Random vector networks on weighted granular balls, and the mean of several of them."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from numbers import Integral
from typing import ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import HasMethods, Interval, fit_context, set_random_states
from granulearn.balls.ball_set import BallSet
from granulearn.balls.generators import (
    BallGenerator,
    balls_of_all_classes,
    mean_weights,
    resolve_generator,
    with_all_assigned,
)
from granulearn.balls.memberships import PrecomputedMembership, resolve_membership
from granulearn.rvfl.rvfl import BaseRVFLClassifier, TrainingRows, multiply_weights
from granulearn.utils.estimator import Abilities, DecisionClassifier, ScoreClassifier, Seeds
from granulearn.utils.saved import Part, require
from granulearn.utils.validation import Samples, check_samples


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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
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
        Balls with fewer samples are dropped. The paper's scripts use 2 here,
        which can drop every ball of a small class; that is an error.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.balls.membership_names`,
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
    counts them), zero is absence, and weights below one reduce the pull of a ball.

    References
    ----------
    M. Sajid, A. Quadir, M. Tanveer, "GB-RVFL: Fusion of Randomized Neural
    Network and Granular Ball Computing", Pattern Recognition 159 (2025).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.rvfl import GBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = GBRVFLClassifier(random_state=0).fit(X, y)
    >>> len(model.balls_) < 100, model.score(X, y) > 0.8
    (True, True)
    """

    _abilities = Abilities(
        command="gb-rvfl",
        summary="balls that all count the same",
        search="loo",
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

    def _generator(self) -> BallGenerator:
        return resolve_generator(self.balls, purity=self.purity, init=self.init)

    def _rows(self, samples: Samples, seeds: Seeds) -> TrainingRows:
        """Return one row per ball, weighted by its membership."""
        counting = samples.for_balls()
        balls = balls_of_all_classes(
            self._generator(), counting, self.min_ball_size, seeds.balls, self.n_jobs
        )
        rows = self._rows_of_balls(balls, counting, samples.classes)
        if not np.any(rows.membership):
            raise ValueError(
                f"{self.membership!r} gives every one of the {len(balls)} balls membership zero, "
                "so nothing is left to learn from; use another membership, for instance "
                "SDAPMembership(spread='rms')."
            )
        return replace(rows, balls=with_all_assigned(balls, counting))

    def _rows_of_balls(self, balls: BallSet, samples: Samples, classes: np.ndarray) -> TrainingRows:
        """Return one row per ball, with its code among some classes."""
        scheme = resolve_membership(self.membership)
        if samples.memberships is not None:
            scheme = PrecomputedMembership(samples.memberships)
        delta = scheme(balls, samples.X, samples.codes)
        codes = np.searchsorted(classes, balls.classes)[balls.labels]
        squares = None if (delta == 1).all() else delta**2
        weights = multiply_weights(mean_weights(balls, samples), squares)
        return TrainingRows(balls.centers, codes, weights, balls, delta)


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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: "two-means", "k-division", "gbg++" or "rd-gbg", a generator,
        or a function that takes the samples and returns a `BallSet`.
    purity : float, default=0.985
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is a name.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="fuzzy"
        How far a ball is trusted: a name of `granulearn.balls.membership_names`,
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
    A. Quadir, A. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
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
        search="loo",
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
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: "two-means", "k-division", "gbg++" or "rd-gbg", a generator,
        or a function that takes the samples and returns a `BallSet`.
    purity : float, default=0.985
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is a name.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="sdap"
        How far a ball is trusted: a name of `granulearn.balls.membership_names`,
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
    A. Quadir, A. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
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
        search="loo",
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


class BallEnsembleClassifier(ScoreClassifier):
    r"""Mean of ball classifiers that differ by their random draws alone.

    Where balls end and what hidden nodes see is a matter of chance. Members
    with partitions and nodes of their own are wrong in different places, and
    their mean is steadier than each. Use it to make any ball classifier more
    accurate at the price of several fits. Its weak point is that price, and
    that one model becomes many.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The member; it needs a ``decision_function``. None means
        `SDAPGBRVFLClassifier`.
    n_estimators : int, default=15
        Number of members.
    random_state : int, RandomState or None, default=None
        Draws the ``random_state`` of every member.
    n_jobs : int or None, default=None
        Members fitted at the same time, by threads; changes no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    estimators_ : list of classifiers
        The fitted members.

    Notes
    -----
    With the scores :math:`f_t` of the T members, the ensemble's are
    :math:`\frac1T \sum_t f_t`, and its probabilities their softmax. Weights and
    memberships of samples are passed to every member.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.rvfl import BallEnsembleClassifier, SDAPGBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> member = SDAPGBRVFLClassifier(activation="sine", C=100)
    >>> model = BallEnsembleClassifier(member, random_state=0).fit(X, y)
    >>> len(model.estimators_), model.score(X, y) > 0.9
    (15, True)
    """

    _abilities = Abilities()
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "decision_function"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, estimator=None, n_estimators=15, random_state=None, n_jobs=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    _saved: ClassVar[dict] = {"estimators_": Part(DecisionClassifier, many=list)}

    def _check_saved(self) -> None:
        super()._check_saved()
        require(self.estimators_, "estimators_ are none")
        for member in self.estimators_:
            self._check_agrees("estimators_", member)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None, sample_membership=None):
        """Fit every member.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        sample_membership : array-like of shape (n_samples,), default=None
            How far each sample can be trusted, in [0, 1].

        Returns
        -------
        self
            The fitted classifier.
        """
        samples = check_samples(X, y, self, sample_weight, sample_membership)
        given = {"sample_weight": samples.weights, "sample_membership": samples.memberships}
        given = {name: values for name, values in given.items() if values is not None}
        labels = samples.classes[samples.codes]
        prototype = SDAPGBRVFLClassifier() if self.estimator is None else self.estimator
        members = [clone(prototype) for _ in range(self.n_estimators)]
        stream = check_random_state(self.random_state)
        for member in members:
            set_random_states(member, stream)
        # Threads: the loops over balls and the linear algebra release the lock.
        self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(member.fit)(samples.X, labels, **given) for member in members
        )
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        return self

    def decision_function(self, X):
        """Return the mean of the members' scores; for two classes their difference.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes, positive means ``classes_[1]``.
        """
        return self._mean_decisions(self._checked(X))

    def _mean_decisions(self, X: np.ndarray) -> np.ndarray:
        # Scores are added in the order of the members, whichever is ready first, and as they come:
        # those of all members at once may be more than there is room for.
        each = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(member.decision_function)(X) for member in self.estimators_
        )
        return reduce(np.add, each) / len(self.estimators_)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return one score per class; for two classes, zero and the difference of their scores."""
        decisions = self._mean_decisions(X)
        if decisions.ndim == 2:
            return decisions
        return np.column_stack([np.zeros_like(decisions), decisions])
