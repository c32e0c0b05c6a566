"""Ball makers: known by name, given as an instance, or any function of the samples."""

from __future__ import annotations

import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import joblib
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController

from granulearn.balls.records import BallSet, Samples

T = TypeVar("T")
R = TypeVar("R")

DISTANCES_AT_ONCE = 1_000_000


class NamedScheme(BaseEstimator, ABC):
    """A family whose members users choose by name, as an instance, or as a function.

    A class that derives from this one directly is a family. Its subclasses are
    known by their `name`, if they have one.
    """

    name: ClassVar[str]
    _known: ClassVar[dict[str, Any]]
    _parameter_constraints: ClassVar[dict] = {}
    _saved: ClassVar[dict | None] = {}
    """Model files keep a member with its parameters, unless this is None."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if NamedScheme in cls.__bases__:
            cls._known = {}
        elif "name" in vars(cls):
            taken = cls._known.setdefault(cls.name, cls)
            # The same class again is a module that was loaded anew.
            if (taken.__module__, taken.__name__) != (cls.__module__, cls.__name__):
                raise TypeError(f"{cls.__name__}: the name {cls.name!r} is that of {taken!r}.")
            cls._known[cls.name] = cls

    @classmethod
    def resolve(cls, chosen: Any, parameter: str, wrap: type, example: str, **settings) -> Any:
        """Return the member that a name, an instance or a function stands for.

        Parameters
        ----------
        chosen : str, instance of the family, or callable
            What the user asked for.
        parameter : str
            What it was asked for by; for the message.
        wrap : type
            The member that calls a function.
        example : str
            An instance and what a function does; for the message.
        **settings
            Parameters of a member that is given by its name; those that it does
            not have are ignored.
        """
        if isinstance(chosen, cls):
            return chosen
        if isinstance(chosen, str) and chosen in cls._known:
            kind = cls._known[chosen]
            own = {name: settings[name] for name in settings if name in kind._get_param_names()}
            return kind(**own)
        if callable(chosen) and not isinstance(chosen, type):
            return wrap(chosen)
        raise ValueError(
            f"{parameter}={chosen!r} is not known: use one of {sorted(cls._known)}, {example}."
        )


class BallMaker(NamedScheme):
    """A way to cover samples with balls: call it with `Samples`, get a `BallSet`.

    Parameters live in the constructor, as in scikit-learn, so that makers can be
    cloned, printed and searched over (``balls__purity``). A new maker derives
    from this class, writes `_make`, and is known by its `name` if it has one.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.balls import BallMaker, balls_of_groups, generate_balls
    >>> class HalvesBalls(BallMaker):
    ...     def _make(self, samples, seed, n_threads):
    ...         right = samples.X[:, 0] > np.median(samples.X[:, 0])
    ...         return balls_of_groups(samples, right.astype(int))
    >>> generate_balls([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], balls=HalvesBalls())
    <BallSet: 2 balls of 4 samples, 1 features, 2 classes>
    """

    def __call__(
        self,
        samples: Samples,
        *,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> BallSet:
        """Make the balls.

        Parameters
        ----------
        samples : Samples
            Checked samples of one or more classes.
        random_state : int, RandomState or None, default=None
            The same number gives the same balls, whatever `n_jobs` is.
        n_jobs : int or None, default=None
            Threads for large data; None means 1 and -1 all cores.

        Returns
        -------
        BallSet
            Balls that cover the samples: each belongs to one of them.
        """
        self._validate_params()
        seed = int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))
        balls = self._make(samples, seed, effective_n_jobs(n_jobs))
        _check_made(balls, samples, self)
        return balls

    @abstractmethod
    def _make(self, samples: Samples, seed: int, n_threads: int) -> BallSet:
        """Return the balls; parameters are already checked."""


class CallableMaker(BallMaker):
    """A function of `Samples`, checked like every other maker.

    Parameters
    ----------
    function : callable
        Takes `Samples`, returns a `BallSet`. `balls_of_groups` makes a `BallSet`
        from the number of each sample's ball.
    """

    _parameter_constraints: ClassVar[dict] = {"function": [callable]}

    def __init__(self, function):
        self.function = function

    def _make(self, samples, seed, n_threads):
        return self.function(samples)


def maker_names() -> list[str]:
    """Return the names that `resolve_maker` knows, sorted.

    Examples
    --------
    >>> from granulearn.balls import maker_names
    >>> maker_names()
    ['gbg++', 'k-division', 'rd-gbg', 'two-means']
    """
    return sorted(BallMaker._known)


def resolve_maker(balls: str | BallMaker | Callable[[Samples], BallSet], **settings) -> BallMaker:
    """Return the maker that a name, an instance or a function stands for.

    Parameters
    ----------
    balls : str, BallMaker or callable
        A name of `maker_names`, an instance, or a function that takes `Samples`
        and returns a `BallSet`.
    **settings
        Parameters of a maker that is given by its name; those that it does not
        have are ignored.

    Returns
    -------
    BallMaker

    Examples
    --------
    >>> from granulearn.balls import resolve_maker
    >>> resolve_maker("two-means", purity=0.9)
    TwoMeansBalls(purity=0.9)
    """
    return BallMaker.resolve(
        balls,
        "balls",
        CallableMaker,
        "an instance such as TwoMeansBalls(purity=0.9), or a function that takes Samples and "
        "returns a BallSet",
        **settings,
    )


def make_balls(
    maker: BallMaker,
    samples: Samples,
    *,
    min_ball_size: int,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> BallSet:
    """Make balls and leave out the small ones; raise where none is left.

    Parameters
    ----------
    maker : BallMaker
        How balls are made.
    samples : Samples
        The samples that balls are made of.
    min_ball_size : int
        Balls with fewer samples are dropped.
    random_state, n_jobs
        As in the call of a maker.
    """
    check_min_ball_size(min_ball_size)
    balls = maker(samples, random_state=random_state, n_jobs=n_jobs)
    kept = balls.without_small(min_ball_size)
    if len(kept) == 0:
        raise ValueError(
            f"min_ball_size={min_ball_size} drops every ball: the largest of the {len(balls)} "
            f"balls holds {balls.counts.max()} samples; lower min_ball_size, or ask the maker for "
            "larger balls, for instance by a lower purity."
        )
    return kept


def check_min_ball_size(min_ball_size: int) -> None:
    """Raise unless the size is a whole number from one up."""
    if not isinstance(min_ball_size, Integral) or min_ball_size < 1:
        raise ValueError(
            f"min_ball_size={min_ball_size!r} must be a whole number from 1 up; "
            "1 keeps every ball, 2 drops the balls of one sample."
        )


def check_purity(purity: float) -> None:
    """Raise unless the purity lies in (0, 1]."""
    if not isinstance(purity, Real) or isinstance(purity, bool) or not 0 < purity <= 1:
        raise ValueError(f"purity={purity!r} must lie in (0, 1]; lower it to get fewer balls.")


def _check_made(balls: Any, samples: Samples, maker: BallMaker) -> None:
    """Raise unless a maker returned balls that cover the samples."""
    if not isinstance(balls, BallSet):
        raise TypeError(
            f"{maker!r} returned {type(balls).__name__}, and a ball maker returns a BallSet; "
            "balls_of_groups(samples, numbers) makes one of the number of each sample's ball."
        )
    problem = _wrong_array(balls, samples) or _wrong_content(balls, samples)
    if problem:
        raise ValueError(f"{maker!r} {problem}")


def _wrong_array(balls: BallSet, samples: Samples) -> str:
    """Return which array has another shape or type than it must have; empty if none has."""
    k, n_classes = len(balls), len(samples.classes)
    shapes = {
        "centers": (k, samples.X.shape[1]),
        "radii": (k,),
        "labels": (k,),
        "purities": (k,),
        "counts": (k,),
        "class_counts": (k, n_classes),
        "assignment": (len(samples),),
    }
    for name, shape in shapes.items():
        array = getattr(balls, name)
        if array.shape != shape:
            return (
                f"returned {name} of shape {array.shape}, and {shape} is needed for {k} balls of "
                f"{len(samples)} samples."
            )
        numbers = "f" if name in ("centers", "radii", "purities") else "iu"
        if array.dtype.kind not in numbers:
            wanted = "floats" if numbers == "f" else "whole numbers"
            return f"returned {name} of type {array.dtype}, and {wanted} are needed."
    return ""


def _wrong_content(balls: BallSet, samples: Samples) -> str:
    """Return what balls say that is not so, or cannot be used; empty if nothing is wrong."""
    if not (np.isfinite(balls.centers).all() and np.isfinite(balls.radii).all()):
        return "returned centres or radii that are not finite."
    if not np.array_equal(balls.classes, samples.classes):
        return f"returned classes {balls.classes.tolist()}, not those of the samples."
    n_lost = np.count_nonzero((balls.assignment < 0) | (balls.assignment >= len(balls)))
    if n_lost:
        return (
            f"loses {n_lost} of {len(samples)} samples: each must belong to one of the balls; "
            "min_ball_size drops balls afterwards."
        )
    if balls.labels.min() < 0 or balls.labels.max() >= len(samples.classes):
        return (
            f"returned labels from {balls.labels.min()} to {balls.labels.max()}, and they are "
            f"indices into the {len(samples.classes)} classes."
        )
    if not np.array_equal(balls.counts, np.bincount(balls.assignment, minlength=len(balls))):
        return "returned counts that are not those of its assignment."
    return ""


def balls_of_groups(samples: Samples, groups: Any) -> BallSet:
    """Return one ball per group of samples: its mean, its mean distance, its classes.

    Parameters
    ----------
    samples : Samples
        The samples.
    groups : array-like of shape (n_samples,)
        A whole number for each sample, the same for the samples of a ball. Balls
        are numbered in the order of these numbers.

    Returns
    -------
    BallSet

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.balls import balls_of_groups, generate_balls
    >>> def five_means(samples):
    ...     return balls_of_groups(samples, KMeans(5, random_state=0).fit_predict(samples.X))
    >>> X, y = load_iris(return_X_y=True)
    >>> generate_balls(X, y, balls=five_means)
    <BallSet: 5 balls of 150 samples, 4 features, 3 classes>
    """
    from granulearn.balls import _ball_kernels

    groups = np.asarray(groups)
    if groups.shape != (len(samples),) or groups.dtype.kind not in "iu":
        raise ValueError(
            f"groups must be one whole number for each of the {len(samples)} samples, got an "
            f"array of shape {groups.shape} and type {groups.dtype}."
        )
    order = np.argsort(groups, kind="stable")
    by_ball = groups[order]
    starts = np.flatnonzero(np.append(True, by_ball[1:] != by_ball[:-1]))
    k, scale = len(starts), power_of_two_scale(samples.X)
    bounds = np.append(starts, len(samples))
    rows = np.empty_like(samples.X)
    _ball_kernels.gather_rows(samples.X, np.arange(len(samples)), scale, rows)
    centers, radii = np.empty((k, rows.shape[1]), rows.dtype), np.empty(k, rows.dtype)
    class_counts = np.zeros((k, len(samples.classes)), np.int64)
    _ball_kernels.summarise_balls(rows, samples.codes, order, bounds, centers, radii, class_counts)
    return ball_set_of_parts(
        order, np.diff(bounds), centers, radii, class_counts, samples.classes, scale
    )


def ball_set_of_parts(
    order: np.ndarray,
    counts: np.ndarray,
    centers: np.ndarray,
    radii: np.ndarray,
    class_counts: np.ndarray,
    classes: np.ndarray,
    scale: float,
) -> BallSet:
    """Return balls as a `BallSet`, in the units of the samples.

    Parameters
    ----------
    order : ndarray of shape (n_samples,)
        Indices of the samples, ball by ball.
    counts : ndarray of shape (n_balls,)
        Number of samples of each ball.
    centers, radii, class_counts : ndarray
        As in `BallSet`, centres and radii multiplied by the scale.
    classes : ndarray of shape (n_classes,)
        The class values.
    scale : float
        Factor from `power_of_two_scale`.
    """
    assignment = np.empty(len(order), np.int64)
    assignment[order] = np.repeat(np.arange(len(counts)), counts)
    if scale != 1.0:
        with np.errstate(over="ignore"):  # a radius may be larger than its type can say
            centers, radii = centers / centers.dtype.type(scale), radii / radii.dtype.type(scale)
        radii = np.minimum(radii, np.finfo(radii.dtype).max)
    return BallSet(
        centers=centers,
        radii=radii,
        labels=class_counts.argmax(axis=1),
        purities=class_counts.max(axis=1) / counts,
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=classes,
    )


def ball_set_around(
    samples: Samples,
    assignment: np.ndarray,
    centers: np.ndarray,
    radii: np.ndarray,
    labels: np.ndarray,
) -> BallSet:
    """Return balls of given centres, radii and labels, with the samples assigned to them."""
    k, n_classes = len(centers), len(samples.classes)
    class_counts = np.bincount(assignment * n_classes + samples.codes, minlength=k * n_classes)
    class_counts = class_counts.reshape(k, n_classes)
    counts = class_counts.sum(axis=1)
    return BallSet(
        centers=centers.astype(samples.X.dtype, copy=False),
        radii=radii.astype(samples.X.dtype, copy=False),
        labels=labels.astype(np.int64, copy=False),
        purities=class_counts[np.arange(k), labels] / counts,
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=samples.classes,
    )


def nearest_balls(
    centers: np.ndarray,
    radii: np.ndarray,
    X: np.ndarray,
    n_neighbors: int = 1,
    n_threads: int = 1,
) -> np.ndarray:
    """Return the balls with the nearest surfaces to each row, of shape (n_rows, n_neighbors).

    The distance to a surface is that to the centre minus the radius. The nearest ball
    comes first, of equally near ones that with the smaller number.
    """
    if len(X) == 0:
        return np.empty((0, n_neighbors), np.int64)
    scale = min(power_of_two_scale(centers), power_of_two_scale(X))
    centers, radii = centers.astype(np.float64) * scale, radii.astype(np.float64) * scale
    step = max(1, DISTANCES_AT_ONCE // len(centers))

    def of_block(start: int) -> np.ndarray:
        away = cdist(X[start : start + step] * scale, centers) - radii
        found = np.empty((len(away), n_neighbors), np.int64)
        for k in range(n_neighbors):
            found[:, k] = away.argmin(axis=1)
            away[np.arange(len(away)), found[:, k]] = np.inf
        return found

    return np.concatenate(in_threads(of_block, range(0, len(X), step), n_threads))


def halves_of_widest_feature(X: np.ndarray) -> np.ndarray | None:
    """Return which rows are in the upper half of the widest feature; None if all are the same."""
    low, high = X.min(axis=0), X.max(axis=0)
    widest = (high - low).argmax()
    if high[widest] == low[widest]:
        return None
    middle = low[widest] + (high[widest] - low[widest]) / 2
    return X[:, widest] > (middle if middle < high[widest] else low[widest])


def power_of_two_scale(X: np.ndarray) -> float:
    """Return the factor that keeps squares of X from overflowing.

    It is a power of two, so that it can be undone exactly, and 1 for all but
    astronomically large or small values.
    """
    largest = max(float(X.max()), -float(X.min()))
    exponent, highest = int(np.frexp(largest)[1]), np.finfo(X.dtype).maxexp
    if abs(exponent) < highest // 4:
        return 1.0
    # The factor itself must be a number, and one with all its bits: of the smallest numbers
    # (denormal ones) the exact factor would be infinite.
    return float(np.ldexp(1.0, min(max(-exponent, 2 - highest), highest - 1)))


def scaled_rows(X: np.ndarray) -> np.ndarray:
    """Return X times its power-of-two scale; X itself, as a rule."""
    scale = power_of_two_scale(X)
    return X if scale == 1.0 else X * X.dtype.type(scale)


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return how many threads a number of jobs stands for, as joblib counts them.

    A worker of a pool of processes has one, without the warning of joblib: that is about
    processes, and here are none.
    """
    if multiprocessing.current_process().daemon:
        return 1
    return joblib.effective_n_jobs(n_jobs)


def in_threads(function: Callable[[T], R], items: Iterable[T], n_threads: int) -> list[R]:
    """Map a function over items in threads, in order; kernels release the interpreter lock."""
    items = list(items)
    if n_threads == 1 or len(items) == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))


def limited_threads(limit: int | None, user_api: str):
    """Return a context in which "blas" or "openmp" uses at most `limit` threads."""
    return _thread_pools().limit(limits=limit, user_api=user_api)


@cache
def _thread_pools() -> ThreadpoolController:
    # Looking for the loaded libraries costs milliseconds, so it is done once.
    return ThreadpoolController()
