"""All networks that regress on the same rows, for the price of a few."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np

from granulearn.estimators.base import TrainingRows
from granulearn.network import NormalEquations, normal_equations
from granulearn.selection.candidates import ColumnsGroup, PenaltyGroup, RowsGroup
from granulearn.selection.fold import OutcomeTable
from granulearn.selection.graph_path import (
    GraphsByWidth,
    GraphSystems,
    is_nested,
    open_graph_systems,
)
from granulearn.selection.judging import (
    ClassTargets,
    add_certain,
    certain_of_all,
    rounding_error,
)
from granulearn.selection.layers_path import LayersPath, open_layers_path
from granulearn.selection.prepared_model import PreparedModel
from granulearn.selection.ridge_path import Factored, RidgePath, factor_ridge

# A network of many more columns than rows is cheaper in the dual form, one by one.
# Up to so many columns nothing is cheaper than a factor that two widths share. The limit of
# deep networks is higher: alone, each is solved for all its stages, at several times the cost.
SMALL_SYSTEM = 544
SMALL_DEEP_SYSTEM = 2048


def evaluate_networks(model: PreparedModel, group: RowsGroup, table: OutcomeTable) -> None:
    """Add to the table the outcomes of candidates that share their rows.

    A candidate on which the solver of `fit` raises gets no outcome.

    Parameters
    ----------
    model : PreparedModel
        What the candidates share.
    group : RowsGroup
        Networks of any activation, penalty and width.
    table : OutcomeTable
        Where outcomes are added.
    """
    if _is_scored_alike(model):
        _evaluate_once(model, group, table)
        return
    for same_columns in group.same_columns:
        began, start = time.perf_counter(), len(table)
        path = _open_path(model, same_columns)
        # What `fit` solves, with graphs that are made once for all penalties.
        graphs = GraphsByWidth(model, same_columns) if model.shared.graph_penalty else None
        for same_penalty in same_columns.penalties:
            certain = np.zeros(len(same_penalty.places), dtype=bool)
            if path is not None:
                certain = path.evaluate(same_penalty, table)
            if path is not None and graphs is not None:
                graphs.evaluate(same_penalty.without(certain), table)
                continue
            for at in np.flatnonzero(~certain):
                network = same_columns.network(same_penalty.C, same_penalty.sizes[at])
                _evaluate_alone(model, int(same_penalty.places[at]), network, table)
        table.share_time(start, time.perf_counter() - began)


def _is_scored_alike(model: PreparedModel) -> bool:
    """Return whether rows of one class are left: every network then predicts it everywhere."""
    scoring = model.fold.problem.scoring
    by_name = scoring is None or isinstance(scoring, str)  # a function may look at the network
    one_class = isinstance(model.targets, ClassTargets) and _is_constant(model.targets.Y)
    return one_class and by_name


def _is_constant(Y: np.ndarray) -> bool:
    return bool((Y[0] == Y).all())


def _evaluate_once(model: PreparedModel, group: RowsGroup, table: OutcomeTable) -> None:
    """Add the outcome of one network for all of them."""
    began, start = time.perf_counter(), len(table)
    first = group.same_columns[0]
    network = first.network(first.penalties[0].C, first.penalties[0].sizes[0])
    try:
        outcome = model.score(model.fitted(network))
    except Exception:
        # The ordinary fit raises the error again, where scikit-learn reports it.
        return
    places = group.places.tolist()
    names = model.fold.score_names()
    table.add_scores(places, {name: [outcome[name]] * len(places) for name in names})
    table.share_time(start, time.perf_counter() - began)


def _evaluate_alone(model: PreparedModel, place: int, network: dict, table: OutcomeTable) -> None:
    try:
        fitted = model.fitted(network)
    except Exception:
        # The ordinary fit raises the error again, where scikit-learn reports it.
        return
    table.add(place, model.score(fitted))


@dataclass(frozen=True)
class WidthColumns:
    """How many leading columns a width takes."""

    fixed: int
    """Columns of the direct link and the bias."""
    per_node: int
    """Columns of each hidden node; in a deep network, of each layer."""
    limit: int
    """Networks of more columns gain nothing by a path."""

    def of(self, widths: np.ndarray) -> np.ndarray:
        """Return the numbers of columns of ascending widths, up to the limit."""
        columns = self.fixed + self.per_node * widths
        return columns[columns <= self.limit]

    def up_to(self, largest: int) -> np.ndarray:
        """Return the numbers of columns of all widths from one on, up to a number of columns."""
        return np.arange(self.fixed + self.per_node, largest + 1, self.per_node)

    def narrow(self, widths: np.ndarray) -> np.ndarray:
        """Return the widths whose columns are within the limit."""
        return widths[self.fixed + self.per_node * widths <= self.limit]


@dataclass(frozen=True, eq=False)
class RidgeSystems:
    """The ridge of the widest network, at any penalty."""

    equations: NormalEquations
    """Normal equations of the widest network."""
    gram_norm: float
    inverse_penalty_factor: int

    def factored(self, C: float, columns: np.ndarray, limit: float) -> Factored | None:
        """Return the ridge of a penalty; None where the solver of `fit` must decide.

        Parameters
        ----------
        C : float
            The parameter of the candidates.
        columns : ndarray of shape (n_widths,)
            Numbers of leading columns, ascending.
        limit : float
            How far rounding may move scores.
        """
        inverse_penalty = C * self.inverse_penalty_factor
        ridge = factor_ridge(self.equations, inverse_penalty)
        if ridge is None:
            return None
        # No condition number exceeds this bound. Most are much smaller, where the rows alone
        # determine the weights well. "not error <" is also true for NaN, after an overflow.
        error = rounding_error(inverse_penalty * self.gram_norm)
        if not error < limit:
            error = rounding_error(ridge.condition(self.gram_norm + 1 / inverse_penalty))
        return Factored(ridge, error) if error < limit else None


@dataclass(frozen=True, eq=False)
class ColumnsPath:
    """Networks of nested columns, for the price of one Gram matrix."""

    model: PreparedModel
    same_columns: ColumnsGroup
    columns: WidthColumns
    systems: RidgeSystems | GraphSystems
    """What the widest network solves at any penalty."""
    bias_column: int
    H: dict[str, np.ndarray]
    """Features of the samples to score, in the widest network."""

    def evaluate(self, group: PenaltyGroup, table: OutcomeTable) -> np.ndarray:
        """Add the outcomes of one penalty that rounding cannot change; return which these are."""
        certain = np.zeros(len(group.sizes), dtype=bool)
        columns = self.columns.of(group.sizes)
        narrow = slice(len(columns))
        limit = self.model.largest_error
        path = self.systems.factored(group.C, columns, limit) if len(columns) else None
        if path is None:
            return certain
        judged = {
            name: judge.of_widths(path.ridge, columns, self.H[name], path.error)
            for name, judge in self.model.judges.items()
        }
        if self.model.own_score:
            certain[narrow] = add_certain(group.places[narrow], judged, table)
            return certain
        certain[narrow] = certain_of_all(judged)
        output_weights = self._output_weights(path.ridge, columns)
        for at in np.flatnonzero(certain):
            network = self.same_columns.network(group.C, group.sizes[at])
            fitted = self.model.fitted(network, output_weights[at])
            table.add(int(group.places[at]), self.model.score(fitted))
        return certain

    def _output_weights(self, ridge: RidgePath, columns: np.ndarray) -> list:
        """Return ``coef_`` for each number of columns; for a deep network, lists of all stages."""
        deep = self.model.is_deep
        stages = self.columns.up_to(columns[-1]) if deep else columns
        weights = ridge.coefficients(stages)
        weights[self.bias_column] += self.model.targets.offset
        every = [np.ascontiguousarray(weights[:p, at]) for at, p in enumerate(stages)]
        return [every[: np.searchsorted(stages, p) + 1] for p in columns] if deep else every


def _open_path(
    model: PreparedModel, same_columns: ColumnsGroup
) -> ColumnsPath | LayersPath | GraphsByWidth | None:
    """Return the path of the sizes that gain by one; None if there are none."""
    rows, Y = model.rows, model.targets.Y
    if _is_constant(Y):
        return None
    if model.shared.ridge_per_layer:
        return open_layers_path(model, same_columns)
    if model.shared.graph_penalty and not is_nested(model.estimator):
        return GraphsByWidth(model, same_columns)
    columns = width_columns(model, same_columns)
    sizes = np.concatenate([group.sizes for group in same_columns.penalties])
    widths = columns.narrow(sizes)
    if len(widths) == 0:
        return None
    features = model.features(same_columns.network(1.0, widths.max()))
    equations = normal_equations(features, rows.X, Y, rows.weights)
    systems: RidgeSystems | GraphSystems
    if model.shared.graph_penalty:
        assert isinstance(rows, TrainingRows)  # a graph joins rows of a class
        H_rows = features(rows.X)
        systems = open_graph_systems(equations, H_rows, rows.codes, model.estimator.gamma)
    else:
        gram_norm = np.abs(equations.gram).sum(axis=0).max()
        # LAPACK wants contiguous columns, and would copy any others for each penalty.
        equations = replace(equations, gram=np.asfortranarray(equations.gram))
        systems = RidgeSystems(equations, gram_norm, model.shared.inverse_penalty_factor)
    H = {name: np.asfortranarray(features(X)) for name, X in model.scored_inputs.items()}
    return ColumnsPath(model, same_columns, columns, systems, features.bias_column, H)


def width_columns(model: PreparedModel, same_columns: ColumnsGroup) -> WidthColumns:
    """Return how many leading columns each size of a group's networks takes."""
    one, two = (model.features(same_columns.network(1.0, width)).n_columns for width in (1, 2))
    limit = max(2 * len(model.rows.X), SMALL_DEEP_SYSTEM if model.is_deep else SMALL_SYSTEM)
    if model.shared.graph_penalty:  # it has no dual form
        limit = sys.maxsize
    return WidthColumns(fixed=2 * one - two, per_node=two - one, limit=limit)
