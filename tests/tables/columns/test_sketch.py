"""A sketch counts what is different."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse.hashes import hash_cells, mixed
from granulearn.tables.profile import _REMEMBERED, Sketch

texts = st.text(max_size=120)


def all_different(n: int, seed: int = 0) -> np.ndarray:
    """Return hashes of n different numbers."""
    return mixed(hash_cells(np.arange(n) + 1e7 * seed))


def same(first: Sketch, second: Sketch) -> bool:
    return bool(np.array_equal(first.lowest, second.lowest)) and first.count == second.count


@given(st.lists(st.lists(st.integers(0, 50)), max_size=6))
def test_a_sketch_counts_exactly_what_is_different(batches):
    sketch = Sketch()
    for batch in batches:
        sketch = sketch.with_cells(np.array(batch, float))
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
def test_texts_are_counted(cells):
    assert Sketch().with_cells(pa.array(cells, pa.string())).count == len(set(cells))
