"""Bundles of columns: only exclusive ones, and nothing is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls.narrow_tables import MAX_BUNDLED, narrow_table
from granulearn.estimators.bundles import find_bundles


def bundles_of(X, targets=None):
    targets = np.zeros(len(X)) if targets is None else targets
    return find_bundles(X, targets, np.ones(len(X)))


def one_hot(values, n_values):
    return (values[:, None] == np.arange(n_values)).astype(float)


@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(2, 5), min_size=1, max_size=4),
    scale=st.sampled_from([1.0, 0.37, 9.0]),
)
def test_codes_tell_rows_apart_exactly_as_the_columns_do(seed, sizes, scale):
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.integers(size, size=60) for size in sizes])
    hot = [one_hot(column, size) for column, size in zip(values.T, sizes, strict=True)]
    numbers = rng.normal(size=(60, 2))
    X = np.column_stack([numbers[:, :1], *hot, numbers[:, 1:]]) * scale - 0.3
    bundles = bundles_of(X, rng.random(60))
    Z = bundles.inputs(X)
    assert Z.shape[1] == bundles.n_bundles + len(bundles.others)
    assert len(np.unique(Z, axis=0)) == len(np.unique(X, axis=0))
    same_codes = (Z[:, None] == Z[None]).all(axis=2)
    assert_array_equal(same_codes, (X[:, None] == X[None]).all(axis=2))
    rows = rng.permutation(60)[:40]
    assert_array_equal(bundles.inputs_of(narrow_table(X), X, rows), Z[rows])


def test_neighbouring_exclusive_columns_are_bundled_and_others_are_left():
    kinds, other = np.array([0, 1, 2, 0, 1, 2]), np.array([1.0, 1, 1, 0, 0, 0])
    X = np.column_stack([np.arange(6.0), one_hot(kinds, 3), np.full(6, 2.0), other])
    bundles = bundles_of(X)
    assert_array_equal(bundles.bundled, [1, 2, 3])
    assert_array_equal(bundles.others, [0, 4, 5])
    assert bundles.inputs(X).shape == (6, 4)


def test_a_value_that_no_row_has_does_not_part_a_bundle():
    X = one_hot(np.array([0, 1, 3, 4, 0, 1, 3, 4]), 5)
    bundles = bundles_of(X)
    assert_array_equal(bundles.bundled, [0, 1, 3, 4])
    assert_array_equal(bundles.others, [2])


def test_codes_follow_the_labels_so_that_one_threshold_parts_them():
    values = np.repeat(np.arange(4), 50)
    targets = np.isin(values, [0, 3]).astype(float)
    codes = bundles_of(one_hot(values, 4), targets).inputs(one_hot(values, 4))[:, 0]
    assert codes[targets == 0].max() < codes[targets == 1].min()


def test_of_several_columns_that_are_on_the_first_counts():
    X = one_hot(np.array([0, 1, 2, 2]), 3)
    bundles = bundles_of(X)
    both = np.array([[0.0, 1, 1]])
    assert_array_equal(bundles.inputs(both), bundles.inputs(X[[1]]))
    assert bundles.inputs(np.zeros((1, 3)))[0, 0] == bundles.codes_of(0)[0]


def test_a_table_without_such_columns_is_not_copied():
    X = np.random.default_rng(0).normal(size=(20, 3))
    bundles = bundles_of(X)
    assert bundles.n_bundles == 0
    assert bundles.inputs(X) is X
    assert_array_equal(bundles.inputs_of(narrow_table(X), X, np.arange(5)), X[:5])


def test_a_bundle_has_no_more_codes_than_a_booster_can_tell_apart():
    X = np.eye(600)[:, :590]
    assert np.diff(bundles_of(X).offsets).max() == MAX_BUNDLED


def test_numbers_of_inputs_are_spread_over_columns():
    X = np.column_stack([np.arange(6.0), one_hot(np.array([0, 1, 2, 0, 1, 2]), 3)])
    assert_allclose(bundles_of(X).spread(np.array([6.0, 1.0])), [1, 2, 2, 2])
    assert bundles_of(X).spread(np.ones(2)).sum() == pytest.approx(2)
