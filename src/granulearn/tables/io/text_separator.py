"""Which character stands between cells, and where the header is, judged by the first rows."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from granulearn.tables.errors import TableError
from granulearn.tables.io.naming import check_width
from granulearn.tables.io.text_header import (
    MOST_ROWS,
    Header,
    lacking_header,
    names_numbers,
    share_of_fitting,
    unusual_header,
)
from granulearn.tables.messages import Message, Setting

SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_BYTES = 2**16
_SAMPLE_ROWS = 200
_ANNOUNCED = re.compile(rb"sep=(.)\r?\n", re.IGNORECASE)


def announced_separator(content: bytes) -> tuple[str, int] | None:
    """Return the separator that spreadsheets announce on the first line, and its length.

    Parameters
    ----------
    content : bytes
        The text from its beginning.
    """
    found = _ANNOUNCED.match(content)
    return (found[1].decode("latin-1"), found.end()) if found else None


def check_separator(separator: str) -> str:
    """Return a separator that a user states, or say what it must be.

    Parameters
    ----------
    separator : str
        One character; a tabulator may also be written as in Python, or as ``tab``.
    """
    separator = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise TableError(
            f"the separator {separator!r} is not one character of ASCII other than a quotation "
            "mark or a line end; state one such as ',' or ';' or '\\t'."
        )
    return separator


def header_with(content: bytes, separator: str) -> Header:
    """Return where the header is if the separator is known.

    Parameters
    ----------
    content : bytes
        Whole rows from the beginning.
    separator : str
        What stands between cells.
    """
    sample, is_cut = _sample(content)
    rows = _rows(sample, is_cut, separator)
    if not rows or share_of_fitting(rows) >= MOST_ROWS:
        return Header()
    return unusual_header(rows) or Header()


def likely_separator(content: bytes, shown: Path) -> tuple[str, Header]:
    """Return which of ``, ; tab |`` or blank divides the first rows most consistently.

    Parameters
    ----------
    content : bytes
        Whole rows from the beginning.
    shown : Path
        The file, for messages.
    """
    first = content.lstrip(b"\r\n")
    first = first[: _header_length(first)]
    check_width(shown, max(first.count(separator.encode()) for separator in SEPARATORS) + 1)
    sample, is_cut = _sample(content)
    samples = {separator: _rows(sample, is_cut, separator) for separator in SEPARATORS}
    widths = {separator: len(rows[0]) if rows else 1 for separator, rows in samples.items()}
    shares = {
        separator: share_of_fitting(rows)
        for separator, rows in samples.items()
        if widths[separator] > 1
    }
    consistent = [separator for separator, share in shares.items() if share >= MOST_ROWS]
    if consistent:
        return max(consistent, key=lambda separator: widths[separator]), Header()
    unusual = {separator: unusual_header(rows) for separator, rows in samples.items()}
    found = [(separator, header) for separator, header in unusual.items() if header is not None]
    if found:
        return max(found, key=lambda pair: max(map(len, samples[pair[0]])))
    undivided = [
        separator for separator, rows in samples.items() if all(len(row) == 1 for row in rows)
    ]
    if shares and (max(shares.values()) >= 0.5 or not undivided):
        best = max(shares, key=lambda separator: (shares[separator], widths[separator]))
        return best, Header()
    if len(undivided) == len(SEPARATORS):
        divided = _divided_by_blanks(sample, is_cut, shown)
        if divided is not None:
            return " ", divided
    # A table of one column: what does not occur in it cannot divide it.
    return undivided[0] if undivided else ",", Header()


def _divided_by_blanks(sample: bytes, is_cut: bool, shown: Path) -> Header | None:
    """Return the header if all rows have equally many cells between blanks, some of them numbers.

    Words of a text stand between blanks too; without numbers there is no telling.
    """
    rows = [row for row in _rows(sample, is_cut, " ") if any(map(str.strip, row))]
    header = _header_of_equal(rows)
    if header is not None:
        return header
    rows = [_without_last_blank(row) for row in _rows(sample, is_cut, " ", aligned=True)]
    if _header_of_equal([row for row in rows if row]) is None:
        return None
    said = (
        f"{shown}: columns seem to be aligned by several blanks, and one character must stand "
        "between cells; write the table with one tabulator or comma between cells, or state "
    )
    raise TableError(Message(said, Setting("separator", ","), " if it has one column."))


def _header_of_equal(rows: list[list[str]]) -> Header | None:
    if len(rows) < 3 or len(rows[1]) < 2:
        return None
    if all(len(row) == len(rows[0]) for row in rows):
        return Header() if names_numbers(rows) else None
    return lacking_header(rows) if names_numbers([["", *rows[0]], *rows[1:]]) else None


def _without_last_blank(row: list[str]) -> list[str]:
    return row if row[-1].strip() else row[:-1]


def _sample(content: bytes) -> tuple[bytes, bool]:
    """Return the beginning without empty lines, and whether more follows."""
    content = content.lstrip(b"\r\n")
    sample = content[: max(_SAMPLE_BYTES, 2 * _header_length(content))]
    return sample, len(sample) < len(content)


def _header_length(content: bytes) -> int:
    ends = [end for end in (content.find(b"\n"), content.find(b"\r")) if end >= 0]
    return min(ends, default=len(content))


def _rows(sample: bytes, is_cut: bool, separator: str, *, aligned: bool = False) -> list[list[str]]:
    """Return the first rows that are whole, the header first."""
    rows: list[list[str]] = []
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
