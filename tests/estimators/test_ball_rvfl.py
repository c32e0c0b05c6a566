"""GB-RVFL, F-GBRVFL and SDAP-GBRVFL."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.estimators import (
    FGBRVFLClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.memberships import FuzzyMembership, SDAPMembership
from tests.estimators.families import BALL_CLASSIFIERS, one_ball_per_sample, overlapping_classes


@pytest.mark.parametrize("classifier", [FGBRVFLClassifier, SDAPGBRVFLClassifier])
def test_memberships_of_one_equal_gb_rvfl(classifier):
    X, y = overlapping_classes(3)
    plain = GBRVFLClassifier(purity=0.9, random_state=0).fit(X, y)
    by_samples = classifier(purity=0.9, random_state=0).fit(X, y, sample_membership=np.ones(len(X)))
    by_name = classifier(purity=0.9, membership="uniform", random_state=0).fit(X, y)
    for model in (by_samples, by_name):
        assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
        assert_array_equal(model.membership_, np.ones(len(model.balls_)))


@pytest.mark.parametrize("classifier", [GBRVFLClassifier, FGBRVFLClassifier, SDAPGBRVFLClassifier])
def test_a_ball_per_sample_equals_rvfl_weighted_the_same(classifier):
    X, y = one_ball_per_sample()
    model = classifier(purity=1.0, random_state=5).fit(X, y)
    assert len(model.balls_) == len(X)
    delta = model.membership_[model.balls_.assignment]
    rvfl = RVFLClassifier(random_state=5).fit(X, y, sample_weight=delta**2)
    assert_allclose(model.coef_, rvfl.coef_, rtol=1e-6, atol=1e-9)


def test_a_ball_per_sample_with_weights_up_to_one_equals_rvfl_with_those_weights():
    X, y = one_ball_per_sample()
    rng = np.random.default_rng(0)
    passed = {"sample_weight": rng.uniform(0, 1, 60), "sample_membership": rng.uniform(0, 1, 60)}
    model = GBRVFLClassifier(purity=1.0, random_state=5).fit(X, y, **passed)
    rvfl = RVFLClassifier(random_state=5).fit(X, y, **passed)
    assert_allclose(model.coef_, rvfl.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("classifier", "scheme"),
    [(FGBRVFLClassifier, FuzzyMembership()), (SDAPGBRVFLClassifier, SDAPMembership())],
)
def test_the_papers_names_are_gb_rvfl_with_their_membership(classifier, scheme):
    X, y = overlapping_classes(3)
    named = classifier(random_state=0).fit(X, y)
    spelt_out = GBRVFLClassifier(
        purity=0.985, min_ball_size=1, membership=scheme, random_state=0
    ).fit(X, y)
    assert_array_equal(named.coef_, spelt_out.coef_)
    assert_allclose(named.membership_, scheme(named.balls_, X, y), atol=1e-12)


@pytest.mark.parametrize("classifier", BALL_CLASSIFIERS)
def test_labels_of_balls_are_the_users(classifier):
    X, y = overlapping_classes(3)
    names = np.array(["x", "y", "z"])
    balls = classifier(random_state=0).fit(X, names[y]).balls_
    assert_array_equal(balls.classes, names)
    assert balls.classes[balls.labels[balls.assignment[0]]] in names


def test_small_balls_are_dropped_when_asked_for():
    X, y = overlapping_classes()
    model = GBRVFLClassifier(purity=0.925, min_ball_size=2, random_state=0).fit(X, y)
    assert model.balls_.counts.min() >= 2
    assert (model.balls_.assignment == -1).any()


def test_wrong_memberships_list_the_valid_names():
    with pytest.raises(ValueError, match="'fuzzy'"):
        GBRVFLClassifier(membership="fuzzi").fit(*overlapping_classes())


def test_down_weighted_noise_pulls_less_than_trusted_noise():
    """Flipped labels that are known to be doubtful should not cost accuracy."""
    X, y = overlapping_classes(n_samples=400)
    flipped = np.random.default_rng(0).uniform(size=len(y)) < 0.3
    noisy = np.where(flipped, 1 - y, y)
    doubts = np.where(flipped, 0.05, 1.0)
    told = FGBRVFLClassifier(random_state=0).fit(X, noisy, sample_membership=doubts)
    untold = FGBRVFLClassifier(random_state=0, membership="uniform").fit(X, noisy)
    assert told.score(X, y) > untold.score(X, y)
