"""The robust classifier: the mean of an RVFL committee and a ball forest."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from granulearn.balls import Samples, check_samples
from granulearn.estimators.ball_forest import BallForestClassifier
from granulearn.estimators.committee import RVFLCommitteeClassifier
from granulearn.estimators.estimator import Abilities, DecisionClassifier, fit_part
from granulearn.network import one_hot


def best_share(first: np.ndarray, second: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> float:
    """Return the share of `second` in the weighted mean of least squared error.

    Parameters
    ----------
    first : ndarray of shape (n_samples, n_outputs)
        Predictions.
    second : ndarray of shape (n_samples, n_outputs)
        Other predictions; rows of NaN are left out.
    Y : ndarray of shape (n_samples, n_outputs)
        Targets.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.

    Returns
    -------
    float
        In [0, 1]; one half where both predict the same.
    """
    known = ~np.isnan(second).any(axis=1)
    step = (second - first)[known]
    squares = weights[known] @ np.square(step).sum(axis=1)
    if squares == 0:
        return 0.5
    gain = weights[known] @ (step * (Y - first)[known]).sum(axis=1)
    return float(np.clip(gain / squares, 0, 1))


class RobustGBRVFLClassifier(DecisionClassifier):
    r"""Classifier for labels that may be wrong: network and ball forest, averaged.

    The recommended default of the library and of ``granulearn fit``. An
    `RVFLCommitteeClassifier` learns smooth boundaries and a
    `BallForestClassifier` the local structure; both weigh evidence before they
    believe a label, and they err in different places. Nothing needs to be
    tuned. Its weak points are sets of many classes with clean labels, where
    boosted trees are better, and the price of two models.

    Parameters
    ----------
    mix : float or "auto", default=0.5
        Share of the ball forest, in [0, 1]; 0 is the committee alone. "auto"
        goes half way from one half to the share of least squared error on the
        training samples, each predicted by networks and trees that did not see it.
    forest : estimator or None, default=None
        Classifier with ``predict_proba`` in the place of the ball forest; None
        means `BallForestClassifier` with the settings below.
    n_trees : int, default=100
        Trees of the ball forest.
    n_layers : int, default=10
        Random layers of the committee.
    n_hidden : int, default=203
        Hidden nodes of each layer.
    random_state : int, RandomState or None, default=None
        Draws the trees and, independently of them, the hidden nodes.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples, in both parts, but not
        in a `forest` that was passed, which has its own settings.
    n_jobs : int or None, default=None
        Threads of the ball forest; they change no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    mix_ : float
        The share of the ball forest that is used.
    committee_ : RVFLCommitteeClassifier
        The fitted networks.
    forest_ : BallForestClassifier
        The fitted forest, or what was passed in its place.
    reliability_ : ndarray of shape (n_samples,)
        The ball forest's out-of-bag probability of each given label; NaN where
        it cannot be known. Absent when `forest` was passed.

    Notes
    -----
    The score of a class is (1 - `mix_`) times the committee's output plus `mix_`
    times the forest's posterior; probabilities are these scores with negative
    ones set to zero, scaled to sum to one.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.datasets import flip_labels
    >>> from granulearn.estimators import RobustGBRVFLClassifier
    >>> X, y = make_moons(600, noise=0.2, random_state=0)
    >>> noisy, _ = flip_labels(y[:300], 0.3, random_state=0)
    >>> model = RobustGBRVFLClassifier(random_state=0).fit(X[:300], noisy)
    >>> model.score(X[300:], y[300:]) > 0.9
    True
    """

    _abilities = Abilities(
        command="robust",
        summary="ball-forest and rvfl-committee averaged; for labels that may be wrong",
        onnx="committee and forest",
    )
    _probability_form = "positive part"
    _parameter_constraints: ClassVar[dict] = {
        "mix": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "forest": [HasMethods(["fit", "predict_proba"]), None],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "n_layers": [Interval(Integral, 1, None, closed="left")],
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        mix=0.5,
        forest=None,
        n_trees=100,
        n_layers=10,
        n_hidden=203,
        random_state=None,
        class_weight=None,
        n_jobs=None,
    ):
        self.mix = mix
        self.forest = forest
        self.n_trees = n_trees
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit both parts.

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
        """Fit both parts to samples that are checked."""
        if self.mix == "auto" and self.forest is not None:
            raise ValueError(
                "mix='auto' looks at the ball forest's out-of-bag predictions, and another forest "
                "was passed; pass a number in [0, 1] as mix."
            )
        network_seed, forest_seed = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        committee = RVFLCommitteeClassifier(
            n_layers=self.n_layers,
            n_hidden=self.n_hidden,
            random_state=int(network_seed),
            class_weight=self.class_weight,
        )
        self.committee_ = fit_part(committee, samples)
        self.forest_ = fit_part(self._new_forest(int(forest_seed)), samples)
        if self.forest is None:
            self.reliability_ = self.forest_.reliability_
        self.mix_ = self._chosen_mix(samples) if self.mix == "auto" else self.mix
        return self

    def _chosen_mix(self, samples: Samples) -> float:
        weights = np.ones(len(samples)) if samples.weights is None else samples.weights
        Y = one_hot(samples.codes, len(samples.classes)).astype(float)
        best = best_share(self.committee_.loo_proba_, self.forest_.oob_proba_, Y, weights)
        return (0.5 + best) / 2

    def _new_forest(self, seed: int):
        if self.forest is None:
            return BallForestClassifier(
                n_trees=self.n_trees,
                random_state=seed,
                class_weight=self.class_weight,
                n_jobs=self.n_jobs,
            )
        forest = clone(self.forest)
        known = forest.get_params()
        if "random_state" in known and known["random_state"] is None:
            forest.set_params(random_state=seed)
        return forest

    def _scores(self, X):
        """Return the weighted mean of both parts; scores sum to one over the classes."""
        committee = self.committee_._scores(X)
        return (1 - self.mix_) * committee + self.mix_ * self.forest_.predict_proba(X)
