"""The audit of large tables: a random sample calibrates probabilities and estimates noise."""

from __future__ import annotations

import numpy as np

from granulearn.audit.noise_rate import NoiseRate, unverified_rate
from granulearn.audit.verdicts import Evidence, calibrated_evidence, weigh_evidence

# Up to so many labels all are looked at; of more, so many that are drawn stand for all.
TYPICAL_ROWS = 50_000


def typical_rows(n_rows: int) -> np.ndarray | None:
    """Return a random sample of the rows of a large table, in random order; None means all.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    """
    if n_rows <= TYPICAL_ROWS:
        return None
    return np.random.default_rng(0).choice(n_rows, TYPICAL_ROWS, replace=False)


def judged_evidence(
    proba: np.ndarray, given: np.ndarray, known: np.ndarray, drawn: np.ndarray | None
) -> tuple[Evidence, NoiseRate]:
    """Weigh class probabilities, and estimate the share of wrong labels.

    Parameters
    ----------
    proba, given, known : ndarray
        As for `weigh_evidence`.
    drawn : ndarray of int or None
        Rows that stand for all; None means all.
    """
    if drawn is None:
        evidence = weigh_evidence(proba, given, known)
        return evidence, unverified_rate(evidence)
    typical = weigh_evidence(proba[drawn], given[drawn], known[drawn])
    noise = unverified_rate(typical)
    return calibrated_evidence(proba, given, known, typical.skill, typical.temperature), noise
