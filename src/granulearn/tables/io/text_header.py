"""Which of the first rows names the columns, judged by the rows below it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import dropwhile

from granulearn.tables.io.text_rows import fits

Cells = list[str]

# Rows that break the rule are named later; they must not decide what the rule is.
MOST_ROWS = 0.9
_JUDGED_ROWS = 50
_COMMENTS = ("#", "%", "//")


@dataclass(frozen=True)
class Header:
    """Where the names of columns stand."""

    n_titles: int = 0
    """Rows above it that are not blank: titles or comments."""
    lacks_name: bool = False
    """Whether the first column has no name, not even an empty one, as R writes tables."""


def share_of_fitting(rows: list[Cells]) -> float:
    """Return the share of rows that have as many cells as the first one.

    Parameters
    ----------
    rows : list of list of str
        At least one row.
    """
    return sum(fits(row, len(rows[0])) for row in rows) / len(rows)


def unusual_header(rows: list[Cells]) -> Header | None:
    """Return a header below titles or one that lacks a name; None if there is no sign of either.

    Parameters
    ----------
    rows : list of list of str
        The first rows, of which the first does not fit to the others.
    """
    filled = [row for row in rows if any(map(str.strip, row))]
    return _below_titles(filled) or lacking_header(filled)


def _below_titles(rows: list[Cells]) -> Header | None:
    plain = list(dropwhile(_is_comment, rows[: 2 * _JUDGED_ROWS]))
    widths = Counter(map(len, plain))
    usual = max(widths, key=lambda width: (widths[width], width), default=1)
    place = next((place for place, row in enumerate(rows) if len(row) >= usual), 0)
    titles, below = rows[:place], rows[place : place + 1 + _JUDGED_ROWS]
    if usual == 1 or not titles or len(below) < 2 or len(below[0]) != usual:
        return None
    if share_of_fitting(below) < MOST_ROWS or not _are_names(below[0]):
        return None
    if all(map(_is_comment, titles)):
        return Header(place)
    if any(map(_is_number, below[0])):
        return None  # a row of data, rather, and the header above is too short
    # Two cells in each row may also be a text with a comma.
    are_narrow = usual > 2 and all(sum(map(bool, map(str.strip, row))) == 1 for row in titles)
    return Header(place) if are_narrow or names_numbers(below) else None


def _is_comment(row: Cells) -> bool:
    return row[0].lstrip().startswith(_COMMENTS)


def _are_names(cells: Cells) -> bool:
    names = [cell.strip() for cell in cells if cell.strip()]
    distinct = len(set(names)) == len(names)
    return distinct and len(names) >= len(cells) - 1 and not all(map(_is_number, names))


def names_numbers(rows: list[Cells]) -> bool:
    """Return whether some cell of the first row is no number, and those below it are.

    Parameters
    ----------
    rows : list of list of str
        The header and data rows.
    """
    for place, name in enumerate(rows[0]):
        below = [row[place] for row in rows[1:] if len(row) > place and row[place].strip()]
        numbers = sum(map(_is_number, below))
        if below and numbers >= MOST_ROWS * len(below) and not _is_number(name):
            return True
    return False


def lacking_header(rows: list[Cells]) -> Header | None:
    """Return that the header lacks the first name, if all rows begin with names of their own.

    Parameters
    ----------
    rows : list of list of str
        The header and data rows.
    """
    if len(rows) < 3 or len(rows[0]) < 2 or not _are_names(rows[0]):
        return None
    if any(len(row) != len(rows[0]) + 1 for row in rows[1:]):
        return None
    # Other numbers might be the whole part of decimals with a comma.
    firsts = [row[0].strip() for row in rows[1:]]
    counted = firsts == [str(number) for number in range(1, len(firsts) + 1)]
    named = len(set(firsts)) == len(firsts) and not any(map(_is_number, firsts)) and all(firsts)
    return Header(lacks_name=True) if counted or named else None


def _is_number(text: str) -> bool:
    try:
        float(text.strip().replace(",", "."))
    except ValueError:
        return False
    return True
