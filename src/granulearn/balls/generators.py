"""Generators of balls: known by name, given as an instance, or any function of the samples."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from granulearn.balls.ball_set import BallSet
from granulearn.utils.threads import effective_n_jobs
from granulearn.utils.validation import Samples, check_samples


class NamedScheme(BaseEstimator, ABC):
    """A family whose members users choose by name, as an instance, or as a function.

    A class that derives from this one directly is a family. Its subclasses are
    known by their `name`, if they have one.
    """

    name: ClassVar[str]
    _saved: ClassVar[dict | None] = {}
    """Model files keep a member with its parameters, unless this is None."""
    _known: ClassVar[dict[str, Any]]
    _parameter_constraints: ClassVar[dict] = {}

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


class BallGenerator(NamedScheme):
    """A way to cover samples with balls: call it with `Samples`, get a `BallSet`.

    Parameters live in the constructor, as in scikit-learn, so that generators can be
    cloned, printed and searched over (``balls__purity``). A new generator derives from
    this class, writes `_generate`, and is known by its `name` if it has one.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.balls import BallGenerator, balls_from_labels, generate_balls
    >>> class HalvesBalls(BallGenerator):
    ...     def _generate(self, samples, seed, n_threads):
    ...         right = samples.X[:, 0] > np.median(samples.X[:, 0])
    ...         return balls_from_labels(samples, right.astype(int))
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
        balls = self._generate(samples, seed, effective_n_jobs(n_jobs))
        _check_generated(balls, samples, self)
        return balls

    @abstractmethod
    def _generate(self, samples: Samples, seed: int, n_threads: int) -> BallSet:
        """Return the balls; parameters are already checked."""


class CallableGenerator(BallGenerator):
    """A function of `Samples`, checked like every other generator.

    Parameters
    ----------
    function : callable
        Takes `Samples`, returns a `BallSet`. `balls_from_labels` makes a `BallSet`
        from the number of each sample's ball.
    """

    _parameter_constraints: ClassVar[dict] = {"function": [callable]}
    _saved = None

    def __init__(self, function):
        self.function = function

    def _generate(self, samples, seed, n_threads):
        return self.function(samples)


def generator_names() -> list[str]:
    """Return the names of the generators, sorted."""
    return sorted(BallGenerator._known)


def resolve_generator(
    balls: str | BallGenerator | Callable[[Samples], BallSet], **settings
) -> BallGenerator:
    """Return the generator that a name, an instance or a function stands for.

    Settings are parameters of a generator that is given by its name; those that it does
    not have are ignored.
    """
    return BallGenerator.resolve(
        balls,
        "balls",
        CallableGenerator,
        "an instance such as TwoMeansBalls(purity=0.9), or a function that takes Samples and "
        "returns a BallSet",
        **settings,
    )


