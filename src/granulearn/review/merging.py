"""Decisions of several people about one table, joined: what they agree on, and what not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from granulearn.audit.verified import KEEP
from granulearn.review.correction import decided_column
from granulearn.review.decisions import EXCLUDE, UNSURE, Decision, DecisionsError
from granulearn.tables.labels import label_key

FEWEST_ROWS = 10
"""Kappa of fewer rows would be a number that means nothing."""


@dataclass(frozen=True)
class Conflict:
    """A row that people decide on in different ways."""

    row: int
    said: Mapping[str, Decision]
    """What stands in each file that has the row."""

    @property
    def given(self) -> str:
        """The label of the table; empty if no file says."""
        return next((d.given for d in self.said.values() if d.given), "")


@dataclass(frozen=True)
class Agreement:
    """How far two files agree on the rows that both decide on."""

    first: str
    second: str
    rows: int
    """Rows that both decide on; who is unsure does not."""
    same: int
    """Rows on which they agree."""
    kappa: float | None
    """Cohen's: 1 for full agreement, 0 for that of chance; None if it cannot be told."""

    @property
    def words(self) -> str:
        """One sentence without its point."""
        if not self.rows:
            return "no row is decided on by both"
        agree = f"agree on {self.same} of {self.rows} rows that both decide on"
        if self.kappa is not None:
            return f"{agree}, Cohen's kappa {self.kappa:.2f}"
        if self.rows < FEWEST_ROWS:
            return f"{agree}, too few for Cohen's kappa"
        return f"{agree}; all have one label, so that Cohen's kappa is not defined"


@dataclass(frozen=True)
class Merged:
    """Files of decisions, joined."""

    decisions: tuple[Decision, ...]
    """One for each row that is agreed on, by row."""
    conflicts: tuple[Conflict, ...]
    """Rows that are left out, by row."""
    agreements: tuple[Agreement, ...]
    """One for each pair of files."""


def merge_decisions(
    files: Sequence[tuple[str, Sequence[Decision]]], *, prefer_latest: bool = False
) -> Merged:
    """Join the decisions of several files about one table.

    Of decisions that say the same, the earliest stays. Who is unsure gives way to who is not.
    Rows with different decisions are left out, so that a review asks for them again.

    Parameters
    ----------
    files : sequence of (str, sequence of Decision)
        Name of each file, and its decisions, one for each row.
    prefer_latest : bool, default=False
        Whether the latest of different decisions counts, where it is known which one that is.

    Raises
    ------
    DecisionsError
        If the files are about different tables, or different labels of one.
    """
    target = _common_target(files)
    about: dict[int, dict[int, Decision]] = {}
    for number, (_, decisions) in enumerate(files):
        for decision in decisions:
            about.setdefault(decision.row, {})[number] = decision
    joined, conflicts = [], []
    for row, said in sorted(about.items()):
        named = [(files[number][0], decision) for number, decision in said.items()]
        _check_one_row(row, named)
        chosen = _chosen(list(said.values()), prefer_latest=prefer_latest)
        if chosen is None:
            conflicts.append(Conflict(row, dict(named)))
        else:
            # A batch that lacks some of its lines would be taken for one that was cut short.
            joined.append(replace(chosen, batch="", line=0, target=chosen.target or target))
    agreements = [_agreement(*two) for two in combinations(files, 2)]
    return Merged(tuple(joined), tuple(conflicts), tuple(agreements))


def _common_target(files: Sequence[tuple[str, Sequence[Decision]]]) -> str:
    """Return the column that the files are about; empty if none says."""
    found = {name: decided_column(decisions, name) for name, decisions in files}
    known = {name: target for name, target in found.items() if target}
    if len({*known.values()}) > 1:
        first, *others = known
        other = next(name for name in others if known[name] != known[first])
        raise DecisionsError(
            f"{first} and {other} were made for different tables: one is about the column "
            f"{known[first]!r}, the other about {known[other]!r}."
        )
    return next(iter(known.values()), "")


def _check_one_row(row: int, named: Sequence[tuple[str, Decision]]) -> None:
    """Refuse decisions about rows that have one number, and are not the same."""
    for (first, a), (second, b) in combinations(named, 2):
        if a.row_hash and b.row_hash and a.row_hash != b.row_hash:
            raise DecisionsError(
                f"{first} and {second} were made for different tables: row {row} has other cells "
                "in one than in the other."
            )
        if a.given and b.given and label_key(a.given) != label_key(b.given):
            raise DecisionsError(
                f"{first} and {second} were made for different tables: the label of row {row} was "
                f"{a.given!r} in one and {b.given!r} in the other."
            )


def _chosen(said: list[Decision], *, prefer_latest: bool) -> Decision | None:
    """Return the decision that counts; None if there is a conflict."""
    sure = [d for d in said if d.decision != UNSURE] or said
    if len({_says(d) for d in sure}) == 1:
        return min(sure, key=_rank)
    times = [_time(d) for d in sure]
    if not prefer_latest or None in times:
        return None
    last = max(time for time in times if time is not None)
    latest = [d for d, time in zip(sure, times, strict=True) if time == last]
    return min(latest, key=_rank) if len({_says(d) for d in latest}) == 1 else None


def _says(decision: Decision) -> tuple[str, str]:
    return decision.decision, decision.label


def _rank(decision: Decision) -> tuple[Any, ...]:
    """Return what sorts decisions that say the same: those that tell most, the earliest first.

    No two that would be written differently are equal, so that the order of files changes
    nothing.
    """
    time = _time(decision)
    written = astuple(replace(decision, batch="", line=0, target=""))
    tells = (not decision.row_hash, not decision.given, time is None)
    return *tells, time.timestamp() if time else 0.0, written


def _time(decision: Decision) -> datetime | None:
    """Return when a decision was taken; None if nobody knows."""
    try:
        time = datetime.fromisoformat(decision.when)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _agreement(
    first: tuple[str, Sequence[Decision]], second: tuple[str, Sequence[Decision]]
) -> Agreement:
    sure = [{d.row: d for d in said if d.decision != UNSURE} for _, said in (first, second)]
    both = sorted(sure[0].keys() & sure[1].keys())
    given = [sure[0][row].given or sure[1][row].given for row in both]
    a, b = (
        [_category(said[row], label) for row, label in zip(both, given, strict=True)]
        for said in sure
    )
    same = sum(x == y for x, y in zip(a, b, strict=True))
    kappa = None
    if len(both) >= FEWEST_ROWS and len({*a, *b}) > 1:
        from sklearn.metrics import cohen_kappa_score

        kappa = float(cohen_kappa_score(a, b))
    return Agreement(first[0], second[0], len(both), same, kappa)


def _category(decision: Decision, given: str) -> str:
    """Return the label that a person takes for the right one, or that there is none."""
    if decision.decision == EXCLUDE:
        return EXCLUDE
    return f"label {given if decision.decision == KEEP else decision.label}"
