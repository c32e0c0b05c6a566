"""Which character stands between cells, judged by the first rows."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from granulearn.tables.errors import TableError
from granulearn.tables.naming import check_width

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
    widths = {separator: _widths(sample, separator, is_cut) for separator in SEPARATORS}
    divided = {separator: found for separator, found in widths.items() if found and found[0] > 1}
    shares = {
        separator: sum(width == found[0] for width in found) / len(found)
        for separator, found in divided.items()
    }
    consistent = [separator for separator, share in shares.items() if share >= _MOST_ROWS]
    if consistent:
        return max(consistent, key=lambda separator: divided[separator][0])
    undivided = [separator for separator, found in widths.items() if set(found) <= {1}]
    if divided and (max(shares.values()) >= 0.5 or not undivided):
        return max(shares, key=lambda separator: (shares[separator], divided[separator][0]))
    # A table of one column: what does not occur in it cannot divide it.
    return undivided[0] if undivided else ","


def _header_length(content: bytes) -> int:
    ends = [end for end in (content.find(b"\n"), content.find(b"\r")) if end >= 0]
    return min(ends, default=len(content))


def _widths(sample: bytes, separator: str, is_cut: bool) -> list[int]:
    """Return the numbers of cells of the first rows that are whole."""
    widths: list[int] = []
    text = io.StringIO(sample.decode("latin-1"), newline="")
    try:
        for cells in csv.reader(text, delimiter=separator):
            if len(widths) == _SAMPLE_ROWS:
                return widths
            if cells:
                widths.append(len(cells))
    except csv.Error:  # a very long cell, for one
        return widths
    return widths[:-1] if is_cut and len(widths) > 1 else widths
