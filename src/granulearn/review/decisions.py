"""Decisions about labels: what a person says of one row, and which of many are active."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from granulearn.audit.verified import CHANGE, KEEP, WORST_FIRST
from granulearn.utils.text import listed

EXCLUDE, UNSURE, UNDO = "exclude", "unsure", "undo"
DECISIONS = (KEEP, CHANGE, EXCLUDE, UNSURE)
"""The label is right; another one is; do not learn from the row; nobody can tell."""
_ROWS_SHOWN = 5


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
    """What a person says about the label of one row: one line of a file of decisions.

    See Also
    --------
    granulearn.Review : Writes them.
    granulearn.review.read_decisions : Reads them.

    Examples
    --------
    >>> from granulearn.review import Decision
    >>> Decision(row=7, decision="change", new_label="approved", given_label="refused").new_label
    'approved'
    """

    row: int
    """Number of the data row, from 1."""
    decision: str
    """One of `DECISIONS`, or "undo": the last decision about the row does not count."""
    new_label: str = ""
    """The new label of a change; else empty."""
    hash: str = ""
    """Hash of the row's cells without the label; empty if the file has none."""
    drawn: str = WORST_FIRST
    """ "random" for a row of a random sample, else "worst"."""
    line: int = 0
    """Line of the file; 0 before it is written."""
    given_label: str = ""
    """The label at that time; empty if the file does not say."""
    cell: str = ""
    """The cell of the label, where its spelling differs from the name of the class."""
    target: str = ""
    """The column of labels; empty if the file does not say."""
    note: str = ""
    who: str = ""
    when: str = ""
    """Time in ISO 8601."""
    verdict: str = ""
    """Verdict of the audit at that time."""
    probability: str = ""
    """Probability at that time that the label is wrong; empty if unknown."""
    batch: str = ""
    """``name/size`` of the decisions that were taken at once; empty for a single one."""
    version: str = ""
    """Version of granulearn."""


def without_undone(lines: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that were not undone, in the order in which they were taken.

    Parameters
    ----------
    lines : iterable of Decision
        All lines of a journal.
    """
    kept: dict[int, Decision] = {}
    about: dict[int, list[int]] = {}
    for number, decision in enumerate(lines):
        history = about.setdefault(decision.row, [])
        if decision.decision != UNDO:
            kept[number] = decision
            history.append(number)
        elif history:
            del kept[history.pop()]
    return list(kept.values())


def active_decisions(lines: Iterable[Decision]) -> list[Decision]:
    """Return the active decisions by row: the last about each that was not undone.

    Parameters
    ----------
    lines : iterable of Decision
        All lines of a journal.
    """
    latest = {decision.row: decision for decision in without_undone(lines)}
    return [latest[row] for row in sorted(latest)]


def last_action(kept: Sequence[Decision]) -> list[Decision]:
    """Return what is undone next: one decision, or all that were taken at once.

    Parameters
    ----------
    kept : sequence of Decision
        Decisions that were not undone, in the order in which they were taken.
    """
    first = len(kept) - 1
    while first > 0 and kept[-1].batch and kept[first - 1].batch == kept[-1].batch:
        first -= 1
    return list(kept[max(first, 0) :])


def check_rows(decisions: Sequence[Decision], hashes: Sequence[str], source: str) -> None:
    """Raise a `DecisionsError` if decisions are about other rows than those of a table.

    Parameters
    ----------
    decisions : sequence of Decision
        One for each row.
    hashes : sequence of str
        Of all rows of the table.
    source : str
        Where the decisions come from, for messages.
    """
    outside = [d.row for d in decisions if d.row > len(hashes)]
    if outside:
        raise DecisionsError(
            f"{source} has a decision about row {outside[0]}, and the table has {len(hashes)} "
            "rows; do the decisions belong to another table?"
        )
    others = [str(d.row) for d in decisions if d.hash and d.hash != hashes[d.row - 1]]
    if others:
        raise DecisionsError(
            f"{source} was made for other cells in {len(others)} of {len(decisions)} rows (row "
            f"{listed(others, most=_ROWS_SHOWN)}); the decisions belong to another table, or it "
            "was changed since."
        )


def decided_column(
    decisions: Sequence[Decision], source: str, named: str | None = None
) -> str | None:
    """Return the column of labels that decisions are about; None if unknown.

    Parameters
    ----------
    decisions : sequence of Decision
        One for each row.
    source : str
        Where they come from, for messages.
    named : str, default=None
        The column, if the user names one.
    """
    found = sorted({d.target for d in decisions if d.target})
    if len(found) > 1:
        raise DecisionsError(
            f"{source} is about {len(found)} columns, {found[0]!r} and {found[1]!r} among them; "
            "keep the decisions about one of them."
        )
    if named is not None and found and found[0] != named:
        raise DecisionsError(
            f"{source} is about the column {found[0]!r}, not {named!r}; name that column, or "
            "another file of decisions."
        )
    return found[0] if found else named
