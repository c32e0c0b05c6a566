"""Laws of the robust classifier."""

import numpy as np
import pytest
from hypothesis import given as given_cases
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from granulearn.datasets import flip_labels
from granulearn.ensemble import BoostedTreesClassifier, RobustClassifier
from granulearn.ensemble.robust import check_noise_matrix, true_scores
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import RVFLEnsembleClassifier
from granulearn.utils.stacking import clip_proba, temperature_scale
from tests.rvfl.families import overlapping_classes

SMALL = {
    "forest": BallForestClassifier(60),
    "rvfl": RVFLEnsembleClassifier(3, 15),
    "noise_matrix": None,
    "random_state": 0,
}


@pytest.mark.parametrize("n_samples", [150, 1500])
def test_scores_are_the_weighted_mean_of_forest_networks_and_boosted_trees(n_samples):
    X, y = overlapping_classes(3, n_samples=n_samples)
    model = RobustClassifier(**SMALL).fit(X, y)
    assert set(model.weights_) == {"forest", "rvfl", "booster"}
    assert sum(model.weights_.values()) == pytest.approx(1)
    members = {name: getattr(model, f"{name}_") for name in model.weights_}
    prepared = model._checked(X)
    expected = sum(w * members[name].predict_proba(prepared) for name, w in model.weights_.items())
    assert_allclose(model.decision_function(X), expected)
    assert_array_equal(model.predict(X), expected.argmax(axis=1))
    assert_array_equal(model.predict_proba(X).argmax(axis=1), expected.argmax(axis=1))
    assert_array_equal(model.label_quality_, model.forest_.label_quality_)


def test_probabilities_out_of_sample_are_those_of_members_that_did_not_see_a_sample():
    X, y = overlapping_classes(2, n_samples=300)
    model = RobustClassifier(**SMALL).fit(X, y)
    unseen = {
        "forest": model.forest_.oob_proba_,
        "rvfl": model.rvfl_.out_of_sample_proba_,
        "booster": model.booster_.out_of_sample_proba_,
    }
    mean = sum(w * unseen[name] for name, w in model.weights_.items())
    errors = np.square(mean - np.eye(2)[y]).sum(axis=1)
    assert model.brier_scores_["mean"] == pytest.approx(errors.mean())
    assert set(model.brier_scores_) == {*unseen, "mean"}
    expected = temperature_scale(clip_proba(mean, 1 / 302), model.temperature_)
    assert_allclose(model.out_of_sample_proba_, expected)
    assert_allclose(
        model.predict_proba(X),
        temperature_scale(
            clip_proba(model._scores(model._checked(X)), 1 / 302), model.temperature_
        ),
    )


def test_the_temperature_makes_probabilities_out_of_sample_no_worse():
    X, y = overlapping_classes(3, n_samples=300)
    model = RobustClassifier(**SMALL).fit(X, y)
    proba = model.out_of_sample_proba_
    plain = temperature_scale(proba, 1 / model.temperature_)
    smooth = 0.99 * np.eye(3)[y] + 0.01 / 3
    losses = [-(smooth * np.log(each)).sum() for each in (proba, plain)]
    assert losses[0] <= losses[1] + 1e-6


def test_weights_lean_to_the_member_that_predicts_out_of_sample_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 12))
    linear = (X.sum(axis=1) > 0).astype(int)
    boxes = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    of_linear = RobustClassifier(**SMALL).fit(X, linear).weights_
    of_boxes = RobustClassifier(**SMALL).fit(X[:, :2], boxes).weights_
    assert of_linear["rvfl"] > 0.5 > of_boxes["rvfl"]


