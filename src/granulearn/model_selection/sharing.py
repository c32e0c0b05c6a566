"""Candidates of a grid that share work, and their scores on one fold.

Candidates that differ only in `C`, `n_hidden`, `n_layers` or `activation` share the earlier steps
of a pipeline, the balls and the memberships; those of one activation share ``G = H'WH`` of the
widest network. A narrower network takes leading columns of H, so that its Cholesky factor is a
leading block of ``L L' = G + I/C``. With ``z = L^-1 H'WY`` and ``Q = H_test L^-T`` the scores of
the first p columns are ``Q[:, :p] z[:p]``: one factor for each C serves all widths.
"""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from numbers import Real
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from granulearn._sklearn_compat import (
    InvalidParameterError,
    check_method_params,
    fit_and_score,
    n_samples_of,
    score_fitted,
    take_split,
    validate_parameter_constraints,
)
from granulearn.rvfl import one_hot, solve_graph_ridge
from granulearn.rvfl.deep_features import layer_solvers
from granulearn.rvfl.ridge import NormalEquations, normal_equations, solve_shifted
from granulearn.rvfl.rvfl import RegressionRows
from granulearn.rvfl.spectral_ridge import factor_spectral_ridge
from granulearn.utils.estimator import SharedWork

# Up to so many columns a factor that widths share is faster than solving by the rows.
SMALL_SYSTEM = 544
SHARED_NAMES = ("C", "n_hidden", "n_layers", "activation")
Outcome = dict[str, Any]


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
    leave_one_out: bool

    def score_alone(self, place: int, train, test) -> Outcome:
        """Fit and score one candidate as `GridSearchCV` does."""
        return fit_and_score(
            clone(self.estimator),
            self.X,
            self.y,
            scorer=self.scorer,
            train=train,
            test=test,
            verbose=self.verbose,
            parameters=self.settings[place],
            fit_params=self.fit_params,
            score_params=self.score_params,
            return_train_score=self.return_train_score,
            return_times=True,
            error_score=self.error_score,
        )


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates that share all but the parameters of a network."""

    others: dict[str, Any]
    """The parameters that they share."""
    networks: dict[int, dict[str, Any]]
    """`SHARED_NAMES` of each candidate by its position; empty if they cannot share work."""
    alone: list[int]
    """Candidates that are fitted one by one."""

    def split(self) -> Iterator[Group]:
        """Yield a group for each activation and each candidate alone, for idle workers."""
        for columns in {_columns_of(network) for network in self.networks.values()}:
            same = {p: n for p, n in self.networks.items() if _columns_of(n) == columns}
            yield Group(self.others, same, [])
        for place in self.alone:
            yield Group({}, {}, [place])


def group_candidates(estimator: BaseEstimator, settings: list[dict]) -> list[Group]:
    """Group the candidates of a grid by the work that they can share.

    Parameters
    ----------
    estimator : estimator
        The estimator that is searched.
    settings : list of dict
        Parameters of each candidate.
    """
    prefix = last_step_prefix(estimator)
    names = {prefix + name for name in SHARED_NAMES}
    places: dict[tuple, list[int]] = {}
    for place, parameters in enumerate(settings):
        key = tuple((n, _identity(v)) for n, v in parameters.items() if n not in names)
        places.setdefault(key, []).append(place)
    return [_group(estimator, settings, prefix, same) for same in places.values()]


def _group(estimator, settings: list[dict], prefix: str, places: list[int]) -> Group:
    names = {prefix + name for name in SHARED_NAMES}
    others = {name: value for name, value in settings[places[0]].items() if name not in names}
    whole = clone(estimator).set_params(**clone(others, safe=False))
    last = last_step(whole)
    if shared_work(last) is None or last_step_prefix(whole) != prefix:
        return Group(others, {}, places)
    own = [name for name in SHARED_NAMES if hasattr(last, name)]
    known = {prefix + name for name in own} | others.keys()
    is_valid: dict[tuple, bool] = {}
    networks, alone = {}, []
    for place in places:
        network = {name: settings[place].get(prefix + name, getattr(last, name)) for name in own}
        valid = settings[place].keys() <= known
        for name, value in network.items():
            key = name, _identity(value)
            if key not in is_valid:
                is_valid[key] = _is_valid(type(last), name, value)
            valid &= is_valid[key]
        if valid:
            networks[place] = network
        else:
            alone.append(place)
    return Group(others, networks, alone)


def _is_valid(model: Any, name: str, value: Any) -> bool:
    """Return whether `fit` accepts a value, and it is the same for every layer."""
    if not isinstance(value, Real | str):
        return False
    try:
        constraints = {name: model._parameter_constraints[name]}
        validate_parameter_constraints(constraints, {name: value}, model.__name__)
    except InvalidParameterError:
        return False
    return True


def _identity(value: Any) -> Hashable:
    """Return a key that equal values share; a mutable value is equal only to itself."""
    if isinstance(value, str | int | float | None):
        return type(value), value
    return type(value), id(value)


def shared_work(estimator: Any) -> SharedWork | None:
    """Return what networks of this class can share; None if nothing."""
    abilities = getattr(type(estimator), "_abilities", None)
    return None if abilities is None else abilities.shared_work


def last_step(estimator: BaseEstimator) -> BaseEstimator:
    """Return the last step of a pipeline, however deeply nested; else the estimator itself."""
    while type(estimator) is Pipeline:
        estimator = estimator.steps[-1][1]
    return estimator


def last_step_prefix(estimator: BaseEstimator) -> str:
    """Return the prefix of the names of the last step's parameters."""
    prefix = ""
    while type(estimator) is Pipeline:
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix


