"""Base of the random networks: the stages of `fit`, from checked samples to output weights."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from granulearn._sklearn_compat import Interval, StrOptions, fit_context
from granulearn.balls.ball_set import BallSet
from granulearn.rvfl.features import RandomFeatures, activation_names, draw_random_features
from granulearn.rvfl.ridge import FeatureMap, one_hot, predict_scores, solve_weighted_ridge
from granulearn.utils.estimator import DecisionClassifier, Estimator, Seeds, draw_seeds
from granulearn.utils.saved import LARGEST_COEF, Array, Part, require
from granulearn.utils.threads import threads_for
from granulearn.utils.validation import LARGEST_WEIGHT, Samples, check_samples


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of the regression: samples, or the centres of balls.

    They do not depend on the width, the activation or the penalty.
    """

    X: np.ndarray
    """(k, d) inputs."""
    codes: np.ndarray
    """(k,) class of each row."""
    weights: np.ndarray | None
    """(k,) weight of each row's squared error; None means one for each."""
    balls: BallSet | None = None
    membership: np.ndarray | None = None


class RandomNetwork(Estimator):
    """The stages of a network with one hidden layer, whatever its targets are.

    Rows have inputs ``X`` and ``weights``: `TrainingRows`, or `RegressionRows`.
    """

    n_hidden: Any
    activation: str
    C: float
    features_: Any
    coef_: Any

    _saved: ClassVar[dict] = {
        "features_": Part(RandomFeatures),
        "coef_": Array(
            "float64|complex128",
            ("features_.n_columns", "_n_outputs"),
            -LARGEST_COEF,
            LARGEST_COEF,
        ),
    }
    _direct_link: ClassVar[bool] = True

    def _check_saved(self) -> None:
        super()._check_saved()
        agree = self.features_.n_features == self.n_features_in_
        require(agree, f"features_ takes {self.features_.n_features} columns")
        agree = isinstance(self.coef_, list) or self.coef_.dtype == self.features_.dtype
        require(agree, "coef_ has another type than features_")

    def _features(self, rows: Any, seeds: Seeds) -> FeatureMap:
        """Return the map from rows to the columns of H."""
        return draw_random_features(
            rows.X.shape[1],
            self.n_hidden,
            self.activation,
            direct_link=self._direct_link,
            seed=seeds.network,
        )

    def _fit_rows(self, rows: Any, seeds: Seeds) -> None:
        """Draw the features and find the output weights."""
        widest = int(np.max(self.n_hidden)) if np.size(self.n_hidden) else 0
        with threads_for(len(rows.X), rows.X.shape[1] + widest):
            self.features_ = self._features(rows, seeds)
            self.coef_ = self._output_weights(self.features_, rows)

    def _solve(self, features: FeatureMap, rows: Any, Y: np.ndarray):
        """Return the output weights, of shape (n_columns, n_outputs)."""
        return solve_weighted_ridge(features, rows.X, Y, rows.weights, self.C)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return the network's outputs for checked inputs, of shape (n_samples, n_outputs)."""
        return predict_scores(self.features_, X, self.coef_)


