"""Rows of a forest: an order and numbers that depend on the values alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls.forest_rows import (
    canonical_groups,
    canonical_order,
    class_by_class,
    forest_rows,
    refined_order,
)
from granulearn.balls.narrow_tables import narrow_table
from granulearn.utils.sorting import order_and_ties


@given(seed=st.integers(0, 10**6), n_values=st.integers(1, 4), n_classes=st.integers(1, 4))
def test_the_canonical_order_is_that_of_values_whatever_rows_and_classes_are_called(
    seed, n_values, n_classes
):
    rng = np.random.default_rng(seed)
    X, codes = rng.integers(n_values, size=(30, 2)).astype(float), rng.integers(n_classes, size=30)
    order, numbers = canonical_order(X, codes, n_classes)
    assert [tuple(row) for row in X[order]] == sorted(map(tuple, X))
    other, names = rng.permutation(30), rng.permutation(n_classes)
    again, other_numbers = canonical_order(X[other], names[codes[other]], n_classes)
    assert_array_equal(X[other][again], X[order])
    assert_array_equal(
        other_numbers[names[codes[other][again]]], numbers[codes[order]], err_msg="class numbers"
    )


@given(seed=st.integers(0, 10**6))
def test_an_order_by_values_and_numbers_is_that_of_both(seed):
    rng = np.random.default_rng(seed)
    X, numbers = rng.integers(3, size=(30, 2)).astype(float), rng.integers(3, size=30)
    for found, wanted in zip(
        refined_order(narrow_table(X), numbers), order_and_ties(X, numbers), strict=True
    ):
        assert_array_equal(found, wanted)


def test_rows_of_a_class_stand_together_and_each_class_is_sorted():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(50, 2)), rng.integers(3, size=50)
    order = class_by_class(X, codes, 3)
    assert np.count_nonzero(np.diff(codes[order])) == 2
    for k in range(3):
        assert (np.diff(X[order][codes[order] == k, 0]) > 0).all()


def test_rows_are_centred_and_copies_share_their_weight():
    X, codes = np.array([[3.0], [1.0], [2.0]]), np.array([0, 1, 1])
    rows = forest_rows(X, codes, 2, np.array([1.0, 2.4, 0.0]))
    assert_array_equal(rows.samples, [1, 1, 0])
    assert_allclose(rows.weights, [1.2, 1.2, 1.0])
    assert_allclose(rows.plain.sum(), 0, atol=1e-12)
    assert forest_rows(X, codes, 2).weights.size == 0


def test_features_of_two_values_are_centred_too_and_read_from_codes():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=30), rng.integers(3, size=30)[:, None] == np.arange(3)])
    rows = forest_rows(X, rng.integers(2, size=30), 2)
    assert_allclose(rows.shift, X.mean(axis=0))
    columns = rows.columns(np.arange(30))
    assert_allclose(columns.plain[0], X[rows.samples, 0] - rows.shift[0])
    for j in (1, 2, 3):
        is_on = columns.codes[columns.places[j]] == columns.marks[j]
        values = np.where(is_on, columns.highs[j], columns.lows[j])
        assert_allclose(values, X[rows.samples, j] - rows.shift[j])


@given(seed=st.integers(0, 10**6), n_values=st.integers(1, 3), n_groups=st.integers(1, 8))
def test_groups_have_one_order_whatever_rows_and_groups_are_called(seed, n_values, n_groups):
    rng = np.random.default_rng(seed)
    X, codes = rng.integers(n_values, size=(30, 2)).astype(float), rng.integers(2, size=30)
    groups = np.unique(rng.integers(n_groups, size=30), return_inverse=True)[1]
    order, units = canonical_groups(X, codes, groups)
    assert sorted(order.tolist()) == list(range(30))
    rows = [(*X[row], codes[row]) for row in order]
    assert rows == sorted(rows)
    # The same rows are together as before.
    together = {frozenset(order[units == unit].tolist()) for unit in np.unique(units)}
    assert together == {frozenset(np.flatnonzero(groups == g).tolist()) for g in set(groups)}
    moved, names = rng.permutation(30), rng.permutation(groups.max() + 1)
    again, other = canonical_groups(X[moved], codes[moved], names[groups[moved]])
    assert_array_equal(X[moved][again], X[order])
    assert_array_equal(codes[moved][again], codes[order])
    assert_array_equal(other, units)


def test_rows_without_groups_have_no_units_and_copies_of_a_sample_stay_in_its_group():
    rng = np.random.default_rng(0)
    X, codes, groups = rng.normal(size=(20, 2)), rng.integers(2, size=20), np.arange(20) // 4
    assert forest_rows(X, codes, 2).units.size == 0
    rows = forest_rows(X, codes, 2, np.full(20, 3.0), groups=groups)
    assert len(rows.units) == 60
    for group in range(5):
        assert len(np.unique(rows.units[groups[rows.samples] == group])) == 1
