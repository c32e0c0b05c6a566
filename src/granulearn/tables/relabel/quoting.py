"""Quoting style: whether a changed cell is written as a text or bare.

A bare cell is one without quotation marks in CSV, or a number rather than a string in JSON and
workbooks. Some texts need the quotes; for the others, both ways read the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice

# The style of a column is judged by so many of its cells, in so many rows.
JUDGED_ROWS = 100_000
_JUDGED_CELLS = 1000
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def stays_quoted(
    *, was_quoted: bool, old_needs: bool, new_needs: bool, usual: Callable[[], bool]
) -> bool:
    """Return whether a changed cell is to be quoted.

    A cell keeps its style where the new text allows it. Only quotes that the old text needed and
    the new one does not tell nothing: then the other cells of the column decide. So changing a
    cell and changing it back gives the same bytes.
    """
    if new_needs or not was_quoted:
        return new_needs
    return usual() if old_needs else True


def are_mostly_quoted(quoted: Iterable[bool]) -> bool | None:
    """Return whether most cells that need no quotes have them; None if there is no such cell."""
    judged = list(islice(quoted, _JUDGED_CELLS))
    return 2 * sum(judged) > len(judged) if judged else None


def is_number(text: str) -> bool:
    """Return whether a text is a number as JSON and workbooks spell them."""
    return _NUMBER.fullmatch(text) is not None


def can_be_bare(text: str) -> bool:
    """Return whether a text is a number or a truth value."""
    return text in ("true", "false") or is_number(text)
