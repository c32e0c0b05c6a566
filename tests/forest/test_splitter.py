"""The compiled splitter against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.forest import _splitter_kernels as kernels
from granulearn.forest.tree import evidence_table
from tests.forest import reference

keys = st.integers(0, 2**64 - 1)


def grow(data, weights, rows, key, bucket_rows):
    """Return children, counts and thresholds of a tree by the compiled loops."""
    n_classes, n_features, n_nodes = data.n_classes, data.X.shape[1], 2 * len(rows)
    columns, own = np.ascontiguousarray(data.X.T), data.y[rows]
    max_features = max(1, round(n_features**0.5))
    perm = rows[np.argsort(own, kind="stable")].astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n_classes))])
    children, begins, widths = (np.zeros(n_nodes, np.int32) for _ in range(3))
    features = np.empty(len(rows) * max_features, np.int32)
    directions, thresholds = np.empty(len(features)), np.empty(n_nodes)
    counts = np.empty((n_nodes, n_classes))
    scratch = kernels.new_scratch(max_features, len(rows), n_classes, n_features)
    if bucket_rows is not None:
        bucket = np.empty((n_features, bucket_rows))
        scratch = scratch._replace(bucket=bucket, bucket_weights=np.empty(bucket_rows))
    scratch = scratch._replace(thinned=np.empty(data.max_try + n_classes, np.int32))
    found = kernels.grow_tree(
        columns, weights, perm, bounds, np.uint64(key), kernels.Search(*data.search),
        evidence_table(len(rows), n_classes, data.alpha), scratch,
        children, begins, widths, features, directions, thresholds, counts,
    )  # fmt: skip
    return children[:found], counts[:found]


@pytest.mark.slow
@settings(max_examples=60)
@given(
    shape=st.tuples(st.integers(2, 80), st.integers(1, 9)),
    n_classes=st.integers(2, 4),
    data_seed=st.integers(0, 10**6),
    key=keys,
    search=st.tuples(
        st.integers(0, 8), st.integers(0, 8), st.integers(1, 8), st.sampled_from([0, 10, 30])
    ),
    alpha=st.sampled_from([0.5, 0.1, 0.005]),
    weighted=st.booleans(),
    kind=st.sampled_from(["numbers", "mostly constant", "two values"]),
    bucket_rows=st.sampled_from([3, 10, None]),
    max_try=st.sampled_from([8, 25, 10**4]),
)
def test_trees_equal_those_of_the_slow_twin(
    shape, n_classes, data_seed, key, search, alpha, weighted, kind, bucket_rows, max_try
):
    rng = np.random.default_rng(data_seed)
    X, y = rng.normal(size=shape), rng.integers(n_classes, size=shape[0])
    if kind == "mostly constant":
        X[rng.random(shape) < 0.9] = 0
    if kind == "two values":
        X[:, 1:] = rng.random((shape[0], shape[1] - 1)) < 0.4
    weights = rng.uniform(0.1, 3, shape[0]) if weighted else np.ones(shape[0])
    rows = np.sort(rng.permutation(shape[0])[: max(1, shape[0] * 2 // 3)])
    data = reference.Data(X, y, weights, n_classes, search, alpha, max_try)
    children, counts = grow(data, weights if weighted else np.empty(0), rows, key, bucket_rows)
    members, expected = reference.grown_tree(data, rows, key)
    assert_array_equal(children, [expected[node] for node in range(len(expected))])
    for node, own in members.items():
        assert_allclose(counts[node], data.counts(own), rtol=1e-12)


@given(
    values=st.lists(st.floats(-9, 9), min_size=2, max_size=20).filter(lambda v: len(set(v)) > 1),
    at=st.integers(0, 19),
)
def test_the_middle_of_the_gap_parts_rows_as_the_value_of_a_row_does(values, at):
    values = np.array(values)
    threshold = np.sort(values)[at % len(values)]
    if threshold == values.max():
        return
    middle = kernels.middle_of_gap(values, len(values), threshold)
    assert_array_equal(values > middle, values > threshold)
    nearest = values[values > threshold].min()
    assert middle == pytest.approx((threshold + nearest) / 2)


@given(
    sides=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=4),
    alpha=st.sampled_from([0.5, 0.1, 0.005]),
)
def test_both_ways_to_count_give_the_evidence_of_both_sides(sides, alpha):
    left, right = np.array(sides).T
    if left.sum() == 0 or right.sum() == 0:
        return
    K = len(sides)
    bounds = np.concatenate([[0], np.cumsum(left + right)])
    projection = np.concatenate([np.r_[np.zeros(a), np.ones(b)] for a, b in sides])
    perm, thresholds = np.arange(bounds[-1], dtype=np.int32), np.full(8, np.inf)
    thresholds[0] = 0.5
    table = evidence_table(int(bounds[-1]), K, alpha)
    expected = reference.log_evidence(left, alpha) + reference.log_evidence(right, alpha)
    for weights in (np.empty(0), np.ones(len(perm))):
        rows, counts = np.empty((K, 8), np.int64), np.empty((K, 8))
        kernels.count_right(
            projection, thresholds, perm, bounds, weights, np.arange(K), rows, counts
        )
        found = kernels.best_threshold(
            True, 0.0, bounds, weights, np.arange(K), rows, counts, (left + right).astype(float),
            table,
        )  # fmt: skip
        assert found[0] == 0
        # Classes that are in neither part add nothing but a constant of zero.
        assert found[1] == pytest.approx(expected - 2 * reference.log_evidence([0] * K, alpha))
