"""Where rows begin and whether quotes are in order, for megabytes of text at once.

All that is looked at are bytes of ASCII (quotes, separators, line ends), so that any
encoding will do in which these bytes mean nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_QUOTE, _LF, _CR = 34, 10, 13


@dataclass(frozen=True)
class RowStarts:
    """Where the rows of a text begin; empty lines are no rows."""

    offsets: np.ndarray
    lines: np.ndarray
    """Number, from 0, of the line on which each begins."""
    n_lines: int
    quoted_newlines: bool


def row_starts(content: bytes) -> RowStarts:
    """Return where rows begin in a text that begins with a row and has its quotes in order.

    Parameters
    ----------
    content : bytes
        Whole rows.
    """
    codes = np.frombuffer(content, np.uint8)
    starts = np.concatenate([[0], _line_ends(content, codes)])
    starts = starts[: np.searchsorted(starts, len(codes))]
    first = codes[starts]
    begins_row = (first != _LF) & (first != _CR)
    quoted = False
    if b'"' in content:
        outside = np.searchsorted(np.flatnonzero(codes == _QUOTE), starts) % 2 == 0
        begins_row &= outside
        quoted = not outside.all()
    lines = np.flatnonzero(begins_row)
    return RowStarts(starts[lines], lines, len(starts), quoted)


def _line_ends(content: bytes, codes: np.ndarray) -> np.ndarray:
    """Return the offsets after line ends: line feed, carriage return, or both."""
    ends = codes == _LF
    if b"\r" in content:
        alone = codes == _CR
        alone[:-1] &= ~ends[1:]
        ends = ends | alone
    return np.flatnonzero(ends) + 1


def count_rows(content: bytes) -> tuple[int, int]:
    """Return how many rows and how many lines there are in a text without quotes.

    Parameters
    ----------
    content : bytes
        Whole rows.
    """
    if b"\r" in content:
        starts = row_starts(content)
        return len(starts.lines), starts.n_lines
    ends = np.frombuffer(content, np.uint8) == _LF
    open_line = int(bool(content) and not content.endswith(b"\n"))
    n_lines = int(np.count_nonzero(ends)) + open_line
    n_empty = int(np.count_nonzero(ends[1:] & ends[:-1])) + int(content.startswith(b"\n"))
    return n_lines - n_empty, n_lines


def quotes_in_order(content: bytes, separator: str, *, ended: bool = True) -> bool:
    """Return whether every quotation mark opens or closes a whole cell, or is doubled.

    Then, and only then, is a line end inside a cell where an odd number of quotation marks
    stands before it.

    Parameters
    ----------
    content : bytes
        A text that begins with a row.
    separator : str
        What stands between cells.
    ended : bool, default=True
        Whether the text ends with a row, too.
    """
    codes = np.frombuffer(content, np.uint8)
    quotes = np.flatnonzero(codes == _QUOTE)
    if ended and len(quotes) % 2:
        return False
    may_touch = np.zeros(256, bool)
    may_touch[[_QUOTE, _LF, _CR, ord(separator)]] = True
    opening, closing = quotes[::2], quotes[1::2]
    opening = opening[1:] if len(opening) and opening[0] == 0 else opening
    closing = closing[:-1] if len(closing) and closing[-1] == len(codes) - 1 else closing
    return bool(may_touch[codes[opening - 1]].all() and may_touch[codes[closing + 1]].all())


def end_of_last_row(content: bytes) -> int:
    """Return the offset after the last row that is known to end; 0 if there is none.

    Parameters
    ----------
    content : bytes
        A text that begins with a row; its end may be anywhere.
    """
    # A carriage return at the very end may be the first half of a line end.
    last = max(content.rfind(b"\n"), content.rfind(b"\r", 0, len(content) - 1))
    if last < 0:
        return 0
    # Most texts have no quotation mark, and counting costs far more than looking for one.
    if b'"' not in content or content.count(b'"', 0, last) % 2 == 0:
        return last + 1 + content.startswith(b"\r\n", last)
    codes = np.frombuffer(content, np.uint8)
    ends = _line_ends(content, codes)
    ends = ends[:-1] if content.endswith(b"\r") else ends
    outside = np.searchsorted(np.flatnonzero(codes == _QUOTE), ends) % 2 == 0
    return int(ends[outside][-1]) if outside.any() else 0


def count_line_ends(content: bytes) -> int:
    """Return how many lines end in a text.

    Parameters
    ----------
    content : bytes
        Any stretch of text.
    """
    return len(_line_ends(content, np.frombuffer(content, np.uint8)))
