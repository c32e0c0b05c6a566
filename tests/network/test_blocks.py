"""Row blocks cover all rows within their bytes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granulearn.network import row_blocks


@pytest.mark.parametrize("n_rows", [0, 1, 7, 100_003])
@pytest.mark.parametrize("bytes_per_row", [1, 8_000, 10**9])
def test_blocks_cover_every_row_once_and_in_order(n_rows, bytes_per_row):
    if n_rows > 1000 and bytes_per_row == 10**9:
        n_rows = 50  # a block per row: enough of them
    rows = np.arange(n_rows)
    blocks = [rows[block] for block in row_blocks(n_rows, bytes_per_row)]
    assert_array_equal(np.concatenate([*blocks, []]), rows)


def test_a_block_stays_within_its_bytes(monkeypatch):
    monkeypatch.setattr("granulearn.network.blocks.BLOCK_BYTES", 1000)
    sizes = [block.stop - block.start for block in row_blocks(95, 100)]
    assert sizes == [10] * 9 + [5]
