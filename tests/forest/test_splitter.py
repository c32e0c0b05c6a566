"""The compiled splitter against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.forest._splitter import TreeGrower
from granulearn.forest.tree import evidence_table
from tests.forest import reference


@pytest.mark.slow
@settings(max_examples=60)
@given(
    shape=st.tuples(st.integers(2, 80), st.integers(1, 9)),
    n_classes=st.integers(2, 4),
    data_seed=st.integers(0, 10**6),
    key=st.integers(0, 2**64 - 1),
    search=st.tuples(
        st.integers(0, 8), st.integers(0, 8), st.integers(1, 8), st.sampled_from([0, 10, 30])
    ),
    alpha=st.sampled_from([0.5, 0.1, 0.005]),
    weighted=st.booleans(),
    kind=st.sampled_from(["numbers", "mostly constant", "two values"]),
    max_try=st.sampled_from([8, 25, 10**4]),
)
def test_trees_equal_those_of_the_slow_twin(
    shape, n_classes, data_seed, key, search, alpha, weighted, kind, max_try
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
    directions, axes, thresholds, spared = search
    grower = TreeGrower(
        np.ascontiguousarray(X[rows].T), y[rows], weights[rows] if weighted else np.empty(0),
        n_classes, n_directions=directions, n_axes=axes, n_thresholds=thresholds,
        max_spared=spared, max_judged=max_try,
        **evidence_table(len(rows), n_classes, alpha)._asdict(),
    )  # fmt: skip
    children, *_, counts = grower.grow(key)
    members, expected = reference.grown_tree(data, rows, key)
    assert_array_equal(children, [expected[node] for node in range(len(expected))])
    for node, own in members.items():
        assert_allclose(counts[node], data.counts(own), rtol=1e-12)
