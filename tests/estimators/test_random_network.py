"""The stages that classifiers and regressors of one layer share."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from granulearn.estimators import (
    ELMClassifier,
    ELMRegressor,
    RVFLClassifier,
    RVFLRegressor,
)
from granulearn.estimators.training_rows import Seeds
from granulearn.network import draw_random_features, solve_weighted_ridge

ROWS = SimpleNamespace(X=np.random.default_rng(0).normal(size=(30, 3)), weights=None)


@pytest.mark.parametrize(
    ("estimator", "direct_link"),
    [
        (RVFLClassifier, True),
        (RVFLRegressor, True),
        (ELMClassifier, False),
        (ELMRegressor, False),
    ],
)
def test_classifier_and_regressor_draw_and_solve_alike(estimator, direct_link):
    model = estimator(n_hidden=4, activation="sine", C=3.0)
    features = model._features(ROWS, Seeds(network=5, balls=6))
    drawn = draw_random_features(3, 4, "sine", direct_link=direct_link, seed=5)
    assert_array_equal(features(ROWS.X), drawn(ROWS.X))
    Y = np.random.default_rng(1).normal(size=(30, 2))
    expected = solve_weighted_ridge(drawn, ROWS.X, Y, None, 3.0)
    assert_array_equal(model._solve(features, ROWS, Y), expected)


@pytest.mark.parametrize("estimator", [RVFLClassifier, RVFLRegressor])
def test_what_is_missing_before_fit_is_the_fit(estimator):
    with pytest.raises(NotFittedError):
        estimator()._scores(ROWS.X)
