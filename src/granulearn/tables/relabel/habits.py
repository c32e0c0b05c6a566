"""Whether a cell is written as a text or bare, so that a change can be taken back.

A bare cell is one without quotation marks in CSV, or a number rather than a string in JSON
and workbooks. Some texts need the marks; for the others, both ways read the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice

# So many rows are looked through for cells that tell the habit of a column.
JUDGED_ROWS = 100_000
# So many cells are enough to tell it.
_JUDGED_CELLS = 1000
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def stays_marked(
    *, was_marked: bool, old_needs: bool, new_needs: bool, habit: Callable[[], bool]
) -> bool:
    """Return whether a changed cell is to be in marks.

    A cell keeps its form where the new text allows it. Only marks that the old text needed
    and the new one does not tell nothing about how the cell was written before: the habit
    of the column decides then. So changing a cell and changing it back gives the same bytes.

    Parameters
    ----------
    was_marked : bool
        Whether the cell is in marks now.
    old_needs : bool
        Whether its text needs them.
    new_needs : bool
        Whether the new text needs them.
    habit : callable
        Returns whether cells of the column are in marks that need not be; it may be slow.
    """
    if new_needs or not was_marked:
        return new_needs
    return habit() if old_needs else True


def are_mostly_marked(marked: Iterable[bool]) -> bool | None:
    """Return the habit of a column: whether most of its first cells are in marks.

    None is returned if there is no cell to judge by.

    Parameters
    ----------
    marked : iterable of bool
        For cells that stay and need no marks, whether they are in marks.
    """
    judged = list(islice(marked, _JUDGED_CELLS))
    return 2 * sum(judged) > len(judged) if judged else None


def is_number(text: str) -> bool:
    """Return whether a text is a number as JSON and workbooks spell them.

    Parameters
    ----------
    text : str
        A cell.
    """
    return _NUMBER.fullmatch(text) is not None


def can_be_bare(text: str) -> bool:
    """Return whether a text is a number or a truth value.

    Parameters
    ----------
    text : str
        A cell.
    """
    return text in ("true", "false") or is_number(text)
