"""Ranks of models within each data set, and their averages."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from granulearn.bench.statistics.score_checks import checked_scores


def rank_models(scores: ArrayLike, *, higher_is_better: bool = True) -> np.ndarray:
    """Rank the models on each data set: 1 is best, equal scores share the mean rank.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_models)
        One score per data set and model.
    higher_is_better : bool, default=True
        False for errors and times.

    Returns
    -------
    ndarray of shape (n_sets, n_models)
        Every row sums to ``n_models (n_models + 1) / 2``.

    Examples
    --------
    >>> from granulearn.bench.statistics import rank_models
    >>> rank_models([[0.9, 0.8, 0.8], [0.5, 0.7, 0.6]])
    array([[1. , 2.5, 2.5],
           [3. , 1. , 2. ]])
    """
    table = checked_scores(scores)
    return rankdata(-table if higher_is_better else table, axis=1)


def average_ranks(scores: ArrayLike, *, higher_is_better: bool = True) -> np.ndarray:
    """Return the mean rank of each model over the data sets.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_models)
        One score per data set and model.
    higher_is_better : bool, default=True
        False for errors and times.

    Returns
    -------
    ndarray of shape (n_models,)
        Lower is better.

    Examples
    --------
    >>> from granulearn.bench.statistics import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.7], [0.9, 0.9, 0.6]])
    array([1.25, 1.75, 3.  ])
    """
    return rank_models(scores, higher_is_better=higher_is_better).mean(axis=0)
