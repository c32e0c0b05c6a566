"""Results of an audit: `Ratings` of each label, `NoiseRate` (share of wrong labels), `Issue`s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

WRONG, AMBIGUOUS, OUTLIER, FINE, UNKNOWN = "wrong", "ambiguous", "outlier", "fine", "unknown"
VERDICTS = (WRONG, AMBIGUOUS, OUTLIER, FINE, UNKNOWN)
"""Another class is clearly more probable; two classes are plausible; the inputs are far from
all others; nothing speaks against the label; nothing can be said."""

TRUSTED_FROM = 0.5

CONFIDENT_ROWS, VERIFIED_LABELS, NOTHING = "confident rows", "verified labels", "none"
"""What the share of wrong labels rests on."""


@dataclass(frozen=True)
class NoiseRate:
    """The share of wrong labels, with a range."""

    rate: float
    """NaN where it cannot be judged."""
    low: float
    high: float
    basis: str
    """What it rests on: "confident rows", "verified labels" or "none"."""
    message: str
    """The same in a sentence, with what is assumed."""

    def to_attrs(self) -> dict[Any, Any]:
        """Return the share of wrong labels as the ``attrs`` of tables hold it."""
        return {
            "noise_rate": self.rate,
            "noise_low": self.low,
            "noise_high": self.high,
            "noise_basis": self.basis,
            "noise_message": self.message,
        }


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
            "is_label_issue": self.verdicts == WRONG,
            "verified": self.verified,
        }
        return pd.DataFrame(columns, index=index)

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
        """Positions of all labels: open ones by label quality, then verified ones, then unknown."""
        rank = np.where(self.verified, 2.0, self.label_quality)
        return np.argsort(np.where(np.isnan(rank), 3.0, rank), kind="stable")

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
