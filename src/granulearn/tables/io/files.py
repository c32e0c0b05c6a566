"""Any file as a table: what it is decides who reads it."""

from __future__ import annotations

import os
from pathlib import Path

from granulearn._extras import check_installed
from granulearn.tables.errors import TableError
from granulearn.tables.io.formats import SNIFFED_BYTES, Format, format_of, refuse_packed
from granulearn.tables.io.streams import StreamCopy, is_pipe_or_device, is_standard_input
from granulearn.tables.io.table_file import AS_FOUND, ReadOptions, TableFile, TablePart
from granulearn.tables.io.text_source import TextSource, packing_of

__all__ = ["ReadOptions", "TableFile", "TablePart", "open_table"]


def open_table(path: str | os.PathLike[str], reading: ReadOptions | None = None) -> TableFile:
    """Open a table in a file, by what the file holds rather than by its name.

    Text with separators (also packed as .gz, .bz2, .xz, .zst or .zip), Parquet and folders
    of it, Feather and other files of Arrow, workbooks (.xlsx, .xls, .xlsb, .ods) and JSON
    objects are tables.

    Parameters
    ----------
    path : str or path
        A file, a folder of Parquet files, a pipe, or ``-`` for standard input.
    reading : ReadOptions, default=None
        What is known about the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from granulearn.tables import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "orders.csv")
    ...     pd.DataFrame({"price": ["10,5", "99,0"], "late": ["no", "yes"]}).to_csv(path, sep=";")
    ...     open_table(path).names
    ['column 1', 'price', 'late']
    """
    path, reading = Path(path), reading or AS_FOUND
    if is_standard_input(path) or is_pipe_or_device(path):
        copy = StreamCopy(path)
        try:
            table = _opened(copy.path, copy.shown, reading)
        except BaseException:
            copy.__exit__()
            raise
        table.hold(copy)
        return table
    # A part may be read in another process, which need not be in the same folder.
    return _opened(path.absolute(), path, reading)


def _opened(path: Path, shown: Path, reading: ReadOptions) -> TableFile:
    if path.is_dir():
        from granulearn.tables.io.arrow_files import ParquetTable

        return ParquetTable(path, shown)
    if not path.is_file():
        raise FileNotFoundError(f"{shown} is not a file; check the path.")
    with path.open("rb") as file:
        beginning = file.read(SNIFFED_BYTES)
    if not beginning:
        raise TableError(f"{shown} is empty; it needs a header line and data rows.")
    # A reader is imported when it is needed: most files need one of them.
    found = format_of(path, shown, beginning)
    if found is Format.PARQUET:
        from granulearn.tables.io.arrow_files import ParquetTable

        return ParquetTable(path, shown)
    if found is Format.ARROW:
        from granulearn.tables.io.arrow_files import ArrowTable

        return ArrowTable(path, shown)
    if found is Format.WORKBOOK:
        check_installed("python_calamine")
        from granulearn.tables.io.workbooks import WorkbookTable

        return WorkbookTable(path, shown, reading)
    return _opened_text(
        TextSource(path, shown, packing_of(beginning) if found is Format.PACKED else None), reading
    )


def _opened_text(source: TextSource, reading: ReadOptions) -> TableFile:
    from granulearn.tables.io.json_lines import JsonTable, looks_like_json
    from granulearn.tables.io.text_table import TextTable

    with source.open() as stream:
        beginning = stream.read(SNIFFED_BYTES)
    if source.packing:
        refuse_packed(source.shown, beginning)
    suffixes = {suffix.lower() for suffix in source.shown.suffixes[-2:]}
    if suffixes & {".json", ".jsonl", ".ndjson"}:
        return JsonTable(source, reading)
    if beginning.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        with source.open() as stream:
            if looks_like_json(stream):
                return JsonTable(source, reading)
    return TextTable(source, reading)
