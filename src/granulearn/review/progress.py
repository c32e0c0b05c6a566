"""How a review goes: what was found, how many labels are wrong, and whether to look further."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from granulearn.audit.error_probability import expected_errors
from granulearn.audit.ratings import VERDICTS, WRONG, NoiseRate, Ratings
from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP
from granulearn.review.decisions import Decision

NEXT = 20
"""Forecasts are about so many rows."""
WORTH_A_LOOK = 0.1
"""A label is worth a look if it is wrong with this probability: one in ten is."""
_FEW = 1.0
"""Wrong labels in the next rows below which looking further hardly pays."""


@dataclass(frozen=True)
class VerdictRecord:
    """How often a verdict was right, as far as somebody has looked."""

    verdict: str
    decided: int
    """Labels of this verdict that were kept or changed."""
    changed: int

    @property
    def share(self) -> float:
        """The part that was wrong."""
        return self.changed / self.decided if self.decided else np.nan


@dataclass(frozen=True)
class ReviewSummary:
    """The numbers of a review."""

    n_labels: int
    counts: dict[str, int]
    """Decisions that hold, by kind."""
    noise: NoiseRate
    """The share of wrong labels, with what was decided."""
    worth_a_look: int
    """Open labels that are wrong with a probability of one in ten or more."""
    n_next: int
    """How many rows the forecast is about."""
    expected: float | None
    """Wrong labels in the next rows, worst first; None where nobody can tell."""
    verdicts: tuple[VerdictRecord, ...]
    by_who: dict[str, dict[str, int]]
    """Decisions that hold, by person and kind."""
    found: tuple[int, ...]
    """Wrong labels found so far, after each decision that holds."""
    at_random: int
    """Decisions about rows that were drawn at random."""
    advice: str
    """A hint, if there is one: to stop, or what would tell more."""

    @property
    def n_decided(self) -> int:
        """Rows that somebody has decided on."""
        return sum(self.counts.values())


def summarize(
    decisions: Sequence[Decision], ratings: Ratings, noise: NoiseRate, is_open: np.ndarray
) -> ReviewSummary:
    """Return the numbers of a review.

    Parameters
    ----------
    decisions : sequence of Decision
        Those that hold, in the order in which they were taken.
    ratings : Ratings
        What the audit says, with the decisions.
    noise : NoiseRate
        The share of wrong labels, with the decisions.
    is_open : ndarray of shape (n,)
        True where nobody has decided.
    """
    counts = Counter(d.decision for d in decisions)
    settled = [d for d in decisions if d.decision in (KEEP, CHANGE)]
    wrong = [d.decision == CHANGE for d in settled]
    # A row that somebody has excluded, or is not sure of, will not be looked at again.
    forecast = expected_errors(_closed(ratings, ~is_open), (NEXT,))
    n_next, expected = next(iter(forecast.items()), (0, None))
    by_who: dict[str, Counter[str]] = {}
    for decision in decisions:
        by_who.setdefault(decision.who, Counter())[decision.decision] += 1
    at_random = sum(d.drawn == AT_RANDOM for d in settled)
    return ReviewSummary(
        n_labels=len(ratings.given),
        counts=dict(counts),
        noise=noise,
        worth_a_look=int(_worth_a_look(ratings, is_open).sum()),
        n_next=n_next,
        expected=expected,
        verdicts=tuple(
            VerdictRecord(
                verdict,
                sum(d.verdict == verdict for d in settled),
                sum(d.verdict == verdict and d.decision == CHANGE for d in settled),
            )
            for verdict in VERDICTS
        ),
        by_who={who: dict(said) for who, said in sorted(by_who.items())},
        found=tuple(np.cumsum(wrong, dtype=int).tolist()),
        at_random=at_random,
        advice=_advice(settled, n_next, expected, int(is_open.sum())),
    )


def _closed(ratings: Ratings, is_closed: np.ndarray) -> Ratings:
    return replace(ratings, verified=ratings.verified | is_closed)


def _worth_a_look(ratings: Ratings, is_open: np.ndarray) -> np.ndarray:
    likely = np.nan_to_num(ratings.error_proba) >= WORTH_A_LOOK
    return is_open & (likely | (ratings.verdicts == WRONG))


def _advice(settled: Sequence[Decision], n_next: int, expected: float | None, n_open: int) -> str:
    if n_open == 0:
        return "Every label has been looked at."
    if expected is not None and expected < _FEW:
        return (
            f"The next {n_next} rows hold about {expected:.1f} wrong labels: looking further "
            "hardly pays."
        )
    # Rows at random are mostly right, and say nothing about the worst of those that are left.
    chosen = [d for d in settled if d.drawn != AT_RANDOM]
    if len(chosen) >= NEXT and all(d.decision == KEEP for d in chosen[-NEXT:]):
        return f"None of the last {NEXT} labels was wrong: looking further hardly pays."
    if len(settled) == len(chosen) >= NEXT:
        return (
            "How many labels are wrong in all can be counted once some rows drawn at random are "
            "decided on, too."
        )
    return ""
