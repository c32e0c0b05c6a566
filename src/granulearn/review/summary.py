"""The numbers of a review: what was found, the share of wrong labels, and whether to go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from granulearn.audit.error_probability import expected_errors
from granulearn.audit.ratings import WRONG, NoiseRate, Ratings
from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP
from granulearn.review.decisions import DECISIONS, Decision

NEXT = 20
"""Rows of a forecast."""
WORTH_CHECKING = 0.1
"""Probability of a wrong label from which on a label is worth checking."""
_FEW = 1.0
"""Expected wrong labels in the next rows below which going on hardly pays."""


@dataclass(frozen=True)
class ReviewSummary:
    """The numbers of a review."""

    counts: dict[str, int]
    """Active decisions by kind."""
    noise: NoiseRate
    """The share of wrong labels, by audit and decisions."""
    worth_checking: int
    """Open labels that are wrong with a probability of one in ten or more."""
    n_next: int
    """Rows of the forecast."""
    expected: float | None
    """Wrong labels in the next rows, worst first; None if unknown."""
    by_verdict: dict[str, dict[str, int]]
    """Active decisions by verdict at that time and kind."""
    by_who: dict[str, dict[str, int]]
    """Active decisions by person and kind."""
    found: tuple[int, ...]
    """Wrong labels found so far, after each label that was kept or changed."""
    at_random: int
    """Labels kept or changed in rows that were drawn at random."""
    advice: str
    """A hint to stop, or how to learn more; may be empty."""

    @property
    def n_decided(self) -> int:
        """Rows with an active decision."""
        return sum(self.counts.values())


def summarize(
    decisions: Sequence[Decision], ratings: Ratings, noise: NoiseRate, is_open: np.ndarray
) -> ReviewSummary:
    """Return the numbers of a review.

    Parameters
    ----------
    decisions : sequence of Decision
        The active ones, in the order in which they were taken.
    ratings : Ratings
        Of the audit, with the decisions.
    noise : NoiseRate
        The share of wrong labels, with the decisions.
    is_open : ndarray of shape (n,)
        True for rows without a decision.
    """
    verified = [d for d in decisions if d.decision in (KEEP, CHANGE)]
    # Excluded and unsure rows do not come up again.
    closed = replace(ratings, verified=ratings.verified | ~is_open)
    n_next, expected = next(iter(expected_errors(closed, (NEXT,)).items()), (0, None))
    is_likely = np.nan_to_num(ratings.error_proba) >= WORTH_CHECKING
    return ReviewSummary(
        counts=dict(Counter(d.decision for d in decisions)),
        noise=noise,
        worth_checking=int((is_open & (is_likely | (ratings.verdicts == WRONG))).sum()),
        n_next=n_next,
        expected=expected,
        by_verdict=_counts(decisions, "verdict"),
        by_who=_counts(decisions, "who"),
        found=tuple(accumulate(int(d.decision == CHANGE) for d in verified)),
        at_random=sum(d.drawn == AT_RANDOM for d in verified),
        advice=_advice(verified, n_next, expected, int(is_open.sum())),
    )


def _counts(decisions: Sequence[Decision], by: str) -> dict[str, dict[str, int]]:
    """Return how many decisions of each kind have each value of a field."""
    counts: dict[str, dict[str, int]] = {}
    for value, kind in sorted((getattr(d, by), d.decision) for d in decisions):
        counts.setdefault(value, dict.fromkeys(DECISIONS, 0))[kind] += 1
    return counts


def _advice(verified: Sequence[Decision], n_next: int, expected: float | None, n_open: int) -> str:
    if n_open == 0:
        return "Every label has been checked."
    if expected is not None and expected < _FEW:
        return (
            f"Expect about {expected:.1f} wrong labels in the next {n_next} rows: going on hardly "
            "pays."
        )
    # Rows at random are mostly right, and say nothing about the most doubtful rows.
    chosen = [d for d in verified if d.drawn != AT_RANDOM]
    if len(chosen) >= NEXT and all(d.decision == KEEP for d in chosen[-NEXT:]):
        return f"The last {NEXT} labels were all right: going on hardly pays."
    if len(verified) == len(chosen) >= NEXT:
        return "Decide on some rows drawn at random to count the share of wrong labels."
    return ""
