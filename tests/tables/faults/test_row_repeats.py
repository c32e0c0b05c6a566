"""Laws of counting repeated rows: pandas counts the same, and batches do not matter."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.faults import row_repeats as module
from granulearn.tables.faults.row_repeats import count_repeats, join_repeats, row_repeats

ROWS = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2)), max_size=40)


def hashes_of(rows):
    table = np.array(rows, dtype=np.uint64).reshape(-1, 2)
    # Spread over the whole range, as hashes are.
    return table[:, 0] * np.uint64(2**61), table[:, 1]


def repeats_of(rows, cuts=()):
    inputs, labels = hashes_of(rows)
    edges = [0, *sorted(cuts), len(rows)]
    return [row_repeats(inputs[a:b], labels[a:b]) for a, b in pairwise(edges)]


@given(ROWS)
def test_duplicates_and_conflicts_are_those_of_pandas(rows):
    frame = pd.DataFrame(rows, columns=["x", "y"], dtype=int)
    found = count_repeats(*repeats_of(rows))
    assert found.exact
    assert found.duplicates == frame.duplicated().sum()
    labelled = frame[frame["y"] != 0]
    several = labelled.groupby("x")["y"].transform("nunique") > 1
    assert found.conflicts == several.sum()
    for a, b in found.conflict_rows:
        assert rows[a][0] == rows[b][0]
        assert rows[a][1] != rows[b][1]
        assert a < b
    assert bool(found.conflict_rows) == bool(found.conflicts)
    if found.conflicts:
        assert found.conflict_rows[0][0] == labelled.index[several].min()


@given(ROWS, st.lists(st.integers(0, 40), max_size=6), st.sampled_from([1, 2, 4, 1000]))
def test_any_partition_gives_the_same_counts_even_when_pairs_are_left_out(rows, cuts, most):
    cuts = [min(cut, len(rows)) for cut in cuts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_PAIRS", most)
        whole = count_repeats(*repeats_of(rows))
        parts = repeats_of(rows, cuts)
        assert count_repeats(reduce(join_repeats, parts)) == whole
        from_right = reduce(lambda right, left: join_repeats(left, right), reversed(parts))
        assert count_repeats(from_right) == whole
        assert whole.exact == (len(set(rows)) <= most)


def test_many_small_batches_do_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(module, "MAX_BLOCKS", 4)
    rows = [(i % 7 + 1, 1) for i in range(1000)]
    parts = repeats_of(rows, range(900, 1000))
    joined = reduce(join_repeats, parts)
    assert len(joined.blocks) <= 4
    assert count_repeats(joined).duplicates == 993


def test_the_estimate_is_near_the_truth(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAIRS", 4000)
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**64, 20_000, dtype=np.uint64)
    inputs = np.concatenate([keys, keys[:10_000]])
    labels = np.ones(len(inputs), dtype=np.uint64)
    labels[20_000:25_000] = 2
    found = count_repeats(row_repeats(inputs, labels))
    assert not found.exact
    assert found.duplicates == pytest.approx(5000, rel=0.15)
    assert found.conflicts == pytest.approx(10_000, rel=0.15)


def test_an_estimate_looks_only_at_inputs_that_are_complete(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAIRS", 2)
    found = count_repeats(*repeats_of([(1, 1)] * 3 + [(2, 1)] * 9 + [(2, 2), (3, 1)]))
    # Two duplicates in the quarter of the range below the second inputs.
    assert (found.duplicates, found.conflicts, found.exact) == (8, 0, False)


def test_no_rows_have_no_repeats():
    found = count_repeats(*repeats_of([]))
    assert (found.duplicates, found.conflicts, found.conflict_rows, found.exact) == (0, 0, (), True)
