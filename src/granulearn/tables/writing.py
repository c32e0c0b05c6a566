"""Output tables: cells as they were read, but none that a spreadsheet would run as a formula.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tabulator or a carriage
return for a formula, which can read files and call programs. Such a cell gets an apostrophe in
front, which spreadsheets read as "text". Numbers, dashes and telephone numbers stay as they are.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetWriter

from granulearn.tables.io.files import PARQUET_ENDINGS
from granulearn.tables.parse.cells import as_text, is_nested, value_type

# Digits with separators and currency, an exponent, or nothing but + and -.
_HARMLESS = r"^[+-]+[0-9 .,'%€$£¥\x{a0}\x{202f}]*([eE][+-]?[0-9]+)?$"
_RUN = r"^[=+\-@\t\r]"


def guarded(column: pa.Array) -> pa.Array:
    """Return texts with an apostrophe before those that a spreadsheet would run."""
    would_run = pc.match_substring_regex(column, _RUN)
    if not pc.any(would_run).as_py():
        return column
    runs = pc.and_(would_run, pc.invert(pc.match_substring_regex(column, _HARMLESS)))
    return pc.if_else(runs, pc.binary_join_element_wise("'", column, ""), column)


class CsvWriter:
    r"""Write batches as text in UTF-8, with a header and ``\n`` at the end of rows.

    A null becomes an empty cell; cells are in quotes only where they must be.
    """

    def __init__(self, path: Path, names: Sequence[str], separator: str = ","):
        self._file = path.open("w", encoding="utf-8", newline="")
        # With both line ends as its own, csv quotes cells that hold either.
        self._rows = csv.writer(self, delimiter=separator, lineterminator="\r\n")
        self._rows.writerow(guarded(pa.array(names, pa.string())).to_pylist())

    def write(self, line: str | pa.RecordBatch) -> None:
        """Write the rows of a batch, or a line of text."""
        if isinstance(line, str):
            self._file.write(line[:-2] + "\n")
        else:
            self._rows.writerows(zip(*map(_cells, line.columns), strict=True))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def open_writer(path: Path, schema: pa.Schema) -> Any:
    """Return the writer that the ending of a path asks for: Parquet, text with tabs, or CSV."""
    ending = path.suffix.lower()
    if ending in PARQUET_ENDINGS:
        return ParquetWriter(path, schema)
    return CsvWriter(path, schema.names, "\t" if ending == ".tsv" else ",")


def write_table(table: pa.Table, path: Path) -> None:
    """Write a whole table in the format of its ending."""
    with open_writer(path, table.schema) as writer:
        for batch in table.to_batches():
            writer.write(batch)


def _cells(column: pa.Array) -> list[str | None]:
    if is_nested(column.type):
        cells = column.to_pylist()
        return [
            None if cell is None else json.dumps(cell, ensure_ascii=False, default=str)
            for cell in cells
        ]
    text = as_text(column, trimmed=False)
    is_text = pa.types.is_string(value_type(column.type))
    return (guarded(text) if is_text else text).to_pylist()
