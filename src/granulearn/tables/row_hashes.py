"""A short hash of each row's cells, by which a row is known again."""

from __future__ import annotations

from hashlib import blake2b

import pyarrow as pa

from granulearn.tables.parse.cells import as_text, is_nested

# Sixteen digits: two of a million rows agree by chance once in tens of millions of tables.
_BYTES = 8


def row_hashes(cells: pa.Table, leave_out: str = "") -> list[str]:
    """Return a hash of the cells of each row, as they were read.

    Parameters
    ----------
    cells : pyarrow Table
        Rows and columns.
    leave_out : str, default=""
        A column that does not count, such as the labels, which may be corrected.
    """
    columns = [
        as_text(cells[name].combine_chunks()).to_pylist()
        for name in cells.column_names
        if name != leave_out and not is_nested(cells[name].type)
    ]
    if not columns:
        return [_hash(b"")] * cells.num_rows
    return [_hash(b"".join(map(_with_length, row))) for row in zip(*columns, strict=True)]


def _with_length(cell: str | None) -> bytes:
    """Return a cell so that no other row of cells has the same bytes, whatever is in them."""
    if cell is None:
        return b"-"
    text = cell.encode()
    return b"%d:%b" % (len(text), text)


def _hash(content: bytes) -> str:
    # A letter first: a spreadsheet would take some hashes for numbers, and rewrite them.
    return "h" + blake2b(content, digest_size=_BYTES).hexdigest()
