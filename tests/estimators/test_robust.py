"""Laws of the robust classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from granulearn.datasets import flip_labels
from granulearn.estimators import (
    BallForestClassifier,
    RobustClassifier,
    ball_forest,
    committee_fit,
    robust,
)
from granulearn.estimators.boosted_trees import mean_proba
from granulearn.estimators.known_noise import true_scores
from granulearn.estimators.shares import floored, powered
from granulearn.rvfl import RVFLEnsembleClassifier
from granulearn.utils.estimator import fit_part
from granulearn.utils.validation import check_samples
from tests.rvfl.families import overlapping_classes

SMALL = {"n_trees": 60, "n_layers": 3, "n_hidden": 15, "random_state": 0}


CHOSEN = {**SMALL, "shares": "chosen", "boosting": True}


def test_up_to_a_thousand_samples_scores_are_the_mean_of_forest_and_committee():
    X, y = overlapping_classes(3)
    model = RobustClassifier(**SMALL).fit(X, y)
    expected = (model.committee_.decision_function(X) + model.forest_.predict_proba(X)) / 2
    assert model.shares_ == {"forest": 0.5, "committee": 0.5}
    assert model.boosters_ == ()
    assert_allclose(model.decision_function(X), expected)
    assert_array_equal(model.predict(X), expected.argmax(axis=1))
    assert_array_equal(model.predict_proba(X).argmax(axis=1), expected.argmax(axis=1))
    assert_array_equal(model.reliability_, model.forest_.reliability_)


def test_above_a_thousand_samples_shares_are_chosen_and_trees_are_boosted():
    X, y = overlapping_classes(2, n_samples=1200)
    model = RobustClassifier(**SMALL).fit(X, y)
    assert set(model.shares_) == {"forest", "committee", "boosting"}
    assert sum(model.shares_.values()) == pytest.approx(1)
    assert len(model.boosters_) == 3
    assert len(model.forest_.weighing_shares_) == 5


def test_chosen_shares_weigh_the_members():
    X, y = overlapping_classes(3)
    model = RobustClassifier(**CHOSEN).fit(X, y)
    expected = (
        model.shares_["committee"] * model.committee_.decision_function(X)
        + model.shares_["forest"] * model.forest_.predict_proba(X)
        + model.shares_["boosting"] * mean_proba(model.boosters_, X, 3)
    )
    assert_allclose(model.decision_function(X), expected, atol=1e-12)


def test_what_members_say_of_samples_they_did_not_see_is_kept():
    X, y = overlapping_classes(2)
    model = RobustClassifier(**CHOSEN).fit(X, y)
    unseen = model.out_of_sample_
    assert_array_equal(unseen["forest"], model.forest_.oob_proba_)
    assert_array_equal(unseen["committee"], model.committee_.loo_scores_)
    mean = sum(share * unseen[name] for name, share in model.shares_.items())
    assert_allclose(unseen["mean"], mean)
    assert set(model.losses_) == {"forest", "committee", "boosting", "mean"}
    known = ~np.isnan(unseen["mean"]).any(axis=1)
    errors = np.square(unseen["mean"] - np.eye(2)[y])[known].sum(axis=1)
    assert model.losses_["mean"] == pytest.approx(errors.mean())


def test_the_power_makes_probabilities_of_unseen_samples_no_worse():
    X, y = overlapping_classes(3, n_samples=300)
    model = RobustClassifier(**SMALL).fit(X, y)
    unseen = model.out_of_sample_["mean"]
    known = ~np.isnan(unseen).any(axis=1)
    plain = floored(unseen[known], 1 / 303)
    assert log_loss(y[known], powered(plain, model.power_)) <= log_loss(y[known], plain)
    scores = model.decision_function(X)
    assert_allclose(model.predict_proba(X), powered(floored(scores, 1 / 303), model.power_))


def test_shares_lean_to_the_member_that_predicts_unseen_samples_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 12))
    linear = (X.sum(axis=1) > 0).astype(int)
    boxes = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    settings = {"shares": "chosen", "n_trees": 40, "n_layers": 3, "random_state": 0}
    of_linear = RobustClassifier(n_hidden=15, **settings).fit(X, linear).shares_
    of_boxes = RobustClassifier(n_hidden=15, **settings).fit(X[:, :2], boxes).shares_
    assert of_linear["committee"] > 0.5 > of_boxes["committee"]


def test_the_order_of_a_large_table_and_its_weights_change_nothing(monkeypatch):
    for module in (robust, committee_fit, ball_forest):
        monkeypatch.setattr(module, "MANY_ROWS", 1000)
    X, y = overlapping_classes(3, n_samples=1500)
    model = RobustClassifier(random_state=0).fit(X, y)
    order, names = np.random.default_rng(0).permutation(len(X)), np.array([2, 0, 1])
    other = RobustClassifier(random_state=0).fit(X[order], names[y[order]])
    assert other.shares_ == pytest.approx(model.shares_)
    assert_allclose(other.predict_proba(X)[:, names], model.predict_proba(X), atol=1e-9)
    assert_array_equal(other.forest_.in_bag_, model.forest_.in_bag_[:, order])


def test_known_noise_gives_probabilities_of_the_true_class():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2400)
    X = rng.normal(size=(2400, 3)) + 1.2 * y[:, None]
    noisy = flip_labels(y[:900], 0.3, random_state=0).labels
    given = RobustClassifier(random_state=0).fit(X[:900], noisy)
    true = RobustClassifier(random_state=0, noise=0.3).fit(X[:900], noisy)
    assert_array_equal(true.predict(X[900:]), given.predict(X[900:]))
    given_scores = (given.decision_function(X) + 1) / 2
    scores = true_scores(np.c_[1 - given_scores, given_scores], true.noise_)
    expected = powered(floored(scores, 1 / 902), true.power_)
    assert_allclose(true.predict_proba(X), expected)
    losses = [log_loss(y[900:], m.predict_proba(X[900:])) for m in (given, true)]
    assert losses[1] < losses[0] - 0.1
    matrix = RobustClassifier(random_state=0, noise=[[0.7, 0.3], [0.3, 0.7]]).fit(X[:900], noisy)
    assert_allclose(matrix.predict_proba(X), true.predict_proba(X))


def test_importances_sum_to_one_and_find_what_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    X[:, 4] = 3.0
    y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
    importances = RobustClassifier(random_state=0).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[:2].sum() > 0.7
    assert importances[4] == 0


@pytest.mark.filterwarnings("ignore:the reliability of 1")
def test_boosting_that_is_not_possible_is_left_out_with_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.zeros(60, int)
    y[7] = 1
    model = RobustClassifier(**CHOSEN)
    with pytest.warns(UserWarning, match="boosted trees are left out: .* one class only"):
        model.fit(X, y)
    assert set(model.shares_) == {"forest", "committee"}


def test_the_parts_are_fitted_from_independent_seeds():
    X, y = overlapping_classes(2)
    network, forest = np.random.RandomState(0).randint(2**31 - 1, size=2)
    model = RobustClassifier(**SMALL).fit(X, y)
    committee = RVFLEnsembleClassifier(3, 15, random_state=network).fit(X, y)
    trees = BallForestClassifier(60, random_state=forest).fit(X, y)
    assert_allclose(model.committee_.predict_proba(X), committee.predict_proba(X))
    assert_array_equal(model.forest_.predict_proba(X), trees.predict_proba(X))


def test_weights_and_class_weights_reach_both_parts():
    X, y = overlapping_classes(2, n_samples=60)
    plain = RobustClassifier(**SMALL).fit(X, y)
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    weighted = RobustClassifier(**SMALL).fit(X, y, sample_weight=weights)
    classes = RobustClassifier(class_weight={0: 5.0}, **SMALL).fit(X, y)
    for part in ("committee_", "forest_"):
        reference = getattr(plain, part).predict_proba(X)
        assert not np.allclose(getattr(weighted, part).predict_proba(X), reference)
        assert getattr(classes, part).predict_proba(X)[:, 0].mean() > reference[:, 0].mean()


@pytest.mark.parametrize("settings", [SMALL, CHOSEN])
def test_permuted_rows_and_renamed_classes_change_nothing(settings):
    X, y = overlapping_classes(3)
    order = np.random.default_rng(0).permutation(len(X))
    names = np.array(["zebra", "ape", "mole"])
    proba = RobustClassifier(**settings).fit(X, y).predict_proba(X)
    other = RobustClassifier(**settings).fit(X[order], names[y[order]])
    assert_allclose(other.predict_proba(X)[:, [2, 0, 1]], proba, rtol=1e-6, atol=1e-9)


def test_another_forest_can_take_the_place_and_gets_a_seed():
    X, y = overlapping_classes(2)
    model = RobustClassifier(forest=RandomForestClassifier(10), **SMALL).fit(X, y)
    again = RobustClassifier(forest=RandomForestClassifier(10), **SMALL).fit(X, y)
    assert isinstance(model.forest_, RandomForestClassifier)
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert not hasattr(model, "reliability_")
    with pytest.raises(ValueError, match="'forest' parameter"):
        RobustClassifier(forest="random").fit(X, y)


def test_a_third_of_wrong_labels_costs_little_where_classes_are_apart():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = rng.normal(size=(600, 5))
    X[:, :2] += 5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    noisy, _ = flip_labels(y[:300], 0.3, random_state=0)
    model = RobustClassifier(random_state=0, n_layers=4).fit(X[:300], noisy)
    assert model.score(X[300:], y[300:]) > 0.9


def test_copies_of_samples_do_not_make_a_member_look_better():
    """Whoever saw a copy knows its label, the wrong ones too."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1800)
    X = rng.normal(size=(1800, 6)) + 0.6 * y[:, None]
    noisy = flip_labels(y[:600], 0.35, random_state=0).labels
    some = rng.integers(600, size=150)
    more = np.concatenate([np.arange(600), some])
    assert RobustClassifier(**CHOSEN).fit(X[:600], noisy).shares_["committee"] > 0.5
    # With them, trees that saw a copy would leave the committee nothing.
    assert RobustClassifier(**CHOSEN).fit(X[more], noisy[more]).shares_["committee"] > 0.3


