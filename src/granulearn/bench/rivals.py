"""Boosting of other packages, made fit for a study: it takes labels of any type."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags


class CodedLabelsClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of boosted trees that sees the labels as 0, 1, 2, ...

    Parameters
    ----------
    estimator : classifier
        To be cloned. Anything with ``fit``, ``predict_proba``, ``get_params`` and ``set_params``.
    random_state : int or None, default=None
        Seed of the estimator, set as ``seed`` for cleanlab, else as ``random_state``, which
        CatBoost takes without listing it among its parameters.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    estimator_ : classifier
        The fitted clone.
    """

    def __init__(self, estimator: Any, random_state: int | None = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> CodedLabelsClassifier:
        """Fit the estimator to coded labels.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features.
        y : ndarray of shape (n,)
            Labels of any type.

        Returns
        -------
        self
        """
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.estimator_ = clone(self.estimator)
        if self.random_state is not None:
            listed = self.estimator_.get_params(deep=False)
            name = "seed" if "seed" in listed and "random_state" not in listed else "random_state"
            self.estimator_.set_params(**{name: self.random_state})
        self.estimator_.fit(np.asarray(X), codes)
        return self

    def __sklearn_tags__(self) -> Tags:
        """Boosting takes missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Columns in the order of `classes_`.
        """
        return np.asarray(self.estimator_.predict_proba(X), dtype=float)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Labels as they were given.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