# ---- One fold ---------------------------------------------------------------------------------


def score_group(problem: Problem, group: Group, train, test) -> dict[int, Outcome]:
    """Return the outcome of each candidate of a group on one fold, by its position.

    Parameters
    ----------
    problem : Problem
        What is fitted and how it is scored.
    group : Group
        The candidates.
    train, test : index of samples
        The fold.
    """
    outcomes = {place: problem.score_alone(place, train, test) for place in group.alone}
    if group.networks:
        began = time.perf_counter()
        try:
            shared = dict(_score_networks(problem, group, train, test))
        except Exception:
            # As scikit-learn: the error is reported for each candidate, or raised.
            if problem.error_score == "raise":
                raise
            shared = {place: _failure(problem) for place in group.networks}
        score_time = sum(outcome["score_time"] for outcome in shared.values())
        fit_time = max(time.perf_counter() - began - score_time, 0.0) / len(shared)
        outcomes |= {place: {**outcome, "fit_time": fit_time} for place, outcome in shared.items()}
    return outcomes


def _failure(problem: Problem) -> Outcome:
    score: Any = problem.error_score
    if isinstance(problem.scorer, dict) or hasattr(problem.scorer, "_scorers"):
        score = dict.fromkeys(getattr(problem.scorer, "_scorers", problem.scorer), score)
    failure = {"fit_error": traceback.format_exc(), "test_scores": score, "score_time": 0.0}
    return failure | ({"train_scores": score} if problem.return_train_score else {})


def _score_networks(problem: Problem, group: Group, train, test) -> Iterator[tuple[int, Outcome]]:
    model = _prepare(problem, group, train, test)
    by_columns: dict[tuple, list[int]] = {}
    for place, network in group.networks.items():
        by_columns.setdefault(_columns_of(network), []).append(place)
    for places in by_columns.values():
        networks = [group.networks[place] for place in places]
        yield from zip(places, model.scores(networks), strict=True)


def _columns_of(network: dict) -> tuple:
    """Return the parameters that decide the columns, but for how many of them are taken."""
    if "n_layers" in network:
        return network["activation"], network["n_hidden"]
    return (network["activation"],)


class _LastStepRecorder(BaseEstimator):
    """Stands in for a pipeline's last step and keeps what it is given.

    The pipeline itself then decides which parameters of `fit` reach its last step.
    """

    def __init__(self, last_step):
        self.last_step = last_step

    def get_metadata_routing(self):
        return self.last_step.get_metadata_routing()

    def fit(self, X, y=None, **fit_params):
        self.X_, self.y_, self.fit_params_ = X, y, fit_params
        return self

    def predict(self, X):
        return X


