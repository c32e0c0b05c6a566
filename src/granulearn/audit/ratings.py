"""Results of an audit: `Ratings` of each label, `AuditSummary`, `Issue`s."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

WRONG, SUSPECT, OUTLIER, FINE, UNKNOWN = "wrong", "suspect", "outlier", "fine", "unknown"
VERDICTS = (WRONG, SUSPECT, OUTLIER, FINE, UNKNOWN)
"""A suspect that is wrong with a probability of one half or more; another suspect; the inputs are
far from all others; nothing speaks against the label; nothing can be said. There are as many
suspects, the most probable ones, as wrong labels are expected among those not verified."""

WRONG_FROM, TRUSTED_FROM = 0.5, 0.5

PRIOR, VERIFIED_LABELS, NOTHING, LISTING = "prior", "verified labels", "none", "listing"
ANNOTATORS = "annotators"
"""What the number of wrong labels rests on: other tables, verified labels, nothing, or several
annotators; a listing of the most doubtful labels of a larger table does not say it."""
ENOUGH_VERIFIED = 20


@dataclass(frozen=True)
class AuditSummary:
    """How many labels are wrong: every figure is a sum of error probabilities."""

    n_labels: int
    """Labels that were rated or verified."""
    n_errors: float
    """Expected number of wrong labels, those that were found among them; NaN where nothing can be
    said."""
    low: float
    """Lower end of the 95 % range of the noise rate."""
    high: float
    basis: str
    """What it rests on: "prior", "verified labels", "none", "listing" or "annotators"."""
    n_verified: int
    n_at_random: int
    """Verified labels of rows that were drawn at random."""
    n_found: int
    """Verified labels that were wrong."""
    expected_errors: dict[int, float]
    """Expected number of wrong labels among the next rows, the most doubtful first, by number of
    rows."""

    @property
    def rate(self) -> float:
        """Noise rate: the expected fraction of wrong labels."""
        return self.n_errors / self.n_labels if self.n_labels else float("nan")

    @property
    def errors_left(self) -> float:
        """Expected number of wrong labels that nobody has verified."""
        return self.n_errors - self.n_found

    @property
    def message(self) -> str:
        """The summary in a sentence or two, with what is assumed."""
        verb = "was" if self.n_found == 1 else "were"
        found = f"{self.n_found:,} of {self.n_verified:,} verified labels {verb} wrong"
        if self.basis == LISTING:
            return (
                "These are the most doubtful labels of a larger table, whose own audit says how "
                f"many of all labels are wrong. Of these, {found}."
            )
        if self.basis == ANNOTATORS:
            return (
                f"About {about(self.n_errors)} of {self.n_labels:,} labels of the consensus "
                f"({percent(self.rate)}) may be wrong, if annotators err independently."
            )
        if self.basis == NOTHING:
            if self.n_labels == 0:
                return "No label can be rated: no other row has its class."
            begin = f"{found}. " if self.n_verified else ""
            return (
                f"{begin}Similar rows do not have similar labels more often than by chance, so "
                "nothing can be said about other labels; add columns or rows."
            )
        if self.n_verified == self.n_labels:
            return (
                f"All {self.n_labels:,} labels that can be rated are verified: "
                f"{self.n_found:,} {verb} wrong."
            )
        count = f"{about(self.n_errors)} of {self.n_labels:,} labels ({percent(self.rate)})"
        hint = "" if self.n_at_random else " Verify some rows drawn at random too."
        if self.basis == PRIOR:
            return (
                f"About {count} may be wrong; anything from {percent(self.low)} to "
                f"{percent(self.high)} fits. Mistakes cannot be told from overlapping classes "
                "without checks: verify 20 rows, ten doubtful and ten at random."
            )
        if self.n_found == 0 and self.n_verified >= ENOUGH_VERIFIED:
            n_most = max(1, math.ceil(self.high * self.n_labels))
            overlap = " The classes overlap here; doubtful is not wrong."
            return (
                f"None of {self.n_verified:,} verified labels was wrong: probably under "
                f"{percent(self.high)} ({n_most:,} labels) are.{hint or overlap}"
            )
        verb = "are" if self.n_verified >= ENOUGH_VERIFIED else "may be"
        return (
            f"About {count} {verb} wrong, probably {percent(self.low)} to {percent(self.high)}: "
            f"{found}.{hint}"
        )

    def of_all(self, n_labels: int) -> AuditSummary:
        """Return the summary of a table of which these labels are a sample.

        Parameters
        ----------
        n_labels : int
            Labels of the whole table.
        """
        if n_labels == self.n_labels:
            return self
        return replace(self, n_labels=n_labels, n_errors=self.rate * n_labels, expected_errors={})

    def to_dict(self) -> dict[Any, Any]:
        """Return all figures, as JSON and the ``attrs`` of tables hold them."""
        return {
            "n_labels": self.n_labels,
            "n_errors": self.n_errors,
            "noise_rate": self.rate,
            "noise_low": self.low,
            "noise_high": self.high,
            "basis": self.basis,
            "n_verified": self.n_verified,
            "n_at_random": self.n_at_random,
            "n_found": self.n_found,
            "errors_left": self.errors_left,
            "expected_errors": self.expected_errors,
            "message": self.message,
        }


def about(expected: float) -> str:
    """Return an expected number of labels as people say it.

    Parameters
    ----------
    expected : float
        A sum of probabilities.
    """
    return f"{expected:.1f}" if 0 < expected < 1 else f"{round(expected):,}"


def percent(share: float) -> str:
    """Return a share in percent, as people say it.

    Parameters
    ----------
    share : float
        From zero to one.

    Examples
    --------
    >>> percent(0.068), percent(0.004), percent(0.0), percent(1.0)
    ('7 %', '0.4 %', '0 %', '100 %')
    """
    return f"{100 * share:.1f} %" if 0 < share < 0.0095 else f"{100 * share:.0f} %"


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row per label."""

    classes: np.ndarray
    """(K,) the class labels, sorted."""
    given: np.ndarray
    """(n,) number of the given class."""
    proba: np.ndarray
    """(n, K) calibrated probability of each class as a given label, by models that did not see
    the row."""
    label_quality: np.ndarray
    """(n,) that of the given class; NaN where it cannot be known."""
    error_proba: np.ndarray
    """(n,) probability that the true class is another one; NaN where it cannot be known."""
    predicted: np.ndarray
    """(n,) number of the class to put in its place; the given one where nothing is known."""
    verdicts: np.ndarray
    """(n,) one of `VERDICTS`."""
    verified: np.ndarray
    """(n,) true where a person has confirmed or corrected the label."""
    outlier: np.ndarray
    """(n,) true where the inputs are far from all others."""

    def to_frame(self, index: Any = None) -> pd.DataFrame:
        """Return one row per label, in the order of the table.

        Parameters
        ----------
        index : sequence, default=None
            Names of the rows; None numbers them.
        """
        import pandas as pd

        columns = {
            "given_label": self.classes[self.given],
            "predicted_label": self.classes[self.predicted],
            "verdict": self.verdicts,
            "error_probability": self.error_proba,
            "label_quality": self.label_quality,
            "is_label_issue": self.is_suspect,
            "verified": self.verified,
        }
        return pd.DataFrame(columns, index=index)

    @cached_property
    def is_suspect(self) -> np.ndarray:
        """(n,) true for as many labels as are expected to be wrong, the most probable ones."""
        return (self.verdicts == WRONG) | (self.verdicts == SUSPECT)

    @cached_property
    def known(self) -> np.ndarray:
        """(n,) true where the label could be rated."""
        return ~np.isnan(self.label_quality)

    @cached_property
    def believed(self) -> np.ndarray:
        """(n,) number of the class that each row counts for: the verified one, or the given."""
        return np.where(self.verified, self.predicted, self.given)

    @cached_property
    def trusted(self) -> np.ndarray:
        """(n,) true for labels that may speak for their class: verified, or reliable and fine."""
        reliable = np.nan_to_num(self.label_quality) >= TRUSTED_FROM
        return self.verified | ((self.verdicts == FINE) & reliable)

    @cached_property
    def second_classes(self) -> np.ndarray:
        """(n,) number of the most probable other class; -1 where nothing is known.

        It is the predicted class wherever that is not the given one.
        """
        if len(self.classes) < 2:
            return np.full(len(self.given), -1)
        second = np.where(self.known, most_probable_other(self.proba, self.given)[0], -1)
        return np.where(self.predicted != self.given, self.predicted, second)

    @cached_property
    def worst_first(self) -> np.ndarray:
        """Positions of all labels: open ones, the most probably wrong first; verified; unknown."""
        group = np.where(self.verified, 1, np.where(self.known, 0, 2))
        return np.lexsort((self.label_quality, -np.nan_to_num(self.error_proba), group))

    @property
    def open_rows(self) -> np.ndarray:
        """Positions of the unverified labels, worst first."""
        return self.worst_first[~self.verified[self.worst_first]]


