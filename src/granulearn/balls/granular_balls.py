"""GranularBalls: the ball engine as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from granulearn.balls.generation import balls_of_arrays
from granulearn.balls.input_checks import check_ball_parameters, check_samples


class GranularBalls(BaseEstimator):
    """Cover labelled samples with granular balls, and resample to their centres.

    A ball is split in two by 2-means until the share of its most frequent class
    reaches `purity`. The balls are a small summary of the data: train on their
    centres to save time, or look at them to see where the classes mix. With
    noisy labels most balls of a high `purity` hold one sample, so little is saved.

    Parameters
    ----------
    purity : float, default=0.985
        Balls below this purity are split.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 2 drops balls of one sample.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start.
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
        purity: float = 0.985,
        min_ball_size: int = 1,
        init: str = "k-means++",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
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
            Numbers, finite.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.

        Returns
        -------
        self
        """
        check_ball_parameters(self.purity, self.min_ball_size, self.init)
        X, y = check_samples(X, y, self)
        self.balls_ = balls_of_arrays(
            X,
            y,
            purity=self.purity,
            min_ball_size=self.min_ball_size,
            init=self.init,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.classes_ = self.balls_.classes
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the centres of the balls and their labels, in the types of X and y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, finite.
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
