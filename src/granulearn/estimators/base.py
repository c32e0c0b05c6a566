"""The one `fit` and `predict` that every classifier of the family shares."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from granulearn.estimators.random_network import RandomNetwork
from granulearn.estimators.training_rows import (
    Samples,
    Seeds,
    TrainingRows,
    check_fit_samples,
    draw_seeds,
    sample_rows,
    with_class_weight,
)
from granulearn.network import FeatureMap, activation_names, one_hot


class BaseRVFLClassifier(ClassifierMixin, RandomNetwork, BaseEstimator, ABC):
    """Random features and a weighted closed-form ridge, on samples or on balls.

    Children change one stage each: `_rows` (what is regressed on), `_features`
    (what it is mapped to) or `_solve` (how output weights are found).
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

    @_fit_context(prefer_skip_nested_validation=True)
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
            How far each sample can be trusted, in [0, 1]. Ball models give each
            ball the mean of its samples', in place of their `membership`.

        Returns
        -------
        self
            The fitted classifier.
        """
        rows, seeds = self._prepare(X, y, sample_weight, sample_membership)
        self.features_ = self._features(rows, seeds)
        self.coef_ = self._output_weights(self.features_, rows)
        return self

    def predict(self, X):
        """Return the class of highest score for each row of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self._labels(self._scores(X))

    def decision_function(self, X):
        """Return the scores of the classes; for two classes their difference.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            The network's outputs, fitted to one for a sample's class and zero
            for the others. For two classes, positive means ``classes_[1]``.
        """
        return self._decisions(self._scores(X))

    def predict_proba(self, X):
        """Return class probabilities: the softmax of the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one. They rank classes as `predict` does, but scores
            lie near zero and one, so they are cautious, not calibrated.
        """
        return softmax(self._scores(X), axis=1)

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[scores.argmax(axis=1)]

    def _decisions(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _prepare(self, X, y, sample_weight, sample_membership) -> tuple[TrainingRows, Seeds]:
        """Do all of `fit` that n_hidden, activation and C have no part in."""
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        self.classes_, codes = _encode_labels(y)
        samples = check_fit_samples(X, codes, sample_weight, sample_membership)
        seeds = draw_seeds(self.random_state)
        rows = self._training_rows(samples, seeds)
        if rows.balls is not None:
            self.balls_, self.membership_ = rows.balls, rows.membership
        return rows, seeds

    def _training_rows(self, samples: Samples, seeds: Seeds) -> TrainingRows:
        """Return the weighted rows; they do not depend on n_hidden, activation or C."""
        return with_class_weight(self._rows(samples, seeds), self.class_weight, self.classes_)

    def _rows(self, samples: Samples, seeds: Seeds) -> TrainingRows:
        """Return what is regressed on: one row per sample."""
        return sample_rows(samples)

    def _output_weights(self, features: FeatureMap, rows: TrainingRows):
        Y = one_hot(rows.codes, len(self.classes_))
        present = np.flatnonzero(Y.any(axis=0))
        if len(present) == 1:
            return self._constant_weights(features, present[0])
        return self._solve(features, rows, Y)

    def _constant_weights(self, features: FeatureMap, code: int):
        """Return weights that score one for a class everywhere, and say so."""
        warnings.warn(
            f"all that is left to learn from has class {self.classes_.tolist()[code]!r}, so every "
            "prediction is that class. For a ball model, raise purity to get more balls.",
            UserWarning,
            stacklevel=2,
        )
        weights = np.zeros((features.n_columns, len(self.classes_)), dtype=features.dtype)
        weights[features.bias_column, code] = 1
        return weights


def _encode_labels(y) -> tuple[np.ndarray, np.ndarray]:
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class ({classes.tolist()[0]!r}), and a classifier needs two or "
            "more; check that y is the column of labels."
        )
    return classes, codes
