"""Sums over blocks: the normal equations of all rows, whatever a block lacks."""

import numpy as np
from dask import delayed
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.distributed.row_sums import (
    ClassWeights,
    fit_rows,
    join_sums,
    rows_of_block,
    sums_of_block,
)
from granulearn.rvfl import ELMClassifier, draw_random_features, one_hot
from granulearn.rvfl.ridge import normal_equations
from granulearn.utils.estimator import draw_seeds
from tests.distributed.chunked import block_of, table

FEATURES = draw_random_features(3, 10, "relu", direct_link=True, seed=0)


def test_the_sums_of_blocks_are_the_normal_equations_of_all_rows():
    X, y = table()
    order = np.argsort(y, kind="stable")  # so that blocks lack classes
    X, y = X[order], y[order]
    blocks = [block_of(X[:150], y[:150]), block_of(X[150:400], y[150:400], 1)]
    blocks += [block_of(np.empty((0, 3)), []), block_of(X[400:], y[400:], 3)]
    parts = [sums_of_block(block, FEATURES, None) for block in blocks]
    for joined in (
        join_sums(join_sums(parts[0], parts[1]), join_sums(parts[2], parts[3])),
        join_sums(join_sums(join_sums(parts[0], parts[1]), parts[2]), parts[3]),
    ):
        whole = normal_equations(FEATURES, X, one_hot(y, 3), None)
        assert_allclose(joined.equations.gram, whole.gram)
        assert_allclose(joined.equations.moment, whole.moment)


def test_class_weights_are_looked_up_by_label():
    X, y = table(n_samples=30)
    only = y != 1
    block = block_of(X[only], y[only])
    rows = rows_of_block(block, ClassWeights(np.arange(3), np.array([2.0, 5.0, 7.0])))
    assert_array_equal(rows.weights, np.where(y[only] == 0, 2.0, 7.0))


def test_any_network_on_samples_can_be_fitted():
    X, y = table()
    model = ELMClassifier(random_state=4)
    blocks = [delayed(block_of(X[:300], y[:300])), delayed(block_of(X[300:], y[300:], 1))]
    fit_rows(model, blocks, 3, draw_seeds(4))
    expected = ELMClassifier(random_state=4).fit(X, y).coef_
    assert_allclose(model.coef_, expected, rtol=1e-6, atol=1e-8)
