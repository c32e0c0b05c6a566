"""Any table written again: what it is decides who writes it."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from granulearn.tables.io.arrow import ArrowTable, ParquetTable
from granulearn.tables.io.json_lines import JsonTable
from granulearn.tables.io.table_file import TableFile, known_columns
from granulearn.tables.io.text import TextTable
from granulearn.tables.messages import TableError
from granulearn.tables.relabel.arrow_files import rewrite_arrow, rewrite_parquet
from granulearn.tables.relabel.edits import Changes
from granulearn.tables.relabel.json_files import rewrite_json
from granulearn.tables.relabel.text_files import rewrite_text

# Endings that tell how a file must be opened, and others that mean the same.
_TELLING = (
    *(".gz", ".bz2", ".xz", ".zst", ".zip", ".parquet", ".arrow"),
    *(".xlsx", ".xlsm", ".json", ".jsonl"),
)
_WRITERS: dict[type, Any] = {
    TextTable: rewrite_text, JsonTable: rewrite_json, ParquetTable: rewrite_parquet,
    ArrowTable: rewrite_arrow,
}  # fmt: skip
_SAME = {".pq": ".parquet", ".feather": ".arrow", ".ipc": ".arrow", ".ndjson": ".jsonl"}


def rewrite_table(
    table: TableFile,
    temporary: Path,
    column: str,
    cells: Mapping[int, str],
    *,
    drop: Collection[int] = (),
) -> None:
    """Write a table to a temporary file, with some cells of one column changed.

    All else is as it was: format, encoding, separators, quotation marks, line ends, what stands
    above the header and blank lines. Without a change, the file is copied byte for byte. A change
    of text that is taken back by a second call gives the first file again, if the table is opened
    with the `ReadOptions` that the reader would otherwise find out from the cells.

    Parameters
    ----------
    table : TableFile
        As `open_table` gives it.
    temporary : Path
        Where to write; its ending must fit to that of the file.
    column : str
        A name out of `TableFile.names`.
    cells : mapping of int to str
        The new text of cells, exactly, by the number of the row: from 0, as `TableFile.batches`
        gives them.
    drop : collection of int, default=()
        Rows to leave out.
    """
    _check_path(table.path, temporary)
    known_columns(table.path, table.names, [column])
    if not all(map(str.strip, cells.values())):
        raise TableError(f"{table.path}: a new label is empty; leave the row out instead.")
    dropped = frozenset(map(int, drop))
    changed = {int(row): text for row, text in cells.items() if int(row) not in dropped}
    _check_rows(table, [*map(int, cells), *dropped], dropped)
    changes = Changes(column, changed, dropped)
    if not changed and not dropped:
        shutil.copyfile(table.path, temporary)
    elif type(table) in _WRITERS:
        _WRITERS[type(table)](table, temporary, changes)
    else:
        # A workbook; imported when it is needed: its packages come with an extra.
        from granulearn.tables.relabel.workbook_files import rewrite_workbook

        rewrite_workbook(table, temporary, changes)  # type: ignore[arg-type]


def _check_path(path: Path, temporary: Path) -> None:
    if not path.is_file() and not path.is_dir():
        raise TableError(
            f"{path} is no file, and what came from it cannot be written again; save the table as "
            "a file and name that."
        )
    if path.is_dir():
        raise TableError(
            f"{path} is a folder of Parquet files, and only one file at a time can be written "
            "again; name one of its files."
        )
    if temporary.suffix and path.suffix and _kind(temporary) != _kind(path):
        raise TableError(
            f"{path} is written again in its own format; name a file that ends in {path.suffix!r} "
            f"rather than in {temporary.suffix!r}."
        )


def _kind(path: Path) -> str:
    ending = _SAME.get(path.suffix.lower(), path.suffix.lower())
    return ending if ending in _TELLING else ""


def _check_rows(table: TableFile, named: Collection[int], dropped: Collection[int]) -> None:
    n_rows = table.rows_about
    outside = [row for row in named if not 0 <= row < n_rows]
    if outside:
        raise TableError(
            f"{table.path} has no row {outside[0]}; its {n_rows} rows are numbered from 0 to "
            f"{n_rows - 1}."
        )
    if len(dropped) == n_rows:
        raise TableError(
            f"{table.path}: all {n_rows} rows would be left out, and a table needs one at least; "
            "keep some rows."
        )
