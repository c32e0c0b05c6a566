"""Tables that count as large, so that members draw their rows, though they are small."""

import numpy as np
import pytest

from granulearn.audit import label_audit as audit_module
from granulearn.audit import large_tables, table_audit
from granulearn.distributed import (
    DaskBallForestClassifier,
    DaskRobustClassifier,
    DaskRVFLCommitteeClassifier,
    label_audit,
    member_fit,
)
from granulearn.ensemble import RobustClassifier
from granulearn.estimators import RVFLCommitteeClassifier, ball_forest, committee_fit, robust
from granulearn.forest import BallForestClassifier
from granulearn.training import cluster_training

MEMBER_PAIRS = [
    (DaskBallForestClassifier, BallForestClassifier),
    (DaskRVFLCommitteeClassifier, RVFLCommitteeClassifier),
    (DaskRobustClassifier, RobustClassifier),
]
every_member_pair = pytest.mark.parametrize(
    ("on_dask", "plain"), MEMBER_PAIRS, ids=[plain.__name__ for _, plain in MEMBER_PAIRS]
)
TREE_FIELDS = ("children", "offsets", "features", "directions", "thresholds", "leaf_proba")


def call_large(patch, n_rows=1000):
    """Let tables of more rows count as large."""
    modules = (robust, committee_fit, ball_forest, member_fit, audit_module)
    for module in (*modules, table_audit, cluster_training):
        patch.setattr(module, "MANY_ROWS", n_rows)
    for module in (large_tables, label_audit):
        patch.setattr(module, "TYPICAL_ROWS", n_rows)


def mixed_table(n=3000, seed=0):
    """Return numbers, categories as columns of zeros and ones, equal rows, three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 2] = X[:, 2].round()
    kinds = rng.integers(3, size=n)
    X[:, 3:] = kinds[:, None] == np.arange(3)
    y = np.digitize(np.sin(3 * X[:, 0]) + X[:, 1] + (kinds == 1), [-0.5, 1.0])
    wrong = rng.random(n) < 0.05
    y[wrong] = rng.integers(3, size=wrong.sum())
    few = n // 50
    X[n // 2 : n // 2 + few], y[n // 2 : n // 2 + few] = X[:few], y[:few]
    return X, y


def parts_of(model):
    """Return all arrays that a model predicts by."""
    found = []
    if hasattr(model, "shares_"):
        found += [list(model.shares_.values()), model.power_, model.feature_importances_]
        for booster in model.boosters_:
            found += [booster.features, booster.thresholds, booster.values]
        return found + parts_of(model.forest_) + parts_of(model.committee_)
    if hasattr(model, "coef_"):
        return [model.coef_, model.features_[0].weights]
    found = [model.forest_.shift, model.forest_.scale, model.weighing_shares_]
    for tree in model.forest_.trees:
        found += [getattr(tree, name) for name in TREE_FIELDS]
    return found


def assert_equal_members(one, other):
    """Assert that two models are the same to the last bit."""
    for ours, theirs in zip(parts_of(one), parts_of(other), strict=True):
        np.testing.assert_array_equal(ours, theirs)
