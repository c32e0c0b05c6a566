"""All networks that regress on the same rows, for the price of a few."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d, validate_data

from granulearn.estimators import ACRVFLClassifier, GEGBRVFLClassifier
from granulearn.estimators.training_rows import Seeds, TrainingRows
from granulearn.network import FeatureMap, NormalEquations, normal_equations, one_hot
from granulearn.selection.accuracy import Decisions, class_contrasts, decide, rounding_error
from granulearn.selection.candidates import Candidate, Network, group_by
from granulearn.selection.fold import Fold, LastStepInputs
from granulearn.selection.ridge_path import RidgePath, factor_ridge

# The graph's penalty depends on the width: no factor is a leading block of another.
NOT_NESTED = frozenset({GEGBRVFLClassifier})
# The augmented ridge is a real ridge with half the penalty.
INVERSE_PENALTY_FACTOR = {ACRVFLClassifier: 2}

# A network much wider than its rows are many is cheaper in the dual form, one
# by one; below this many columns nothing is cheaper than the shared factor.
SMALL_SYSTEM = 512
# Where rounding can move scores by more than this, the solver of `fit` decides.
LARGEST_ERROR = 1e-3


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """A last step with all done that activation, width and penalty have no part in."""

    fold: Fold
    inputs: LastStepInputs
    estimator: BaseEstimator
    rows: TrainingRows
    seeds: Seeds
    scored_inputs: dict[str, np.ndarray]
    """Inputs of the samples to score, checked."""
    is_class: dict[str, np.ndarray]
    """(n_classes, n_samples) whether a sample to score is of a class."""
    weights: dict[str, np.ndarray | None]
    """Weights of those samples in the accuracy."""

    def fitted(self, network: Network, coef: np.ndarray | None = None) -> BaseEstimator:
        """Return the last step as `fit` leaves it; output weights may be known already."""
        model = self._with(**network._asdict())
        model.features_ = model._features(self.rows, self.seeds)
        if coef is None:
            coef = model._output_weights(model.features_, self.rows)
        model.coef_ = coef
        return model

    def features(self, activation: str, n_hidden: int) -> FeatureMap:
        """Return the map to the columns of one network."""
        model = self._with(activation=activation, n_hidden=n_hidden)
        return model._features(self.rows, self.seeds)

    def _with(self, **network) -> BaseEstimator:
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
        What the last step sees of it.
    estimator : estimator
        The last step, not fitted, with its parameters set; it is changed.
    """
    estimator._validate_params()
    fit_params = {"sample_weight": None, "sample_membership": None, **inputs.fit_params}
    rows, seeds = estimator._prepare(inputs.X, inputs.y, **fit_params)
    scored_inputs = {
        name: validate_data(estimator, X, reset=False, dtype=[np.float64, np.float32], order="C")
        for name, X in inputs.transformed.items()
    }
    is_class = {
        name: column_or_1d(samples.y) == estimator.classes_[:, None]
        for name, samples in inputs.scored.items()
    }
    weights = {name: samples.accuracy_weights() for name, samples in inputs.scored.items()}
    return PreparedModel(fold, inputs, estimator, rows, seeds, scored_inputs, is_class, weights)


@dataclass(frozen=True, eq=False)
class PenaltyGroup:
    """Candidates that share rows, activation and penalty."""

    candidates: list[Candidate]
    widths: list[int]
    """Ascending, without repetition."""
    positions: list[int]
    """Where each candidate's width stands in `widths`."""


@dataclass(frozen=True, eq=False)
class RowsGroup:
    """Candidates that share their rows, taken apart further."""

    candidates: list[Candidate]
    activations: dict[str, dict[float, PenaltyGroup]]
    """By activation and penalty."""

    @property
    def first(self) -> dict:
        """Parameters of one of them."""
        return self.candidates[0].parameters


def group_networks(candidates: list[Candidate]) -> RowsGroup:
    """Group candidates that share their rows by activation and penalty."""
    activations = {}
    for activation, same in group_by(candidates, lambda c: c.network.activation).items():
        penalties = {}
        for C, same_penalty in group_by(same, lambda c: c.network.C).items():
            widths = sorted({candidate.network.n_hidden for candidate in same_penalty})
            place = {width: at for at, width in enumerate(widths)}
            positions = [place[candidate.network.n_hidden] for candidate in same_penalty]
            penalties[C] = PenaltyGroup(same_penalty, widths, positions)
        activations[activation] = penalties
    return RowsGroup(candidates, activations)


def evaluate_networks(
    model: PreparedModel,
    group: RowsGroup,
    outcomes: dict[int, dict],  # OUT
) -> None:
    """Add the outcomes of candidates that share their rows, by their place.

    There is none for a candidate on which the solver of `fit` raises.

    Parameters
    ----------
    model : PreparedModel
        What they share.
    group : RowsGroup
        Networks of any activation, penalty and width.
    outcomes : dict of int -> dict
        Where they are added.
    """
    for activation, penalties in group.activations.items():
        began = time.perf_counter()
        found = _evaluate_activation(model, activation, penalties)
        share = (time.perf_counter() - began) / len(found) if found else 0.0
        for outcome in found.values():
            outcome["fit_time"] = max(share - outcome["score_time"], 0.0)
        outcomes |= found


