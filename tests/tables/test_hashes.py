"""Laws of row hashes: equal rows and only they, whatever the batch, the process or the order."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.tables.parse.hashes import (
    LONGEST_VECTORISED,
    hash_cells,
    hash_rows,
    hash_text,
    mixed,
)

TEXTS = st.lists(
    st.one_of(
        st.none(),
        st.text(max_size=20),
        st.text(alphabet="ab\0", max_size=40),
        st.integers(LONGEST_VECTORISED - 9, LONGEST_VECTORISED + 9).map(lambda n: "x" * n),
    ),
    max_size=30,
)


def same_partition(hashes, values):
    """Return whether two rows have one hash exactly if they have one value."""
    return len(set(hashes)) == len(set(values)) == len(set(zip(hashes, values, strict=True)))


@given(TEXTS)
def test_texts_have_one_hash_exactly_if_they_are_equal(texts):
    assert same_partition(hash_cells(pa.array(texts, pa.string())).tolist(), texts)


@given(TEXTS, st.data())
def test_a_text_has_its_hash_wherever_it_stands(texts, data):
    column = pa.array(texts, pa.string())
    hashes = hash_cells(column)
    start = data.draw(st.integers(0, len(texts)))
    length = data.draw(st.integers(0, len(texts) - start))
    assert_array_equal(hash_cells(column.slice(start, length)), hashes[start : start + length])
    assert_array_equal(hash_cells(column.dictionary_encode()), hashes)
    assert_array_equal(hash_cells(column.cast(pa.large_string())), hashes)


@given(st.lists(st.floats(), max_size=30))
def test_numbers_have_one_hash_exactly_if_they_are_equal(numbers):
    keys = ["nan" if number != number else number + 0.0 for number in numbers]
    assert same_partition(hash_cells(np.array(numbers, dtype=float)).tolist(), keys)


def test_zero_has_one_hash_whatever_its_sign():
    assert len(np.unique(hash_cells(np.array([0.0, -0.0])))) == 1


def test_the_place_of_a_word_within_a_text_matters():
    a, b = "eight by", "tes each"
    assert len(np.unique(hash_cells(pa.array([a + b, b + a, a + a, b + b])))) == 4


def test_missing_cells_are_equal_whatever_their_bits():
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    assert len(np.unique(hash_cells(np.array([np.nan, *odd])))) == 1


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, np.nan]), st.sampled_from("ab")), max_size=30))
def test_rows_are_grouped_as_pandas_groups_them(rows):
    frame = pd.DataFrame(rows, columns=["x", "s"])
    cells = {"x": frame["x"].to_numpy(float), "s": pa.array(frame["s"].tolist(), pa.string())}
    hashes = hash_rows(cells, len(rows))
    assert_array_equal(pd.Series(hashes).duplicated(), frame.duplicated())
    reordered = dict(reversed(cells.items()))
    assert_array_equal(hash_rows(reordered, len(rows)), hashes)


def test_the_column_of_a_value_matters():
    a, b = np.array([1.0]), np.array([2.0])
    assert hash_rows({"a": a, "b": b}, 1) != hash_rows({"a": b, "b": a}, 1)


def test_a_table_without_columns_has_equal_rows():
    assert len(np.unique(hash_rows({}, 5))) == 1


def test_many_rows_hardly_share_a_hash_and_fill_the_range():
    numbers = np.arange(200_000.0)
    hashes = hash_rows({"x": numbers, "s": pa.array(numbers.astype(int).astype(str))}, len(numbers))
    assert len(np.unique(hashes)) == len(hashes)
    # Uniform, or the smallest ones would be no sample: 16 equal stretches hold about as many.
    counts = np.bincount((hashes >> np.uint64(60)).astype(int), minlength=16)
    assert abs(counts / 12_500 - 1).max() < 0.05


def test_mixing_is_one_to_one():
    # The inverse of splitmix64, step by step backwards.
    values = np.random.default_rng(0).integers(0, 2**64, 1000, dtype=np.uint64)
    back = mixed(values)
    back ^= back >> np.uint64(31) ^ back >> np.uint64(62)
    back *= np.uint64(pow(0x94D049BB133111EB, -1, 2**64))
    back ^= back >> np.uint64(27) ^ back >> np.uint64(54)
    back *= np.uint64(pow(0xBF58476D1CE4E5B9, -1, 2**64))
    back ^= back >> np.uint64(30) ^ back >> np.uint64(60)
    assert_array_equal(back - np.uint64(0x9E3779B97F4A7C15), values)


def test_another_process_has_the_same_hashes():
    code = (
        "import numpy as np, pyarrow as pa\n"
        "from granulearn.tables.parse.hashes import hash_rows, hash_text\n"
        "cells = {'x': np.array([1.5, np.nan]), 's': pa.array(['a long text', None])}\n"
        "print(hash_text('a'), *hash_rows(cells, 2))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    cells = {"x": np.array([1.5, np.nan]), "s": pa.array(["a long text", None])}
    assert run.stdout.split() == [str(hash_text("a")), *map(str, hash_rows(cells, 2))]
