"""Decisions of several people about one table, joined, with their agreement and their conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations

from sklearn.metrics import cohen_kappa_score

from granulearn.audit.verified import KEEP
from granulearn.review.decisions import EXCLUDE, UNSURE, Decision, DecisionsError, decided_column
from granulearn.tables.labels import label_key

FEWEST_ROWS = 10
"""On fewer rows kappa says nothing."""
_LATEST = datetime.max.replace(tzinfo=UTC)

NamedDecisions = tuple[str, Sequence[Decision]]
"""Name of a file, and its decisions, one for each row."""


@dataclass(frozen=True)
class Conflict:
    """A row with different decisions."""

    row: int
    decisions: Mapping[str, Decision]
    """The decision of each file that has the row."""

    @property
    def given_label(self) -> str:
        """The label of the table; empty if no file says."""
        return next((d.given_label for d in self.decisions.values() if d.given_label), "")


@dataclass(frozen=True)
class Agreement:
    """How far two files agree on the rows that both decide on."""

    first: str
    second: str
    rows: int
    """Rows that both decide on; unsure is no decision here."""
    same: int
    """Rows on which they agree."""
    kappa: float | None
    """Cohen's kappa: 1 for full agreement, 0 for that of chance; None if undefined."""

    @property
    def message(self) -> str:
        """The agreement in words, without a full stop."""
        agree = f"agree on {self.same} of {self.rows} rows that both decide on"
        if self.kappa is None:
            return f"{agree}; Cohen's kappa needs {FEWEST_ROWS} rows and two labels"
        return f"{agree}, Cohen's kappa {self.kappa:.2f}"


@dataclass(frozen=True)
class Merged:
    """Files of decisions, joined."""

    decisions: tuple[Decision, ...]
    """One for each row without a conflict, by row."""
    conflicts: tuple[Conflict, ...]
    """Rows that are left out, by row."""
    agreements: tuple[Agreement, ...]
    """One for each pair of files."""


def merge_decisions(files: Sequence[NamedDecisions], *, prefer_latest: bool = False) -> Merged:
    """Join the decisions of several files about one table.

    Of equal decisions the earliest stays. Unsure gives way to any other decision.
    Rows with different decisions are left out, so that a review asks for them again.

    Parameters
    ----------
    files : sequence of (str, sequence of Decision)
        Name of each file, and its decisions, one for each row.
    prefer_latest : bool, default=False
        Whether the latest of different decisions counts, if their times are known.

    Raises
    ------
    DecisionsError
        If the files are about different tables, or different labels of one.
    """
    targets = {name: decided_column(decisions, name) for name, decisions in files}
    named = {target: name for name, target in targets.items() if target}
    if len(named) > 1:
        (one, first), (other, second), *_ = named.items()
        raise DecisionsError(
            f"{first} and {second} were made for different tables: one is about the column "
            f"{one!r}, the other about {other!r}."
        )
    about: dict[int, list[tuple[str, Decision]]] = {}
    for name, decisions in files:
        for decision in decisions:
            about.setdefault(decision.row, []).append((name, decision))
    joined, conflicts = [], []
    for row, said in sorted(about.items()):
        _check_same_row(row, said)
        chosen = _chosen([decision for _, decision in said], prefer_latest=prefer_latest)
        if chosen is None:
            conflicts.append(Conflict(row, dict(said)))
        else:
            target = chosen.target or next(iter(named), "")
            joined.append(replace(chosen, batch="", line=0, target=target))
    agreements = [_agreement(*two) for two in combinations(files, 2)]
    return Merged(tuple(joined), tuple(conflicts), tuple(agreements))


def _check_same_row(row: int, named: Sequence[tuple[str, Decision]]) -> None:
    """Refuse decisions about different rows of the same number."""
    for (first, a), (second, b) in combinations(named, 2):
        different = f"{first} and {second} were made for different tables"
        if a.hash and b.hash and a.hash != b.hash:
            raise DecisionsError(
                f"{different}: row {row} has other cells in one than in the other."
            )
        labels = (a.given_label, b.given_label)
        if all(labels) and label_key(labels[0]) != label_key(labels[1]):
            raise DecisionsError(
                f"{different}: the label of row {row} was {labels[0]!r} in one and {labels[1]!r} "
                "in the other."
            )


def _chosen(decisions: list[Decision], *, prefer_latest: bool) -> Decision | None:
    """Return the decision that counts; None if there is a conflict."""
    sure = [d for d in decisions if d.decision != UNSURE] or decisions
    times = [_time(d) for d in sure]
    if prefer_latest and not _are_equal(sure) and _LATEST not in times:
        sure = [d for d, time in zip(sure, times, strict=True) if time == max(times)]
    # Of equal decisions the most complete one stays, then the earliest.
    return min(sure, key=_rank) if _are_equal(sure) else None


def _are_equal(decisions: Sequence[Decision]) -> bool:
    return len({(d.decision, d.new_label) for d in decisions}) == 1


def _rank(decision: Decision) -> tuple[bool, bool, datetime]:
    return not decision.hash, not decision.given_label, _time(decision)


def _time(decision: Decision) -> datetime:
    """Return when a decision was taken; the end of time if unknown."""
    try:
        time = datetime.fromisoformat(decision.when)
    except ValueError:
        return _LATEST
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _agreement(first: NamedDecisions, second: NamedDecisions) -> Agreement:
    a, b = ({d.row: d for d in decided if d.decision != UNSURE} for _, decided in (first, second))
    rows = sorted(a.keys() & b.keys())
    given = {row: a[row].given_label or b[row].given_label for row in rows}
    labels_a, labels_b = ([_label(said[row], given[row]) for row in rows] for said in (a, b))
    same = sum(map(str.__eq__, labels_a, labels_b))
    is_defined = len(rows) >= FEWEST_ROWS and len({*labels_a, *labels_b}) > 1
    kappa = float(cohen_kappa_score(labels_a, labels_b)) if is_defined else None
    return Agreement(first[0], second[0], len(rows), same, kappa)


def _label(decision: Decision, given: str) -> str:
    """Return the label that a person takes for the right one, or that there is none."""
    if decision.decision == EXCLUDE:
        return EXCLUDE
    return f"label {given if decision.decision == KEEP else decision.new_label}"
