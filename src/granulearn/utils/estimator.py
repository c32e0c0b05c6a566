"""Base of all estimators: each states its abilities; classifiers turn scores into answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from granulearn.utils.saved import Array, Labels, Size, check_thread_count, require
from granulearn.utils.validation import LARGEST_WEIGHT, weight_of_each_class

# Each row has a score for each class, so that a short file with many classes would take any amount
# of memory. Models of thousands of classes are sensible; with more than this, a thousand rows
# have 400 MB of scores.
MOST_CLASSES = 50_000


@dataclass(frozen=True)
class Abilities:
    """Abilities that a class states for other parts of the library."""

    command: str = ""
    """Name of the model on the command line; empty if it is not offered there."""
    summary: str = ""
    """Description of the model in the list of the command line."""
    search: str = ""
    """How `PathSearchCV` works in closed form: not at all (""), candidates of a grid share work
    ("cv"), or each row is left out, too ("loo")."""


NO_ABILITIES = Abilities()


class Seeds(NamedTuple):
    """Seeds of independent streams: the draws of one stage change no other stage."""

    network: int
    balls: int


def draw_seeds(random_state) -> Seeds:
    """Derive the seeds of all stages from the `random_state` of the user."""
    return Seeds(*check_random_state(random_state).randint(2**31 - 1, size=2).tolist())


class Estimator(BaseEstimator):
    """Base of all estimators.

    Each class states its own `_abilities`. A subclass may change any stage, so
    it inherits none of them: it is treated as any other estimator until it states
    its own.
    """

    _abilities: ClassVar[Abilities] = NO_ABILITIES
    _saved: ClassVar[dict] = {
        "n_features_in_": Size,
        "feature_names_in_": Labels(ordered=False, optional=True),
    }

    classes_: np.ndarray
    n_features_in_: int

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "_abilities" not in vars(cls):
            cls._abilities = NO_ABILITIES

    def _check_saved(self) -> None:
        self._validate_params()
        check_thread_count(self)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            known = names.dtype == object and len({*names}) == len(names) == self.n_features_in_
            require(known, "feature_names_in_ are not one name for each column")

    @property
    def _n_outputs(self) -> int:
        """Number of scores of each row."""
        return len(self.classes_)

    @property
    def _n_inputs(self) -> int:
        """Number of inputs of each row, as numbers."""
        return self.n_features_in_

    def _check_agrees(self, name: str, part: Any) -> None:
        """Raise unless a part takes the inputs, and knows the same classes."""
        agree = part.n_features_in_ == self._n_inputs
        require(agree, f"{name} takes {part.n_features_in_} columns")
        require(np.array_equal(part.classes_, self.classes_), f"{name} knows other classes")

    def _checked(self, X: Any) -> np.ndarray:
        """Return the inputs of a prediction, checked."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")


class ScoreClassifier(ClassifierMixin, Estimator, ABC):
    """A classifier that gives each class a score; subclasses write `_scores`."""

    _saved: ClassVar[dict] = {
        "classes_": Labels(),
        "class_cost_": Array("float64", ("_n_outputs",), 0, LARGEST_WEIGHT, optional=True),
    }
    class_cost: Any = None
    class_cost_: np.ndarray | None = None
    """Cost of an error in the rows of each class; for classes with the parameter `class_cost`."""
    _probability_form: ClassVar[str] = "softmax"
    """How scores become probabilities: "softmax", "positive part", "temperature" or "scores"."""

    def _check_saved(self) -> None:
        super()._check_saved()
        n_classes = len(self.classes_)
        message = f"it has {n_classes} classes, and a model file may have {MOST_CLASSES}; join some"
        require(n_classes <= MOST_CLASSES, message)

    def predict(self, X):
        """Return the class of highest score, or of least expected cost, for each row of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self._labels(self._scores(self._checked(X)))

    def predict_proba(self, X):
        """Return class probabilities, made of the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one; without costs of errors, the highest is that of `predict`.
        """
        return self._probabilities(self._scores(self._checked(X)))

    def _fit_class_cost(self, proba: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> None:
        """Set the cost of each class; "balanced" divides by its mean out-of-sample probability."""
        self.class_cost_ = None
        if self.class_cost is not None:
            # The share of the labels would do for calibrated probabilities; those of a class of
            # few rows are too high.
            lost = np.isnan(proba).any(axis=1)  # every tree saw them
            totals = np.bincount(codes[lost], weights[lost], minlength=len(self.classes_))
            totals = totals + weights[~lost] @ proba[~lost]
            arguments = self.class_cost, self.classes_, totals, "class_cost"
            self.class_cost_ = weight_of_each_class(*arguments)

    @abstractmethod
    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return one score per class for rows that are checked, of shape (n_rows, n_classes)."""

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[self._compared(scores).argmax(axis=1)]

    def _compared(self, scores: np.ndarray) -> np.ndarray:
        """Return what `predict` compares: scores, or what not to predict a class would cost."""
        cost = self.class_cost_
        return scores if cost is None else self._probabilities(scores) * cost

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if self._probability_form == "softmax":
            return softmax(scores, axis=1)
        return positive_part(scores) if self._probability_form == "positive part" else scores


class DecisionClassifier(ScoreClassifier):
    """A classifier whose scores are a decision function too."""

    def decision_function(self, X):
        """Return the scores of the classes; for two classes their difference.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            The higher the score, the more a class is believed. For two classes,
            positive means ``classes_[1]``. With costs of errors, the scores are
            probabilities times costs: `predict` has the same threshold.
        """
        return self._decisions(self._compared(self._scores(self._checked(X))))

    def _decisions(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


def positive_part(scores: np.ndarray) -> np.ndarray:
    """Return probabilities that rank classes as the scores do; the scores must sum to one."""
    positive = np.maximum(scores, 0)
    sums = positive.sum(axis=1, keepdims=True)
    nothing = sums[:, 0] == 0
    if nothing.any():
        # Only scores that do not sum to one can all be negative; the highest one counts.
        positive[nothing, scores[nothing].argmax(axis=1)] = sums[nothing] = 1
    return positive / sums
