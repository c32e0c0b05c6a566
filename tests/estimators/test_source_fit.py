"""Members of the robust classifier on rows drawn of a large table."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granulearn.balls.forest_rules import rule_of_size
from granulearn.estimators import (
    BallForestClassifier,
    RobustClassifier,
    ball_forest,
    boosting,
    committee_fit,
    robust,
    source_fit,
)
from granulearn.rvfl import RVFLEnsembleClassifier
from tests.rvfl.families import overlapping_classes


def test_of_a_large_table_a_member_that_says_little_at_first_sight_stays_small(monkeypatch):
    """Steps along one feature are what trees know, and a network does not."""
    for module in (robust, committee_fit, ball_forest):
        monkeypatch.setattr(module, "MANY_ROWS", 1000)
    monkeypatch.setattr(boosting, "SHARE_HELD_OUT", 0.5)
    X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 3))
    y = (np.sin(25 * X[:, 0]) > 0).astype(int)
    model = RobustClassifier(random_state=0).fit(X, y)
    assert model.shares_["committee"] == 0
    assert sum(model.shares_.values()) == pytest.approx(1)
    sizes = {"n_classes": len(model.classes_), "n_features": model.n_features_in_}
    widths = {
        first: committee_fit.plan_of_size(3000, first, **sizes).n_hidden for first in (True, False)
    }
    assert len(model.committee_.features_[0].weights) == widths[True] < widths[False]
    assert model.shares_["forest"] > source_fit.WORTH_ITS_SIZE
    assert len(model.forest_.forest_.trees) > rule_of_size(3000, 3, first_look=True).n_trees


def test_members_of_a_large_table_that_pay_are_those_that_are_fitted_alone(monkeypatch):
    for module in (robust, committee_fit, ball_forest):
        monkeypatch.setattr(module, "MANY_ROWS", 1000)
    monkeypatch.setattr(source_fit, "WORTH_ITS_SIZE", 0.0)
    X, y = overlapping_classes(2, n_samples=1200)
    model = RobustClassifier(random_state=0).fit(X, y)
    network_seed, forest_seed = np.random.RandomState(0).randint(2**31 - 1, size=2)
    chosen = model.committee_.activation_
    networks = RVFLEnsembleClassifier(activation=chosen, random_state=network_seed).fit(X, y)
    assert_array_equal(model.committee_.coef_, networks.coef_)
    forest = BallForestClassifier(random_state=forest_seed).fit(X, y)
    assert_array_equal(model.forest_.in_bag_, forest.in_bag_)
    assert model.out_of_sample_["mean"].shape == (1200, 2)
    assert set(model.losses_) == {"forest", "committee", "boosting", "mean"}
