"""The compiled loops of the ball forest against their slow twins."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import _forest_kernels as kernels
from granulearn.balls import _forest_try_kernels
from granulearn.balls._column_kernels import Columns
from granulearn.balls._forest_split_kernels import Search
from granulearn.balls.evidence_table import evidence_table
from granulearn.balls.narrow_tables import narrow_table
from tests.balls import forest_reference as reference

keys = st.integers(0, 2**64 - 1)


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


@given(key=keys, n=st.integers(1, 60))
def test_drawn_numbers_lie_between_zero_and_one_and_more_of_them_begin_alike(key, n):
    draws, more = np.empty(n), np.empty(n + 5)
    kernels.draw_numbers(np.uint64(key), draws)
    kernels.draw_numbers(np.uint64(key), more)
    assert ((draws >= 0) & (draws < 1)).all()
    assert_array_equal(more[:n], draws)
    assert len(np.unique(more)) == n + 5


def test_drawn_numbers_of_many_keys_are_uniform():
    draws = np.empty((500, 4))
    for key, row in enumerate(draws):
        kernels.draw_numbers(np.uint64(key * 7919), row)
    assert_allclose(draws.mean(axis=0), 0.5, atol=0.06)
    assert_allclose(np.corrcoef(draws.T), np.eye(4), atol=0.2)


def columns_of(X):
    """Return the columns of all rows as a forest reads them."""
    table = narrow_table(X)
    return Columns(
        np.ascontiguousarray(table.plain.T), np.ascontiguousarray(table.codes.T), table.places,
        table.marks, table.lows, table.highs,
    )  # fmt: skip


def grow(data, weights, rows, key, bucket_rows):
    """Return children, counts and thresholds of a tree by the compiled loops."""
    n_classes, n_features, n_nodes = data.n_classes, data.X.shape[1], 2 * len(rows)
    columns, own = columns_of(data.X), data.y[rows]
    max_features = max(1, round(n_features**0.5))
    perm = rows[np.argsort(own, kind="stable")].astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n_classes))])
    children, begins, widths = (np.zeros(n_nodes, np.int32) for _ in range(3))
    features = np.empty(len(rows) * max_features, np.int32)
    directions, thresholds = np.empty(len(features)), np.empty(n_nodes)
    counts = np.empty((n_nodes, n_classes))
    scratch = _forest_try_kernels.new_scratch(max_features, len(rows), n_classes, columns)
    if bucket_rows is not None:
        bucket = _forest_try_kernels.new_bucket(columns, bucket_rows)
        scratch = scratch._replace(bucket=bucket, bucket_weights=np.empty(bucket_rows))
    scratch = scratch._replace(thinned=np.empty(data.max_try + n_classes, np.int32))
    found = kernels.grow_tree(
        columns, weights, perm, bounds, np.uint64(key), Search(*data.search),
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
    kind=st.sampled_from(["numbers", "mostly constant", "two values", "one-hot"]),
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
    if kind in ("two values", "one-hot"):
        # The first feature keeps its many values.
        X[:, 1:] = rng.random((shape[0], shape[1] - 1)) < 0.4
    if kind == "one-hot":
        X[:, 1:] = rng.integers(shape[1], size=shape[0])[:, None] == np.arange(1, shape[1])
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


PRINT_FOREST = """
import numpy as np, warnings
warnings.simplefilter("ignore")  # whole numbers that wrap around, on purpose
from granulearn.balls.forest import grow_forest
from granulearn.balls.forest_tree import ForestRule
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
