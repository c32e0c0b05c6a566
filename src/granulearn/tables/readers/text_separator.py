"""Which character stands between cells, judged by the first rows."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from granulearn.tables.errors import TableError
from granulearn.tables.readers.naming import check_width
from granulearn.tables.readers.text_rows import fits

SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_BYTES = 2**16
_SAMPLE_ROWS = 200
# Rows that break the rule are named later; they must not decide what the rule is.
_MOST_ROWS = 0.9
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


def likely_separator(content: bytes, shown: Path) -> str:
    """Return which of ``, ; tab |`` divides the first rows most consistently.

    Parameters
    ----------
    content : bytes
        Whole rows, the header first.
    shown : Path
        The file, for messages.
    """
    content = content.lstrip(b"\r\n")
    header = content[: _header_length(content)]
    check_width(shown, max(header.count(separator.encode()) for separator in SEPARATORS) + 1)
    sample = content[: max(_SAMPLE_BYTES, 2 * len(header))]
    is_cut = len(sample) < len(content)
    samples = {separator: _rows(sample, separator, is_cut) for separator in SEPARATORS}
    widths = {separator: len(rows[0]) if rows else 1 for separator, rows in samples.items()}
    shares = {
        separator: sum(fits(row, widths[separator]) for row in rows) / len(rows)
        for separator, rows in samples.items()
        if widths[separator] > 1
    }
    consistent = [separator for separator, share in shares.items() if share >= _MOST_ROWS]
    if consistent:
        return max(consistent, key=lambda separator: widths[separator])
    undivided = [
        separator for separator, rows in samples.items() if all(len(row) == 1 for row in rows)
    ]
    if shares and (max(shares.values()) >= 0.5 or not undivided):
        return max(shares, key=lambda separator: (shares[separator], widths[separator]))
    # A table of one column: what does not occur in it cannot divide it.
    return undivided[0] if undivided else ","


def _header_length(content: bytes) -> int:
    ends = [end for end in (content.find(b"\n"), content.find(b"\r")) if end >= 0]
    return min(ends, default=len(content))


def _rows(sample: bytes, separator: str, is_cut: bool) -> list[list[str]]:
    """Return the first rows that are whole, the header first."""
    rows: list[list[str]] = []
    text = io.StringIO(sample.decode("latin-1"), newline="")
    try:
        for cells in csv.reader(text, delimiter=separator):
            if len(rows) == _SAMPLE_ROWS:
                return rows
            if rows or any(map(str.strip, cells)):
                rows.append(cells or [""])
    except csv.Error:  # a very long cell, for one
        return rows
    return rows[:-1] if is_cut and len(rows) > 1 else rows
