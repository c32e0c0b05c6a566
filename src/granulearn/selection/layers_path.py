"""Ensembles of layers: every number of layers and every penalty from one pass over the rows.

Each layer has a ridge of its own, so an ensemble of fewer layers holds the
first layers of a larger one as they are. Nothing is approximated or reordered:
the layers' systems are those of `fit`, solved as `fit` solves them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from granulearn.network.deep_features import linked_scores
from granulearn.network.deep_ridge import layer_solvers
from granulearn.selection.candidates import ColumnsGroup, PenaltyGroup
from granulearn.selection.fold import OutcomeTable
from granulearn.selection.judging import add_certain
from granulearn.selection.prepared_model import PreparedModel


@dataclass(frozen=True, eq=False)
class LayersPath:
    """Ensembles that differ in their number of layers and their penalty."""

    model: PreparedModel
    same_columns: ColumnsGroup
    bias_column: int
    solvers: list[Callable[[float], np.ndarray]]
    """For each layer, the function from C to its output weights."""
    columns: dict[str, list[np.ndarray]]
    """Columns of each layer for the samples to score."""

    def evaluate(self, group: PenaltyGroup, table: OutcomeTable) -> np.ndarray:
        """Add the outcomes of candidates of one penalty; return which candidates have one."""
        try:
            thetas = [self._solved(solve, group.C) for solve in self.solvers[: group.sizes[-1]]]
        except ValueError:
            # The ordinary fit raises the error again, where scikit-learn reports it.
            return np.zeros(len(group.sizes), dtype=bool)
        if self.model.own_score:
            judged = {
                name: judge.of_layers(self._outputs(name, thetas)[group.sizes - 1])
                for name, judge in self.model.judges.items()
            }
            return add_certain(group.places, judged, table)
        for place, size in zip(group.places.tolist(), group.sizes, strict=True):
            network = self.same_columns.network(group.C, size)
            fitted = self.model.fitted(network, thetas[:size])
            table.add(place, self.model.score(fitted))
        return np.ones(len(group.sizes), dtype=bool)

    def _solved(self, solve: Callable[[float], np.ndarray], C: float) -> np.ndarray:
        """Return the output weights of a layer, as `fit` leaves them."""
        theta = solve(C)
        theta[self.bias_column] += self.model.targets.offset
        return theta

    def _outputs(self, name: str, thetas: list[np.ndarray]) -> np.ndarray:
        """Return the outputs of the ensembles of 1, 2, ... layers for samples to score."""
        each = [
            linked_scores(columns, theta, self.bias_column)
            for columns, theta in zip(self.columns[name], thetas, strict=False)
        ]
        return self.model.estimator._combined(np.stack(each))


def open_layers_path(model: PreparedModel, same_columns: ColumnsGroup) -> LayersPath:
    """Go through the rows once, for all layers of the largest ensemble.

    Parameters
    ----------
    model : PreparedModel
        What the candidates share.
    same_columns : ColumnsGroup
        Candidates that share activation and width.
    """
    largest = max(group.sizes[-1] for group in same_columns.penalties)
    features = model.features(same_columns.network(1.0, largest))
    rows = model.rows
    return LayersPath(
        model,
        same_columns,
        features.bias_column,
        layer_solvers(features, rows.X, model.targets.Y, rows.weights),
        {name: list(features.layers(X)) for name, X in model.scored_inputs.items()},
    )
