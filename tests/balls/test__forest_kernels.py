"""The compiled loops of the ball forest against their slow twins."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from granulearn.balls import _forest_kernels as kernels
from granulearn.balls import _forest_split_kernels
from tests.balls import forest_reference as reference

keys = st.integers(0, 2**64 - 1)


def tables(n_rows, n_classes):
    whole = np.arange(n_rows + 1)
    return gammaln(whole + 0.5), gammaln(whole + 0.5 * n_classes)


@given(key=keys, n_rows=st.integers(1, 60), share=st.floats(0, 1))
def test_drawn_rows_are_the_twins_distinct_and_ascending(key, n_rows, share):
    drawn = np.empty(round(share * n_rows), np.int32)
    kernels.draw_rows(np.uint64(key), n_rows, drawn)
    assert_array_equal(drawn, reference.drawn_rows(key, n_rows, len(drawn)))
    assert (np.diff(drawn) > 0).all()


def test_every_row_is_drawn_equally_often():
    times = np.zeros(10)
    for key in range(2000):
        drawn = np.empty(4, np.int32)
        kernels.draw_rows(np.uint64(key * 7919), 10, drawn)
        times[drawn] += 1
    assert_allclose(times / 2000, 0.4, atol=0.05)


def grow(X, y, weights, rows, key, n_tries, n_classes, bucket_rows=None, max_try=10**4):
    max_features = max(1, round(X.shape[1] ** 0.5))
    perm = rows[np.argsort(y[rows], kind="stable")].astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(y[rows], minlength=n_classes))])
    n_nodes = 2 * len(rows)
    children, begins, widths = (np.zeros(n_nodes, np.int32) for _ in range(3))
    features = np.empty(len(rows) * max_features, np.int32)
    directions, thresholds = np.empty(len(features)), np.empty(n_nodes)
    counts, evidences = np.empty((n_nodes, n_classes)), np.empty(n_nodes)
    scratch = _forest_split_kernels.new_scratch(max_features, len(rows), n_classes, X.shape[1])
    if bucket_rows is not None:
        bucket = np.empty((X.shape[1], bucket_rows)), np.empty(bucket_rows)
        scratch = scratch._replace(bucket=bucket[0], bucket_weights=bucket[1])
    scratch = scratch._replace(thinned=np.empty(max_try + n_classes, np.int32))
    found = kernels.grow_tree(
        np.ascontiguousarray(X.T), weights, perm, bounds, np.uint64(key), n_tries,
        *tables(len(rows), n_classes), scratch,
        children, begins, widths, features, directions, thresholds, counts, evidences,
    )  # fmt: skip
    return children[:found], counts[:found], evidences[:found], max_features


@pytest.mark.slow
@settings(max_examples=30)
@given(
    shape=st.tuples(st.integers(2, 80), st.integers(1, 9)),
    n_classes=st.integers(2, 4),
    data_seed=st.integers(0, 10**6),
    key=keys,
    n_tries=st.integers(1, 8),
    weighted=st.booleans(),
    bucket_rows=st.sampled_from([3, 10, None]),
    max_try=st.sampled_from([8, 25, 10**4]),
)
def test_trees_equal_those_of_the_slow_twin(
    shape, n_classes, data_seed, key, n_tries, weighted, bucket_rows, max_try
):
    rng = np.random.default_rng(data_seed)
    X, y = rng.normal(size=shape), rng.integers(n_classes, size=shape[0])
    weights = rng.uniform(0.1, 3, shape[0]) if weighted else np.ones(shape[0])
    rows = np.sort(rng.permutation(shape[0])[: max(1, shape[0] * 2 // 3)])
    children, counts, evidences, max_features = grow(
        X,
        y,
        weights if weighted else np.empty(0),
        rows,
        key,
        n_tries,
        n_classes,
        bucket_rows,
        max_try,
    )
    members, expected = reference.grown_tree(
        X, y, weights, rows, key, n_tries, max_features, n_classes, max_try
    )
    assert_array_equal(children, [expected[node] for node in range(len(expected))])
    for node, own in members.items():
        own_counts = reference.class_weights(y, weights, own, n_classes)
        assert_allclose(counts[node], own_counts, rtol=1e-12)
        assert evidences[node] == pytest.approx(reference.log_evidence(own_counts))


PRINT_FOREST = """
import numpy as np, warnings
warnings.simplefilter("ignore")  # whole numbers that wrap around, on purpose
from granulearn.balls.forest import ForestRule, grow_forest
rng = np.random.default_rng(5)
X, y = rng.standard_normal((80, 3)), rng.integers(3, size=80)
grown = grow_forest(X, y, 3, ForestRule(n_trees=3, seed=1))
print(grown.in_bag.sum(axis=0).tolist())
print(grown.forest.posterior(X).round(12).tolist(), grown.importances.round(12).tolist())
"""


@pytest.mark.slow
def test_compiled_and_interpreted_kernels_agree():
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINT_FOREST],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert len(printed[0]) > 1000
    assert printed[0] == printed[1]