def test_the_same_seed_gives_the_same_result_whatever_the_threads():
    X, y = overlapping_classes(3)
    first = RobustClassifier(random_state=3).fit(X, y).predict_proba(X)
    again = RobustClassifier(random_state=3, n_jobs=2).fit(X, y).predict_proba(X)
    other = RobustClassifier(random_state=4).fit(X, y).predict_proba(X)
    assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_a_known_noise_matrix_gives_probabilities_of_the_true_class():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2400)
    X = rng.normal(size=(2400, 3)) + 1.2 * y[:, None]
    noisy = flip_labels(y[:900], 0.3, random_state=0).labels
    given = RobustClassifier(random_state=0, noise_matrix=None).fit(X[:900], noisy)
    true = RobustClassifier(random_state=0, noise_matrix=0.3).fit(X[:900], noisy)
    assert_array_equal(true.predict(X[900:]), given.predict(X[900:]))
    scores = true_scores(given._scores(given._checked(X)), true.noise_matrix_)
    expected = temperature_scale(clip_proba(scores, 1 / 902), true.temperature_)
    assert_allclose(true.predict_proba(X), expected)
    losses = [log_loss(y[900:], m.predict_proba(X[900:])) for m in (given, true)]
    assert losses[1] < losses[0] - 0.1
    matrix = [[0.7, 0.3], [0.3, 0.7]]
    told = RobustClassifier(random_state=0, noise_matrix=matrix).fit(X[:900], noisy)
    assert_allclose(told.predict_proba(X), true.predict_proba(X))


def test_an_estimated_noise_matrix_is_as_if_it_was_passed_and_changes_no_predicted_class():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=2400)
    X = rng.normal(size=(2400, 3)) + 3 * np.eye(3)[y]
    noisy = flip_labels(y[:900], 0.3, random_state=0).labels
    auto, given = (
        RobustClassifier(random_state=0, noise_matrix=noise).fit(X[:900], noisy)
        for noise in ("auto", None)
    )
    assert 0.1 < 1 - auto.noise_matrix_[0, 0] < 0.3
    told = RobustClassifier(random_state=0, noise_matrix=auto.noise_matrix_).fit(X[:900], noisy)
    assert_array_equal(told.predict_proba(X), auto.predict_proba(X))
    assert_array_equal(auto.predict(X), given.predict(X))
    losses = [log_loss(y[900:], m.predict_proba(X[900:])) for m in (given, auto)]
    assert losses[1] < losses[0] - 0.1


def test_clean_labels_of_classes_apart_are_taken_as_given():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 3)) + 4 * y[:, None]
    assert RobustClassifier(random_state=0).fit(X, y).noise_matrix_ is None


def test_importances_sum_to_one_and_find_what_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    X[:, 4] = 3.0
    y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
    importances = RobustClassifier(random_state=0).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[:2].sum() > 0.7
    assert importances[4] == 0


@pytest.mark.filterwarnings("ignore:the label quality of 1")
def test_boosting_that_is_not_possible_is_left_out_with_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.zeros(60, int)
    y[7] = 1
    with pytest.warns(UserWarning, match="boosted trees are left out: .* two classes or more"):
        model = RobustClassifier(**SMALL).fit(X, y)
    assert set(model.weights_) == {"forest", "rvfl"}
    assert model.booster_ is None
    with pytest.raises(ValueError, match="two classes or more"):
        RobustClassifier(booster=BoostedTreesClassifier(), **SMALL).fit(X, y)


def test_weights_and_class_weights_reach_all_members():
    X, y = overlapping_classes(2, n_samples=200)
    plain = RobustClassifier(random_state=0).fit(X, y)
    weights = np.where(np.arange(200) % 3 == 0, 2.0, 1.0)
    weighted = RobustClassifier(random_state=0).fit(X, y, sample_weight=weights)
    classes = RobustClassifier(class_weight={0: 5.0}, random_state=0).fit(X, y)
    for member in ("forest_", "rvfl_", "booster_"):
        reference = getattr(plain, member).predict_proba(X)
        assert not np.allclose(getattr(weighted, member).predict_proba(X), reference)
        assert getattr(classes, member).predict_proba(X)[:, 0].mean() > reference[:, 0].mean()


