"""Keys of rows: the same rows are drawn, whatever their order and their blocks."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls.keyed_tables import key_table
from granulearn.balls.row_keys import (
    ALONE,
    COUNTS_MORE,
    HAS_TWIN,
    Draw,
    base_keys,
    class_numbers,
    copies_of,
    drawn_by,
    exact_means,
    exact_sums,
    find_twins,
    key_of_draw,
    keys_of_rows,
    least_draws,
    rows_below,
    seen_by_trees,
    settled,
    spread_over,
    value_hashes,
)

NOTHING = np.empty(0, dtype=np.intp)


def coarse_table(seed, n=400):
    """Return a table with many equal rows."""
    rng = np.random.default_rng(seed)
    return rng.integers(4, size=(n, 3)).astype(float), rng.integers(3, size=n).astype(np.int32)


def keys_in_blocks(X, codes, numbers, cuts):
    edges = [0, *sorted(cuts), len(X)]
    stretches = [slice(a, b) for a, b in pairwise(edges)]
    bases = [base_keys(value_hashes(X[part]), codes[part], numbers) for part in stretches]
    twins = find_twins([(own, NOTHING) for own in bases])
    return stretches, [
        keys_of_rows(own, NOTHING, found) for own, found in zip(bases, twins, strict=True)
    ]


def test_rows_that_compare_equal_have_one_hash():
    X = np.array([[0.0, 1.5], [-0.0, 1.5], [1.5, 0.0]])
    hashes = value_hashes(X)
    assert hashes[0] == hashes[1] != hashes[2]
    assert_array_equal(hashes, value_hashes(X.astype(np.float32)))


@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 400), max_size=5))
def test_keys_of_blocks_are_those_of_the_whole_table(seed, cuts):
    X, codes = coarse_table(seed)
    whole = key_table(X, codes, 3)
    _, parts = keys_in_blocks(X, codes, whole.frame.numbers, cuts)
    assert_array_equal(np.concatenate([part.keys for part in parts]), whole.keys.keys)
    assert_array_equal(np.concatenate([part.twins for part in parts]), whole.keys.twins)
    assert len(set(whole.keys.keys.tolist())) == len(X)


@given(seed=st.integers(0, 10**6))
def test_permuted_rows_and_renamed_classes_have_the_same_keys(seed):
    X, codes = coarse_table(seed, 150)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(150), rng.permutation(3).astype(np.int32)
    one, other = key_table(X, codes, 3), key_table(X[order], names[codes[order]], 3)
    assert sorted(one.keys.keys.tolist()) == sorted(other.keys.keys.tolist())
    assert_array_equal(other.frame.numbers[names], one.frame.numbers)
    assert_array_equal(other.frame.shift, one.frame.shift)


def test_weights_are_repeated_rows():
    X, codes = coarse_table(0, 100)
    weights = np.random.default_rng(1).integers(0, 4, 100).astype(float)
    repeats = np.repeat(np.arange(100), weights.astype(int))
    weighted = key_table(X, codes, 3, weights)
    repeated = key_table(X[repeats], codes[repeats], 3)
    assert Counter(weighted.keys.keys.tolist()) == Counter(repeated.keys.keys.tolist())
    assert_array_equal(weighted.keys.rows, repeats)
    assert_array_equal(weighted.frame.shift, repeated.frame.shift)
    assert_array_equal(weighted.frame.copies, repeated.frame.copies)
    assert len(weighted.keys.of_rows) == 100
    assert len(copies_of(np.ones(3))) == 0


def test_twins_are_told_from_rows_that_count_more_than_once():
    X, codes = np.array([[1.0], [2.0], [1.0], [3.0]]), np.zeros(4, np.int32)
    found = key_table(X, codes, 1, np.array([1.0, 2.0, 1.0, 1.0])).keys.twins
    assert found.tolist() == [HAS_TWIN, COUNTS_MORE, HAS_TWIN, ALONE]


def test_classes_are_numbered_by_their_rows():
    assert class_numbers(np.array([5, 3, 3]), np.array([1, 9, 2], np.uint64)).tolist() == [2, 1, 0]


@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 400), max_size=4))
def test_a_draw_takes_the_same_rows_of_blocks_and_of_the_whole(seed, cuts):
    X, codes = coarse_table(seed)
    keyed = key_table(X, codes, 3)
    counts = tuple(np.bincount(codes, minlength=3).tolist())
    stretches, parts = keys_in_blocks(X, codes, keyed.frame.numbers, cuts)
    for draw in (Draw(11, (30,), (400,)), Draw(12, (5, 9, 2), counts)):
        offered = [
            drawn_by(draw, X[part], codes[part], None, keys, part.start)
            for part, keys in zip(stretches, parts, strict=True)
        ]
        found = settled(draw, offered)
        alone = settled(draw, [drawn_by(draw, X, codes, None, keyed.keys)])
        for name in ("draws", "X", "codes", "weights", "positions", "keys", "twins"):
            assert_array_equal(getattr(found, name), getattr(alone, name))
        assert_array_equal(X[found.positions], found.X)
        assert len(found) == sum(draw.wanted)
    assert np.bincount(found.codes, minlength=3).tolist() == [5, 9, 2]


def test_the_least_draws_are_those_of_a_sort_and_each_row_is_as_likely():
    keys = np.random.default_rng(0).integers(2**63, size=3000).astype(np.uint64)
    times = np.zeros(3000)
    for number in range(200):
        key = key_of_draw(5, number)
        drawn, cutoff = least_draws(keys, key, 300)
        everything, draws = rows_below(keys, key, np.array([2**64 - 1], np.uint64))
        assert_array_equal(drawn, everything[np.argsort(draws)[:300]])
        bags = np.array([[key, cutoff]], dtype=np.uint64)
        assert_array_equal(np.flatnonzero(seen_by_trees(bags, keys)[0]), np.sort(drawn))
        times[drawn] += 1
    # Binomial with 200 draws of a tenth: four deviations and a little are hardly ever passed.
    assert abs(times.mean() - 20) < 1e-9
    assert times.var() == pytest.approx(18, rel=0.15)


def test_rows_of_weight_zero_are_never_drawn():
    X, codes = coarse_table(3)
    weights = (np.arange(400) % 2).astype(float)
    keyed = key_table(X, codes, 3, weights)
    for draw in (Draw(1, (200,), (200,)), Draw(1, (9, 9, 9), (70, 70, 60))):
        found = settled(draw, [drawn_by(draw, X, codes, weights, keyed.keys)])
        assert (found.positions % 2 == 1).all()


@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=5), n=st.integers(1, 60))
def test_rows_are_spread_over_classes_by_their_size(counts, n):
    counts = np.array(counts)
    wanted = spread_over(counts, np.arange(len(counts)), n)
    assert wanted.sum() == min(n, counts.sum())
    assert (wanted <= counts).all()
    if counts.sum() > n:
        assert (np.abs(wanted - counts * n / counts.sum()) <= 1).all()


@given(
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20),
    cut=st.integers(0, 20),
)
def test_means_are_exact_however_rows_are_cut(values, cut):
    X = np.array(values)[:, None]
    whole = exact_sums(X, NOTHING)
    assert_array_equal(exact_sums(X[:cut], NOTHING) + exact_sums(X[cut:], NOTHING), whole)
    try:
        wanted = math.fsum(values) / len(values)
    except OverflowError:  # in the middle of fsum, not here
        return
    if math.isfinite(wanted):
        assert exact_means(whole, len(values))[0] == pytest.approx(wanted, rel=1e-15, abs=1e-323)
