"""A network prepared on one fold: the stages of its fit before activation, size and penalty."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from granulearn.estimators.base import Seeds, TrainingRows
from granulearn.estimators.estimator import SharedWork
from granulearn.estimators.regression import RegressionRows
from granulearn.selection.fold import Fold, LastStepInputs
from granulearn.selection.judging import ClassTargets, Judge, NumberTargets, targets_of


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """The last step on one fold, fitted up to its rows."""

    fold: Fold
    inputs: LastStepInputs
    estimator: BaseEstimator
    rows: TrainingRows | RegressionRows
    seeds: Seeds
    targets: ClassTargets | NumberTargets
    """Targets of the rows."""
    scored_inputs: dict[str, np.ndarray]
    """Inputs of the samples to score, checked."""
    judges: dict[str, Judge]
    """Judges of the samples to score, by the name of the score."""
    own_score: bool
    """Whether judges compute the search's scores; else they only say what rounding could change."""

    @property
    def shared(self) -> SharedWork:
        """What the class of the last step can share."""
        return self.estimator._abilities.shared_work

    @property
    def is_deep(self) -> bool:
        """Whether the last step has an answer, and output weights, after each of its layers."""
        return self.shared.size == "n_layers"

    @property
    def largest_error(self) -> float:
        """How far rounding may move scores for work to be shared."""
        return self.targets.largest_error(self.own_score)

    def features(self, network: dict) -> Any:
        """Return the map to the columns of a network of these parameters."""
        return self._with(network)._features(self.rows, self.seeds)

    def fitted(self, network: dict, coef: Any = None) -> BaseEstimator:
        """Return the last step as `fit` leaves it; its output weights may be known already."""
        model = self._with(network)
        model.features_ = model._features(self.rows, self.seeds)
        if coef is None:
            coef = model._output_weights(model.features_, self.rows)
        model.coef_ = coef
        return model

    def score(self, fitted: BaseEstimator) -> dict:
        """Return the outcome for a fitted last step, by the scorer of the search."""
        began = time.perf_counter()
        scores = self._accuracies(fitted) if self._counts_itself else self._scored(fitted)
        score_time = time.perf_counter() - began
        return {"fit_error": None, "fit_time": 0.0, "score_time": score_time, **scores}

    @property
    def _counts_itself(self) -> bool:
        # The mean squares of a regressor are left to the scorer, to the last bit.
        return self.own_score and isinstance(self.targets, ClassTargets)

    def _accuracies(self, fitted: BaseEstimator) -> dict[str, float]:
        """Return what the scorer would, whose checks take longer than many a network."""
        outputs = {name: fitted._scores(X) for name, X in self.scored_inputs.items()}
        return {
            name: float(judge.of_layers(outputs[name][None]).scores[0])
            for name, judge in self.judges.items()
        }

    def _scored(self, fitted: BaseEstimator) -> dict[str, Any]:
        whole = self.inputs.with_last_step(fitted)
        return {
            name: self.fold.score_fitted(whole, samples)
            for name, samples in self.inputs.scored.items()
        }

    def _with(self, network: dict) -> BaseEstimator:
        model = copy.copy(self.estimator)
        for name, value in network.items():
            setattr(model, name, value)  # set_params is slow, and checks what is known here
        return model


def prepare_model(fold: Fold, inputs: LastStepInputs, estimator: BaseEstimator) -> PreparedModel:
    """Make the rows, balls and memberships that networks of all settings share.

    Parameters
    ----------
    fold : Fold
        The split.
    inputs : LastStepInputs
        What the last step sees of the fold.
    estimator : estimator
        The last step, not fitted, with its parameters set; it is changed.
    """
    estimator._validate_params()
    rows, seeds = estimator._prepare(estimator._check(inputs.X, inputs.y, **inputs.fit_params))
    targets = targets_of(estimator, rows)
    scored_inputs = {
        name: validate_data(estimator, X, reset=False, dtype=[np.float64, np.float32], order="C")
        for name, X in inputs.transformed.items()
    }
    own_score = fold.problem.asks_for(targets.own_scores) and all(
        samples.weights_are_usable() for samples in inputs.scored.values()
    )
    judges: dict[str, Judge] = {
        name: targets.judge(samples.y, samples.weights() if own_score else None)
        for name, samples in inputs.scored.items()
    }
    return PreparedModel(
        fold, inputs, estimator, rows, seeds, targets, scored_inputs, judges, own_score
    )
