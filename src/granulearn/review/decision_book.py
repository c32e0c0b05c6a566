"""The decisions of a review that hold, and the journal that they stand in."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from granulearn.review.decisions import Decision, actions, standing
from granulearn.review.journal import Journal


class DecisionBook:
    """What was decided, row by row, and what can be undone.

    Parameters
    ----------
    journal : Journal
        Where every decision is written before it holds.
    is_stale : callable
        Says whether a decision is about a label that the row does not have any more; such a
        row is open again.

    Attributes
    ----------
    stale : list of Decision
        Those that hold no more.
    """

    def __init__(self, journal: Journal, is_stale: Callable[[Decision], bool]):
        self.journal, self._is_stale = journal, is_stale
        self._actions = actions(journal.lines)
        self._read()

    def _read(self) -> None:
        held = standing(self.journal.lines)
        self.stale = [decision for decision in held if self._is_stale(decision)]
        self._held = {d.row: d for d in held if not self._is_stale(d)}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, row: int) -> bool:
        return row in self._held

    def about(self, row: int) -> Decision | None:
        """Return the decision about a row that holds.

        Parameters
        ----------
        row : int
            Its number, from 1.
        """
        return self._held.get(row)

    @property
    def rows(self) -> list[int]:
        """Numbers of the rows that somebody has decided on."""
        return sorted(self._held)

    @property
    def by_row(self) -> list[Decision]:
        """The decisions that hold, in the order of rows."""
        return [self._held[row] for row in self.rows]

    @property
    def by_time(self) -> list[Decision]:
        """The decisions that hold, in the order in which they were taken."""
        return [d for d in self.journal.lines if self._held.get(d.row) is d]

    @property
    def last(self) -> list[Decision]:
        """What would be undone next: one decision, or those that were taken at once."""
        return self._actions[-1] if self._actions else []

    def take(self, decisions: Sequence[Decision]) -> int:
        """Write decisions down; return how many of them are news.

        A page may send a decision again to be sure: what holds already is not written twice.

        Parameters
        ----------
        decisions : sequence of Decision
            At most one for a row.
        """
        news = _as_batch([d for d in decisions if not self._holds(d)])
        if news:
            self.journal.append(news)
            self._held |= {new.row: new for new in news}
            self.stale = [old for old in self.stale if old.row not in self._held]
            self._actions.append(news)
        return len(news)

    def undo(self, lines: Sequence[Decision]) -> None:
        """Write down that the last action does not hold.

        Parameters
        ----------
        lines : sequence of Decision
            An "undo" for each decision of `last`.
        """
        self.journal.append(_as_batch(list(lines)))
        self._actions.pop()
        self._read()

    def _holds(self, new: Decision) -> bool:
        old = self._held.get(new.row)
        return (
            old is not None
            and (old.decision, old.label, old.who) == (new.decision, new.label, new.who)
            and new.note in ("", old.note)
        )


def _as_batch(decisions: list[Decision]) -> list[Decision]:
    """Return decisions that are known to have been taken at once."""
    if len(decisions) < 2:
        return decisions
    name = f"{secrets.token_hex(4)}/{len(decisions)}"
    return [replace(decision, batch=name) for decision in decisions]
