"""Deep networks: the stages that classifiers and regressors of several random layers share."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from granulearn._sklearn_compat import Interval, StrOptions
from granulearn.estimators.base import (
    BaseRVFLClassifier,
    RandomNetwork,
    Seeds,
    WeightedRows,
)
from granulearn.network import DeepFeatures, draw_deep_features, row_blocks
from granulearn.network.deep_ridge import (
    layer_scores,
    solve_layers,
    solve_stages,
    stage_scores,
)
from granulearn.utils.saved import LARGEST_COEF, Array, Part, require

DEEP_CONSTRAINTS: dict[str, list] = {
    "n_layers": [Interval(Integral, 1, None, closed="left")],
    "n_hidden": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "normalize": ["boolean"],
}
COMBINE_CONSTRAINT: dict[str, list] = {"combine": [StrOptions({"mean", "vote"})]}


class DeepNetwork(RandomNetwork):
    """dRVFL: one ridge on all layers; the ridges on fewer layers come with it."""

    n_layers: int
    normalize: bool
    features_: DeepFeatures
    coef_: list[np.ndarray]

    _saved: ClassVar[dict] = {
        "features_": Part(DeepFeatures),
        "coef_": Array(
            "float64", ("columns", "_n_outputs"), -LARGEST_COEF, LARGEST_COEF, many=list
        ),
    }
    _feeds_inputs: ClassVar[bool] = False

    def _check_saved(self) -> None:
        super()._check_saved()
        features = self.features_
        agree = features.feeds_inputs == self._feeds_inputs
        require(agree, "features_ are those of another network")
        columns = features.layer_columns if self._feeds_inputs else features.stage_columns
        agree = [len(coef) for coef in self.coef_] == columns.tolist()
        require(agree, "coef_ has other columns than features_")

    def _features(self, rows: WeightedRows, seeds: Seeds) -> DeepFeatures:
        return draw_deep_features(
            rows.X,
            rows.weights,
            self._widths(),
            self.activation,
            feeds_inputs=self._feeds_inputs,
            normalize=self.normalize,
            seed=seeds.network,
        )

    def _widths(self) -> list[int]:
        """Return the number of hidden nodes of each layer."""
        if isinstance(self.n_hidden, Integral):
            return [int(self.n_hidden)] * self.n_layers
        widths = list(self.n_hidden)
        whole = all(isinstance(width, Integral) and int(width) >= 1 for width in widths)
        if not whole or len(widths) != self.n_layers:
            raise ValueError(
                f"n_hidden={self.n_hidden!r} must be one positive int, or one for each of the "
                f"n_layers={self.n_layers} layers."
            )
        return [int(width) for width in widths]

    def _solve(self, features: Any, rows: WeightedRows, Y: np.ndarray) -> list[np.ndarray]:
        """Return the output weights of the networks of the first 1, ..., n_layers layers."""
        return solve_stages(features, rows.X, Y, rows.weights, self.C)

    def _stages(self, X: np.ndarray) -> np.ndarray:
        """Return the outputs of the first 1, ..., n_layers layers for a block of rows.

        The shape is (n_layers, n_rows, n_outputs).
        """
        return stage_scores(self.features_, X, self.coef_)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self._by_blocks(X, slice(-1, None))[-1]

    def _staged_scores(self, X: np.ndarray) -> np.ndarray:
        return self._by_blocks(X, slice(None))

    def _by_blocks(self, X: np.ndarray, kept: slice) -> np.ndarray:
        """Return the stages that are kept, for all rows of X."""
        blocks = row_blocks(len(X), self.features_.n_columns * self.features_.dtype.itemsize)
        return np.concatenate([self._stages(X[block])[kept] for block in blocks], axis=1)


class EnsembleNetwork(DeepNetwork):
    """edRVFL: one ridge per layer; each further layer reads the inputs again."""

    _feeds_inputs = True

    def _solve(self, features: Any, rows: WeightedRows, Y: np.ndarray) -> list[np.ndarray]:
        """Return the output weights of each layer."""
        return solve_layers(features, rows.X, Y, rows.weights, self.C)

    def _stages(self, X: np.ndarray) -> np.ndarray:
        return self._combined(layer_scores(self.features_, X, self.coef_))

    def _combined(self, scores: np.ndarray) -> np.ndarray:
        """Return the outputs of the first 1, ..., n_layers layers from those of each layer."""
        return running_means(scores)


class DeepClassifier(BaseRVFLClassifier):
    """Base of deep classifiers, which also have an answer after each layer."""

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield the scores of the network of the first layer, of two layers, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores of a network of that many layers; the last are those of
            `decision_function`.
        """
        for scores in self._staged_scores(self._checked(X)):
            yield self._decisions(scores)

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the labels from the network of the first layer, of two layers, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels from a network of that many layers; the last are those of
            `predict`.
        """
        for scores in self._staged_scores(self._checked(X)):
            yield self._labels(scores)

    def _constant_weights(self, features: Any, code: int) -> list[np.ndarray]:
        weights = super()._constant_weights(features, code)
        columns = features.layer_columns if features.feeds_inputs else features.stage_columns
        return [weights[:p] for p in columns]


class EnsembleClassifier(DeepClassifier):
    """Base of classifiers with one ridge per layer, which combine layers by mean or by vote."""

    combine: str

    def _combined(self, scores: np.ndarray) -> np.ndarray:
        return running_means(scores) if self.combine == "mean" else running_votes(scores)


def running_means(scores: np.ndarray) -> np.ndarray:
    """Return the means over the first 1, ..., L of L arrays."""
    return np.cumsum(scores, axis=0) / _counts(scores)


def running_votes(scores: np.ndarray) -> np.ndarray:
    """Return shares of the votes of the first 1, ..., L of L classifiers.

    Each classifier has one vote. A further half vote is divided by the
    probabilities of their mean score: it settles ties, and nothing else.

    Parameters
    ----------
    scores : ndarray of shape (L, n_rows, n_classes)
        Scores of each classifier.
    """
    votes = scores.argmax(axis=2)[:, :, None] == np.arange(scores.shape[2])
    divided = softmax(running_means(scores), axis=2) / 2
    return (np.cumsum(votes, axis=0) + divided) / (_counts(scores) + 0.5)


def _counts(scores: np.ndarray) -> np.ndarray:
    return np.arange(1, len(scores) + 1)[:, None, None]
