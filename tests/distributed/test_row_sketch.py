"""What blocks share, joined by sums: that of the table as a whole."""

import itertools

import numpy as np
import pytest
from dask import delayed
from numpy.testing import assert_array_equal

from granulearn.balls.keyed_tables import key_table
from granulearn.distributed import row_sketch
from granulearn.distributed.cluster import compute
from granulearn.distributed.cluster_source import keys_of_block
from granulearn.distributed.row_sketch import key_blocks, sketch_blocks
from tests.distributed.chunked import block_of
from tests.distributed.large_tables import mixed_table


@pytest.mark.parametrize("keys_per_task", [100, 10**6])
def test_frame_and_keys_of_blocks_are_those_of_the_whole_table(keys_per_task, monkeypatch):
    monkeypatch.setattr(row_sketch, "KEYS_PER_TASK", keys_per_task)
    X, y = mixed_table(600)
    whole = key_table(X, y.astype(np.int32), 3)
    cuts = [0, 250, 250, 590, 600]
    made = [
        block_of(X[a:b], y[a:b], number) for number, (a, b) in enumerate(itertools.pairwise(cuts))
    ]
    blocks = [delayed(block) for block in made]
    keyed = key_blocks(blocks, *sketch_blocks(blocks))
    for name in ("numbers", "lows", "highs", "copies", "rows", "totals", "shift"):
        assert_array_equal(getattr(keyed.frame, name), getattr(whole.frame, name))
    assert keyed.first_rows == [0, 250, 250, 590]
    shared = keyed.facts.classes, keyed.frame
    found = [
        keys_of_block(block, twins, shared)
        for block, twins in zip(made, compute(*keyed.twins), strict=True)
    ]
    assert_array_equal(np.concatenate([codes for codes, _ in found]), y)
    assert_array_equal(np.concatenate([keys.keys for _, keys in found]), whole.keys.keys)
    assert_array_equal(np.concatenate([keys.twins for _, keys in found]), whole.keys.twins)


def test_weights_that_repeat_rows_are_refused():
    X, y = mixed_table(20)
    block = delayed(block_of(X, y, 4, np.full(20, 2.0)))
    with pytest.raises(ValueError, match=r"block 4: .* weights above 1\.5; .* repeat the rows"):
        sketch_blocks([block])