def _with_last_step(pipeline, fitted: BaseEstimator):
    """Return a fitted pipeline with another last step."""
    if type(pipeline) is not Pipeline:
        return fitted
    name, last = pipeline.steps[-1]
    changed = copy.copy(pipeline)
    changed.steps = [*pipeline.steps[:-1], (name, _with_last_step(last, fitted))]
    return changed


def _prepare(problem: Problem, group: Group, train, test) -> _PreparedModel:
    """Fit all that the candidates of a group share on one fold."""
    whole = clone(problem.estimator).set_params(**clone(group.others, safe=False))
    last, prefix = last_step(whole), last_step_prefix(whole)
    X, y = take_split(whole, problem.X, problem.y, train)
    fit_params = check_method_params(problem.X, problem.fit_params, indices=train)
    sets: dict[str, Any] = {}
    names = {} if problem.leave_one_out else {"test_scores": test}
    if problem.return_train_score:
        names["train_scores"] = train
    for name, index in names.items():
        X_scored, y_scored = take_split(whole, problem.X, problem.y, index, train)
        score_params = check_method_params(problem.X, problem.score_params, indices=index)
        sets[name] = [X_scored, y_scored, score_params, X_scored]
    if prefix:
        recorder = _LastStepRecorder(last)
        whole.set_params(**{prefix.removesuffix("__"): recorder}).fit(X, y, **fit_params)
        X, y, fit_params = recorder.X_, recorder.y_, recorder.fit_params_
        for values in sets.values():
            values[3] = whole.predict(values[0])
    # The first network is valid, and the checks of `fit` look at all parameters.
    last.set_params(**next(iter(group.networks.values())))._validate_params()
    rows, seeds = last._prepare(last._check(X, y, **fit_params))
    scored = {
        name: _ScoredSet(
            X_scored,
            y_scored,
            score_params,
            validate_data(last, seen, reset=False, dtype=[np.float64, np.float32], order="C"),
        )
        for name, (X_scored, y_scored, score_params, seen) in sets.items()
    }
    return _PreparedModel(problem, whole, last, rows, seeds, scored)


@dataclass(frozen=True, eq=False)
class _ScoredSet:
    """Samples that a score is computed on."""

    X: Any
    y: Any
    score_params: dict
    inputs: np.ndarray
    """X as the last step sees it, checked."""

    @property
    def weights(self) -> np.ndarray | None:
        weights = self.score_params.get("sample_weight")
        return None if weights is None else np.asarray(weights, dtype=np.float64)

    def has_mean(self) -> bool:
        """Return whether a mean by the weights is a number; if not, the scorer says why."""
        weights = self.weights
        if weights is None:
            return True
        one_each = weights.shape == (n_samples_of(self.X),)
        return one_each and bool(np.isfinite(weights).all()) and weights.sum() > 0


