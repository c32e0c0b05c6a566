"""Models of other packages, made fit for a study: any labels, early stopping, quick tuning."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split


class CodedLabelsClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that sees the labels as 0, 1, 2, ...; XGBoost takes no others.

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
        self._fit_model(np.asarray(X), codes)
        return self

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
        shares = np.asarray(self.estimator_.predict_proba(X), dtype=float)
        # XGBoost answers in single precision, in which sums are not quite one.
        return shares / shares.sum(axis=1, keepdims=True)

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

    def _fit_model(self, X: np.ndarray, codes: np.ndarray) -> None:
        self.estimator_.fit(X, codes)


class EarlyStoppedClassifier(CodedLabelsClassifier):
    """Boosting that stops when rows held out of its training part get no better.

    The estimator states how long it waits (``early_stopping_round`` of LightGBM,
    ``early_stopping_rounds`` of XGBoost and CatBoost) and takes ``eval_set`` in ``fit``.
    The rows held out have labels as wrong as the others: there are no better ones.

    Parameters
    ----------
    estimator : classifier
        As for `CodedLabelsClassifier`.
    held_out : float, default=0.1
        Share of the training rows that only says when to stop, with the shares of the
        classes kept.
    random_state : int or None, default=None
        Seed of the rows held out and of the estimator.
    """

    def __init__(
        self, estimator: Any, held_out: float = 0.1, random_state: int | None = None
    ) -> None:
        super().__init__(estimator, random_state)
        self.held_out = held_out

    def _fit_model(self, X: np.ndarray, codes: np.ndarray) -> None:
        X_fit, X_held, fit_codes, held_codes = train_test_split(
            X, codes, test_size=self.held_out, stratify=codes, random_state=self.random_state
        )
        # LightGBM from 4.7 on has other names for what all others call eval_set.
        if "eval_X" in signature(self.estimator_.fit).parameters:
            self.estimator_.fit(X_fit, fit_codes, eval_X=X_held, eval_y=held_codes)
        else:
            self.estimator_.fit(X_fit, fit_codes, eval_set=[(X_held, held_codes)])


class ForestChosenOutOfBag(ClassifierMixin, BaseEstimator):
    """The random forest with the best out-of-bag score among several sizes of leaves.

    A forest is fitted once for each size of its leaves. Five-fold cross-validation
    fits six times as many to choose among the same.

    Parameters
    ----------
    leaves : sequence of int, default=(1, 5)
        Fewest samples of a leaf, one number for each forest. Of equally good forests the
        first is kept.
    n_estimators : int, default=100
        Trees of each forest.
    random_state : int or None, default=None
        Seed of each forest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    forest_ : RandomForestClassifier
        The forest that was kept.
    """

    def __init__(
        self,
        leaves: Sequence[int] = (1, 5),
        n_estimators: int = 100,
        random_state: int | None = None,
    ) -> None:
        self.leaves = leaves
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> ForestChosenOutOfBag:
        """Fit the forests and keep one.

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
        forests = [
            RandomForestClassifier(
                self.n_estimators,
                min_samples_leaf=size,
                oob_score=True,
                random_state=self.random_state,
            ).fit(X, y)
            for size in self.leaves
        ]
        self.forest_ = max(forests, key=lambda forest: forest.oob_score_)
        self.classes_ = self.forest_.classes_
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, as the forest that was kept gives them.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Columns in the order of `classes_`.
        """
        return self.forest_.predict_proba(X)

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
        return self.forest_.predict(X)
