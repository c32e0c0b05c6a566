"""Large tables with keys: what all their rows share, and forests that draw by keys."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls.forest import grow_forest
from granulearn.balls.forest_tree import ForestRule
from granulearn.balls.keyed_tables import key_table


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = X[:, 2] > 0
    return X, (X[:, 0] + X[:, 1] > 0).astype(np.int32) + (X[:, 0] > 1)


def test_what_rows_share_is_what_their_columns_are():
    X, y = table()
    weights = np.full(600, 1.0)
    weights[:10] = 0
    frame = key_table(X, y, 3, weights).frame
    assert_array_equal(frame.rows, np.bincount(y[10:]))
    assert_array_equal(frame.totals, np.bincount(y[10:]))
    assert frame.n_counted == 590
    assert_allclose(frame.shift, X[10:].mean(axis=0), rtol=1e-12)
    assert frame.scale == 1.0
    assert key_table(X * 1e200, y, 3).frame.scale < 1e-100


@pytest.mark.parametrize("weighted", [False, True])
def test_a_forest_by_keys_does_not_depend_on_order_names_or_threads(weighted):
    X, y = table()
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, 600).astype(float) if weighted else None
    order, names = rng.permutation(600), np.array([2, 0, 1], np.int32)
    rule = ForestRule(n_trees=4, max_samples=0.3, n_axes=4, n_thresholds=4)
    one = grow_forest(X, y, 3, rule, sample_weight=weights, keyed=key_table(X, y, 3, weights))
    moved = None if weights is None else weights[order]
    keyed = key_table(X[order], names[y[order]], 3, moved)
    other = grow_forest(
        X[order], names[y[order]], 3, rule, sample_weight=moved, keyed=keyed, n_threads=3
    )
    assert_array_equal(other.in_bag, one.in_bag[:, order])
    assert_array_equal(other.forest.posterior(X)[:, names], one.forest.posterior(X))
    assert one.in_bag.sum(axis=1).max() <= round(0.3 * (600 if weights is None else weights.sum()))
