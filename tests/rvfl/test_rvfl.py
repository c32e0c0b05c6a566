"""RVFL and ELM, and what all networks share: one class left, weights of classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.utils.class_weight import compute_sample_weight

import granulearn
from granulearn.rvfl import (
    ELMClassifier,
    GBRVFLClassifier,
    IllConditionedWarning,
    RVFLClassifier,
)
from granulearn.rvfl.rvfl import TrainingRows, with_class_weight
from granulearn.utils.validation import LARGEST_WEIGHT
from tests.rvfl.families import BALL_CLASSIFIERS, overlapping_classes


def test_fit_is_the_weighted_ridge_on_random_features():
    X, y = overlapping_classes(3)
    w = np.random.default_rng(0).uniform(size=len(X))
    model = RVFLClassifier(n_hidden=9, C=0.5, random_state=0).fit(X, y, sample_weight=w)
    H, Y = model.features_(X), np.eye(3)[y]
    system = H.T @ (w[:, None] * H) + np.eye(H.shape[1]) / 0.5
    assert_allclose(model.coef_, np.linalg.solve(system, H.T @ (w[:, None] * Y)), rtol=1e-6)
    assert_allclose(model.decision_function(X), H @ model.coef_, atol=1e-9)
    assert_allclose(model.predict_proba(X), softmax(H @ model.coef_, axis=1))


def test_a_membership_is_the_root_of_a_weight():
    X, y = overlapping_classes()
    delta = np.random.default_rng(0).uniform(size=len(X))
    by_membership = RVFLClassifier(random_state=0).fit(X, y, sample_membership=delta)
    by_weight = RVFLClassifier(random_state=0).fit(X, y, sample_weight=delta**2)
    assert_allclose(by_membership.coef_, by_weight.coef_, rtol=1e-8)


def test_only_one_class_of_positive_weight_is_an_error():
    X, y = overlapping_classes()
    with pytest.raises(ValueError, match="only one class has samples of positive sample_weight"):
        RVFLClassifier().fit(X, y, sample_weight=y)


@pytest.mark.parametrize("classifier", BALL_CLASSIFIERS)
def test_a_purity_that_leaves_one_ball_predicts_the_majority_and_warns(classifier):
    X, y = overlapping_classes(3)
    y = np.array(["often", "rare", "seldom"])[np.where(np.arange(len(y)) % 3 == 0, y, 0)]
    with pytest.warns(UserWarning, match="'often'.*raise purity"):
        model = classifier(purity=0.1, random_state=0).fit(X, y)
    assert len(model.balls_) == 1
    far_away = np.vstack([X, -1e6 * X, 1e6 * X])
    assert set(model.predict(far_away)) == {"often"}
    assert_array_equal(model.decision_function(X), np.tile([1.0, 0.0, 0.0], (len(X), 1)))


def test_the_network_does_not_depend_on_the_balls():
    X, y = overlapping_classes()
    networks = [
        RVFLClassifier(random_state=7).fit(X, y),
        GBRVFLClassifier(random_state=7, purity=0.7).fit(X, y),
        GBRVFLClassifier(random_state=7, purity=1.0).fit(X, y),
    ]
    for other in networks[1:]:
        assert_array_equal(other.features_.weights, networks[0].features_.weights)


def test_a_hopelessly_large_inverse_penalty_warns_and_still_predicts():
    X, y = overlapping_classes()
    X = np.hstack([X, X])
    with pytest.warns(IllConditionedWarning, match="Lower C"):
        model = RVFLClassifier(C=1e25, random_state=0, n_hidden=20).fit(X, y)
    assert model.score(X, y) > 0.7


X = np.arange(10.0).reshape(5, 2)
CODES = np.array([0, 1, 0, 1, 2])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 2.5, 2: 0.0}])
def test_class_weights_are_scikit_learns(class_weight):
    rows = with_class_weight(TrainingRows(X, CODES, None), class_weight, np.arange(3))
    assert_allclose(rows.weights, compute_sample_weight(class_weight, CODES))


WITH_CLASS_WEIGHT = [
    getattr(granulearn, name)
    for name in granulearn.__all__
    if name.endswith("Classifier") and "class_weight" in getattr(granulearn, name)().get_params()
]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.nan, r"class_weight must give numbers from 0 to 1e\+100, got nan for class 1"),
        (np.inf, "got inf for class 1"),
        (1e308, r"got 1e\+308 for class 1"),
        (-1.0, "got -1.0 for class 1; use 0"),
        ("much", "got 'much' for class 1"),
        (None, "got None for class 1"),
    ],
)
def test_a_class_weight_that_is_no_weight_is_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        RVFLClassifier(class_weight={0: 1.0, 1: weight}).fit(*overlapping_classes())


@pytest.mark.filterwarnings("ignore::granulearn.rvfl.IllConditionedWarning")
# Boosted trees sum weights in single precision, and a table is for the robust classifier.
@pytest.mark.parametrize(
    "classifier",
    [k for k in WITH_CLASS_WEIGHT if k.__module__.split(".")[1] not in ("ensemble", "training")],
)
def test_the_largest_class_weights_give_probabilities(classifier):
    X, y = overlapping_classes()
    model = classifier(class_weight={0: LARGEST_WEIGHT, 1: LARGEST_WEIGHT}, random_state=0)
    probabilities = model.fit(X, y).predict_proba(X)
    assert (probabilities >= 0).all()
    assert_allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("classifier", WITH_CLASS_WEIGHT)
def test_class_weights_that_leave_nothing_are_refused(classifier):
    with pytest.raises(ValueError, match="class_weight is zero for every class"):
        classifier(class_weight={0: 0.0, 1: 0}).fit(*overlapping_classes())


def test_elm_has_the_hidden_nodes_of_rvfl_and_no_direct_link():
    X, y = overlapping_classes()
    rvfl = RVFLClassifier(n_hidden=30, random_state=0).fit(X, y)
    elm = ELMClassifier(n_hidden=30, random_state=0).fit(X, y)
    assert_allclose(elm.features_(X), rvfl.features_(X)[:, X.shape[1] :])
    assert elm.coef_.shape == (31, 2)
    assert rvfl.coef_.shape == (34, 2)


def test_the_direct_link_learns_a_line_that_bounded_nodes_miss():
    X = np.linspace(-50, 50, 400)[:, None]
    y = (X[:, 0] > 30).astype(int)
    settings = {"n_hidden": 1, "activation": "radbas", "C": 100, "random_state": 0}
    linked = RVFLClassifier(**settings).fit(X, y).decision_function([[-1000.0], [1000.0]])
    unlinked = ELMClassifier(**settings).fit(X, y).decision_function([[-1000.0], [1000.0]])
    assert linked[0] < 0 < linked[1]
    assert_allclose(unlinked[0], unlinked[1])
