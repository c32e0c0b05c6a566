"""A text file with some of its labels changed: only the bytes of these cells differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from granulearn.tables.errors import TableError
from granulearn.tables.io.text import Chunk, TextPart, TextTable, row_starts
from granulearn.tables.relabel.habits import JUDGED_ROWS, are_mostly_marked, stays_marked
from granulearn.tables.relabel.splicing import (
    Edit,
    Line,
    LineRemoval,
    check_encodable,
    write_spliced,
)
from granulearn.tables.relabel.text_cells import Cell, CellFinder, quoted


class _FoundRow(NamedTuple):
    """A row, and the stretch of the file that it stands in."""

    number: int
    content: bytes
    offset: int
    """Of the row in the content."""
    content_begin: int
    """Offset of the content in the file."""


def rewrite_text(
    table: TextTable, draft: Path, column: str, cells: Mapping[int, str], drop: Collection[int]
) -> None:
    """Write a text file with some cells of one column changed.

    Parameters
    ----------
    table : TextTable
        The table.
    draft : Path
        Where to write.
    column : str
        The column.
    cells : mapping of int to str
        New texts by row.
    drop : collection of int
        Rows to leave out.
    """
    parts = [cast(TextPart, part) for part in table.parts()]
    place, n_columns = table.names.index(column), len(table.names)
    finder = CellFinder(parts[0].separator, place, n_columns)
    text = parts[0].source
    for label in set(cells.values()):
        check_encodable(text, label)

    @cache
    def habit(of_empty: bool) -> bool:
        found = are_mostly_marked(_needless_quotes(parts, finder, cells, of_empty))
        return habit(False) if found is None and of_empty else bool(found)

    removal = LineRemoval(drop, table.rows_about)
    wanted = np.array(sorted({*cells, *removal.rows}))
    edits: list[Edit] = []
    for row in _found_rows(parts, wanted):
        if row.number in cells:
            cell = finder.cell(row.content, row.offset)
            if cell is None:
                raise _too_short(table, row.number)
            old = text.as_utf8(cell.content).decode()
            new = cells[row.number]
            if new != old:
                written = _written(finder, cell, old, new, habit)
                begin = row.content_begin
                edits.append(Edit(begin + cell.begin, begin + cell.end, written))
        if row.number in removal.rows:
            line = finder.line(row.content, row.offset)
            in_file = Line(*(row.content_begin + offset for offset in line))
            edits += removal.edits(row.number, in_file)
    write_spliced(text, edits, draft)


def _written(
    finder: CellFinder, cell: Cell, old: str, new: str, habit: Callable[[bool], bool]
) -> str:
    is_quoted = stays_marked(
        was_marked=cell.is_quoted,
        old_needs=finder.needs_quotes(old),
        new_needs=finder.needs_quotes(new),
        habit=lambda: habit(not new),
    )
    return quoted(new) if is_quoted else new


def _needless_quotes(
    parts: list[TextPart], finder: CellFinder, cells: Mapping[int, str], of_empty: bool
) -> Iterator[bool]:
    """Yield, for cells that stay and need no quotes, whether they have some.

    Empty cells are looked at apart: many programs that quote all texts do not quote these.
    """
    for row in islice(_found_rows(parts, None), JUDGED_ROWS):
        cell = None if row.number in cells else finder.cell(row.content, row.offset)
        if cell is not None and of_empty == (not cell.content):
            text = parts[0].source.as_utf8(cell.content).decode()
            if not finder.needs_quotes(text):
                yield cell.is_quoted


def _found_rows(parts: list[TextPart], wanted: np.ndarray | None) -> Iterator[_FoundRow]:
    """Yield rows in file order; all of them unless some are wanted, which must be sorted."""
    text = parts[0].source
    chunks = [chunk for part in parts for chunk in part.chunks]
    position = chunks[0].begin
    with text.open(position) as stream:
        for chunk in chunks:
            end = chunk.first_row + chunk.n_rows
            numbers = np.arange(chunk.first_row, end)
            if wanted is not None:
                first, last = np.searchsorted(wanted, [chunk.first_row, end])
                numbers = wanted[first:last]
            if not len(numbers):
                continue
            text.skip(stream, chunk.begin - position)
            content = stream.read(chunk.end - chunk.begin)
            position = chunk.end
            offsets = row_starts(content, parts[0].separator).offsets
            _check_unchanged(parts[0], chunk, content, len(offsets) == end - chunk.first_row)
            places = offsets[numbers - chunk.first_row]
            for number, offset in zip(numbers.tolist(), places.tolist(), strict=True):
                yield _FoundRow(number, content, offset, chunk.begin)


def _check_unchanged(part: TextPart, chunk: Chunk, content: bytes, as_many_rows: bool) -> None:
    if len(content) != chunk.end - chunk.begin or not as_many_rows:
        shown = part.source.shown
        raise TableError(f"{shown} changed while it was read; try again when it is complete.")


def _too_short(table: TextTable, row: int) -> TableError:
    return TableError(
        f"{table.path}, {table.place(row)}: the row is blank and has fewer cells than there are "
        "columns, so that it has no cell to change; fill it up or leave it out."
    )
