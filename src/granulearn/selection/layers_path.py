"""Ensembles of layers: every number of layers and every penalty from one pass over the rows.

Each layer has a ridge of its own, so an ensemble of fewer layers holds the
first layers of a larger one as they are. Nothing is approximated or reordered:
the layers' systems are those of `fit`, solved as `fit` solves them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from granulearn.network import one_hot
from granulearn.network.deep_features import linked_scores
from granulearn.network.deep_ridge import layer_solvers
from granulearn.selection.accuracy import shares
from granulearn.selection.candidates import ColumnsGroup, PenaltyGroup
from granulearn.selection.outcomes import OutcomeTable
from granulearn.selection.prepared_model import PreparedModel


@dataclass(frozen=True, eq=False)
class LayersPath:
    """Ensembles that differ in their number of layers and their penalty."""

    model: PreparedModel
    same_columns: ColumnsGroup
    bias_column: int
    solvers: list[Callable[[float], np.ndarray]]
    """Of each layer."""
    columns: dict[str, list[np.ndarray]]
    """Of the samples to score the columns of each layer."""

    def evaluate(self, group: PenaltyGroup, table: OutcomeTable) -> np.ndarray:
        """Add the outcomes of candidates of one penalty; return which there are: all or none."""
        try:
            thetas = [solve(group.C) for solve in self.solvers[: group.sizes[-1]]]
        except ValueError:
            # The ordinary fit raises it again, where scikit-learn reports it.
            return np.zeros(len(group.sizes), dtype=bool)
        if self.model.only_accuracy:
            scores = {name: self._accuracies(name, thetas, group.sizes) for name in self.columns}
            table.add_scores(group.places.tolist(), scores)
        else:
            for place, size in zip(group.places.tolist(), group.sizes, strict=True):
                network = self.same_columns.network(group.C, size)
                fitted = self.model.fitted(network, thetas[:size])
                table.add(place, self.model.score(fitted))
        return np.ones(len(group.sizes), dtype=bool)

    def _accuracies(self, name: str, thetas: list[np.ndarray], sizes: np.ndarray) -> list[float]:
        each = [
            linked_scores(columns, theta, self.bias_column)
            for columns, theta in zip(self.columns[name], thetas, strict=False)
        ]
        decided = self.model.estimator._combined(np.stack(each))[sizes - 1].argmax(axis=2)
        is_class = self.model.is_class[name]
        correct = is_class[decided, np.arange(is_class.shape[1])]
        return shares(correct, self.model.inputs.scored[name].accuracy_weights()).tolist()


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
    Y = one_hot(rows.codes, len(model.estimator.classes_))
    return LayersPath(
        model,
        same_columns,
        features.bias_column,
        layer_solvers(features, rows.X, Y, rows.weights),
        {name: list(features.layers(X)) for name, X in model.scored_inputs.items()},
    )
