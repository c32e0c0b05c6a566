"""One fold of a search: its samples, the inputs of the last step, and the outcomes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from granulearn._sklearn_compat import (
    check_method_params,
    fit_and_score,
    n_samples_of,
    score_fitted,
    take_split,
)
from granulearn.selection.candidates import last_step_prefix


@dataclass(frozen=True, eq=False)
class Problem:
    """What all candidates and folds have in common."""

    estimator: BaseEstimator
    settings: list[dict]
    """Parameters of each candidate."""
    X: Any
    y: Any
    scorer: Any
    fit_params: dict
    score_params: dict
    scoring: Any
    """The user's `scoring`; None means the estimator's own score."""
    return_train_score: bool
    error_score: float | str
    verbose: int
    leave_one_out: bool = False
    """Whether scores are errors of leave-one-out, not those of the scorer."""

    def asks_for(self, scores: tuple[str | None, ...]) -> bool:
        """Return whether `scoring` is one of these, with no parameters but weights."""
        return self.scoring in scores and set(self.score_params) <= {"sample_weight"}


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """Samples that a score is computed on."""

    X: Any
    y: Any
    score_params: dict

    def weights(self) -> np.ndarray | None:
        """Return the weights of the samples in the score; None means one for each."""
        weights = self.score_params.get("sample_weight")
        return None if weights is None else np.asarray(weights, dtype=np.float64)

    def weights_are_usable(self) -> bool:
        """Return whether a mean with the weights is a number; if not, the scorer says why."""
        weights = self.weights()
        if weights is None:
            return True
        one_each = weights.shape == (n_samples_of(self.X),)
        return one_each and bool(np.isfinite(weights).all()) and weights.sum() > 0


@dataclass(frozen=True, eq=False)
class Fold:
    """One split of the samples."""

    problem: Problem
    train: Any
    test: Any

    def training_data(self) -> tuple[Any, Any, dict]:
        """Return X, y and the other arguments of `fit`, for the training samples."""
        problem = self.problem
        X, y = take_split(problem.estimator, problem.X, problem.y, self.train)
        return X, y, check_method_params(problem.X, problem.fit_params, indices=self.train)

    def score_names(self) -> tuple[str, ...]:
        """Return the names of the scores: of test samples and, if asked for, training samples."""
        return (
            ("test_scores", "train_scores") if self.problem.return_train_score else ("test_scores",)
        )

    def scored_sets(self) -> dict[str, ScoredSet]:
        """Return the samples to score, by the name of the score."""
        problem = self.problem
        scored = {}
        for name in self.score_names():
            index = self.test if name == "test_scores" else self.train
            X, y = take_split(problem.estimator, problem.X, problem.y, index, self.train)
            score_params = check_method_params(problem.X, problem.score_params, indices=index)
            scored[name] = ScoredSet(X, y, score_params)
        return scored

    def estimator(self, place: int) -> BaseEstimator:
        """Return the searched estimator with the parameters of one candidate, not fitted."""
        parameters = clone(self.problem.settings[place], safe=False)
        return clone(self.problem.estimator).set_params(**parameters)

    def fit_ordinarily(self, place: int) -> dict:
        """Return the outcome of one candidate, as `GridSearchCV` finds it."""
        problem = self.problem
        return fit_and_score(
            clone(problem.estimator),
            problem.X,
            problem.y,
            scorer=problem.scorer,
            train=self.train,
            test=self.test,
            verbose=problem.verbose,
            parameters=problem.settings[place],
            fit_params=problem.fit_params,
            score_params=problem.score_params,
            return_train_score=problem.return_train_score,
            return_times=True,
            error_score=problem.error_score,
        )

    def score_fitted(self, estimator, scored: ScoredSet):
        """Return the scorer's result for a fitted estimator."""
        problem = self.problem
        return score_fitted(
            estimator, scored.X, scored.y, problem.scorer, scored.score_params, problem.error_score
        )


