"""Making balls: the function `generate_balls` and the estimator `GranularBalls`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from granulearn.balls.makers import make_balls, resolve_maker
from granulearn.balls.records import BallSet, Samples, check_samples


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
    balls : str, BallMaker or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.maker_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.985
        Balls below this purity are split. Used where `balls` is the name of a maker
        with a purity; an instance has its own.
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
    balls : str, BallMaker or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.maker_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.985
        Balls below this purity are split. Used where `balls` is the name of a maker
        with a purity; an instance has its own.
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
            resolve_maker(self.balls, purity=self.purity, init=self.init),
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
