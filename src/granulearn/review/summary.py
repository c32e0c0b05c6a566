"""The numbers of a review: what was decided, and what the audit says with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate

from granulearn.audit.error_probability import ENOUGH_AT_RANDOM
from granulearn.audit.ratings import ENOUGH_VERIFIED, AuditSummary, about
from granulearn.audit.verified import CHANGE, KEEP
from granulearn.review.decisions import DECISIONS, Decision
from granulearn.utils.text import counted

_HARDLY_PAYS = 0.05
"""Expected share of wrong labels in the next rows below which going on hardly pays."""


@dataclass(frozen=True)
class ReviewSummary:
    """The numbers of a review."""

    audit: AuditSummary
    """How many labels are wrong, with all decisions. Excluded and unsure rows are not verified:
    they change none of its figures."""
    n_suspects: int
    """Suspect labels without a decision."""
    n_fitted: int
    """Verified labels that the audit was fitted with."""
    suspects_moved: tuple[int, int]
    """How many suspects had no decision before and after it was last fitted again."""
    decisions: tuple[Decision, ...] = field(repr=False)
    """The active ones, in the order in which they were taken."""

    @property
    def counts(self) -> dict[str, int]:
        """Active decisions by kind."""
        return dict(Counter(d.decision for d in self.decisions))

    @property
    def found(self) -> tuple[int, ...]:
        """Wrong labels found so far, after each label that was kept or changed."""
        verified = (d.decision for d in self.decisions if d.decision in (KEEP, CHANGE))
        return tuple(accumulate(int(decision == CHANGE) for decision in verified))

    def counts_by(self, column: str) -> dict[str, dict[str, int]]:
        """Return how many decisions of each kind have each value of a column of the journal."""
        counts: dict[str, dict[str, int]] = {}
        for value, kind in sorted((getattr(d, column), d.decision) for d in self.decisions):
            counts.setdefault(value, dict.fromkeys(DECISIONS, 0))[kind] += 1
        return counts

    @property
    def n_decided(self) -> int:
        """Rows with an active decision."""
        return len(self.decisions)

    @property
    def reason(self) -> str:
        """Why the figures are as they are: what the audit was fitted with, and what came since."""
        n_since = self.audit.n_verified - self.n_fitted
        fitted = f"with {self.n_fitted:,}" if self.n_fitted else "without"
        since = f"; {counted(n_since, 'label')} verified since" if n_since > 0 else ""
        before, after = self.suspects_moved
        moved = f", which moved the labels left to check from {before:,} to {after:,}"
        said = moved if before != after else ""
        return f"The audit was fitted {fitted} verified labels{said}{since}."

    @property
    def wants_random(self) -> bool:
        """Whether rows drawn at random are most informative now."""
        n_random, n_worst = self.audit.n_at_random, self.audit.n_verified - self.audit.n_at_random
        return self.n_suspects == 0 or n_random < ENOUGH_AT_RANDOM <= n_worst

    @property
    def advice(self) -> str:
        """What to expect of the next rows, and a hint to stop; or why nothing is expected."""
        for n_rows, expected in self.audit.expected_errors.items():
            is_low = expected < _HARDLY_PAYS * n_rows and self.audit.n_verified >= ENOUGH_VERIFIED
            hint = "; going on hardly pays" if is_low else ""
            return f"Expect about {about(expected)} wrong among the {n_rows} most doubtful{hint}."
        return self.audit.message
