"""One random layer and one ridge: what classifiers and regressors are made of."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from granulearn.estimators.training_rows import Seeds
from granulearn.network import (
    FeatureMap,
    draw_random_features,
    predict_scores,
    solve_weighted_ridge,
)


class WeightedRows(Protocol):
    """What a network is fitted to: samples, or the centres of balls."""

    @property
    def X(self) -> np.ndarray:  # noqa: N802
        """(k, d) inputs."""

    @property
    def weights(self) -> np.ndarray | None:
        """(k,) weight of each row's squared error; None means one for each."""


class RandomNetwork:
    """The stages of a network with one hidden layer, whatever its targets are."""

    n_hidden: Any
    activation: str
    C: float
    features_: Any
    coef_: Any

    _direct_link: ClassVar[bool] = True

    def _features(self, rows: WeightedRows, seeds: Seeds) -> FeatureMap:
        """Return the map from rows to the columns of H."""
        return draw_random_features(
            rows.X.shape[1],
            self.n_hidden,
            self.activation,
            direct_link=self._direct_link,
            seed=seeds.network,
        )

    def _solve(self, features: FeatureMap, rows: WeightedRows, Y: np.ndarray):
        """Return the output weights, of shape (n_columns, n_outputs)."""
        return solve_weighted_ridge(features, rows.X, Y, rows.weights, self.C)

    def _scores(self, X) -> np.ndarray:
        """Return the network's outputs, of shape (n_samples, n_outputs)."""
        X = self._checked(X)
        return predict_scores(self.features_, X, self.coef_)

    def _checked(self, X) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
