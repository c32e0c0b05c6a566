"""A short hash of each row's cells, by which decisions about a row find it again."""

from __future__ import annotations

from hashlib import blake2b

import pyarrow as pa

from granulearn.tables.parse.cells import as_text, is_nested


def row_hashes(cells: pa.Table, leave_out: str = "") -> list[str]:
    """Return a hash of the cells of each row, as they were read."""
    hashes = [blake2b(digest_size=8) for _ in range(cells.num_rows)]
    for name in cells.column_names:
        if name == leave_out or is_nested(cells[name].type):
            continue
        texts = as_text(cells[name].combine_chunks()).to_pylist()
        for row, text in zip(hashes, texts, strict=True):
            cell = b"" if text is None else text.encode()
            # With its length first, no two rows of cells have the same bytes.
            row.update(b"-" if text is None else b"%d:%b" % (len(cell), cell))
    # A letter first: a spreadsheet would take some hashes for numbers, and rewrite them.
    return ["h" + row.hexdigest() for row in hashes]
