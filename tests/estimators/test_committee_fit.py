"""Parts of the committee's fit; that leave-one-out is exact is in ``test_committee``."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from granulearn.estimators import committee_fit
from granulearn.estimators.committee_fit import (
    SMALL,
    CommitteePlan,
    choose_activation,
    draw_layers,
    fill_left_out,
    fit_committee,
    input_importances,
    layer_features,
    mean_scores,
    plan_of_size,
    spread_weights,
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


def test_the_plan_has_several_layers_of_few_rows_and_a_wider_one_of_many():
    assert plan_of_size(SMALL) == CommitteePlan(10, 203)
    assert plan_of_size(SMALL + 1) == CommitteePlan(1, 300, pilot=True)
    widths = [plan_of_size(n).n_hidden for n in (2_500, 5_000, 9_000, 20_000)]
    assert widths == [300, 333, 600, 1000]
    assert plan_of_size(10**6) == CommitteePlan(1, 600, max_rows=8_000, pilot=True)


def test_two_classes_need_fewer_nodes_and_fewer_still_beside_many_inputs():
    def width(n_rows, n_features):
        return plan_of_size(n_rows, n_classes=2, n_features=n_features).n_hidden

    assert [width(n, 20) for n in (2_500, 5_000, 10_000, 20_000)] == [195, 195, 395, 795]
    assert [width(5_000, d) for d in (4, 200, 400, 10_000)] == [199, 150, 100, 100]
    assert width(10**6, 400) == plan_of_size(10**6).n_hidden - 200
    assert plan_of_size(SMALL, n_classes=2, n_features=400) == plan_of_size(SMALL)


def test_the_activation_is_that_of_least_leave_one_out_error_without_a_direct_link():
    rng = np.random.default_rng(0)
    X, names, Cs = rng.uniform(-3, 3, (60, 2)), ["relu", "radbas", "sine"], [0.1, 10.0]
    Y, ones = np.sin(3 * X[:, :1]), np.ones(60)
    layers = draw_layers(2, 12, 1, 0)

    def error(name, C):
        hidden = layer_features(layers[0], name, direct_link=False)(X)[:, 1:]
        left_out = cross_val_predict(Ridge(alpha=1 / C), hidden, Y, cv=LeaveOneOut())
        return np.square(left_out.reshape(Y.shape) - Y).sum()

    least = {name: min(error(name, C) for C in Cs) for name in names}
    assert choose_activation(X, Y, ones, ones, layers, names, Cs) == min(least, key=least.get)


def test_layers_of_few_rows_have_a_bounded_number_of_weights():
    layers = [plan_of_size(100, n_features=d).n_layers for d in (1, 4_900, 20_000, 10**6)]
    assert layers == [10, 10, 2, 1]


def test_weights_are_spread_over_rows_in_the_order_asked_for():
    weights = np.array([1.0, 2, 0, 3, 4, 5, 6])
    order = np.array([6, 5, 4, 3, 2, 1, 0])
    found = spread_weights(weights, 3, lambda: order)
    assert_array_equal(found, [0, 2, 0, 0, 4, 0, 6])

    def never():
        raise AssertionError

    assert spread_weights(weights, None, never) is weights
    assert spread_weights(weights, 6, never) is weights


@pytest.mark.parametrize("n_known", [0, 10, 25, 30])
def test_samples_without_a_prediction_are_predicted_if_they_are_wanted(n_known, monkeypatch):
    monkeypatch.setattr(committee_fit, "ROWS_AT_ONCE", 7)
    rng = np.random.default_rng(0)
    X, layers = rng.normal(size=(30, 2)), draw_layers(2, 4, 1, 0)
    features, coef = [layer_features(layers[0], "sine")], rng.normal(size=(1, 7, 3))
    loo, wanted = np.full((30, 3), np.nan), rng.random(30) < 0.7
    known = rng.permutation(30)[:n_known]
    loo[known] = 5.0
    fill_left_out(loo, features, coef, X, wanted)
    is_known = np.isin(np.arange(30), known)
    assert (loo[is_known] == 5).all()
    assert np.isnan(loo[~is_known & ~wanted]).all()
    new = ~is_known & wanted
    assert_allclose(loo[new], mean_scores(features, coef, X)[new])


def test_the_importance_of_an_input_is_that_of_all_ways_from_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1, 2, 0]
    layers = draw_layers(3, 4, 2, 0)
    features = [layer_features(layer, "relu") for layer in layers]
    coef = rng.normal(size=(2, 8, 2))
    found = input_importances(features, coef, X.var(axis=0))
    for j in range(3):
        ways = sum(
            (coef[i, j] ** 2).sum()
            + sum((features[i].weights[h, j] * coef[i, 4 + h, k]) ** 2
                  for h in range(4) for k in range(2))
            for i in range(2)
        )  # fmt: skip
        assert found[j] == pytest.approx(ways * X[:, j].var())