@dataclass(frozen=True, eq=False)
class _PreparedModel:
    """The last step on one fold, fitted up to its rows."""

    problem: Problem
    whole: Any
    """The estimator with its earlier steps fitted."""
    last: Any
    rows: Any
    seeds: Any
    scored: dict[str, _ScoredSet]

    @property
    def shared(self) -> SharedWork:
        return self.last._abilities.shared_work

    @cached_property
    def is_regression(self) -> bool:
        return isinstance(self.rows, RegressionRows)

    @cached_property
    def offset(self) -> Any:
        """What is added to the outputs of the ridge: the mean of a regressor's targets."""
        return self.rows.mean() if self.is_regression else 0.0

    @cached_property
    def Y(self) -> np.ndarray:  # noqa: N802
        """(n_rows, n_outputs) targets of the ridge."""
        if self.is_regression:
            return self.rows.Y - self.offset
        return one_hot(self.rows.codes, len(self.last.classes_)).astype(float)

    @property
    def is_deep(self) -> bool:
        return self.shared.size == "n_layers"

    @cached_property
    def row_weights(self) -> np.ndarray:
        weights = self.rows.weights
        return np.ones(len(self.Y)) if weights is None else weights

    @cached_property
    def scores_itself(self) -> bool:
        """Whether the score is accuracy or R squared, which need no fitted estimator."""
        own = (None, "r2") if self.is_regression else (None, "accuracy")
        scoring, params = self.problem.scoring, self.problem.score_params
        by_name = scoring is None or isinstance(scoring, str)
        usable = all(one.has_mean() for one in self.scored.values())
        return by_name and scoring in own and set(params) <= {"sample_weight"} and usable

    def with_settings(self, network: dict) -> Any:
        model = copy.copy(self.last)
        vars(model).update(network)
        return model

    def scores(self, networks: list[dict]) -> list[Outcome]:
        """Return the outcomes of networks that share their columns."""
        size_name, scoring = self.shared.size, self.problem.scoring
        if not self.is_regression and len(np.unique(self.rows.codes)) == 1:
            # Every network predicts the only class; a function may look at the network.
            alike = scoring is None or isinstance(scoring, str)
            scored = [self._constant(network) for network in networks[: 1 if alike else None]]
            return scored * len(networks) if alike else scored
        sizes = sorted({network[size_name] for network in networks})
        Cs = sorted({network["C"] for network in networks})
        columns = _ColumnsPath(self, networks[0], sizes, np.array(Cs, dtype=float))
        return [
            columns.outcome(network, network[size_name], Cs.index(network["C"]))
            for network in networks
        ]

    def _constant(self, network: dict) -> Outcome:
        fitted = self.with_settings(network)
        fitted.features_ = fitted._features(self.rows, self.seeds)
        fitted.coef_ = fitted._output_weights(fitted.features_, self.rows)
        return {"fit_error": None, "score_time": 0.0, **self.scored_by_scorer(fitted)}

    def scored_by_scorer(self, fitted: Any) -> dict[str, Any]:
        """Return what the scorer says of the estimator with a fitted last step."""
        whole, problem = _with_last_step(self.whole, fitted), self.problem
        return {
            name: score_fitted(
                whole, one.X, one.y, problem.scorer, one.score_params, problem.error_score
            )
            for name, one in self.scored.items()
        }