def make_balls(
    generator: BallGenerator,
    samples: Samples,
    *,
    min_ball_size: int,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> BallSet:
    """Make balls and leave out the small ones; raise where none is left."""
    check_min_ball_size(min_ball_size)
    balls = generator(samples, random_state=random_state, n_jobs=n_jobs)
    kept = balls.without_small(min_ball_size)
    if len(kept) == 0:
        raise ValueError(
            f"min_ball_size={min_ball_size} drops every ball: the largest of the {len(balls)} "
            f"balls holds {balls.counts.max()} samples; lower min_ball_size or purity."
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


def _check_generated(balls: Any, samples: Samples, generator: BallGenerator) -> None:
    """Raise unless a generator returned balls that cover the samples."""
    if not isinstance(balls, BallSet):
        raise TypeError(
            f"{generator!r} returned {type(balls).__name__}, not a BallSet; "
            "balls_from_labels(samples, numbers) makes one of the number of each sample's ball."
        )
    k, n_classes = len(balls), len(samples.classes)
    wanted = {
        "centers": ("f", (k, samples.X.shape[1])),
        "radii": ("f", (k,)),
        "labels": ("iu", (k,)),
        "purities": ("f", (k,)),
        "counts": ("iu", (k,)),
        "class_counts": ("iu", (k, n_classes)),
        "assignment": ("iu", (len(samples),)),
    }
    for name, (kinds, shape) in wanted.items():
        array = getattr(balls, name)
        if array.shape != shape or array.dtype.kind not in kinds:
            numbers = "floats" if kinds == "f" else "whole numbers"
            raise ValueError(
                f"{generator!r} returned {name} of type {array.dtype} and shape {array.shape}; "
                f"{k} balls of {len(samples)} samples need {numbers} of shape {shape}."
            )
    lost = np.count_nonzero((balls.assignment < 0) | (balls.assignment >= k))
    if lost:
        raise ValueError(
            f"{generator!r} loses {lost} of {len(samples)} samples: each must belong to one of the "
            "balls; min_ball_size drops balls afterwards."
        )
    problems = {
        "centres or radii that are not finite": not (
            np.isfinite(balls.centers).all() and np.isfinite(balls.radii).all()
        ),
        f"classes {balls.classes.tolist()}, not those of the samples": not np.array_equal(
            balls.classes, samples.classes
        ),
        f"labels that are no indices into the {n_classes} classes": balls.labels.min() < 0
        or balls.labels.max() >= n_classes,
        "counts that are not those of its assignment": not np.array_equal(
            balls.counts, np.bincount(balls.assignment, minlength=k)
        ),
    }
    for problem, found in problems.items():
        if found:
            raise ValueError(f"{generator!r} returned {problem}.")


def balls_of_all_classes(
    generator: BallGenerator, samples: Samples, min_ball_size: int, seed: int, n_jobs: int | None
) -> BallSet:
    """Make balls to learn from; see `check_classes_kept` for classes that have none."""
    balls = make_balls(
        generator, samples, min_ball_size=min_ball_size, random_state=seed, n_jobs=n_jobs
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
            "predicted; raise purity, or choose a generator of smaller balls.",
            UserWarning,
            stacklevel=2,
        )


def mean_weights(balls: BallSet, samples: Samples) -> np.ndarray | None:
    """Return each ball's mean of min(weight, 1) over its samples; None if there are no weights."""
    if samples.weights is None:
        return None
    return balls.sample_mean(np.minimum(samples.weights, 1))


def with_all_assigned(balls: BallSet, samples: Samples) -> BallSet:
    """Return the balls with one assignment per sample passed to `fit`."""
    assignment = np.full(samples.n_passed, -1)
    assignment[samples.positions] = balls.assignment
    return replace(balls, assignment=assignment)


def generate_balls(
    X: Any,
    y: Any,
    *,
    balls: Any = "two-means",
    purity: float = 0.985,
    min_ball_size: int = 1,
    init: str = "k-means++",
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> BallSet:
    """Cover labelled samples with granular balls.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite numbers; float32 stays float32. Never modified.
    y : array-like of shape (n_samples,)
        Labels of two or more classes.
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: "two-means", "k-division", "gbg++" or "rd-gbg", a generator,
        or a function that takes the samples and returns a `BallSet`.
    purity : float, default=0.985
        Balls below this purity are split. Used where `balls` is a name; an
        instance has its own.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 2 drops balls of one sample.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    random_state : int, RandomState or None, default=None
        The same number gives the same balls, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads for large data; None means 1 and -1 all cores.

    Returns
    -------
    BallSet

    See Also
    --------
    granulearn.GranularBalls : The same as an estimator.
    granulearn.BallSet : What is returned.
    granulearn.bench.plot_balls : Draws it.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> balls = generate_balls(X, ["a", "a", "a", "b", "b", "b"], random_state=0)
    >>> balls
    <BallSet: 2 balls of 6 samples, 1 features, 2 classes>
    >>> balls.assignment[:3] == balls.assignment[0]
    array([ True,  True,  True])
    """
    return GranularBalls(
        balls=balls,
        purity=purity,
        min_ball_size=min_ball_size,
        init=init,
        random_state=random_state,
        n_jobs=n_jobs,
    )._balls_of(check_samples(X, y))


class GranularBalls(BaseEstimator):
    """Cover labelled samples with granular balls, and resample to their centres.

    The balls are a small summary of the data: train on their centres to save time,
    or look at them to see where the classes mix. With noisy labels most balls of a
    high `purity` hold one sample, so little is saved.

    Parameters
    ----------
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: "two-means", "k-division", "gbg++" or "rd-gbg", a generator,
        or a function that takes the samples and returns a `BallSet`.
    purity : float, default=0.985
        Balls below this purity are split. Used where `balls` is a name; an
        instance has its own.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 2 drops balls of one sample.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    random_state : int, RandomState or None, default=None
        The same number gives the same balls, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads for large data; None means 1 and -1 all cores.

    Attributes
    ----------
    balls_ : BallSet
        The balls of the samples seen by `fit`.
    classes_ : ndarray of shape (n_classes,)
        The class values, sorted.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names that are all strings.

    See Also
    --------
    generate_balls : The same as a function.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn import GranularBalls
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> centers, labels = GranularBalls(purity=0.95, random_state=0).fit_resample(X, y)
    >>> len(X), len(centers) < 20, list(centers.columns) == list(X.columns)
    (150, True, True)
    """

    def __init__(
        self,
        *,
        balls: Any = "two-means",
        purity: float = 0.985,
        min_ball_size: int = 1,
        init: str = "k-means++",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.balls = balls
        self.purity = purity
        self.min_ball_size = min_ball_size
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> GranularBalls:
        """Make the balls of labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.

        Returns
        -------
        self
        """
        self.balls_ = self._balls_of(check_samples(X, y, self))
        self.classes_ = self.balls_.classes
        return self

    def _balls_of(self, samples: Samples) -> BallSet:
        return make_balls(
            resolve_generator(self.balls, purity=self.purity, init=self.init),
            samples,
            min_ball_size=self.min_ball_size,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the centres of the balls and their labels, in the types of X and y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.

        Returns
        -------
        centers : ndarray or DataFrame of shape (n_balls, n_features)
        labels : ndarray or Series of shape (n_balls,)
        """
        self.fit(X, y)
        centers = self.balls_.centers
        labels = self.classes_[self.balls_.labels]
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            centers = type(X)(centers, columns=X.columns)
        if hasattr(y, "iloc") and getattr(y, "ndim", 0) == 1:
            labels = type(y)(labels, name=y.name).astype(y.dtype)
        return centers, labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
