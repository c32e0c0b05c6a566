"""Laws of the RVFL committee."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from granulearn.estimators import RVFLCommitteeClassifier, RVFLCommitteeRegressor
from granulearn.estimators.committee_fit import CommitteePlan, mean_scores
from tests.estimators.families import overlapping_classes

SMALL = {"n_layers": 3, "n_hidden": 12, "random_state": 0}


def test_leave_one_out_of_the_committee_equals_refitting_without_each_row():
    X, y = overlapping_classes(3, n_samples=30)
    fixed = {**SMALL, "activation": "relu", "C": 0.1}
    found = RVFLCommitteeClassifier(**fixed).fit(X, y).loo_proba_
    for i in range(30):
        rest = np.arange(30) != i
        without = RVFLCommitteeClassifier(**fixed).fit(X[rest], y[rest])
        assert_allclose(found[i], without.predict_proba(X[[i]])[0], rtol=1e-6, atol=1e-9)


def test_the_choice_minimises_the_leave_one_out_error_of_the_mean():
    X, y = overlapping_classes(2, n_samples=40)
    activations, Cs = ["relu", "sine"], [1e-3, 1.0]
    model = RVFLCommitteeClassifier(activation=activations, C=Cs, **SMALL).fit(X, y)
    Y = np.eye(2)[y]
    errors = np.empty((2, 2))
    for a, activation in enumerate(activations):
        for c, C in enumerate(Cs):
            squares = 0.0
            for i in range(40):
                rest = np.arange(40) != i
                without = RVFLCommitteeClassifier(activation=activation, C=C, **SMALL)
                scores = without.fit(X[rest], y[rest])._scores(X[[i]])[0]
                squares += ((scores - Y[i]) ** 2).sum()
            errors[a, c] = squares / 40
    assert_allclose(model.loo_errors_, errors, rtol=1e-6)
    at = np.unravel_index(errors.argmin(), errors.shape)
    assert (model.activation_, model.C_) == (activations[at[0]], Cs[at[1]])
    assert model.loo_error_ == pytest.approx(errors.min())


def test_scores_sum_to_one_and_probabilities_rank_as_they_do():
    X, y = overlapping_classes(3)
    model = RVFLCommitteeClassifier(**SMALL).fit(X, y)
    scores, proba = model._scores(X), model.predict_proba(X)
    assert_allclose(scores.sum(axis=1), 1)
    assert_allclose(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
    assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))
    assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])


def test_the_mean_is_over_layers_and_layers_differ():
    X, y = overlapping_classes()
    model = RVFLCommitteeClassifier(**SMALL).fit(X, y)
    each = [f(X) @ c for f, c in zip(model.features_, model.coef_, strict=True)]
    assert_allclose(mean_scores(model.features_, model.coef_, X), np.mean(each, axis=0))
    assert not np.allclose(each[0], each[1])


def test_integer_weights_are_repeated_rows_also_in_the_choice():
    X, y = overlapping_classes(3, n_samples=50)
    w = np.random.default_rng(0).integers(0, 4, 50)
    weighted = RVFLCommitteeClassifier(**SMALL).fit(X, y, sample_weight=w)
    repeated = RVFLCommitteeClassifier(**SMALL).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.loo_errors_, repeated.loo_errors_, rtol=1e-7)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-8)


def test_a_sample_of_weight_zero_is_predicted_but_not_learnt_from():
    X, y = overlapping_classes(2, n_samples=40)
    w = np.r_[0.0, np.ones(39)]
    model = RVFLCommitteeClassifier(**SMALL).fit(X, y, sample_weight=w)
    assert_allclose(model.loo_proba_[0], model.predict_proba(X[[0]])[0])


def test_a_class_weight_is_the_same_weight_on_its_samples():
    X, y = overlapping_classes(2, n_samples=60)
    factor = np.where(y == 1, 0.5, 1.0)
    by_class = RVFLCommitteeClassifier(class_weight={1: 0.5}, **SMALL).fit(X, y)
    by_sample = RVFLCommitteeClassifier(**SMALL).fit(X, y, sample_weight=factor)
    assert_allclose(by_class.predict_proba(X), by_sample.predict_proba(X), rtol=1e-9)
    thin = y.cumsum() % 5 == 0
    X, y = X[(y == 0) | thin], y[(y == 0) | thin]
    plain = RVFLCommitteeClassifier(**SMALL).fit(X, y).predict(X)
    balanced = RVFLCommitteeClassifier(class_weight="balanced", **SMALL).fit(X, y).predict(X)
    assert (balanced == 1).sum() > (plain == 1).sum()


def test_permuted_rows_and_renamed_classes_change_nothing():
    X, y = overlapping_classes(3)
    order = np.random.default_rng(0).permutation(len(X))
    names = np.array(["zebra", "ape", "mole"])
    plain = RVFLCommitteeClassifier(**SMALL).fit(X, y)
    other = RVFLCommitteeClassifier(**SMALL).fit(X[order], names[y[order]])
    proba = plain.predict_proba(X)
    assert_allclose(other.predict_proba(X)[:, [2, 0, 1]], proba, rtol=1e-6, atol=1e-9)
    assert_allclose(other.loo_proba_[:, [2, 0, 1]], plain.loo_proba_[order], rtol=1e-6, atol=1e-9)


def test_a_curved_boundary_is_learnt_without_tuning():
    X, y = make_moons(400, noise=0.15, random_state=0)
    model = RVFLCommitteeClassifier(random_state=0, n_layers=4).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.95


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"activation": "rely"}, "a str among"),
        ({"activation": ["relu", "rely"]}, "names out of"),
        ({"activation": []}, "at least one"),
        ({"C": -1.0}, "'C' parameter"),
        ({"C": [1.0, 0.0]}, "positive numbers"),
        ({"n_layers": 0}, "'n_layers' parameter"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_valid(settings, message):
    with pytest.raises(ValueError, match=message):
        RVFLCommitteeClassifier(**settings).fit(*overlapping_classes())


def test_one_class_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="only one class"):
        RVFLCommitteeClassifier().fit(np.eye(4), [3, 3, 3, 3])


def test_the_regressor_is_the_classifiers_network_on_numbers():
    X, y = overlapping_classes(2)
    as_numbers = RVFLCommitteeRegressor(**SMALL).fit(X, np.eye(2)[y])
    as_classes = RVFLCommitteeClassifier(**SMALL).fit(X, y)
    assert_allclose(as_numbers.predict(X), as_classes._scores(X))
    one = RVFLCommitteeRegressor(**SMALL).fit(X, y.astype(float))
    assert one.predict(X).shape == one.loo_prediction_.shape == (len(X),)


def test_the_regressor_needs_two_samples_of_weight():
    with pytest.raises(ValueError, match="zero for all samples but one or none"):
        RVFLCommitteeRegressor().fit(np.eye(3), [1.0, 2, 3], sample_weight=[1, 0, 0])


def test_many_samples_are_fitted_by_some_of_them_and_all_are_predicted(monkeypatch):
    X, y = overlapping_classes(2, n_samples=2600)
    model = RVFLCommitteeClassifier(random_state=0)
    small_plan = CommitteePlan(1, 40, max_rows=500, pilot=True)
    monkeypatch.setattr(model, "_plan", lambda n_rows: small_plan)
    model.fit(X, y)
    assert model.loo_scores_.shape == (2600, 2)
    assert not np.isnan(model.loo_scores_).any()
    assert model.loo_errors_.shape == (1, 9)  # the pilot chose the activation
    # Rows that were not fitted are predicted as new ones are.
    same = np.isclose(model.loo_scores_, model._scores(X)).all(axis=1)
    assert 2000 <= same.sum() <= 2150