@dataclass(frozen=True)
class _Columns:
    """A feature map for rows that are features already."""

    n_columns: int
    bias_column = 0
    dtype = np.dtype(np.float64)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return X.copy()

    def scores(self, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return X @ theta


class _ColumnsPath:
    """Networks of the same columns, of several sizes and penalties."""

    def __init__(self, model: _PreparedModel, network: dict, sizes: list[int], Cs: np.ndarray):
        self.model, self.network, self.sizes, self.Cs = model, network, sizes, Cs
        self.features: dict[int, Any] = {}
        self.own: dict[str, np.ndarray] = {}

    def _features(self, size: int) -> Any:
        if size not in self.features:
            model = self.model.with_settings({**self.network, self.model.shared.size: size})
            self.features[size] = model._features(self.model.rows, self.model.seeds)
        return self.features[size]

    @cached_property
    def widest(self) -> Any:
        return self._features(self.sizes[-1])

    @cached_property
    def columns(self) -> list[int]:
        """Number of leading columns that each size takes."""
        if self.model.is_deep:
            return [int(self.widest.stage_columns[size - 1]) for size in self.sizes]
        return [self._features(size).n_columns for size in self.sizes]

    def outcome(self, network: dict, size: int, at: int) -> Outcome:
        """Return the outcome of a network, by its size and the position of its penalty."""
        if self.model.problem.leave_one_out:
            score = -self._leave_one_out_errors[size][at]
            return {"fit_error": None, "test_scores": score, "score_time": 0.0}
        began = time.perf_counter()
        if self.model.scores_itself:
            scores = {
                name: self._own_scores(name)[self.sizes.index(size), at] for name in self.scored
            }
        else:
            fitted = self.model.with_settings(network)
            fitted.features_, fitted.coef_ = self._features(size), self._coef(size, at)
            scores = self.model.scored_by_scorer(fitted)
        return {"fit_error": None, "score_time": time.perf_counter() - began, **scores}

    # ---- Output weights -----------------------------------------------------------------------

    def _coef(self, size: int, at: int) -> Any:
        """Return ``coef_`` as `fit` leaves it."""
        if self.model.shared.ridge_per_layer:
            return [self._layer_coef(layer, at) for layer in range(size)]
        if self.model.is_deep:
            return [self._with_offset(self._solve(p, at)) for p in self.widest.stage_columns[:size]]
        if self.model.shared.graph_penalty:
            return self._graph_coef(size, at)
        p = self._features(size).n_columns
        if p > self.limit:
            model = self.model.with_settings({**self.network, "n_hidden": size, "C": self.Cs[at]})
            return model._output_weights(self._features(size), self.model.rows)
        return self._with_offset(self._solve(p, at))

    def _with_offset(self, coef: np.ndarray) -> np.ndarray:
        coef[self.widest.bias_column] += self.model.offset
        return coef

    @property
    def limit(self) -> float:
        """Wider networks of few rows are solved faster by the rows, one by one."""
        few_rows = max(2 * len(self.model.rows.X), SMALL_SYSTEM)
        return np.inf if self.model.is_deep or self.model.shared.graph_penalty else few_rows

    @cached_property
    def equations(self) -> NormalEquations:
        """Normal equations of the widest network within the limit."""
        columns = [p for p in self.columns if p <= self.limit]
        widest = self._features(self.sizes[len(columns) - 1])
        return normal_equations(widest, self.model.rows.X, self.model.Y, self.model.rows.weights)

    def _solve(self, p: int, at: int) -> np.ndarray:
        C = self.Cs[at] * self.model.shared.inverse_penalty_factor
        return solve_shifted(self.equations.gram[:p, :p], self.equations.moment[:p], C)

    @cached_property
    def _layer_solvers(self) -> list:
        model = self.model
        return layer_solvers(self.widest, model.rows.X, model.Y, model.rows.weights)

    @cached_property
    def _layer_coefs(self) -> dict:
        return {}

    def _layer_coef(self, layer: int, at: int) -> np.ndarray:
        if (layer, at) not in self._layer_coefs:
            coef = self._layer_solvers[layer](self.Cs[at])
            self._layer_coefs[layer, at] = self._with_offset(coef)
        return self._layer_coefs[layer, at]

    @cached_property
    def _graph_systems(self) -> dict:
        return {}

    def _graph_coef(self, size: int, at: int) -> np.ndarray:
        if size not in self._graph_systems:
            model = self.model
            system = model.last._graph_system(self._features(size), model.rows, model.Y)
            self._graph_systems[size] = system
        equations, G = self._graph_systems[size]
        return solve_graph_ridge(equations, G, self.Cs[at])

    # ---- Accuracy and R squared ---------------------------------------------------------------

    @property
    def scored(self) -> dict[str, _ScoredSet]:
        return self.model.scored

    def _own_scores(self, name: str) -> np.ndarray:
        """Return (n_sizes, n_penalties) accuracies or R squared."""
        if name not in self.own:
            found = np.empty((len(self.sizes), len(self.Cs)))
            for i, at, outputs in self._outputs(name):
                found[i, at] = self._own_score(self.scored[name], outputs)
            self.own[name] = found
        return self.own[name]

    def _own_score(self, scored: _ScoredSet, outputs: np.ndarray) -> float:
        if self.model.is_regression:
            y = np.asarray(scored.y, dtype=np.float64).reshape(len(outputs), -1)
            return r2_score(y, outputs, sample_weight=scored.weights)
        correct = self.model.last.classes_[outputs.argmax(axis=1)] == np.asarray(scored.y)
        return float(np.average(correct, weights=scored.weights))

    def _outputs(self, name: str) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield position of the size, position of the penalty, and outputs of a scored set."""
        X = self.scored[name].inputs
        if self.model.shared.ridge_per_layer:
            layers = list(self.widest.layers(X))
            for at in range(len(self.Cs)):
                each = [H @ self._layer_coef(layer, at) for layer, H in enumerate(layers)]
                combined = self.model.last._combined(np.stack(each))
                yield from ((i, at, combined[size - 1]) for i, size in enumerate(self.sizes))
            return
        H = self.widest(X)
        for at in range(len(self.Cs)):
            nested = self._nested_outputs(H, at)
            for i, size in enumerate(self.sizes):
                if i < len(nested):
                    yield i, at, nested[i]
                else:
                    coef = self._coef(size, at)
                    last = coef[-1] if self.model.is_deep else coef
                    yield i, at, (H[:, : len(last)] @ last).real

    def _nested_outputs(self, H: np.ndarray, at: int) -> list[np.ndarray]:
        """Return the outputs of all sizes within the limit; none if there is no Cholesky factor."""
        columns = [p for p in self.columns if p <= self.limit]
        if self.model.shared.graph_penalty or not columns:
            return []
        C = self.Cs[at] * self.model.shared.inverse_penalty_factor
        system = np.array(self.equations.gram, order="F")
        system.flat[:: len(system) + 1] += 1 / C
        try:
            L = linalg.cholesky(system, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            return []
        both = np.concatenate([self.equations.moment, H[:, : len(L)].conj().T], axis=1)
        solved = linalg.solve_triangular(L, both, lower=True, check_finite=False)
        n_outputs = self.equations.moment.shape[1]
        z, Q = solved[:, :n_outputs], solved[:, n_outputs:].conj().T
        parts = zip([0, *columns], columns, strict=False)
        sums = accumulate(Q[:, start:p] @ z[start:p] for start, p in parts)
        return [outputs.real + self.model.offset for outputs in sums]

    # ---- Leave-one-out ------------------------------------------------------------------------

    @cached_property
    def _leave_one_out_errors(self) -> dict[int, np.ndarray]:
        """Squared errors at all penalties, by size."""
        if self.model.shared.ridge_per_layer:
            each = map(self._left_out, self.widest.layers(self.model.rows.X))
            sums = dict(enumerate(accumulate(each), start=1))
            predictions = {size: sums[size] / size for size in self.sizes}
        else:
            H = self.widest(self.model.rows.X)
            pairs = zip(self.sizes, self.columns, strict=True)
            predictions = {size: self._left_out(H[:, :p]) for size, p in pairs}
        weights = self.model.row_weights
        return {
            size: np.square(self._around_mean(one) - self.model.Y).sum(axis=2)
            @ (weights / weights.sum())
            for size, one in predictions.items()
        }

    def _left_out(self, H: np.ndarray) -> np.ndarray:
        """Return (n_penalties, n_rows, n_outputs) predictions of ridges without each row."""
        model, Y = self.model, self.model.Y
        if model.is_regression:
            Y = np.column_stack([Y, np.ones(len(Y))])  # for `_around_mean`
        features, weights = _Columns(H.shape[1]), model.row_weights
        ridge = factor_spectral_ridge(features, H, Y, weights, free_intercept=False)
        Cs = self.Cs * model.shared.inverse_penalty_factor
        return np.concatenate([one for _, one in ridge.leave_out(H, Y, weights, Cs)], axis=1)

    def _around_mean(self, predictions: np.ndarray) -> np.ndarray:
        """Return what regressors predict: without row i the mean of the targets is another, m_i.

        A ridge is linear in its targets, so that this is ``p_i(Y) - m_i p_i(1) + m_i``.
        """
        model, weights = self.model, self.model.row_weights
        if not model.is_regression:
            return predictions
        others = weights.sum() - weights
        if others.min() <= 0:
            raise ValueError(
                "one row has all the weight, so without it nothing is left to fit; leave-one-out "
                "needs two or more."
            )
        mean = model.Y * (-weights / others)[:, None]  # the weighted sum of all Y is zero
        return predictions[..., :-1] + mean * (1 - predictions[..., -1:])
