"""Two models at a time: Wilcoxon's signed ranks, Holm's correction, wins and losses."""

import warnings

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import wilcoxon

from granulearn.bench.statistics.score_checks import paired_scores


def wilcoxon_p_value(first: ArrayLike, second: ArrayLike) -> float:
    """Test whether two models score alike, by the signed ranks of their differences.

    Sets on which they are equal count half for each side (as Demsar, JMLR 2006,
    advises). Differences that agree to ten digits of the largest score count as
    equal: 0.3 - 0.2 and 0.2 - 0.1 are a tie in the table, if not in binary.

    Parameters
    ----------
    first, second : array-like of shape (n_sets,)
        Scores of the two models on the same sets.

    Returns
    -------
    float
        Two-sided p-value; 1 when the models are equal on every set.

    Examples
    --------
    >>> from granulearn.bench.statistics import wilcoxon_p_value
    >>> round(wilcoxon_p_value([90, 85, 88, 79, 91, 80], [80, 76, 80, 72, 85, 75]), 3)
    0.031
    """
    left, right = paired_scores(first, second)
    difference = _without_rounding_noise(left, right)
    if not difference.any():
        return 1.0
    with warnings.catch_warnings():
        # scipy says that a small sample makes the normal approximation rough
        # when ties rule out the exact distribution; the p-value stands.
        warnings.filterwarnings("ignore", message="Sample size too small", category=UserWarning)
        return float(wilcoxon(difference, zero_method="zsplit").pvalue)


def holm_adjust(p_values: ArrayLike) -> np.ndarray:
    """Correct p-values for being many, by Holm's step-down.

    The i-th smallest of k p-values is multiplied by ``k - i + 1``; none may be
    smaller than an earlier one, nor larger than 1.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        The p-values as they came.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values, in the same order. Comparing them with alpha keeps
        the chance of any false claim at alpha.

    Examples
    --------
    >>> from granulearn.bench.statistics import holm_adjust
    >>> holm_adjust([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    raw = np.asarray(p_values, dtype=float)
    if raw.size and not ((raw >= 0) & (raw <= 1)).all():
        raise ValueError(f"p-values must lie in [0, 1], got {raw.tolist()}.")
    order = np.argsort(raw, kind="stable")
    steps = raw[order] * np.arange(len(raw), 0, -1)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def win_tie_loss(
    first: ArrayLike, second: ArrayLike, *, higher_is_better: bool = True
) -> tuple[int, int, int]:
    """Count the sets on which the first model is better, equal and worse.

    Parameters
    ----------
    first, second : array-like of shape (n_sets,)
        Scores of the two models on the same sets.
    higher_is_better : bool, default=True
        False for errors and times.

    Returns
    -------
    tuple of int
        Wins, ties and losses of the first model.

    Examples
    --------
    >>> from granulearn.bench.statistics import win_tie_loss
    >>> win_tie_loss([0.9, 0.8, 0.7], [0.8, 0.8, 0.9])
    (1, 1, 1)
    """
    left, right = paired_scores(first, second)
    if not higher_is_better:
        left, right = right, left
    return int(np.sum(left > right)), int(np.sum(left == right)), int(np.sum(left < right))


def _without_rounding_noise(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the differences, rounded to ten digits of the largest score."""
    largest = max(np.abs(left).max(), np.abs(right).max())
    if largest == 0:
        return left - right
    digits = 9 - int(np.floor(np.log10(largest)))
    return np.round(left - right, min(digits, 300))
