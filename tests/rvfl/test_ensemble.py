"""Laws of the RVFL ensemble."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.rvfl import RVFLEnsembleClassifier, RVFLEnsembleRegressor
from granulearn.rvfl.ensemble import (
    auto_hidden,
    auto_networks,
    draw_layers,
    input_importances,
    layer_features,
)
from tests.rvfl.families import overlapping_classes

SMALL = {"n_estimators": 3, "n_hidden": 12, "random_state": 0}
# Inputs as they come: scaling would be learnt from other rows too.
AS_IT_COMES = {**SMALL, "categorical_features": None}


def test_leave_one_out_of_the_ensemble_equals_refitting_without_each_row():
    X, y = overlapping_classes(3, n_samples=30)
    fixed = {**AS_IT_COMES, "activation": "relu", "C": 0.1}
    found = RVFLEnsembleClassifier(**fixed).fit(X, y).out_of_sample_proba_
    for i in range(30):
        rest = np.arange(30) != i
        without = RVFLEnsembleClassifier(**fixed).fit(X[rest], y[rest])
        assert_allclose(found[i], without.predict_proba(X[[i]])[0], rtol=1e-6, atol=1e-9)


def left_out_error(X, y, **settings):
    """Return the leave-one-out error by refitting without each row."""
    errors = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        scores = RVFLEnsembleClassifier(**settings).fit(X[rest], y[rest])._scores(X[[i]])[0]
        errors.append(np.square(scores - np.eye(2)[y[i]]).sum())
    return np.mean(errors)


def test_the_choice_minimises_the_leave_one_out_error():
    X, y = overlapping_classes(2, n_samples=40)
    activations, Cs = ["relu", "sine"], [1e-3, 1.0]
    model = RVFLEnsembleClassifier(activation=activations, C=Cs, **AS_IT_COMES).fit(X, y)
    # The first network chooses the activation, the mean of all of them C.
    by_one = {
        name: min(
            left_out_error(X, y, activation=name, C=C, **AS_IT_COMES | {"n_estimators": 1})
            for C in Cs
        )
        for name in activations
    }
    assert model.activation_ == min(by_one, key=by_one.get)
    errors = [left_out_error(X, y, activation=model.activation_, C=C, **AS_IT_COMES) for C in Cs]
    assert_allclose(model.loo_errors_, errors, rtol=1e-6)
    assert Cs[np.argmin(errors)] == model.C_
    assert model.loo_error_ == pytest.approx(min(errors))


def test_scores_sum_to_one_and_probabilities_rank_as_they_do():
    X, y = overlapping_classes(3)
    model = RVFLEnsembleClassifier(**SMALL).fit(X, y)
    scores, proba = model._scores(model._checked(X)), model.predict_proba(X)
    assert_allclose(scores.sum(axis=1), 1)
    assert_allclose(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
    assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))
    assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])


def test_integer_weights_are_repeated_rows_also_in_the_choice():
    X, y = overlapping_classes(3, n_samples=50)
    w = np.random.default_rng(0).integers(0, 4, 50)
    weighted = RVFLEnsembleClassifier(**SMALL).fit(X, y, sample_weight=w)
    repeated = RVFLEnsembleClassifier(**SMALL).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.loo_errors_, repeated.loo_errors_, rtol=1e-7)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-8)


def test_a_sample_of_weight_zero_is_predicted_but_not_learnt_from():
    X, y = overlapping_classes(2, n_samples=40)
    w = np.r_[0.0, np.ones(39)]
    model = RVFLEnsembleClassifier(**SMALL).fit(X, y, sample_weight=w)
    assert_allclose(model.out_of_sample_proba_[0], model.predict_proba(X[[0]])[0])


def test_a_class_weight_is_the_same_weight_on_its_samples():
    X, y = overlapping_classes(2, n_samples=60)
    factor = np.where(y == 1, 0.5, 1.0)
    by_class = RVFLEnsembleClassifier(class_weight={1: 0.5}, **AS_IT_COMES).fit(X, y)
    by_sample = RVFLEnsembleClassifier(**AS_IT_COMES).fit(X, y, sample_weight=factor)
    assert_allclose(by_class.predict_proba(X), by_sample.predict_proba(X), rtol=1e-9)
    thin = y.cumsum() % 5 == 0
    X, y = X[(y == 0) | thin], y[(y == 0) | thin]
    plain = RVFLEnsembleClassifier(**SMALL).fit(X, y).predict(X)
    balanced = RVFLEnsembleClassifier(class_weight="balanced", **SMALL).fit(X, y).predict(X)
    assert (balanced == 1).sum() > (plain == 1).sum()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"activation": "rely"}, "a str among"),
        ({"activation": ["relu", "rely"]}, "names out of"),
        ({"activation": []}, "at least one"),
        ({"C": -1.0}, "'C' parameter"),
        ({"C": [1.0, 0.0]}, "positive numbers"),
        ({"n_estimators": 0}, "'n_estimators' parameter"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_valid(settings, message):
    with pytest.raises(ValueError, match=message):
        RVFLEnsembleClassifier(**settings).fit(*overlapping_classes())


def test_the_regressor_is_the_classifiers_network_on_numbers():
    X, y = overlapping_classes(2)
    as_numbers = RVFLEnsembleRegressor(**SMALL).fit(X, np.eye(2)[y])
    as_classes = RVFLEnsembleClassifier(**AS_IT_COMES).fit(X, y)
    assert_allclose(as_numbers.predict(X), as_classes._scores(X))
    one = RVFLEnsembleRegressor(**SMALL).fit(X, y.astype(float))
    assert one.predict(X).shape == one.loo_prediction_.shape == (len(X),)


def test_the_regressor_needs_two_samples_of_weight():
    with pytest.raises(ValueError, match="zero for all samples but one or none"):
        RVFLEnsembleRegressor().fit(np.eye(3), [1.0, 2, 3], sample_weight=[1, 0, 0])


def test_many_samples_are_fitted_by_some_of_them_and_all_are_predicted():
    X, y = overlapping_classes(2, n_samples=2600)
    model = RVFLEnsembleClassifier(1, 40, max_samples=500, random_state=0).fit(X, y)
    proba = model.out_of_sample_proba_
    assert_allclose(proba.sum(axis=1), 1)
    # Rows that were not fitted are predicted as new ones are.
    same = np.isclose(proba, model.predict_proba(X)).all(axis=1)
    assert same.sum() >= 2100


def test_few_rows_have_several_networks_and_many_rows_one_wider_one():
    assert [auto_networks(n, 20, 300) for n in (100, 1_000, 2_000, 10_000)] == [10, 10, 2, 1]
    assert [auto_networks(100, d, 203) for d in (1, 20_000, 10**6)] == [10, 2, 1]
    assert [auto_hidden(n, 20, 3) for n in (300, 6_000, 30_000)] == [200, 400, 1000]
    assert [auto_hidden(n, 20, 2) for n in (500, 10_000)] == [195, 395]
    assert auto_hidden(5_000, 1_000, 2) == 100


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
