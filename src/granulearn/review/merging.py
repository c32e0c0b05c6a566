"""Decisions of several people about one table, joined, with their agreement and their conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import pandas as pd

from granulearn.audit.verified import KEEP
from granulearn.review.decisions import EXCLUDE, UNSURE, Decision, DecisionsError, decided_column
from granulearn.tables.labels import label_key
from granulearn.utils.agreement import cohen_kappa, krippendorff_alpha

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
    """How far files agree: Cohen's kappa of two, Krippendorff's alpha of more."""

    files: tuple[str, ...]
    rows: int
    """Rows that two files or more decide on; unsure is no decision here."""
    same: int
    """Rows on which these agree."""
    value: float | None
    """Kappa or alpha: 1 for full agreement, 0 for that of chance; None if undefined."""
    low: float | None
    """Lower end of its 95 % range."""
    high: float | None

    @property
    def name(self) -> str:
        """The name of the coefficient."""
        return "kappa" if len(self.files) == 2 else "alpha"

    @property
    def message(self) -> str:
        """The agreement in words, without a full stop."""
        who, whose = ("both decide", "Cohen's kappa")
        if self.name == "alpha":
            who, whose = ("two or more decide", "Krippendorff's alpha")
        agree = f"agree on {self.same} of {self.rows} rows that {who} on"
        if self.value is None:
            return f"{agree}; {whose} needs {FEWEST_ROWS} rows and two labels"
        return f"{agree}, {whose} {self.value:.2f} (95 % range {self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Merged:
    """Files of decisions, joined."""

    decisions: tuple[Decision, ...]
    """One for each row without a conflict, by row."""
    conflicts: tuple[Conflict, ...]
    """Rows that are left out, by row."""
    agreements: tuple[Agreement, ...]
    """Of all files if there are more than two, then of each pair."""


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
    return Merged(tuple(joined), tuple(conflicts), tuple(_agreements(files)))


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


def _agreements(files: Sequence[NamedDecisions]) -> Iterator[Agreement]:
    given = {d.row: d.given_label for _, decided in files for d in decided if d.given_label}
    labels = pd.DataFrame(
        [
            pd.Series({d.row: _label(d, given.get(d.row, "")) for d in own if d.decision != UNSURE})
            for _, own in files
        ]
    ).T
    codes = pd.factorize(labels.to_numpy(object).ravel())[0].reshape(labels.shape)
    everyone = range(len(files))
    for chosen in [*([everyone] if len(files) > 2 else []), *combinations(everyone, 2)]:
        own = codes[:, list(chosen)]
        own = own[(own >= 0).sum(axis=1) > 1]
        same = ((own < 0) | (own == own.max(axis=1, keepdims=True))).all(axis=1).sum()
        found = cohen_kappa(*own.T) if len(chosen) == 2 else krippendorff_alpha(own)
        is_defined = len(own) >= FEWEST_ROWS and not np.isnan(found.value)
        numbers = (found.value, found.low, found.high) if is_defined else (None, None, None)
        yield Agreement(tuple(files[at][0] for at in chosen), len(own), int(same), *numbers)


def _label(decision: Decision, given: str) -> str:
    """Return the label that a person takes for the right one, or that there is none."""
    if decision.decision == EXCLUDE:
        return EXCLUDE
    return f"label {given if decision.decision == KEEP else decision.new_label}"
