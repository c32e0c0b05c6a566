"""Row blocks: work through a tall matrix without ever holding all of it."""

from __future__ import annotations

from collections.abc import Iterator

# Small enough to stay near the processor, large enough that its cores, which
# meet at the end of each product, do so rarely.
BLOCK_BYTES = 4 * 2**20


def row_blocks(n_rows: int, bytes_per_row: int) -> Iterator[slice]:
    """Yield slices that cover ``range(n_rows)`` in order, about `BLOCK_BYTES` each."""
    step = max(1, BLOCK_BYTES // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