class LastStepRecorder(BaseEstimator):
    """Stands in for a pipeline's last step and keeps what it is given.

    The pipeline itself then decides what reaches its last step: which parameters
    of `fit` go where, what is cached, what is passed through.
    """

    def __init__(self, last_step):
        self.last_step = last_step

    def get_metadata_routing(self):
        """Return what the last step asks for."""
        return self.last_step.get_metadata_routing()

    def fit(self, X, y=None, **fit_params):
        """Keep the arguments."""
        self.X_, self.y_, self.fit_params_ = X, y, fit_params
        return self

    def predict(self, X):
        """Return what the last step would see."""
        return X


@dataclass(frozen=True, eq=False)
class LastStepInputs:
    """A fold as the last step of the searched estimator sees it."""

    pipeline: Any
    """The pipeline with all steps but the last fitted; None if there is no pipeline."""
    X: Any
    y: Any
    fit_params: dict
    scored: dict[str, ScoredSet]
    """Samples to score, as the whole estimator sees them."""
    transformed: dict[str, Any]
    """Inputs of these samples, as the last step sees them."""

    def with_last_step(self, fitted: BaseEstimator) -> BaseEstimator:
        """Return the whole estimator, fitted, for a fitted last step."""
        return fitted if self.pipeline is None else _replace_last_step(self.pipeline, fitted)


def fit_earlier_steps(fold: Fold, estimator: BaseEstimator) -> LastStepInputs:
    """Fit all steps but the last on the training samples.

    Parameters
    ----------
    fold : Fold
        The split.
    estimator : estimator
        Not fitted, with its parameters set; it is changed.
    """
    X, y, fit_params = fold.training_data()
    scored = fold.scored_sets()
    prefix = last_step_prefix(estimator)
    if not prefix:
        as_they_are = {name: samples.X for name, samples in scored.items()}
        return LastStepInputs(None, X, y, fit_params, scored, as_they_are)
    last_name = prefix.removesuffix("__")
    recorder = LastStepRecorder(estimator.get_params()[last_name])
    estimator.set_params(**{last_name: recorder}).fit(X, y, **fit_params)
    transformed = {name: estimator.predict(samples.X) for name, samples in scored.items()}
    return LastStepInputs(
        estimator, recorder.X_, recorder.y_, recorder.fit_params_, scored, transformed
    )


def _replace_last_step(pipeline, fitted: BaseEstimator):
    name, last = pipeline.steps[-1]
    if not isinstance(last, LastStepRecorder):
        fitted = _replace_last_step(last, fitted)
    changed = copy.copy(pipeline)
    changed.steps = [*pipeline.steps[:-1], (name, fitted)]
    return changed


class OutcomeTable:
    """Outcomes of many candidates on one fold, column by column, in any order.

    A dict for each candidate, as scikit-learn keeps them, would cost more than
    the search itself.

    Parameters
    ----------
    score_names : iterable of str
        "test_scores", and perhaps "train_scores".
    """

    def __init__(self, score_names):
        self.places: list[int] = []
        """Position in the grid of each row's candidate."""
        names = ("fit_error", "fit_time", "score_time", *score_names)
        self.columns: dict[str, list] = {name: [] for name in names}

    def __len__(self) -> int:
        return len(self.places)

    def add(self, place: int, outcome: dict[str, Any]) -> None:
        """Add the outcome of one candidate."""
        self.places.append(place)
        for name, column in self.columns.items():
            column.append(outcome[name])

    def add_scores(self, places: list[int], scores: dict[str, list[float]]) -> None:
        """Add scores of candidates that were fitted and scored together."""
        self.places += places
        same = {"fit_error": None, "fit_time": 0.0, "score_time": 0.0}
        for name, column in self.columns.items():
            column += scores[name] if name in scores else [same[name]] * len(places)

    def share_time(self, start: int, seconds: float) -> None:
        """Divide the seconds spent on the rows from `start` on among them."""
        score_times = self.columns["score_time"][start:]
        if score_times:
            share = max(seconds - sum(score_times), 0.0) / len(score_times)
            self.columns["fit_time"][start:] = [share] * len(score_times)
