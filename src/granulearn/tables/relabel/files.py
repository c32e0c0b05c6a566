"""Any table written again: what it is decides who writes it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from granulearn.tables.errors import TableError
from granulearn.tables.io.arrow import ArrowTable, ParquetTable
from granulearn.tables.io.files import is_pipe_or_device, is_standard_input, open_table
from granulearn.tables.io.json_lines import JsonTable
from granulearn.tables.io.table_file import ReadOptions, TableFile, known_columns
from granulearn.tables.io.text import TextTable
from granulearn.tables.relabel.arrow_files import rewrite_arrow, rewrite_parquet
from granulearn.tables.relabel.json_files import rewrite_json
from granulearn.tables.relabel.text_files import rewrite_text

# Endings that tell how a file must be opened; those of one line mean the same.
_TELLING = (
    (".gz",),
    (".bz2",),
    (".xz",),
    (".zst",),
    (".zip",),
    (".parquet", ".pq"),
    (".arrow", ".feather", ".ipc"),
    (".xlsx",),
    (".xlsm",),
    (".json",),
    (".jsonl", ".ndjson"),
)


def rewrite_table(
    path: str | os.PathLike[str],
    draft: Path,
    column: str,
    cells: Mapping[int, str],
    *,
    drop: Collection[int] = (),
    reading: ReadOptions | None = None,
) -> None:
    """Write a table to `draft`, with some cells of one column changed and all else as it was.

    Format, encoding, separators, quotation marks, line ends, what stands above the header and
    blank lines stay; without a change, the file is copied byte for byte. A change that is taken
    back by a second call gives the first file again, if `reading` states what the reader would
    otherwise find out from the cells.

    Parameters
    ----------
    path : str or path
        The table, a file.
    draft : Path
        Where to write; its ending must fit to that of `path`.
    column : str
        A name out of `TableFile.names`.
    cells : mapping of int to str
        The new text of cells, exactly, by the number of the row: from 0, as `TableFile.batches`
        gives them.
    drop : collection of int, default=()
        Rows to leave out.
    reading : ReadOptions, default=None
        What is known about the file.
    """
    path = Path(path)
    _check_path(path, draft)
    with open_table(path, reading) as table:
        known_columns(path, table.names, [column])
        dropped = frozenset(map(int, drop))
        changed = {int(row): text for row, text in cells.items() if int(row) not in dropped}
        _check_rows(table, [*map(int, cells), *dropped], dropped)
        if not changed and not dropped:
            shutil.copyfile(path, draft)
        elif isinstance(table, TextTable):
            rewrite_text(table, draft, column, changed, dropped)
        elif isinstance(table, JsonTable):
            rewrite_json(table, draft, column, changed, dropped)
        elif isinstance(table, ParquetTable):
            rewrite_parquet(table, path, draft, column, changed, dropped)
        elif isinstance(table, ArrowTable):
            rewrite_arrow(table, path, draft, column, changed, dropped)
        else:
            # Imported when it is needed: its packages come with an extra.
            from granulearn.tables.io.workbook import WorkbookTable
            from granulearn.tables.relabel.workbook_files import rewrite_workbook

            assert isinstance(table, WorkbookTable)  # the last format that can be read
            rewrite_workbook(table, path, draft, column, changed, dropped)


def _check_path(path: Path, draft: Path) -> None:
    if is_standard_input(path) or is_pipe_or_device(path):
        raise TableError(
            f"{path} is no file, and what came from it cannot be written again; save the table as "
            "a file and name that."
        )
    if path.is_dir():
        raise TableError(
            f"{path} is a folder of Parquet files, and only one file at a time can be written "
            "again; name one of its files."
        )
    if draft.suffix and path.suffix and _kind(draft) != _kind(path):
        raise TableError(
            f"{path} is written again in its own format; name a file that ends in {path.suffix!r} "
            f"rather than in {draft.suffix!r}."
        )


def _kind(path: Path) -> tuple[str, ...]:
    ending = path.suffix.lower()
    return next((kind for kind in _TELLING if ending in kind), ())


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
