"""Tables written as text: cells as they were read, and none that a spreadsheet would run.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tabulator or a
carriage return for a formula, and a formula can read files and call programs. Such a
cell is written with an apostrophe before it, which spreadsheets take for "this is
text". Numbers, dashes and telephone numbers are no formulas and stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.parse.cells import as_text, is_nested

if TYPE_CHECKING:
    import pandas as pd

# Digits and what stands between or around them, an exponent, or nothing but signs.
_HARMLESS = r"^[+-]+[0-9 .,'%€$£¥\x{a0}\x{202f}]*([eE][+-]?[0-9]+)?$"
_RUN = r"^[=+\-@\t\r]"


def guarded(column: pa.Array) -> pa.Array:
    """Return texts with an apostrophe before those that a spreadsheet would run.

    Parameters
    ----------
    column : pyarrow Array of strings
        The cells; null stays null.
    """
    would_run = pc.match_substring_regex(column, _RUN)
    if not pc.any(would_run).as_py():
        return column
    harmless = pc.match_substring_regex(column, _HARMLESS)
    runs = pc.and_(would_run, pc.invert(harmless))
    return pc.if_else(runs, pc.binary_join_element_wise("'", column, ""), column)


def guarded_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose texts and names of columns are guarded, for pandas to write.

    Parameters
    ----------
    frame : DataFrame
        Cells of any type.
    """
    names = guarded(pa.array(map(str, frame.columns), pa.string())).to_pylist()
    columns = [_guarded_cells(frame.iloc[:, place]) for place in range(frame.shape[1])]
    return type(frame)(dict(enumerate(columns)), index=frame.index).set_axis(names, axis=1)


def _guarded_cells(cells: pd.Series) -> pd.Series:
    values = cells.cat.categories if cells.dtype == "category" else cells
    if values.dtype.kind in "biufcmM":
        return cells
    texts = {text for text in values.dropna().unique() if isinstance(text, str)}
    written = dict(zip(texts, guarded(pa.array(texts, pa.string())).to_pylist(), strict=True))
    changed = {text: new for text, new in written.items() if text != new}
    return cells.astype(object).replace(changed) if changed else cells


class CsvWriter:
    r"""Write batches as text in UTF-8, with a header and ``\n`` at the end of rows.

    A null becomes an empty cell; cells are in quotes only where they must be.

    Parameters
    ----------
    target : Path or binary file
        What to write to; a path is overwritten, a file is not closed.
    names : sequence of str
        The header.
    separator : str, default=","
        What stands between cells.
    """

    def __init__(self, target: Path | BinaryIO, names: Sequence[str], separator: str = ","):
        self.separator = separator
        self._is_ours = isinstance(target, Path)
        self._file: BinaryIO = target.open("wb") if isinstance(target, Path) else target
        header = self._written(pa.array(names, pa.string())).to_pylist()
        line = self.separator.join(['""'] if header == [""] else header)
        self._file.write(f"{line}\n".encode())

    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows.

        Parameters
        ----------
        batch : pyarrow RecordBatch
            As many columns as there are names.
        """
        cells = [self._written(column) for column in batch.columns]
        if len(cells) == 1:  # or the row would be an empty line, which is no row
            cells = [pc.if_else(pc.equal(cells[0], ""), '""', cells[0])]
        rows = pc.binary_join_element_wise(*cells, self.separator)
        ended = pc.binary_join_element_wise(rows, "\n", "")
        self._file.write(_characters(ended))

    def _written(self, column: pa.Array) -> pa.Array:
        if is_nested(column.type):
            column = pa.array([_as_json(cell) for cell in column.to_pylist()], pa.string())
        text = as_text(column, trimmed=False)
        if pa.types.is_string(_values_type(column)):
            text = guarded(text)
        text = pc.fill_null(text, "")
        special = pc.match_substring_regex(text, f'["\r\n{_escaped(self.separator)}]')
        if not pc.any(special).as_py():
            return text
        doubled = pc.replace_substring(text, '"', '""')
        return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), text)

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._is_ours:
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def write_csv(
    batches: Iterable[pa.RecordBatch],
    target: Path | BinaryIO,
    names: Sequence[str],
    separator: str = ",",
) -> None:
    """Write a whole table as text.

    Parameters
    ----------
    batches : iterable of pyarrow RecordBatch
        The rows.
    target : Path or binary file
        What to write to.
    names : sequence of str
        The header.
    separator : str, default=","
        What stands between cells.
    """
    with CsvWriter(target, names, separator) as writer:
        for batch in batches:
            writer.write(batch)


def write_frame(frame: pd.DataFrame, target: Path) -> None:
    """Write a frame of pandas as text.

    Parameters
    ----------
    frame : DataFrame
        The rows; its index is not written.
    target : Path
        What to write to.
    """
    table = pa.Table.from_pandas(frame, preserve_index=False)
    write_csv(table.to_batches(), target, table.column_names)


def _values_type(column: pa.Array) -> pa.DataType:
    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def _as_json(cell: Any) -> str | None:
    return None if cell is None else json.dumps(cell, ensure_ascii=False, default=str)


def _escaped(separator: str) -> str:
    return "\\" + separator if separator in "|^]\\-." else separator


def _characters(texts: pa.Array) -> memoryview | bytes:
    """Return the characters of all texts, one after another."""
    if not len(texts):
        return b""
    offsets = texts.buffers()[1]
    begin, end = (
        pa.Array.from_buffers(pa.int32(), len(texts) + 1, [None, offsets], offset=texts.offset)
        .take(pa.array([0, len(texts)]))
        .to_pylist()
    )
    return memoryview(texts.buffers()[2])[begin:end]