def most_probable_other(proba: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the most probable class beside the given one, and its probability.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Class probabilities, of two classes or more; NaN counts as impossible.
    given : ndarray of shape (n,)
        Number of the given class.
    """
    rows = np.arange(len(given))
    others = np.nan_to_num(proba, nan=0.0)
    others[rows, given] = -1.0
    best = others.argmax(axis=1)
    return best, np.maximum(others[rows, best], 0.0)


def noise_matrix(ratings: Ratings) -> np.ndarray:
    """Return the expected probability of each given label (column) by true class (row).

    Parameters
    ----------
    ratings : Ratings
        Each label counts for its own class and for the other one by its error probability.
    """
    n_classes = len(ratings.classes)
    wrong = np.nan_to_num(ratings.error_proba)
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (ratings.given, ratings.given), 1 - wrong)
    np.add.at(counts, (ratings.second_classes, ratings.given), wrong)
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.maximum(totals, 1e-300), np.eye(n_classes))


# ---- issues beside single labels -------------------------------------------------------------


MOST_NAMED = 5
"""Rows that a message names; of more, the first ones."""
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


def named_rows(rows: Sequence[int], positions: np.ndarray | None) -> str:
    """Return rows as a reader knows them: "rows 3, 17 and 20".

    Parameters
    ----------
    rows : sequence of int
        Positions in the inputs.
    positions : ndarray or None
        Number by which a reader finds each row; None means its position.

    Examples
    --------
    >>> named_rows([3, 17, 20], None), named_rows([0], np.array([41])), named_rows(range(9), None)
    ('rows 3, 17 and 20', 'row 41', 'rows 0, 1, 2, 3, 4 and 4 more')
    """
    numbers = [str(row if positions is None else positions[row]) for row in rows[:MOST_NAMED]]
    if len(rows) > MOST_NAMED:
        return f"rows {', '.join(numbers)} and {len(rows) - MOST_NAMED} more"
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    return f"rows {', '.join(numbers[:-1])} and {numbers[-1]}"
