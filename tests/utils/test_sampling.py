"""Stratified samples, grouped folds, and rows without a duplicate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.utils import sampling
from granulearn.utils.sampling import grouped_folds, stratified_sample, unique_rows

seeds = st.integers(0, 10**6)


@given(seed=seeds, n=st.integers(1, 300), n_wanted=st.integers(1, 300))
def test_every_class_has_its_share_of_a_sample_and_at_least_one_row(seed, n, n_wanted):
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.integers(5, size=n), rng.integers(5, size=n))
    found = stratified_sample(codes, n_wanted, rng)
    assert (np.diff(found) > 0).all()
    if n <= n_wanted:
        assert_array_equal(found, np.arange(n))
        return
    sizes, taken = np.bincount(codes, minlength=5), np.bincount(codes[found], minlength=5)
    assert ((taken > 0) == (sizes > 0)).all()
    assert (np.abs(taken - sizes * n_wanted / n) <= 1).all()


@given(seed=seeds, n=st.integers(1, 200), n_folds=st.integers(2, 5))
def test_folds_spread_classes_evenly(seed, n, n_folds):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    folds = grouped_folds(codes, None, n_folds, rng)
    for k in range(3):
        own = np.bincount(folds[codes == k], minlength=n_folds)
        assert own.max() - own.min() <= 1
    sizes = np.bincount(folds, minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1


@given(seed=seeds, n=st.integers(1, 200))
def test_a_group_is_in_one_fold(seed, n):
    rng = np.random.default_rng(seed)
    groups = np.unique(rng.integers(20, size=n), return_inverse=True)[1]
    folds = grouped_folds(rng.integers(3, size=n), groups, 3, rng)
    for group in range(groups.max() + 1):
        assert len(set(folds[groups == group])) == 1


def test_rows_without_a_duplicate_and_not_alone_in_their_class_are_unique(monkeypatch):
    monkeypatch.setattr(sampling, "FEWEST_UNIQUE", 2)
    X = np.array([[1.0, 2], [1, 2], [1, 2], [3, 4], [5, 6], [7, 8]])
    y = np.array([0, 0, 1, 1, 1, 0])
    found = unique_rows(X, y, np.array([1.0, 1, 1, 2, 1.2, 0]))
    assert_array_equal(found, [False, False, True, False, True, False])
    repeated = np.repeat(np.arange(6), 2)
    assert not unique_rows(X[repeated], y[repeated], np.ones(12)).any()
    # Where all count twice, those without a copy are unique.
    assert_array_equal(unique_rows(X, y, np.full(6, 2.0)), [False, False, True, True, True, True])
    assert_array_equal(unique_rows(X, np.array([0, 0, 1, 2, 2, 2]), np.ones(6)), [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_two_zeros_are_one_value(kind):
    X = np.array([[0.0, 1], [-0.0, 1], [2, 1], [3, 1]], kind)
    assert_array_equal(unique_rows(X, np.zeros(4, int), np.ones(4)), [False, False, True, True])
