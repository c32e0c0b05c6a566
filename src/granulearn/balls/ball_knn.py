"""The nearest ball: classify by the surfaces of granular balls."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

import numpy as np

from granulearn._sklearn_compat import Interval, fit_context
from granulearn.balls.ball_set import BallSet, nearest_balls
from granulearn.balls.generators import balls_of_all_classes, resolve_generator, with_all_assigned
from granulearn.utils.estimator import Abilities, ScoreClassifier, draw_seeds
from granulearn.utils.saved import Part, require
from granulearn.utils.threads import effective_n_jobs
from granulearn.utils.validation import Samples, check_samples


class GranularBallKNNClassifier(ScoreClassifier):
    r"""Classify by the balls with the nearest surfaces.

    Samples are gathered into balls, and a new sample gets the class of the ball
    whose surface is nearest to it. Use it to see what balls are worth on their
    own: nothing is fitted beyond them, and a prediction is explained by pointing
    at a ball. Its weak points are wrong labels, since a ball of one sample repeats
    its label, balls of very different size, since a large one reaches
    over its neighbours, and features that are not scaled.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of balls that vote, each with its class frequencies; all balls
        where there are fewer.
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.generator_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.925
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is a name.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 1 keeps every ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    random_state : int, RandomState or None, default=None
        Draws the balls.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores. They change no result.

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

    Notes
    -----
    The distance of x to a ball with centre c and radius r is
    :math:`\lVert x - c \rVert - r`, which is negative inside the ball. A tie goes
    to the ball with the smaller number. The probability of a class is its mean
    share of the samples in the `n_neighbors` nearest balls, and the most
    probable class is predicted (ties: the class that sorts first).

    A prediction compares a row with every ball. A sample of weight w counts as round(w)
    samples, at least one: integer weights are repeated rows, zero is absence.
    The order of the samples does not matter.

    References
    ----------
    S. Xia, Y. Liu, X. Ding, G. Wang, H. Yu, Y. Luo, "Granular ball computing
    classifiers for efficient, scalable and robust learning", Information Sciences
    483 (2019).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.balls import GranularBallKNNClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = GranularBallKNNClassifier(random_state=0).fit(X, y)
    >>> len(model.balls_) < 100, model.score(X, y) > 0.9
    (True, True)
    """

    _abilities = Abilities(command="ball-knn", summary="the class of the nearest ball")
    _probability_form = "scores"
    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        # `granulearn.balls` checks these four; its messages say what each setting does.
        "balls": "no_validation",
        "purity": "no_validation",
        "min_ball_size": "no_validation",
        "init": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_neighbors=1,
        balls="two-means",
        purity=0.925,
        min_ball_size=1,
        init="k-means++",
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.balls = balls
        self.purity = purity
        self.min_ball_size = min_ball_size
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    _saved: ClassVar[dict] = {"balls_": Part(BallSet)}

    def _check_saved(self) -> None:
        super()._check_saved()
        # True passes for a number where parameters are checked, and is none to numpy.
        require(type(self.n_neighbors) is int, "n_neighbors is no number")
        balls = self.balls_
        agree = balls.centers.shape[1] == self.n_features_in_
        require(agree, f"balls_ have {balls.centers.shape[1]} columns")
        known = {*balls.classes.tolist()} <= {*self.classes_.tolist()}
        require(known, "balls_ know other classes")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Make the balls.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit_samples(check_samples(X, y, self, sample_weight))

    def _fit_samples(self, samples: Samples):
        """Fit to samples that are checked."""
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        generator = resolve_generator(self.balls, purity=self.purity, init=self.init)
        counting = samples.for_balls()
        balls = balls_of_all_classes(
            generator,
            counting,
            self.min_ball_size,
            draw_seeds(self.random_state).balls,
            self.n_jobs,
        )
        self.balls_ = with_all_assigned(balls, counting)
        return self

    def _scores(self, X):
        """Return the mean class probabilities of the balls with the nearest surfaces."""
        balls = self.balls_
        k = min(self.n_neighbors, len(balls))
        nearest = nearest_balls(balls.centers, balls.radii, X, k, effective_n_jobs(self.n_jobs))
        proba = self._class_proba()
        # Neighbour by neighbour: no array of rows times neighbours times classes is made.
        return sum(proba[numbers] for numbers in nearest.T) / k

    def _class_proba(self) -> np.ndarray:
        """Return the share of each class among the samples of each ball, (n_balls, n_classes)."""
        balls = self.balls_
        proba = np.zeros((len(balls), len(self.classes_)))
        known = np.searchsorted(self.classes_, balls.classes)
        proba[:, known] = balls.class_counts / balls.counts[:, None]
        return proba
