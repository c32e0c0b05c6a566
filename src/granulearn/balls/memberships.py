"""Memberships: one number per ball, how far it can be trusted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import Interval, StrOptions
from granulearn.balls.ball_set import BallSet, power_of_two_scale
from granulearn.balls.generators import NamedScheme
from granulearn.utils.neighbors import nearest_others
from granulearn.utils.threads import effective_n_jobs
from granulearn.utils.validation import check_memberships

# Guards SDAPM against division by zero, at the same three places as in the authors' scripts.
EPSILON = 1e-8
# Keeps a class of identical points from dividing by zero; as in the authors' scripts.
RADIUS_FLOOR = 1e-5


class Membership(NamedScheme):
    """A scheme that rates balls: call it with a `BallSet`, get one number per ball.

    Parameters live in the constructor, as in scikit-learn, so that schemes can
    be cloned, printed and searched over (``membership__n_neighbors``). A new
    scheme derives from this class, writes `_rate`, and is known by its `name` if
    it has one.

    Examples
    --------
    >>> from granulearn import FGBRVFLClassifier
    >>> from granulearn.balls import Membership
    >>> class SizeMembership(Membership):
    ...     def _rate(self, balls, X, y):
    ...         return balls.counts / balls.counts.max()
    >>> model = FGBRVFLClassifier(membership=SizeMembership(), random_state=0)
    >>> model.fit([[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]).predict([[0.2], [4.9]])
    array([0, 1])
    """

    def __call__(
        self, balls: BallSet, X: np.ndarray | None = None, y: np.ndarray | None = None
    ) -> np.ndarray:
        """Rate the balls.

        Parameters
        ----------
        balls : BallSet
            The balls to rate.
        X : ndarray of shape (n_samples, n_features), optional
            The samples the balls were made of; only some schemes need them.
        y : ndarray of shape (n_samples,), optional
            The classes of those samples.

        Returns
        -------
        ndarray of shape (n_balls,)
            Memberships in [0, 1].
        """
        self._validate_params()
        balls, X = _of_squares_in_range(balls, X)
        return check_memberships(self._rate(balls, X, y), len(balls), type(self).__name__)

    @abstractmethod
    def _rate(self, balls: BallSet, X: np.ndarray | None, y: np.ndarray | None) -> np.ndarray:
        """Return one number per ball; parameters are already checked."""


def _of_squares_in_range(balls: BallSet, X: np.ndarray | None) -> tuple[BallSet, np.ndarray | None]:
    """Return balls and samples, made smaller where they are too large to be squared.

    Memberships compare distances with each other, so the unit of length is free.
    """
    points = balls.centers if X is None else np.asarray(X)
    scale = power_of_two_scale(points) if points.dtype.kind == "f" else 1.0
    if scale >= 1:
        return balls, X
    smaller = replace(balls, centers=balls.centers * scale, radii=balls.radii * scale)
    return smaller, None if X is None else points * scale


class CallableMembership(Membership):
    """A function of a `BallSet`, checked like every other scheme.

    A function that also needs the samples is better written as a subclass of
    `Membership`.

    Parameters
    ----------
    function : callable
        Takes a `BallSet`, returns one number in [0, 1] per ball.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.balls import CallableMembership
    >>> X = [[0.0], [0.1], [0.2], [3.0], [5.0], [5.1], [5.2]]
    >>> y = ["a", "a", "a", "a", "b", "b", "b"]
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> CallableMembership(lambda balls: balls.counts / balls.counts.max())(balls).round(2)
    array([1.  , 1.  , 0.33])
    """

    _parameter_constraints: ClassVar[dict] = {"function": [callable]}

    def __init__(self, function):
        self.function = function

    def _rate(self, balls, X, y):
        return self.function(balls)


def membership_names() -> list[str]:
    """Return the names that `resolve_membership` knows, sorted.

    Examples
    --------
    >>> from granulearn.balls import membership_names
    >>> membership_names()
    ['evidence', 'fuzzy', 'precomputed', 'sdap', 'uniform']
    """
    return sorted(Membership._known)


def resolve_membership(membership: str | Membership | Callable[[BallSet], np.ndarray]):
    """Return the scheme that a name, an instance or a function stands for.

    Parameters
    ----------
    membership : str, Membership or callable
        A name of `membership_names`, an instance, or a function that takes a
        `BallSet` and returns one number in [0, 1] per ball.

    Returns
    -------
    Membership

    Examples
    --------
    >>> from granulearn.balls import resolve_membership
    >>> resolve_membership("sdap")
    SDAPMembership()
    """
    return Membership.resolve(
        membership,
        "membership",
        CallableMembership,
        "an instance such as SDAPMembership(n_neighbors=5), or a function that takes a BallSet "
        "and returns one number per ball",
    )


class UniformMembership(Membership):
    """Trust every ball fully.

    The scheme of GB-RVFL: each ball counts the same, however pure, large or
    far from its class it is. Use it when labels are clean, or as the baseline
    for other schemes. Its weak point is that a ball made of wrong labels pulls
    as hard as any other.

    Examples
    --------
    >>> from granulearn.balls import UniformMembership
    >>> UniformMembership()
    UniformMembership()
    """

    name = "uniform"

    def _rate(self, balls, X, y):
        return np.ones(len(balls))


class PrecomputedMembership(Membership):
    """Give a ball the mean of the memberships that its samples came with.

    Use it when the trust in each sample is known from outside the model: an
    annotator's confidence, an audit, another model. Its weak point is that one
    doubtful sample in a large trusted ball is averaged away.

    Parameters
    ----------
    sample_membership : array-like of shape (n_samples,), default=None
        One number in [0, 1] per sample. Ball classifiers fill it in from
        ``fit(X, y, sample_membership=...)``, so ``membership="precomputed"`` needs
        no array here.

    Notes
    -----
    ``delta_i`` is the mean of `sample_membership` over the samples of ball i.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.balls import PrecomputedMembership
    >>> X = [[0.0], [0.1], [0.2], [3.0], [5.0], [5.1], [5.2]]
    >>> y = ["a", "a", "a", "a", "b", "b", "b"]
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> sure = [1.0, 1.0, 1.0, 0.2, 1.0, 1.0, 0.7]  # of each sample
    >>> PrecomputedMembership(sure)(balls).round(2)
    array([1. , 0.9, 0.2])
    """

    name = "precomputed"
    _saved = None  # it grows with the training rows

    def __init__(self, sample_membership=None):
        self.sample_membership = sample_membership

    def _rate(self, balls, X, y):
        if self.sample_membership is None:
            raise ValueError(
                "membership='precomputed' averages memberships of samples, but got none: pass "
                "fit(X, y, sample_membership=...) or PrecomputedMembership(sample_membership=...)."
            )
        n_samples = len(balls.assignment)
        values = check_memberships(self.sample_membership, n_samples, "sample_membership")
        # Rounding of the mean of values all equal to one may end above one.
        return balls.sample_mean(values).clip(0, 1)


class FuzzyMembership(Membership):
    r"""Trust a ball less the farther it lies from the centre of its class.

    The scheme of F-GBRVFL: a sample's membership falls linearly from one at
    its class mean to zero at the farthest sample of the class. Use it when
    each class is one cloud and wrong labels lie far out. Its weak point is a
    class of several clouds, or of any shape whose mean is empty: good samples
    far from the mean are then trusted least.

    Parameters
    ----------
    level : {"sample", "ball"}, default="sample"
        ``"sample"`` rates samples and averages over each ball, as in the
        paper; ``"ball"`` rates the ball centres, as in the authors' scripts,
        and needs no samples.

    Notes
    -----
    For a class with mean :math:`m` and radius :math:`R`, the largest distance
    of one of its points to :math:`m`,
    :math:`\mu(x) = 1 - \lVert x - m \rVert / (R + 10^{-5})`.

    References
    ----------
    A. Quadir, A. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
    Computing-Based Fuzzy Random Vector Functional Link Network", WCCI 2026.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.balls import FuzzyMembership
    >>> X = [[0.0], [0.1], [0.2], [3.0], [5.0], [5.1], [5.2]]
    >>> y = ["a", "a", "a", "a", "b", "b", "b"]
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> FuzzyMembership(level="ball")(balls).round(2)
    array([0., 1., 0.])
    >>> FuzzyMembership()(balls, X, y).round(2)
    array([0.67, 0.33, 0.  ])
    """

    name = "fuzzy"

    _parameter_constraints: ClassVar[dict] = {"level": [StrOptions({"sample", "ball"})]}

    def __init__(self, level="sample"):
        self.level = level

    def _rate(self, balls, X, y):
        if self.level == "ball":
            return _closeness_to_class(balls.centers, balls.labels)
        if X is None or y is None:
            raise ValueError(
                "FuzzyMembership(level='sample') rates samples, but got none: "
                "call it with X and y, or use level='ball'."
            )
        codes = np.unique(y, return_inverse=True)[1]
        return balls.sample_mean(_closeness_to_class(np.asarray(X), codes)).clip(0, 1)


def _closeness_to_class(points: np.ndarray, codes: np.ndarray) -> np.ndarray:
    distance = distance_to_own_class_mean(points, codes)
    return closeness(distance, codes, class_radii(distance, codes, codes.max() + 1))


def class_radii(distance: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the largest distance of each class; zero for a class without points."""
    radii = np.zeros(n_classes)
    np.maximum.at(radii, codes, distance)
    return radii


def closeness(distance: np.ndarray, codes: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return a number per point: one at the mean of its class, zero at the class radius."""
    return 1 - distance / (radii[codes] + RADIUS_FLOOR)


class SDAPMembership(Membership):
    r"""Trust a ball by its distance to the class centre, its neighbours and its size.

    The scheme of SDAP-GBRVFL (statistical density-adaptive Pythagorean): a ball
    near the centre of its class and among balls of its own class is trusted, and
    the larger the ball, the more its neighbours count. Use it when wrong
    labels sit among samples of another class. Its weak point is the dimension:
    the spread of *distances* shrinks as features are added, so memberships
    fall towards zero (about 0.02 at 10 features, 1e-6 at 30);
    ``spread="rms"`` is the sound variant.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of nearest other balls.
    closeness : {"scripts", "zhang-xu"}, default="scripts"
        ``"scripts"`` is the form of the authors' scripts, which trusts a ball that
        little is known about; ``"zhang-xu"`` is the closeness of Zhang and Xu.
        The paper has no formula.
    spread : {"std", "rms"}, default="std"
        ``"std"``: the standard deviation of the distances to the class centre,
        as in the paper. ``"rms"``: their root mean square. A class whose balls are
        all equally far from its centre, as any two balls are, has a standard
        deviation of zero and is always rated by the root mean square.

    Notes
    -----
    For ball i with centre :math:`c_i`, radius :math:`r_i` and class j of
    :math:`k_j` among k balls, with class centre :math:`C_j` and spread
    :math:`\sigma_j`:

    .. math::
        \mu_i &= \exp(-\lVert c_i - C_j \rVert^2
                 / (2 (\sigma_j \lambda_j)^2)), \lambda_j = \sqrt{k / k_j} \\
        \nu_i &= \sqrt{(1 - \mu_i^2) \, \mathrm{LSI}_i} \\
        \omega_i &= \exp(-r_i / \bar r) \\
        s_i &= \omega_i \mu_i + (1 - \omega_i) \theta_i

    :math:`\mathrm{LSI}_i` is the share of the nearest other balls with another
    label. The closeness :math:`\theta` is
    :math:`1 - \nu^2 / (2 - \mu^2 - \nu^2)` in the scripts and
    :math:`(1 - \nu^2) / (2 - \mu^2 - \nu^2)` after Zhang and Xu: less by
    :math:`\pi^2 / (1 + \pi^2)`, with :math:`\pi^2 = 1 - \mu^2 - \nu^2`.

    References
    ----------
    A. Quadir, A. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
    Computing-Based Fuzzy Random Vector Functional Link Network", WCCI 2026.

    X. Zhang, Z. Xu, "Extension of TOPSIS to Multiple Criteria Decision Making
    with Pythagorean Fuzzy Sets", Int. J. of Intelligent Systems 29 (2014).

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.balls import SDAPMembership
    >>> X = [[0.0], [0.1], [0.2], [3.0], [5.0], [5.1], [5.2]]
    >>> y = ["a", "a", "a", "a", "b", "b", "b"]
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> SDAPMembership(n_neighbors=1)(balls).round(2)
    array([0.94, 1.  , 0.72])
    """

    name = "sdap"

    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "closeness": [StrOptions({"scripts", "zhang-xu"})],
        "spread": [StrOptions({"std", "rms"})],
    }

    def __init__(self, n_neighbors=3, closeness="scripts", spread="std"):
        self.n_neighbors = n_neighbors
        self.closeness = closeness
        self.spread = spread

    def _rate(self, balls, X, y):
        lsi = local_dissimilarity(balls.centers, balls.labels, self.n_neighbors)
        return self.rate_by_dissimilarity(balls, lsi)

    def rate_by_dissimilarity(self, balls: BallSet, lsi: np.ndarray) -> np.ndarray:
        """Rate balls of which `local_dissimilarity` is known."""
        mu = _class_membership(balls.centers, balls.labels, self.spread)
        mu2 = mu**2
        nu2 = (1 - mu2) * lsi
        rest = 2 - mu2 - nu2 + EPSILON
        theta = 1 - nu2 / rest if self.closeness == "scripts" else (1 - nu2) / rest
        omega = np.exp(-balls.radii / (balls.radii.mean() + EPSILON))
        return (omega * mu + (1 - omega) * theta).clip(0, 1)


def _class_membership(centers: np.ndarray, labels: np.ndarray, spread: str) -> np.ndarray:
    distance = distance_to_own_class_mean(centers, labels)
    balls_of_class = np.maximum(np.bincount(labels), 1)
    rms = np.sqrt(np.bincount(labels, distance**2) / balls_of_class)
    sigma = rms
    if spread == "std":
        mean = np.bincount(labels, distance) / balls_of_class
        deviation = distance - mean[labels]
        std = np.sqrt(np.bincount(labels, deviation**2) / balls_of_class)
        # Balls may all be equally far from the centre, as any two are. A spread of zero
        # would rate the whole class zero, and the network would never see it.
        sigma = np.where(std > EPSILON * rms, std, rms)
    scale = (sigma + EPSILON) * np.sqrt(len(labels) / balls_of_class)
    # The quotient is squared, not its parts: their squares may leave the float range.
    return np.exp(-0.5 * (distance / scale[labels]) ** 2)


def local_dissimilarity(
    centers: np.ndarray,
    labels: np.ndarray,
    n_neighbors: int,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
) -> np.ndarray:
    """Return, per ball, the share of its nearest other balls with another label.

    Parameters
    ----------
    centers : ndarray of shape (n_balls, n_features)
        Centres of all balls.
    labels : ndarray of shape (n_balls,)
        Their labels.
    n_neighbors : int
        Number of nearest other balls; fewer where there are fewer.
    rows : ndarray of int, default=None
        The balls to answer for; None means all.
    among : ndarray of int, default=None
        The balls that count as neighbours; None means all.
    """
    own_labels = labels if rows is None else labels[rows]
    n_neighbors = min(n_neighbors, len(centers if among is None else among) - 1)
    if n_neighbors == 0 or len(own_labels) == 0:
        return np.zeros(len(own_labels))
    neighbors = nearest_others(centers, n_neighbors, rows, among)
    return np.mean(labels[neighbors] != own_labels[:, None], axis=1)


class EvidenceMembership(Membership):
    """Give a ball the mean quality of its samples' labels.

    A ball forest rates each label by the trees that did not see the sample, so
    a wrong label among many right ones is not trusted, wherever its class lies.
    Use it when labels may be wrong anywhere. Its weak points are its time,
    that of a forest, and classes of one sample, which nothing can rate.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of the forest.
    random_state : int, RandomState or None, default=0
        Seed of the forest. It is fixed by default, so that only the seed of a model
        changes its results.
    n_jobs : int or None, default=None
        Threads; they change no result.

    Notes
    -----
    The mean is over the samples whose quality is known. A ball without any
    is trusted fully: nothing speaks against it.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn import generate_balls
    >>> from granulearn.balls import EvidenceMembership
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> y[10] = 1  # a wrong label far from its class
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> trust = EvidenceMembership(n_estimators=20)(balls, X, y)
    >>> bool(trust[balls.assignment[10]] == trust.min())
    True
    """

    name = "evidence"

    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, n_estimators=100, random_state=0, n_jobs=None):
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rate(self, balls, X, y):
        if X is None or y is None:
            raise ValueError(
                "EvidenceMembership rates the labels of samples, but got none: "
                "call it with the X and y that the balls were made of."
            )
        # The forest is built on balls.
        from granulearn.forest.forest import grow_forest, label_quality
        from granulearn.forest.tree import ForestSettings

        X = np.ascontiguousarray(X)
        classes, codes = np.unique(y, return_inverse=True)
        seed = int(check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64))
        settings = ForestSettings(self.n_estimators, seed=seed)
        n_threads = effective_n_jobs(self.n_jobs)
        grown = grow_forest(X, codes, len(classes), settings, n_threads=n_threads)
        posterior = grown.forest.posterior(X, n_threads, grown.in_bag)
        return known_mean(balls, label_quality(posterior, codes))


def known_mean(balls, values: np.ndarray) -> np.ndarray:
    """Return each ball's mean of the values that are not NaN; one where all are."""
    known = ~np.isnan(values)
    share = balls.sample_mean(known.astype(float))
    total = balls.sample_mean(np.where(known, values, 0.0))
    mean = np.divide(total, share, out=np.ones(len(balls)), where=share > 0)
    return mean.clip(0, 1)  # rounding may end above one


def distance_to_own_class_mean(points: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return each point's distance to the mean of the points of its class."""
    counts = np.bincount(codes)
    means = class_means(class_sums(points, codes, len(counts)), counts)
    return distance_to_means(points, codes, means)


def class_sums(points: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the sum of each class's points, of shape (n_classes, n_features)."""
    one_per_row = np.arange(len(codes) + 1)
    shape = (len(codes), n_classes)
    belongs = sparse.csr_array((np.ones(len(codes)), codes, one_per_row), shape=shape)
    return belongs.T @ points


def class_means(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean of each class; zero for a class without points."""
    return sums / np.maximum(counts, 1)[:, None]


def distance_to_means(points: np.ndarray, codes: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return each point's distance to the given mean of its class."""
    return np.linalg.norm(points - means[codes], axis=1)
