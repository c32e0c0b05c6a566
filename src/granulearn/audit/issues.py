"""Issue: something about a table, beside single labels, that a person should look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_OF_A_KIND = 20
"""Issues of one kind that get a line each; what is left shares one."""


@dataclass(frozen=True)
class Issue:
    """One finding."""

    kind: str
    score: float
    """From 0 to 1; larger is worse."""
    rows: tuple[int, ...]
    """Rows of the inputs that are concerned, as positions from 0; empty if all are."""
    message: str
    """One sentence: what was found, and what to do."""
    columns: tuple[str, ...] = ()
    classes: tuple[Any, ...] = ()


def worst_first(found: Sequence[Issue], rest: str) -> list[Issue]:
    """Return the worst issues of a kind, and one more for all others together.

    Parameters
    ----------
    found : sequence of Issue
        All of one kind.
    rest : str
        Message about the others; ``{n}`` is their number.

    Examples
    --------
    >>> found = [Issue("outlier", i / 30, (i,), "far away") for i in range(30)]
    >>> shown = worst_first(found, "{n} more rows are far away")
    >>> len(shown), shown[0].rows, shown[-1].message
    (21, (29,), '10 more rows are far away')
    """
    order = sorted(found, key=lambda issue: (-issue.score, issue.rows))
    shown, others = order[:MOST_OF_A_KIND], order[MOST_OF_A_KIND:]
    if not others:
        return shown
    rows = tuple(sorted({row for issue in others for row in issue.rows}))
    message = rest.format(n=len(others))
    return [*shown, Issue(others[0].kind, others[0].score, rows, message)]


def named_rows(rows: Sequence[int], positions: np.ndarray | None, most: int = 5) -> str:
    """Return rows as a reader knows them: "rows 3, 17 and 20".

    Parameters
    ----------
    rows : sequence of int
        Positions in the inputs.
    positions : ndarray or None
        Number by which a reader finds each row; None means its position.
    most : int, default=5
        Rows that are named; of more, the first ones are.

    Examples
    --------
    >>> named_rows([3, 17, 20], None), named_rows([0], np.array([41])), named_rows(range(9), None)
    ('rows 3, 17 and 20', 'row 41', 'rows 0, 1, 2, 3, 4 and 4 more')
    """
    numbers = [str(row if positions is None else positions[row]) for row in rows[:most]]
    if len(rows) > most:
        return f"rows {', '.join(numbers)} and {len(rows) - most} more"
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    return f"rows {', '.join(numbers[:-1])} and {numbers[-1]}"
