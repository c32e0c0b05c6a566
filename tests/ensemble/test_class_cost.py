"""Costs of errors: `predict` has the least expected cost, and probabilities stay."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from granulearn.ensemble import BoostedTreesClassifier, RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import RVFLEnsembleClassifier
from tests.rvfl.families import overlapping_classes

KINDS = [RobustClassifier, BallForestClassifier, RVFLEnsembleClassifier, BoostedTreesClassifier]
NAMES = np.array(["ant", "bee", "cow"])


def fitted(kind, class_cost, n_classes=3, **settings):
    """Return a fitted model, and its training rows and labels."""
    X, y = overlapping_classes(n_classes)
    return kind(random_state=0, class_cost=class_cost, **settings).fit(X, NAMES[y]), X, NAMES[y]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_other_class_has_a_lower_expected_cost_than_that_of_predict(kind, n_classes):
    cost = {"ant": 3.0, "bee": 0.5}  # a cow costs one
    model, X, _ = fitted(kind, cost, n_classes)
    costs = [cost.get(name, 1.0) for name in model.classes_]
    own = np.searchsorted(model.classes_, model.predict(X))
    for proba, code in zip(model.predict_proba(X), own, strict=True):
        expected = [
            sum(c * p for true, (c, p) in enumerate(zip(costs, proba, strict=True)) if true != each)
            for each in range(n_classes)
        ]
        assert expected[code] <= min(expected) + 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_costs_change_no_probability_and_equal_costs_change_no_prediction(kind):
    plain, X, _ = fitted(kind, None)
    costly, _, _ = fitted(kind, {"ant": 50.0})
    alike, _, _ = fitted(kind, dict.fromkeys(NAMES.tolist(), 7))
    assert_array_equal(costly.predict_proba(X), plain.predict_proba(X))
    assert (costly.predict(X) == "ant").sum() > (plain.predict(X) == "ant").sum()
    assert_array_equal(alike.predict(X), plain.predict(X))


@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}, {"noise_matrix": 0.1}])
@pytest.mark.parametrize("weighted", [False, True])
def test_balanced_divides_by_the_mean_out_of_sample_probability(settings, weighted):
    X, y = overlapping_classes(3)
    weights = np.where(y == 1, 0.25, 1.0) if weighted else np.ones(len(X))
    model = RobustClassifier(random_state=0, class_cost="balanced", **settings)
    model.fit(X, y, sample_weight=weights if weighted else None)
    if "class_weight" in settings:
        weights = weights / np.bincount(y, weights)[y]
    prior = np.average(model.out_of_sample_proba_, axis=0, weights=weights)
    expected = (model.predict_proba(X) / prior).argmax(axis=1)
    assert_array_equal(model.predict(X), expected)


def test_a_row_that_every_tree_saw_counts_with_its_label():
    X, y = overlapping_classes(2)
    with pytest.warns(UserWarning, match="the label quality of"):
        model = BallForestClassifier(1, 1.0, random_state=0, class_cost="balanced").fit(X, y)
    assert_allclose(model.class_cost_, len(y) / (2 * np.bincount(y)))


@pytest.mark.parametrize("kind", [RobustClassifier, RVFLEnsembleClassifier])
def test_the_decision_function_decides_as_predict_and_ranks_as_without_costs(kind):
    model, X, y = fitted(kind, {"ant": 4.0}, 2)
    decision = model.decision_function(X)
    assert_array_equal(model.predict(X), np.where(decision > 0, "bee", "ant"))
    assert_allclose(roc_auc_score(y, decision), roc_auc_score(y, model.predict_proba(X)[:, 1]))
    many, X, _ = fitted(kind, "balanced", 3)
    assert_array_equal(many.predict(X), many.classes_[many.decision_function(X).argmax(axis=1)])


def test_what_is_explained_is_the_class_of_predict():
    model, X, _ = fitted(RobustClassifier, {"bee": 9.0}, 2)
    assert [why.label for why in model.explain(X[:40])] == model.predict(X[:40]).tolist()


def test_balanced_costs_find_a_rare_class():
    rng = np.random.default_rng(0)
    y = (np.arange(800) % 20 == 0).astype(int)
    X = rng.normal(size=(800, 3)) + 1.2 * y[:, None]
    train = rng.random(800) < 0.5
    scores = [
        balanced_accuracy_score(
            y[~train],
            RobustClassifier(random_state=0, class_cost=cost)
            .fit(X[train], y[train])
            .predict(X[~train]),
        )
        for cost in (None, "balanced")
    ]
    assert scores[1] > scores[0] + 0.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (
            {"dog": 2.0},
            r"class_cost names 'dog', no class of y; name some of \['ant' 'bee' 'cow'\]",
        ),
        ({0: 2.0}, "class_cost names 0, "),
        ({"ant": -1}, "class_cost must give numbers from 0 .* got -1 for class 'ant'"),
        ({"ant": np.inf}, "class_cost must give numbers from 0 .* got inf for class 'ant'"),
        ({"ant": np.nan}, "class_cost must give numbers from 0 .* got nan"),
        ({"ant": "high"}, "class_cost must give numbers from 0 .* got 'high'"),
        (dict.fromkeys(NAMES.tolist(), 0), "class_cost is zero for every class"),
        ("rare", "'class_cost' parameter"),
    ],
)
def test_costs_that_are_no_costs_are_refused_before_the_fit(kind, cost, message):
    X, y = overlapping_classes(3)
    model = kind(class_cost=cost)
    with pytest.raises(ValueError, match=message):
        model.fit(X, NAMES[y])
    assert not hasattr(model, "classes_")