def test_rows_of_a_group_are_never_in_and_out_of_sample_at_once():
    """Twins with random labels: who saw one knows the other, and nobody else knows anything."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)).repeat(3, axis=0), rng.integers(2, size=200).repeat(3)
    X += rng.normal(scale=1e-6, size=X.shape)
    groups = np.arange(200).repeat(3)
    leaks = RobustClassifier(random_state=0).fit(X, y)
    fair = RobustClassifier(random_state=0).fit(X, y, groups=groups)
    assert leaks.brier_scores_["mean"] < 0.2
    assert min(fair.brier_scores_.values()) > 0.45


def test_members_can_be_others_or_dropped():
    X, y = overlapping_classes(2)
    given = SMALL | {"forest": RandomForestClassifier(10), "booster": "drop"}
    model = RobustClassifier(**given).fit(X, y)
    again = RobustClassifier(**given).fit(X, y)
    assert isinstance(model.forest_, RandomForestClassifier)
    assert set(model.weights_) == {"forest", "rvfl"}
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    # Its out-of-sample probabilities come from cross-validation, and know no label.
    assert model.label_quality_.mean() < (model.forest_.predict_proba(X).max(axis=1)).mean()
    linear = RobustClassifier(rvfl=LogisticRegression(), random_state=0)
    linear.fit(X, y, groups=np.arange(len(y)) // 2)
    assert linear.rvfl_.coef_.shape == (1, X.shape[1])
    with pytest.raises(ValueError, match="'forest' parameter"):
        RobustClassifier(forest="random").fit(X, y)
    with pytest.raises(ValueError, match="keep one member"):
        RobustClassifier("drop", "drop", "drop").fit(X, y)


def test_a_third_of_wrong_labels_costs_little_where_classes_are_apart():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = rng.normal(size=(600, 5))
    X[:, :2] += 5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    noisy, _ = flip_labels(y[:300], 0.3, random_state=0)
    model = RobustClassifier(random_state=0).fit(X[:300], noisy)
    assert model.score(X[300:], y[300:]) > 0.9


def test_copies_of_samples_do_not_make_a_member_look_better():
    """A member that saw a copy knows its label, the wrong ones too."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1800)
    X = rng.normal(size=(1800, 6)) + 0.6 * y[:, None]
    noisy = flip_labels(y[:600], 0.35, random_state=0).labels
    more = np.concatenate([np.arange(600), rng.integers(600, size=150)])
    assert RobustClassifier(**SMALL).fit(X[:600], noisy).weights_["rvfl"] > 0.4
    # With them, trees that saw a copy would leave the networks nothing.
    assert RobustClassifier(**SMALL).fit(X[more], noisy[more]).weights_["rvfl"] > 0.3


@pytest.mark.filterwarnings("ignore:the label quality of 1")
def test_the_only_sample_of_a_class_does_not_ruin_probabilities():
    X, y = overlapping_classes(2, n_samples=300)
    lone = y.copy()
    lone[5] = 2
    plain = RobustClassifier(class_weight="balanced", **SMALL).fit(X, y)
    other = RobustClassifier(class_weight="balanced", **SMALL).fit(X, lone)
    assert other.temperature_ < 1.5 * plain.temperature_


# ---- noise matrices


@given_cases(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_noise_is_undone_where_it_is_known(seed, n_classes):
    rng = np.random.default_rng(seed)
    true, noise = rng.dirichlet(np.ones(n_classes), 20), 2 * np.eye(n_classes)
    noise += rng.dirichlet(np.ones(n_classes), n_classes)
    noise /= noise.sum(axis=1, keepdims=True)
    assert_allclose(true_scores(true @ noise, noise), true, atol=1e-9)


def test_what_is_surer_than_the_noise_allows_has_scores_below_zero_that_sum_to_one():
    noise = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert_allclose(true_scores(np.array([[0.95, 0.05]]), noise), [[1.25, -0.25]])


def test_a_share_of_wrong_labels_is_spread_over_the_other_classes():
    assert check_noise_matrix(None, 3) is None
    assert_allclose(check_noise_matrix(0.2, 3), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    assert_allclose(check_noise_matrix(0, 2), np.eye(2))


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (0.5, "must be below 0.5"),
        (np.eye(3), "2 classes need a matrix of 2 by 2"),
        ([[0.9, 0.2], [0, 1]], "rows that sum to one"),
        ([[1.5, -0.5], [0, 1]], "some are negative"),
        ([[0.5, 0.5], [0.5, 0.5]], "cannot be inverted"),
    ],
)
def test_noise_that_cannot_be_is_refused(noise, message):
    with pytest.raises(ValueError, match=message):
        check_noise_matrix(noise, 2)