@pytest.mark.filterwarnings("ignore:the reliability of 1")
def test_the_only_sample_of_a_class_does_not_ruin_probabilities():
    X, y = overlapping_classes(2, n_samples=300)
    lone = y.copy()
    lone[5] = 2
    plain = RobustClassifier(class_weight="balanced", **SMALL).fit(X, y)
    other = RobustClassifier(class_weight="balanced", **SMALL).fit(X, lone)
    assert other.power_ > 0.7 * plain.power_


def test_a_second_fit_with_another_forest_forgets_the_first():
    X, y = overlapping_classes(2)
    model = RobustClassifier(**SMALL).fit(X, y)
    model.set_params(forest=RandomForestClassifier(10)).fit(X, y)
    for name in ("reliability_", "losses_", "feature_importances_", "out_of_sample_"):
        assert not hasattr(model, name)


def test_boosted_trees_without_a_share_are_refused():
    X, y = overlapping_classes(2)
    with pytest.raises(ValueError, match="boosted trees would have none"):
        RobustClassifier(shares="equal", boosting=True).fit(X, y)
    assert "boosting" in RobustClassifier(boosting=True, **SMALL).fit(X, y).shares_


@pytest.mark.parametrize("settings", [{"shares": "chosen"}, {"boosting": True}])
def test_shares_cannot_be_chosen_with_another_forest(settings):
    X, y = overlapping_classes()
    model = RobustClassifier(forest=RandomForestClassifier(), **settings)
    with pytest.raises(ValueError, match="another forest was passed"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="another forest was passed"):
        fit_part(model, check_samples(X, y))
