"""A model prepared once, finished for any network, against `fit`."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.metrics import accuracy_score

from granulearn.estimators import (
    DeepRVFLRegressor,
    ELMRegressor,
    EnsembleDeepRVFLRegressor,
    RVFLClassifier,
    RVFLRegressor,
)
from granulearn.selection.fold import fit_earlier_steps
from granulearn.selection.prepared_model import prepare_model
from tests.estimators.families import ALL_CLASSIFIERS
from tests.selection.test_fold import TEST, TRAIN, X, fold, y


@pytest.mark.parametrize("Classifier", ALL_CLASSIFIERS)
@pytest.mark.parametrize("n_hidden", [1, 7, 80])
def test_a_prepared_model_finishes_what_fit_does(Classifier, n_hidden):
    model = Classifier(random_state=3)
    prepared = prepare_model(fold(model), fit_earlier_steps(fold(model), model), clone(model))
    network = {"activation": model.activation, "C": 2.0, "n_hidden": n_hidden}
    fitted = prepared.fitted(network)
    expected = clone(model).set_params(**network).fit(X[TRAIN], y[TRAIN])
    assert fitted.get_params() == expected.get_params()
    assert_array_equal(fitted.coef_, expected.coef_)
    assert_array_equal(fitted.predict_proba(X[TEST]), expected.predict_proba(X[TEST]))
    assert set(vars(fitted)) == set(vars(expected))


@pytest.mark.parametrize(
    "model",
    [
        RVFLRegressor(random_state=3),
        ELMRegressor(random_state=3),
        DeepRVFLRegressor(3, random_state=3),
        EnsembleDeepRVFLRegressor(3, random_state=3),
    ],
)
def test_a_prepared_regressor_finishes_what_fit_does(model):
    numbers = X.sum(axis=1) + 7
    here = fold(model, y=numbers)
    prepared = prepare_model(here, fit_earlier_steps(here, model), clone(model))
    network = {"activation": "sine", "C": 2.0, "n_hidden": 9}
    fitted = prepared.fitted(network)
    expected = clone(model).set_params(**network).fit(X[TRAIN], numbers[TRAIN])
    assert fitted.get_params() == expected.get_params()
    for found, coef in zip(fitted.coef_, expected.coef_, strict=True):
        assert_array_equal(found, coef)
    assert_array_equal(fitted.predict(X[TEST]), expected.predict(X[TEST]))
    assert set(vars(fitted)) == set(vars(expected))


@pytest.mark.parametrize("Classifier", ALL_CLASSIFIERS)
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 2, len(X))])
def test_accuracies_of_a_fitted_model_are_those_of_scikit_learn(Classifier, weights):
    model, labels = Classifier(random_state=3), y.copy()
    labels[TEST[0]] = 2  # a class that was not trained on
    score_params = {} if weights is None else {"sample_weight": weights}
    here = fold(model, y=labels, score_params=score_params, return_train_score=True)
    prepared = prepare_model(here, fit_earlier_steps(here, model), clone(model))
    fitted = prepared.fitted({"activation": model.activation, "C": 2.0, "n_hidden": 7})
    found = prepared.score(fitted)
    for name, rows in {"test_scores": TEST, "train_scores": TRAIN}.items():
        sample_weight = None if weights is None else weights[rows]
        expected = accuracy_score(
            labels[rows], fitted.predict(X[rows]), sample_weight=sample_weight
        )
        assert found[name] == expected


def test_finishing_one_network_leaves_the_prepared_model_alone():
    model = RVFLClassifier(random_state=3)
    prepared = prepare_model(fold(model), fit_earlier_steps(fold(model), model), clone(model))
    prepared.fitted({"activation": "sine", "C": 9.0, "n_hidden": 2})
    assert prepared.estimator.get_params() == model.get_params()
    assert not hasattr(prepared.estimator, "coef_")


def test_known_weights_are_taken_over():
    model = RVFLClassifier(random_state=3)
    prepared = prepare_model(fold(model), fit_earlier_steps(fold(model), model), clone(model))
    coef = np.ones((X.shape[1] + 1 + 2, 2))
    assert prepared.fitted({"activation": "relu", "C": 1.0, "n_hidden": 2}, coef).coef_ is coef
