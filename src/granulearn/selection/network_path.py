"""All networks that regress on the same rows, for the price of a few."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from granulearn.estimators import ACRVFLClassifier, GEGBRVFLClassifier
from granulearn.estimators.deep_network import DeepNetwork, EnsembleNetwork
from granulearn.network import NormalEquations, normal_equations, one_hot
from granulearn.selection.accuracy import Decisions, class_contrasts, decide, rounding_error
from granulearn.selection.candidates import ColumnsGroup, PenaltyGroup, RowsGroup
from granulearn.selection.layers_path import LayersPath, open_layers_path
from granulearn.selection.outcomes import OutcomeTable
from granulearn.selection.prepared_model import PreparedModel
from granulearn.selection.ridge_path import RidgePath, factor_ridge

# The graph's penalty depends on the width: no factor is a leading block of another.
NOT_NESTED = frozenset({GEGBRVFLClassifier})
# The augmented ridge is a real ridge with half the penalty.
INVERSE_PENALTY_FACTOR = {ACRVFLClassifier: 2}

# A network much wider than its rows are many is cheaper in the dual form, one
# by one; below this many columns nothing is cheaper than the shared factor. A
# deep network alone would be solved for all its stages, at several times the cost.
SMALL_SYSTEM = 512
SMALL_DEEP_SYSTEM = 2048
# Where rounding can move scores by more than this, the solver of `fit` decides.
# Accuracy needs only the sign of a lead, and small leads are looked at one by one.
LARGEST_ERROR_FOR_LABELS = 1e-3
LARGEST_ERROR_FOR_SCORES = 1e-6


def evaluate_networks(model: PreparedModel, group: RowsGroup, table: OutcomeTable) -> None:
    """Add to the table the outcomes of candidates that share their rows.

    There is none for a candidate on which the solver of `fit` raises.

    Parameters
    ----------
    model : PreparedModel
        What they share.
    group : RowsGroup
        Networks of any activation, penalty and width.
    table : OutcomeTable
        Where outcomes are added.
    """
    for same_columns in group.same_columns:
        began, start = time.perf_counter(), len(table)
        path = _open_path(model, same_columns)
        for same_penalty in same_columns.penalties:
            certain = np.zeros(len(same_penalty.places), dtype=bool)
            if path is not None:
                certain = path.evaluate(same_penalty, table)
            for at in np.flatnonzero(~certain):
                network = same_columns.network(same_penalty.C, same_penalty.sizes[at])
                _evaluate_alone(model, int(same_penalty.places[at]), network, table)
        table.share_time(start, time.perf_counter() - began)


def _evaluate_alone(model: PreparedModel, place: int, network: dict, table: OutcomeTable) -> None:
    try:
        fitted = model.fitted(network)
    except Exception:
        # The ordinary fit raises it again, where scikit-learn reports it.
        return
    table.add(place, model.score(fitted))


@dataclass(frozen=True)
class WidthColumns:
    """How many leading columns a width takes."""

    fixed: int
    """Columns of the direct link and the bias."""
    per_node: int
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
        """Return the widths up to the limit."""
        return widths[self.fixed + self.per_node * widths <= self.limit]


@dataclass(frozen=True, eq=False)
class ColumnsPath:
    """Networks of nested columns, for the price of one Gram matrix."""

    model: PreparedModel
    same_columns: ColumnsGroup
    columns: WidthColumns
    equations: NormalEquations
    """Of the widest network."""
    gram_norm: float
    H: dict[str, np.ndarray]
    """Features of the samples to score, of the widest network."""

    def evaluate(self, group: PenaltyGroup, table: OutcomeTable) -> np.ndarray:
        """Add the outcomes of candidates of one penalty; return which rounding cannot change."""
        certain = np.zeros(len(group.sizes), dtype=bool)
        inverse_penalty = group.C * INVERSE_PENALTY_FACTOR.get(type(self.model.estimator), 1)
        only_accuracy = self.model.only_accuracy
        limit = LARGEST_ERROR_FOR_LABELS if only_accuracy else LARGEST_ERROR_FOR_SCORES
        error = rounding_error(self.gram_norm, inverse_penalty)
        # Not "error >=": what overflowed is not a number.
        path = factor_ridge(self.equations, inverse_penalty) if error < limit else None
        columns = self.columns.of(group.sizes)
        if path is None or len(columns) == 0:
            return certain
        decisions = self._decisions(path, columns)
        certain[: len(columns)] = np.all(
            [found.margins > error for found in decisions.values()], axis=0
        )
        if only_accuracy:
            _add_accuracies(group, certain, decisions, table)
        else:
            output_weights = self._output_weights(path, columns)
            for at in np.flatnonzero(certain):
                network = self.same_columns.network(group.C, group.sizes[at])
                fitted = self.model.fitted(network, output_weights[at])
                table.add(int(group.places[at]), self.model.score(fitted))
        return certain

    def _output_weights(self, path: RidgePath, columns: np.ndarray) -> list:
        """Return ``coef_`` for each number of columns; of a deep network a list of all stages."""
        if not isinstance(self.model.estimator, DeepNetwork):
            weights = path.coefficients(columns)
            return [np.ascontiguousarray(weights[:p, at]) for at, p in enumerate(columns)]
        stages = self.columns.up_to(columns[-1])
        weights = path.coefficients(stages)
        every = [np.ascontiguousarray(weights[:p, at]) for at, p in enumerate(stages)]
        return [every[: np.searchsorted(stages, p) + 1] for p in columns]

    def _decisions(self, path: RidgePath, columns: np.ndarray) -> dict[str, Decisions]:
        contrasts = class_contrasts(path)
        decisions = {}
        for name, H in self.H.items():
            weights = None
            if self.model.only_accuracy:
                weights = self.model.inputs.scored[name].accuracy_weights()
            decisions[name] = decide(contrasts, columns, H, self.model.is_class[name], weights)
        return decisions


def _add_accuracies(
    group: PenaltyGroup, certain: np.ndarray, decisions: dict[str, Decisions], table: OutcomeTable
) -> None:
    known = certain[: len(next(iter(decisions.values())).accuracies)]
    scores = {name: found.accuracies[known].tolist() for name, found in decisions.items()}
    table.add_scores(group.places[certain].tolist(), scores)


def _open_path(model: PreparedModel, same_columns: ColumnsGroup) -> ColumnsPath | LayersPath | None:
    """Return the path of those sizes that gain by it; None if there are none."""
    rows = model.rows
    if type(model.estimator) in NOT_NESTED or (rows.codes == rows.codes[0]).all():
        return None
    if isinstance(model.estimator, EnsembleNetwork):
        return open_layers_path(model, same_columns)
    columns = width_columns(model, same_columns)
    sizes = np.concatenate([group.sizes for group in same_columns.penalties])
    widths = columns.narrow(sizes)
    if len(widths) == 0:
        return None
    features = model.features(same_columns.network(1.0, widths.max()))
    Y = one_hot(rows.codes, len(model.estimator.classes_))
    equations = normal_equations(features, rows.X, Y, rows.weights)
    gram_norm = np.abs(equations.gram).sum(axis=0).max()
    # Columns contiguous, as LAPACK wants them, or it would copy them for each penalty.
    equations = replace(equations, gram=np.asfortranarray(equations.gram))
    H = {name: np.asfortranarray(features(X)) for name, X in model.scored_inputs.items()}
    return ColumnsPath(model, same_columns, columns, equations, gram_norm, H)


def width_columns(model: PreparedModel, same_columns: ColumnsGroup) -> WidthColumns:
    """Return how many leading columns each size of a group's networks takes."""
    one, two = (model.features(same_columns.network(1.0, width)).n_columns for width in (1, 2))
    deep = isinstance(model.estimator, DeepNetwork)
    limit = max(2 * len(model.rows.X), SMALL_DEEP_SYSTEM if deep else SMALL_SYSTEM)
    return WidthColumns(fixed=2 * one - two, per_node=two - one, limit=limit)
