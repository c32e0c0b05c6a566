"""Decisions about labels: what a person says of one row, and what stands after many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from granulearn.audit.verified import CHANGE, KEEP, WORST_FIRST

EXCLUDE, UNSURE, UNDO = "exclude", "unsure", "undo"
DECISIONS = (KEEP, CHANGE, EXCLUDE, UNSURE)
"""What a person can say: the label is right; another one is; leave the row out; nobody knows."""


class DecisionsError(ValueError):
    """Decisions that cannot be used, and why.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from granulearn.review import DecisionsError, read_decisions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     pd.DataFrame({"row": [7], "decision": ["perhaps"]}).to_csv(path)
    ...     try:
    ...         read_decisions(path)
    ...     except DecisionsError as error:
    ...         print(str(error).split(", ", 1)[1])
    line 2: 'perhaps' is no decision; use keep, change, exclude, unsure.
    """


@dataclass(frozen=True)
class Decision:
    """What a person says about the label of one row; one line of a file.

    See Also
    --------
    granulearn.Review : Writes them.
    granulearn.review.read_decisions : Reads them.

    Examples
    --------
    >>> from granulearn.review import Decision
    >>> Decision(row=7, decision="change", label="approved", given="refused").truth
    'approved'
    """

    row: int
    """Number of the data row, from 1."""
    decision: str
    """One of `DECISIONS`, or "undo": the last decision about the row does not count."""
    label: str = ""
    """The new label of a change; else empty."""
    row_hash: str = ""
    """Of the row's cells, see `granulearn.tables.parse.cells`; empty if the file has none."""
    drawn: str = WORST_FIRST
    """ "random" if the row was drawn at random, and so stands for others."""
    line: int = 0
    """Line of the file; 0 if it is in none yet."""
    given: str = ""
    """The label at that time; empty if the file does not say."""
    cell: str = ""
    """The same as it stands in the table, where it is spelt in another way."""
    target: str = ""
    """The column of labels; empty if the file does not say."""
    note: str = ""
    who: str = ""
    when: str = ""
    """Time, as ISO 8601 writes it."""
    verdict: str = ""
    """What the audit said at that time."""
    probability: str = ""
    """That of the label being wrong, at that time; empty if nobody knew."""
    batch: str = ""
    """``name/size`` of the decisions that were taken at once; empty for a single one."""
    version: str = ""
    """Of granulearn."""

    @property
    def truth(self) -> str:
        """The label that holds if this decision does; empty if it says nothing of that."""
        return {CHANGE: self.label, KEEP: self.given}.get(self.decision, "")


def standing(lines: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that hold, by row: the last about each that was not undone.

    Parameters
    ----------
    lines : iterable of Decision
        In the order in which they were taken.
    """
    history: dict[int, list[Decision]] = {}
    for decision in lines:
        about = history.setdefault(decision.row, [])
        if decision.decision != UNDO:
            about.append(decision)
        elif about:
            about.pop()
    return [about[-1] for _, about in sorted(history.items()) if about]


def actions(lines: Iterable[Decision]) -> list[list[Decision]]:
    """Return what can be undone, the latest last: single decisions, or many taken at once.

    Parameters
    ----------
    lines : iterable of Decision
        In the order in which they were taken.
    """
    done: list[list[Decision]] = []
    for decision in lines:
        if decision.decision == UNDO:
            _take_back(done, decision.row)
        elif decision.batch and done and done[-1][-1].batch == decision.batch:
            done[-1].append(decision)
        else:
            done.append([decision])
    return done


def _take_back(done: list[list[Decision]], row: int) -> None:
    for number in range(len(done) - 1, -1, -1):
        places = [place for place, decision in enumerate(done[number]) if decision.row == row]
        if places:
            left = [*done[number][: places[-1]], *done[number][places[-1] + 1 :]]
            done[number : number + 1] = [left] if left else []
            return


def check_belong(
    decisions: Sequence[Decision], hashes: Sequence[str], source: str, *, most_shown: int = 5
) -> None:
    """Raise a `DecisionsError` if decisions are about other rows than those of a table.

    Parameters
    ----------
    decisions : sequence of Decision
        One for each row.
    hashes : sequence of str
        Of all rows of the table.
    source : str
        Where the decisions stand, for messages.
    most_shown : int, default=5
        So many rows are named.
    """
    n_rows = len(hashes)
    outside = [d.row for d in decisions if d.row > n_rows]
    if outside:
        raise DecisionsError(
            f"{source} speaks of row {outside[0]}, and the table has {n_rows} rows; do the "
            "decisions belong to another table?"
        )
    strangers = [d.row for d in decisions if d.row_hash and d.row_hash != hashes[d.row - 1]]
    if strangers:
        named = ", ".join(map(str, strangers[:most_shown]))
        more = f" and {len(strangers) - most_shown} more" if len(strangers) > most_shown else ""
        raise DecisionsError(
            f"{source} was made for other cells in {len(strangers)} of {len(decisions)} rows (row "
            f"{named}{more}); the decisions belong to another table, or it was changed since."
        )
