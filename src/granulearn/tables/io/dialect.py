"""Dialect of a text table, judged by its first rows: the separator, and which row is the header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import dropwhile, islice, zip_longest
from pathlib import Path

from granulearn.tables.io.table_file import LONGEST_ROW, check_width, is_number
from granulearn.tables.messages import Message, Setting, TableError

_SEPARATORS = (",", ";", "\t", "|")
_ANNOUNCED = re.compile(rb"sep=(.)\r?\n", re.IGNORECASE)
_SAMPLE_BYTES = 2**16
_SAMPLE_ROWS = 200
_JUDGED_ROWS = 50
# A few ragged rows do not change the dialect; they are reported later.
_MOST_ROWS = 0.9

Cells = list[str]


@dataclass(frozen=True)
class Dialect:
    """Separator of a file, and position of its header."""

    separator: str
    skipped: int = 0
    """Number of bytes of a first line ``sep=;``."""
    n_titles: int = 0
    """Rows above the header that are not blank: titles or comments."""
    lacks_name: bool = False
    """Whether the first column has no name, not even an empty one, as R writes tables."""


def parse_row(text: str, separator: str) -> Cells:
    """Return the cells of one row."""
    before = csv.field_size_limit(LONGEST_ROW)
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    finally:
        csv.field_size_limit(before)


def fits(cells: Cells, n_columns: int) -> bool:
    """Return whether a row can be cut or filled up to the width without loss.

    Spreadsheets write blank rows, and blank cells to the right, of any length.
    """
    if len(cells) == n_columns:
        return True
    return not any(map(str.strip, cells[n_columns if len(cells) > n_columns else 0 :]))


def find_dialect(content: bytes, stated: str | None, shown: Path) -> Dialect:
    r"""Detect the dialect of a text by its first rows.

    If the user states the separator, a tabulator may be written as ``\t`` or ``tab``.
    """
    announced = _ANNOUNCED.match(content)
    skipped = announced.end() if announced else 0
    if announced and stated is None:
        stated = announced[1].decode("latin-1")
    content = content[skipped:].lstrip(b"\r\n")
    first_line = re.split(rb"[\r\n]", content, maxsplit=1)[0]
    sample = content[: max(_SAMPLE_BYTES, 2 * len(first_line))]
    is_cut = len(sample) < len(content)
    if stated is None:
        widest = max(first_line.count(separator.encode()) for separator in _SEPARATORS)
        check_width(shown, widest + 1)
        return _most_consistent(sample, is_cut, shown)
    separator = {"\\t": "\t", "tab": "\t"}.get(stated, stated)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise TableError(
            f"the separator {separator!r} is not one character of ASCII other than a quotation "
            "mark or a line end; state one such as ',' or ';' or '\\t'."
        )
    rows = _rows(sample, is_cut, separator)
    plain = Dialect(separator, skipped)
    if not rows or _fitting_share(rows) >= _MOST_ROWS:
        return plain
    return _unusual_header(rows, plain) or plain


def _most_consistent(sample: bytes, is_cut: bool, shown: Path) -> Dialect:
    """Return the dialect that divides the first rows most consistently."""
    samples = {separator: _rows(sample, is_cut, separator) for separator in _SEPARATORS}
    widths = {separator: len(rows[0]) if rows else 1 for separator, rows in samples.items()}
    shares = {one: _fitting_share(samples[one]) for one in samples if widths[one] > 1}
    consistent = [separator for separator, share in shares.items() if share >= _MOST_ROWS]
    if consistent:
        return Dialect(max(consistent, key=widths.__getitem__))
    found = [_unusual_header(rows, Dialect(separator)) for separator, rows in samples.items()]
    unusual = [dialect for dialect in found if dialect is not None]
    if unusual:
        return max(unusual, key=lambda dialect: max(map(len, samples[dialect.separator])))
    undivided = [one for one, rows in samples.items() if all(len(row) == 1 for row in rows)]
    if shares and (max(shares.values()) >= 0.5 or not undivided):
        return Dialect(max(shares, key=lambda separator: (shares[separator], widths[separator])))
    if len(undivided) == len(_SEPARATORS):
        divided = _divided_by_blanks(sample, is_cut, shown)
        if divided is not None:
            return divided
    # A table of one column: what does not occur in it cannot divide it.
    return Dialect(undivided[0] if undivided else ",")


def _divided_by_blanks(sample: bytes, is_cut: bool, shown: Path) -> Dialect | None:
    """Return the dialect if blanks divide all rows into equally many cells, some of them numbers.

    Without numbers, blanks may just divide the words of a text.
    """
    rows = [row for row in _rows(sample, is_cut, " ") if any(map(str.strip, row))]
    dialect = _of_equal_rows(rows)
    if dialect is not None:
        return dialect
    rows = _rows(sample, is_cut, " ", aligned=True)
    rows = [row if row[-1].strip() else row[:-1] for row in rows]
    if _of_equal_rows([row for row in rows if row]) is None:
        return None
    problem = (
        f"{shown}: columns seem to be aligned by several blanks, and one character must stand "
        "between cells; write the table with one tabulator or comma between cells, or state "
    )
    raise TableError(Message(problem, Setting("separator", ","), " if it has one column."))


def _of_equal_rows(rows: list[Cells]) -> Dialect | None:
    if len(rows) < 3 or len(rows[1]) < 2:
        return None
    if all(len(row) == len(rows[0]) for row in rows):
        return Dialect(" ") if _names_numbers(rows) else None
    has_numbers = _names_numbers([["", *rows[0]], *rows[1:]])
    return Dialect(" ", lacks_name=True) if has_numbers and _lacks_name(rows) else None


def _rows(sample: bytes, is_cut: bool, separator: str, *, aligned: bool = False) -> list[Cells]:
    """Return the first complete rows, header first."""
    rows: list[Cells] = []
    text = io.StringIO(sample.decode("latin-1"), newline="")
    try:
        for cells in csv.reader(text, delimiter=separator, skipinitialspace=aligned):
            if len(rows) == _SAMPLE_ROWS:
                return rows
            if rows or any(map(str.strip, cells)):
                rows.append(cells or [""])
    except csv.Error:  # a very long cell, for one
        return rows
    return rows[:-1] if is_cut and len(rows) > 1 else rows


def _fitting_share(rows: list[Cells]) -> float:
    return sum(fits(row, len(rows[0])) for row in rows) / len(rows)


def _unusual_header(rows: list[Cells], plain: Dialect) -> Dialect | None:
    """Detect a header below titles, or without its first name; None if there is neither."""
    filled = [row for row in rows if any(map(str.strip, row))]
    if n_titles := _n_titles(filled):
        return replace(plain, n_titles=n_titles)
    return replace(plain, lacks_name=True) if _lacks_name(filled) else None


def _n_titles(rows: list[Cells]) -> int:
    """Return the number of title rows above the header."""
    widths = Counter(map(len, dropwhile(_is_comment, rows[: 2 * _JUDGED_ROWS])))
    width = max(widths, key=lambda width: (widths[width], width), default=1)
    index = next((index for index, row in enumerate(rows) if len(row) >= width), 0)
    titles, below = rows[:index], rows[index : index + 1 + _JUDGED_ROWS]
    if width == 1 or not titles or len(below) < 2 or len(below[0]) != width:
        return 0
    if _fitting_share(below) < _MOST_ROWS or not _are_names(below[0]):
        return 0
    if all(map(_is_comment, titles)):
        return index
    if any(map(is_number, below[0])):
        return 0  # a row of data, rather, and the header above is too short
    # Two cells in each row may also be a text with a comma.
    are_narrow = width > 2 and all(sum(map(bool, map(str.strip, row))) == 1 for row in titles)
    return index if are_narrow or _names_numbers(below) else 0


def _is_comment(row: Cells) -> bool:
    return row[0].lstrip().startswith(("#", "%", "//"))


def _are_names(cells: Cells) -> bool:
    names = [cell.strip() for cell in cells if cell.strip()]
    distinct = len(set(names)) == len(names)
    return distinct and len(names) >= len(cells) - 1 and not all(map(is_number, names))


def _names_numbers(rows: list[Cells]) -> bool:
    """Return whether the first row names a column of numbers."""
    for name, *below in islice(zip_longest(*rows, fillvalue=""), len(rows[0])):
        numbers = [is_number(cell) for cell in below if cell.strip()]
        if numbers and sum(numbers) >= _MOST_ROWS * len(numbers) and not is_number(name):
            return True
    return False


def _lacks_name(rows: list[Cells]) -> bool:
    """Return whether the header lacks the name of a first column of row names."""
    if len(rows) < 3 or len(rows[0]) < 2 or not _are_names(rows[0]):
        return False
    if any(len(row) != len(rows[0]) + 1 for row in rows[1:]):
        return False
    # Other numbers might be the whole part of decimals with a comma.
    firsts = [row[0].strip() for row in rows[1:]]
    counted = firsts == [str(number) for number in range(1, len(firsts) + 1)]
    return counted or (
        len(set(firsts)) == len(firsts) and all(firsts) and not any(map(is_number, firsts))
    )
