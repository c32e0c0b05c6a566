"""Base of all estimators: each states its abilities; classifiers turn scores into answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from granulearn.utils.saved import Labels, Size, check_thread_count, require
from granulearn.utils.validation import Samples

# Each row has a score for each class, so that a short file with many classes would take any amount
# of memory. Models of thousands of classes are sensible; with more than this, a thousand rows
# have 400 MB of scores.
MOST_CLASSES = 50_000


@dataclass(frozen=True)
class SharedWork:
    """What a search can do once for many networks of a class."""

    size: str
    """Name of the parameter whose smaller values take leading columns or layers of a larger one."""
    ridge_per_layer: bool = False
    """Whether each layer has a ridge of its own, and the layers are averaged."""
    graph_penalty: bool = False
    """Whether a graph on the rows is part of the penalty; else the system of a smaller network is
    a leading block of that of a larger one."""
    leave_one_out: bool = True
    """Whether predictions without each row have a closed form."""
    inverse_penalty_factor: int = 1
    """Factor on `C` that gives the inverse penalty of the ridge that is solved."""


SHALLOW = SharedWork(size="n_hidden")
DEEP = SharedWork(size="n_layers")


@dataclass(frozen=True)
class Abilities:
    """What other parts of the library can do with a class; the class states it itself."""

    command: str = ""
    """Name of the model on the command line; empty if it is not offered there."""
    summary: str = ""
    """What the model does, in a line of the command line's list."""
    shared_work: SharedWork | None = None
    """What a search can share; None means that every candidate is fitted on its own."""


NO_ABILITIES = Abilities()


@dataclass(frozen=True)
class Seeds:
    """Seeds of independent streams: the draws of one stage change no other stage."""

    network: int
    balls: int


def draw_seeds(random_state) -> Seeds:
    """Derive the seeds of all stages from the `random_state` of the user."""
    network, balls = check_random_state(random_state).randint(2**31 - 1, size=2)
    return Seeds(int(network), int(balls))


class Estimator(BaseEstimator):
    """Base of all estimators.

    Each class states its own `_abilities`. A subclass may change any stage, so
    it inherits none of them: it is treated as any other estimator until it says
    what it can do.
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

    def _check_agrees(self, name: str, part: Any) -> None:
        """Raise unless a part takes the same columns, and knows the same classes."""
        agree = part.n_features_in_ == self.n_features_in_
        require(agree, f"{name} takes {part.n_features_in_} columns")
        require(np.array_equal(part.classes_, self.classes_), f"{name} knows other classes")

    def _checked(self, X: Any) -> np.ndarray:
        """Return the inputs of a prediction, checked."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")


class ScoreClassifier(ClassifierMixin, Estimator, ABC):
    """A classifier that gives each class a score; subclasses write `_scores`."""

    _saved: ClassVar[dict] = {"classes_": Labels()}
    _probability_form: ClassVar[str] = "softmax"
    """How scores become probabilities: "softmax", "positive part", "powered" or "scores"."""

    def _check_saved(self) -> None:
        super()._check_saved()
        n_classes = len(self.classes_)
        said = f"it has {n_classes} classes, and a model file may have {MOST_CLASSES}; join some"
        require(n_classes <= MOST_CLASSES, said)

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
            Rows sum to one; they rank classes as `predict` does.
        """
        return self._probabilities(self._scores(self._checked(X)))

    @abstractmethod
    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return one score per class for rows that are checked, of shape (n_rows, n_classes)."""

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[scores.argmax(axis=1)]

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
            positive means ``classes_[1]``.
        """
        return self._decisions(self._scores(self._checked(X)))

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


def fit_part(part: BaseEstimator, samples: Samples) -> Any:
    """Fit a part of a model to samples that are checked already.

    An estimator of another library, or a subclass that states no abilities, is
    fitted by its `fit`, which checks the samples again.

    Parameters
    ----------
    part : classifier
        Not fitted.
    samples : Samples
        All samples, including those of weight zero.
    """
    if samples.memberships is not None and not has_fit_parameter(part, "sample_membership"):
        raise TypeError(
            f"{type(part).__name__} takes no sample_membership; leave it out, or pass "
            "sample_weight, the square of it."
        )
    if getattr(type(part), "_abilities", NO_ABILITIES) is not NO_ABILITIES and hasattr(
        part, "_fit_samples"
    ):
        part._validate_params()
        return part._fit_samples(samples)
    given = {"sample_weight": samples.weights, "sample_membership": samples.memberships}
    passed = {name: value for name, value in given.items() if value is not None}
    return part.fit(samples.X, samples.classes[samples.codes], **passed)
