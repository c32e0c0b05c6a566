"""Nemenyi's test: which average ranks differ by more than chance allows.

Two models differ at level alpha when their average ranks are at least
``CD = q sqrt(m (m + 1) / (6 N))`` apart, where q is the upper alpha quantile of
the studentized range of m values, divided by sqrt 2.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import studentized_range


def critical_difference(n_models: int, n_sets: int, *, alpha: float = 0.05) -> float:
    """Return the least difference of two average ranks that counts.

    Parameters
    ----------
    n_models, n_sets : int
        The size of the table; at least 2 models and 1 set.
    alpha : float, default=0.05
        Chance of any false claim among all pairs; in (0, 1).

    Returns
    -------
    float
        The critical difference, in ranks.

    Examples
    --------
    >>> from granulearn.bench.statistics import critical_difference
    >>> round(critical_difference(8, 37), 3)
    1.726
    """
    if n_models < 2 or n_sets < 1:
        raise ValueError(
            f"n_models={n_models!r} and n_sets={n_sets!r}: "
            "a critical difference needs at least 2 models and 1 set."
        )
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must lie strictly between 0 and 1; 0.05 is usual.")
    quantile = studentized_range.ppf(1 - alpha, n_models, np.inf) / np.sqrt(2)
    return float(quantile * _rank_error(n_models, n_sets))


def nemenyi_p_values(average_ranks: ArrayLike, n_sets: int) -> np.ndarray:
    """Return the p-value of every pair of models.

    Parameters
    ----------
    average_ranks : array-like of shape (n_models,)
        The mean rank of each model.
    n_sets : int
        How many sets the means were taken over.

    Returns
    -------
    ndarray of shape (n_models, n_models)
        Symmetric, 1 on the diagonal; below alpha exactly where the ranks are
        further apart than the critical difference at alpha.

    Examples
    --------
    >>> from granulearn.bench.statistics import nemenyi_p_values
    >>> nemenyi_p_values([1.2, 2.0, 2.8], n_sets=10).round(3)
    array([[1.   , 0.173, 0.001],
           [0.173, 1.   , 0.173],
           [0.001, 0.173, 1.   ]])
    """
    ranks = np.asarray(average_ranks, dtype=float)
    gaps = np.abs(ranks[:, None] - ranks[None, :]) / _rank_error(len(ranks), n_sets)
    first, second = np.triu_indices(len(ranks), k=1)
    p_values = np.ones((len(ranks), len(ranks)))
    tail = studentized_range.sf(gaps[first, second] * np.sqrt(2), len(ranks), np.inf)
    # Numerical integration may leave [0, 1] by a rounding error.
    p_values[first, second] = p_values[second, first] = np.clip(tail, 0, 1)
    return p_values


def _rank_error(n_models: int, n_sets: int) -> float:
    """Return the standard error of a difference of two average ranks."""
    return float(np.sqrt(n_models * (n_models + 1) / (6 * n_sets)))
