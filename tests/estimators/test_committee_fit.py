"""Parts of the committee's fit; that leave-one-out is exact is in ``test_committee``."""

import numpy as np
import pytest

from granulearn.estimators.committee_fit import (
    draw_layers,
    fit_committee,
    layer_features,
)
from tests.estimators.families import overlapping_classes


def test_hidden_nodes_have_the_stated_ranges():
    layers = draw_layers(12, 500, 2, seed=1)
    features = layer_features(layers[0], "relu")
    assert features.weights.shape == (500, 12)
    assert 0.45 < np.abs(features.weights).max() <= np.sqrt(3 / 12)
    assert features.biases.min() < -0.9
    assert features.biases.max() > 0.9
    received = np.random.default_rng(0).normal(size=(2000, 12)) @ features.weights.T
    assert received.var(axis=0).mean() == pytest.approx(1, rel=0.1)


def test_layers_of_a_fit_are_those_of_its_choice():
    X, y = overlapping_classes(2, n_samples=30)
    layers = draw_layers(3, 5, 2, seed=0)
    fit = fit_committee(X, np.eye(2)[y], np.ones(30), np.ones(30), layers, ["sine"], [0.1, 1.0])
    assert [f.activation for f in fit.features] == ["sine", "sine"]
    assert fit.errors.shape == (1, 2)
    assert fit.coef.shape == (2, 3 + 1 + 5, 2)
