"""Files as they are after they were rewritten, and as they are read."""

import tempfile
from pathlib import Path

from granulearn.tables import ReadOptions, open_table
from tests.tables.nasty_tables import rows_of


def rewritten(content: bytes, name: str, column: str, cells, drop=(), **options) -> bytes:
    """Return a file as it is after it was rewritten."""
    with tempfile.TemporaryDirectory() as folder:
        path, temporary = Path(folder) / name, Path(folder) / f"new{Path(name).suffix}"
        path.write_bytes(content)
        with open_table(path, ReadOptions(**options)) as table:
            table.rewrite(temporary, column, cells, drop=drop)
        assert path.read_bytes() == content
        return temporary.read_bytes()


def read(content: bytes, name: str, **options) -> tuple[list[str], list[list]]:
    """Return names and rows as they are read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        with open_table(path, ReadOptions(**options)) as table:
            return table.names, rows_of(table.batches())
