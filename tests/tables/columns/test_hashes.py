"""Hashes are the same everywhere, and a sketch counts what is different."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.columns.hashes import _REMEMBERED, Sketch, hash_numbers, hash_texts, mixed

words = st.integers(0, 2**64 - 1)
texts = st.text(max_size=120)


def mixed_slowly(word: int) -> int:
    """Return what splitmix64 makes of a word, in whole numbers of any length."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) % 2**64
    return word ^ (word >> 31)


def hashed_slowly(text: str) -> int:
    """Return the hash of a text, byte by byte."""
    data = text.encode()
    found = mixed_slowly((len(data) + 0x9E3779B97F4A7C15) % 2**64)
    for byte in (*data[:48], *data[48:][::-1][:48]):
        found = ((found ^ byte) * 0x100000001B3) % 2**64
    return mixed_slowly(found)


def all_different(n: int, seed: int = 0) -> np.ndarray:
    """Return hashes of n different numbers."""
    return hash_numbers(np.arange(n) + 1e7 * seed)


def same(first: Sketch, second: Sketch) -> bool:
    return bool(np.array_equal(first.lowest, second.lowest)) and first.count == second.count


@given(st.lists(words, max_size=8))
def test_words_are_mixed_by_splitmix64(given_words):
    found = mixed(np.array(given_words, np.uint64))
    assert found.tolist() == [mixed_slowly(word) for word in given_words]


@given(st.lists(texts, max_size=8), st.integers(0, 8))
def test_a_text_has_its_own_hash_in_any_array(cells, start):
    column = pa.array(cells, pa.string())[start:]
    assert hash_texts(column).tolist() == [hashed_slowly(cell) for cell in cells[start:]]


def test_hashes_are_the_same_in_every_version():
    assert hash_texts(pa.array(["", "a", "é" * 60])).tolist() == [
        5197578548964807871,
        11628054678592002707,
        9161912254921847119,
    ]
    assert hash_numbers(np.array([1.0])).tolist() == [3035652100526550566]


def test_zeros_of_both_signs_and_all_missing_numbers_have_one_hash():
    payloads = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(float)
    zero, negative, first, second = hash_numbers(np.array([0.0, -0.0, *payloads]))
    assert zero == negative
    assert first == second


def test_hashing_leaves_the_numbers_as_they_are():
    values = np.array([-0.0, np.nan, 1.0])
    before = values.view(np.uint64).copy()
    hash_numbers(values)
    assert np.array_equal(values.view(np.uint64), before)


@given(st.lists(st.lists(st.integers(0, 50)), max_size=6))
def test_a_sketch_counts_exactly_what_is_different(batches):
    sketch = Sketch()
    for batch in batches:
        sketch = sketch.with_hashes(hash_numbers(np.array(batch, float)))
    assert sketch.is_exact
    assert sketch.count == len({value for batch in batches for value in batch})


@pytest.mark.parametrize("n", [_REMEMBERED - 1, 10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("seed", range(3))
def test_a_sketch_counts_exactly_below_its_limit_and_within_five_percent_above(n, seed):
    sketch = Sketch().with_hashes(all_different(n, seed))
    assert sketch.is_exact == (n < _REMEMBERED)
    assert sketch.count == n if sketch.is_exact else abs(sketch.count - n) <= 0.05 * n


@pytest.mark.parametrize("n_different", [1, 3000, 4096, 5000, 50_000])
def test_repetitions_change_no_sketch(n_different):
    once = all_different(n_different)
    repeated = np.tile(once, 80_000 // n_different + 1)
    assert same(Sketch().with_hashes(repeated), Sketch().with_hashes(once))


@given(st.lists(st.integers(0, 9000), max_size=5), st.permutations(range(6)), st.booleans())
def test_sketches_join_to_the_same_in_any_order_and_with_any_bounds(sizes, order, bounded):
    pieces = [all_different(size, seed % 2) for seed, size in enumerate(sizes)]
    whole = Sketch().with_hashes(np.concatenate([np.empty(0, np.uint64), *pieces]))
    joined = Sketch()
    for number in order:
        if number < len(pieces):
            part = Sketch(bound=joined.bound if bounded else None)
            joined = joined | part.with_hashes(pieces[number])
    assert same(joined, whole)


@given(st.lists(texts, max_size=8))
def test_texts_are_counted_by_their_hashes(cells):
    sketch = Sketch().with_texts(cells)
    assert sketch.count == len(set(map(hashed_slowly, cells)))
    assert same(sketch, Sketch().with_hashes(hash_texts(pa.array(cells, pa.string()))))
