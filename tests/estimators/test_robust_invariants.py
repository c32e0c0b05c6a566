"""A robust classifier whose parts do not fit together is refused before it predicts."""

import copy

import numpy as np
import pytest

from granulearn._invariants import InvariantError
from granulearn.estimators import RobustClassifier
from granulearn.estimators.robust_invariants import check_members

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
SETTINGS = {"n_trees": 30, "n_layers": 1, "n_hidden": 3, "random_state": 0}


@pytest.fixture(name="model", scope="module")
def fitted_model():
    return RobustClassifier(boosting=True, noise=0.1, **SETTINGS).fit(X, Y)


def test_what_fit_leaves_holds(model):
    check_members(model)
    check_members(RobustClassifier(**SETTINGS).fit(X, Y))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("committee_", None),
        ("forest_", "forest"),
        ("boosters_", []),
        ("shares_", {"forest": 0.5, "committee": 0.2}),
        ("shares_", {"forest": 1.0, "other": 0.0}),
        ("shares_", {"forest": float("nan"), "committee": 0.5}),
        ("_floor", 0.0),
        ("power_", 100.0),
        ("noise_", np.full((2, 2), np.nan)),
        ("feature_importances_", np.ones(2)),
        ("reliability_", np.full(60, 2.0)),
        ("_boosting_unseen", np.ones((60, 3))),
    ],
)
def test_a_part_that_does_not_fit_is_named(model, name, value):
    changed = copy.copy(model)
    setattr(changed, name, value)
    with pytest.raises(InvariantError, match=name):
        check_members(changed)


def test_a_member_that_is_gone_has_no_share(model):
    changed = copy.copy(model)
    changed.boosters_ = ()
    with pytest.raises(InvariantError, match="shares_"):
        check_members(changed)


def test_members_of_another_table_are_refused(model):
    other = RobustClassifier(boosting=True, **SETTINGS).fit(X[:, :2], Y)
    for name in ("committee_", "forest_", "boosters_"):
        changed = copy.copy(model)
        setattr(changed, name, getattr(other, name))
        with pytest.raises(InvariantError, match=name):
            check_members(changed)