def _evaluate_activation(
    model: PreparedModel, activation: str, penalties: dict[float, PenaltyGroup]
) -> dict[int, dict]:
    path = _open_path(model, activation, {w for same in penalties.values() for w in same.widths})
    outcomes: dict[int, dict] = {}
    for C, same_penalty in penalties.items():
        if path is not None:
            outcomes |= path.evaluate(C, same_penalty)
        for candidate in same_penalty.candidates:
            if candidate.place not in outcomes:
                outcomes |= _evaluate_alone(model, candidate)
    return outcomes


def _evaluate_alone(model: PreparedModel, candidate: Candidate) -> dict[int, dict]:
    try:
        fitted = model.fitted(candidate.network)
    except Exception:
        # The ordinary fit raises it again, where scikit-learn reports it.
        return {}
    return {candidate.place: _score(model, fitted)}


def _score(model: PreparedModel, fitted: BaseEstimator) -> dict:
    whole = model.inputs.with_last_step(fitted)
    began = time.perf_counter()
    scores = {
        name: model.fold.score_fitted(whole, samples)
        for name, samples in model.inputs.scored.items()
    }
    return {"fit_error": None, "score_time": time.perf_counter() - began, **scores}


@dataclass(frozen=True, eq=False)
class ActivationPath:
    """The networks of one activation: nested columns, one Gram matrix."""

    model: PreparedModel
    columns: dict[int, int]
    """How many leading columns each width takes."""
    equations: NormalEquations
    """Of the widest network."""
    gram_norm: float
    H: dict[str, np.ndarray]
    """Features of the samples to score, of the widest network."""

    def evaluate(self, C: float, group: PenaltyGroup) -> dict[int, dict]:
        """Return the outcomes of candidates of one penalty, where rounding decides nothing."""
        inverse_penalty = C * INVERSE_PENALTY_FACTOR.get(type(self.model.estimator), 1)
        error = rounding_error(self.gram_norm, inverse_penalty)
        # Not "error >=": what overflowed is not a number.
        path = factor_ridge(self.equations, inverse_penalty) if error < LARGEST_ERROR else None
        widths = [width for width in group.widths if width in self.columns]
        if path is None or not widths:
            return {}
        # Too wide networks are the last ones, so positions stay as they are.
        columns = np.array([self.columns[width] for width in widths])
        decisions = self._decisions(path, columns)
        certain = np.all([found.margins > error for found in decisions.values()], axis=0).tolist()
        certain += [False] * (len(group.widths) - len(widths))
        if self.model.fold.problem.only_accuracy:
            return _accuracy_outcomes(group, certain, decisions)
        return self._scorer_outcomes(group, certain, path.coefficients(columns))

    def _decisions(self, path: RidgePath, columns: np.ndarray) -> dict[str, Decisions]:
        contrasts = class_contrasts(path)
        return {
            name: decide(contrasts, columns, H, self.model.is_class[name], self.model.weights[name])
            for name, H in self.H.items()
        }

    def _scorer_outcomes(
        self, group: PenaltyGroup, certain: list[bool], weights: np.ndarray
    ) -> dict[int, dict]:
        """Return what the scorer says of fitted estimators."""
        outcomes = {}
        for candidate, at in zip(group.candidates, group.positions, strict=True):
            if certain[at]:
                n_columns = self.columns[candidate.network.n_hidden]
                coef = np.ascontiguousarray(weights[:n_columns, at])
                fitted = self.model.fitted(candidate.network, coef)
                outcomes[candidate.place] = _score(self.model, fitted)
        return outcomes


def _accuracy_outcomes(
    group: PenaltyGroup, certain: list[bool], decisions: dict[str, Decisions]
) -> dict[int, dict]:
    """Return the accuracies as outcomes."""
    outcomes: dict[int, dict] = {}
    for name, found in decisions.items():
        accuracies = found.accuracies.tolist()
        for candidate, at in zip(group.candidates, group.positions, strict=True):
            if certain[at]:
                outcome = outcomes.setdefault(
                    candidate.place, {"fit_error": None, "score_time": 0.0}
                )
                outcome[name] = accuracies[at]
    return outcomes


def _open_path(model: PreparedModel, activation: str, widths: set[int]) -> ActivationPath | None:
    """Return the path of those widths that gain by it; None if there are none."""
    rows = model.rows
    if type(model.estimator) in NOT_NESTED or (rows.codes == rows.codes[0]).all():
        return None
    first, second = (model.features(activation, width).n_columns for width in (1, 2))
    columns = {width: first + (second - first) * (width - 1) for width in widths}
    limit = max(2 * len(rows.X), SMALL_SYSTEM)
    columns = {width: n_columns for width, n_columns in columns.items() if n_columns <= limit}
    if not columns:
        return None
    features = model.features(activation, max(columns))
    Y = one_hot(rows.codes, len(model.estimator.classes_))
    equations = normal_equations(features, rows.X, Y, rows.weights)
    gram_norm = np.abs(equations.gram).sum(axis=0).max()
    H = {name: features(X) for name, X in model.scored_inputs.items()}
    return ActivationPath(model, columns, equations, gram_norm, H)
