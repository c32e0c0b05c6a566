"""Base of all membership schemes, with the class means and nearest neighbours that they use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from granulearn._sklearn_compat import openmp_threads
from granulearn.balls import BallSet
from granulearn.balls.makers import NamedScheme, limited_threads, power_of_two_scale
from granulearn.balls.records import check_memberships

# From this many queries per thread on, scikit-learn's brute-force search gives each
# thread its own queries. Below, each thread gets its own points, and threads decide ties.
QUERIES_PER_THREAD = 1024


class Membership(NamedScheme):
    """A scheme that rates balls: call it with a `BallSet`, get one number per ball.

    Parameters live in the constructor, as in scikit-learn, so that schemes can
    be cloned, printed and searched over (``membership__n_neighbors``). A new
    scheme derives from this class, writes `_rate`, and is known by its `name` if
    it has one.

    Examples
    --------
    >>> from granulearn import FGBRVFLClassifier
    >>> from granulearn.memberships import Membership
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
    >>> from granulearn.memberships import CallableMembership
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
    >>> from granulearn.memberships import membership_names
    >>> membership_names()
    ['evidence', 'fuzzy', 'given', 'sdap', 'uniform']
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
    >>> from granulearn.memberships import resolve_membership
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


def nearest_points(points: np.ndarray, queries: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the indices of the `n_neighbors` points nearest to each query."""
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
    useful_threads = max(1, (len(queries) - 1) // QUERIES_PER_THREAD)
    threads = min(useful_threads, openmp_threads())
    with limited_threads(threads, "openmp"):
        return search.kneighbors(queries, return_distance=False)


def nearest_others(
    points: np.ndarray,
    n_neighbors: int,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
) -> np.ndarray:
    """Return the indices of each point's nearest other points.

    A point is told from its duplicates by its index: among duplicates the
    first "neighbour" found need not be the point itself.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The points.
    n_neighbors : int
        How many to find for each.
    rows : ndarray of int, default=None
        Indices of the points to answer for; None means all.
    among : ndarray of int, default=None
        Indices of the points that may be found; None means all.
    """
    rows = np.arange(len(points)) if rows is None else rows
    among = np.arange(len(points)) if among is None else among
    found = among[nearest_points(points[among], points[rows], n_neighbors + 1)]
    is_self = found == rows[:, None]
    # The point itself may be missing: it has many duplicates, or is not one of `among`.
    is_self[~is_self.any(axis=1), -1] = True
    return found[~is_self].reshape(len(rows), n_neighbors)