class BaseRVFLClassifier(RandomNetwork, DecisionClassifier, ABC):
    """Random features and a weighted closed-form ridge, on samples or on balls.

    Subclasses change one stage each: `_rows` (the rows of the regression),
    `_features` (the columns they are mapped to) or `_solve` (how output weights
    are found).
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(activation_names()))],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    @abstractmethod
    def __init__(self, n_hidden, activation, C, random_state, class_weight):
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.random_state = random_state
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, sample_membership=None):
        """Fit the network in closed form.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        sample_membership : array-like of shape (n_samples,), default=None
            How far each sample can be trusted, in [0, 1]. A ball model gives each
            ball the mean over its samples, and ignores its parameter `membership`.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit_samples(self._check(X, y, sample_weight, sample_membership))

    def _check(self, X, y, sample_weight=None, sample_membership=None) -> Samples:
        """Check all that `fit` is given, once."""
        return check_samples(X, y, self, sample_weight, sample_membership)

    def _fit_samples(self, samples: Samples):
        """Fit to samples that are checked."""
        rows, seeds = self._prepare(samples)
        self._fit_rows(rows, seeds)
        return self

    def _prepare(self, samples: Samples) -> tuple[TrainingRows, Seeds]:
        """Do the part of the fit that does not depend on n_hidden, activation or C."""
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        seeds = draw_seeds(self.random_state)
        rows = self._rows(samples, seeds)
        if rows.balls is not None:
            self.balls_, self.membership_ = rows.balls, rows.membership
        return with_class_weight(rows, self.class_weight, self.classes_), seeds

    def _rows(self, samples: Samples, seeds: Seeds) -> TrainingRows:
        """Return the rows of the regression: one per sample of positive weight."""
        return sample_rows(samples.that_count())

    def _output_weights(self, features: FeatureMap, rows: TrainingRows):
        present = np.unique(rows.codes)
        if len(present) == 1:
            return self._constant_weights(features, present[0])
        return self._solve(features, rows, one_hot(rows.codes, len(self.classes_)))

    def _constant_weights(self, features: FeatureMap, code: int):
        """Return weights that give one class the score one everywhere, with a warning."""
        warnings.warn(
            f"all that is left to learn from has class {self.classes_.tolist()[code]!r}, so every "
            "prediction is that class. For a ball model, raise purity.",
            UserWarning,
            stacklevel=2,
        )
        weights = np.zeros((features.n_columns, len(self.classes_)), dtype=features.dtype)
        weights[features.bias_column, code] = 1
        return weights


def sample_rows(samples: Samples) -> TrainingRows:
    """Return one row per sample; a membership counts squared, as in the paper."""
    squares = None if samples.memberships is None else samples.memberships**2
    return TrainingRows(samples.X, samples.codes, multiply_weights(samples.weights, squares))


def multiply_weights(*factors: np.ndarray | None) -> np.ndarray | None:
    """Return the product of those factors that are not None; None when all are."""
    given = [factor for factor in factors if factor is not None]
    return np.prod(given, axis=0) if given else None


def with_class_weight(rows: TrainingRows, class_weight, classes: np.ndarray) -> TrainingRows:
    """Multiply each row's weight by that of its class."""
    if class_weight is None:
        return rows
    totals = np.bincount(rows.codes, rows.weights, minlength=len(classes))
    by_class = weight_of_each_class(class_weight, classes, totals)
    return replace(rows, weights=multiply_weights(rows.weights, by_class[rows.codes]))


def weight_of_each_class(class_weight, classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the factor on the weight of each class's rows.

    Parameters
    ----------
    class_weight : dict or "balanced"
        As the classifiers take it; "balanced" gives every class that has rows
        the same total weight.
    classes : ndarray of shape (n_classes,)
        The class labels.
    totals : ndarray of shape (n_classes,)
        Total weight of each class's rows.
    """
    if class_weight != "balanced":
        _check_class_weight(class_weight)
        by_class = compute_class_weight(class_weight, classes=classes, y=classes)
        if not by_class.any():
            raise ValueError(
                "class_weight is zero for every class, so nothing is left to learn from; "
                "at least some classes must have a positive weight."
            )
        return by_class
    present = totals > 0
    by_class = np.zeros(len(classes))
    by_class[present] = totals.sum() / (present.sum() * totals[present])
    return by_class


def _check_class_weight(class_weight: dict) -> None:
    """Raise for a weight that is no finite number, a negative or a huge one."""
    for label, weight in class_weight.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight <= LARGEST_WEIGHT:
            raise ValueError(
                f"class_weight must give numbers from 0 to {LARGEST_WEIGHT:g}, got {weight!r} for "
                f"class {label!r}; use 0 to leave a class out."
            )
