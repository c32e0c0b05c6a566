"""Tables of log gamma for the evidence of a ball: a Dirichlet-multinomial of its class counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln


class EvidenceTable(NamedTuple):
    """What the logarithm of an evidence is summed from."""

    alpha: float
    """Dirichlet weight of each class."""
    of_class: np.ndarray
    """log gamma(n + alpha) - log gamma(alpha) for whole n, the count of a class."""
    of_ball: np.ndarray
    """The same with K alpha, for the count of a ball."""


def evidence_table(n_rows: int, n_classes: int, alpha: float) -> EvidenceTable:
    """Return the table for balls of at most so many rows.

    Parameters
    ----------
    n_rows : int
        Rows of the largest ball.
    n_classes : int
        Number of classes.
    alpha : float
        Dirichlet weight of each class.
    """
    whole, of_all = np.arange(n_rows + 1), alpha * n_classes
    return EvidenceTable(
        alpha,
        gammaln(whole + alpha) - gammaln(alpha),
        gammaln(whole + of_all) - gammaln(of_all),
    )
