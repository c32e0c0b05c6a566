"""PageFacts: what explanations and the page need to know of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from granulearn.audit.label_audit import LabelAudit
from granulearn.audit.ratings import FINE, UNKNOWN, WRONG

TRUSTED_FROM = 0.5


@dataclass(frozen=True)
class NoiseShare:
    """The share of wrong labels, and what it rests on."""

    rate: float
    """NaN if it cannot be judged."""
    low: float
    high: float
    basis: str
    """ "sure regions", "verified labels" or "none"."""
    words: str
    """One sentence: what the share rests on, or why there is none."""


@dataclass(frozen=True, eq=False)
class PageFacts:
    """One row per label, and what is said of all labels."""

    classes: np.ndarray
    """(K,) the class labels, sorted."""
    given: np.ndarray
    """(n,) number of the given class."""
    suggested: np.ndarray
    """(n,) number of the suggested class; the given one where nothing is known."""
    proba: np.ndarray
    """(n, K) probability of each class as a given label."""
    reliability: np.ndarray
    """(n,) probability of the given class; NaN where it cannot be known."""
    wrong_proba: np.ndarray
    """(n,) probability that the true class is another one; NaN where it cannot be known."""
    verdicts: np.ndarray
    """(n,) one of `VERDICTS`."""
    verified: np.ndarray
    """(n,) true where a person has confirmed or corrected the label."""
    noise: NoiseShare
    issues: tuple[Mapping[str, Any], ...] = ()
    """Checks beside labels: kind, score, rows (positions), words."""

    @cached_property
    def trusted(self) -> np.ndarray:
        """(n,) true for labels that may speak for their class: verified, or reliable and fine."""
        reliable = np.nan_to_num(self.reliability) >= TRUSTED_FROM
        return self.verified | ((self.verdicts == FINE) & reliable)

    @cached_property
    def rivals(self) -> np.ndarray:
        """(n,) number of the most probable other class; -1 where nothing is known.

        It is the suggested class wherever that is not the given one.
        """
        if len(self.classes) < 2:
            return np.full(len(self.given), -1)
        others = np.nan_to_num(self.proba, nan=-1.0)
        others[np.arange(len(others)), self.given] = -2.0
        second = np.where(np.isnan(self.reliability), -1, others.argmax(axis=1))
        return np.where(self.suggested != self.given, self.suggested, second)


def page_facts(audit: LabelAudit) -> PageFacts:
    """Return what explanations and the page need of a fitted audit.

    Parameters
    ----------
    audit : LabelAudit
        Fitted.
    """
    unknown = np.isnan(audit.reliability_)
    return PageFacts(
        classes=audit.classes_,
        given=np.searchsorted(audit.classes_, audit.given_),
        suggested=np.searchsorted(audit.classes_, audit.suggested_),
        proba=audit.proba_,
        reliability=audit.reliability_,
        wrong_proba=1 - audit.reliability_,
        verdicts=np.where(unknown, UNKNOWN, np.where(audit.flagged_, WRONG, FINE)),
        verified=np.zeros(len(unknown), dtype=bool),
        noise=_share_of(audit),
    )


def _share_of(audit: LabelAudit) -> NoiseShare:
    rate = float(audit.noise_rate_)
    if np.isnan(rate):
        words = "No label can be rated, so nothing is said about their share."
        return NoiseShare(rate, rate, rate, "none", words)
    words = "An estimate that counts ambiguous labels as well."
    return NoiseShare(rate, rate, rate, "sure regions", words)
