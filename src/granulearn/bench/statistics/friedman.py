"""Do the models differ at all? Friedman's chi2 and the F of Iman and Davenport.

With N sets, m models and average ranks R_j::

    chi2 = 12 N / (m (m + 1)) * (sum_j R_j^2 - m (m + 1)^2 / 4)
    F    = (N - 1) chi2 / (N (m - 1) - chi2)

The correction for ties divides chi2 by ``1 - sum(t^3 - t) / (N m (m^2 - 1))``,
the sum running over every group of t equal scores within a set.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from granulearn.bench.statistics.ranks import rank_models


@dataclass(frozen=True, slots=True)
class OmnibusTest:
    """One test of "all models are alike".

    Examples
    --------
    >>> from granulearn.bench.statistics import friedman_test
    >>> test = friedman_test([[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]])
    >>> round(test.statistic, 2), test.degrees_of_freedom
    (6.5, (2,))
    """

    statistic: float
    p_value: float
    degrees_of_freedom: tuple[int, ...]
    """One number for chi2, two for F."""


def friedman_test(scores: ArrayLike, *, tie_corrected: bool = False) -> OmnibusTest:
    """Test by ranks whether the models differ.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_models)
        One score per data set and model; which end is better does not matter.
    tie_corrected : bool, default=False
        The plain statistic, as papers print it, is too small when scores tie.
        If no set tells any two models apart, the statistic is 0.

    Returns
    -------
    OmnibusTest
        chi2 with ``n_models - 1`` degrees of freedom.

    Examples
    --------
    >>> from granulearn.bench.statistics import friedman_test, paper_accuracy_table
    >>> round(friedman_test(paper_accuracy_table()).statistic, 2)
    66.21
    """
    ranks = rank_models(scores)
    n_sets, n_models = ranks.shape
    spread = np.sum((ranks.mean(axis=0) - (n_models + 1) / 2) ** 2)
    chi2 = 12 * n_sets / (n_models * (n_models + 1)) * spread
    if tie_corrected and chi2 > 0:
        chi2 /= 1 - _tied_share(ranks)
    freedom = n_models - 1
    return OmnibusTest(float(chi2), float(stats.chi2.sf(chi2, freedom)), (freedom,))


def iman_davenport_test(chi2: float, n_sets: int, n_models: int) -> OmnibusTest:
    """Turn Friedman's chi2 into the less conservative F statistic.

    Parameters
    ----------
    chi2 : float
        The statistic of `friedman_test`.
    n_sets, n_models : int
        The size of the table it came from.

    Returns
    -------
    OmnibusTest
        F with ``n_models - 1`` and ``(n_models - 1)(n_sets - 1)`` degrees of
        freedom; infinite when every set ranks the models alike.

    Examples
    --------
    >>> from granulearn.bench.statistics import iman_davenport_test
    >>> round(iman_davenport_test(66.21, n_sets=37, n_models=8).statistic, 2)
    12.36
    """
    freedom = (n_models - 1, (n_models - 1) * (n_sets - 1))
    largest = n_sets * (n_models - 1)
    if not 0 <= chi2 <= largest * (1 + 1e-9):
        raise ValueError(
            f"chi2={chi2!r} cannot come from {n_sets} sets and {n_models} models: "
            f"it lies between 0 and {largest}."
        )
    # At full agreement rounding decides the sign of a zero denominator.
    room = largest - chi2
    statistic = np.inf if room <= 1e-9 * largest else (n_sets - 1) * chi2 / room
    return OmnibusTest(float(statistic), float(stats.f.sf(statistic, *freedom)), freedom)


def _tied_share(ranks: np.ndarray) -> float:
    """Return ``sum(t^3 - t) / (N m (m^2 - 1))`` over the groups of equal ranks."""
    n_sets, n_models = ranks.shape
    sizes = np.concatenate([np.unique(row, return_counts=True)[1] for row in ranks])
    return float(np.sum(sizes**3 - sizes) / (n_sets * n_models * (n_models**2 - 1)))
