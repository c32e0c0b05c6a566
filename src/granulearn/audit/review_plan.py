"""What to look at next, and what it will yield."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from granulearn.audit.ratings import Ratings
from granulearn.audit.verified import AT_RANDOM, WORST_FIRST, VerifiedLabels

FORECASTS = (20, 50, 100)
# What is known of the scale before a person has looked: none, but not upside down.
_SHIFT_SPREAD, _SLOPE_SPREAD = 1.5, 0.5
_LEAST, _MOST = 0.005, 0.995


def next_rows(
    ratings: Ratings, n_rows: int, random_share: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows to look at among those nobody has verified.

    Rows at random are drawn one from each of equal stretches of the order by reliability,
    so each row is equally likely to be drawn. The rest are the worst of the others.

    Parameters
    ----------
    ratings : Ratings
        What an audit says.
    n_rows : int
        How many to choose; fewer if there are fewer.
    random_share : float
        Share of them drawn at random, between zero and one.
    random : RandomState
        Draws them.

    Returns
    -------
    rows : ndarray
        Positions; the worst first, then those drawn at random.
    drawn : ndarray of str
        "worst" or "random".
    """
    open_rows = ratings.worst_first[~ratings.verified[ratings.worst_first]]
    n_rows = min(n_rows, len(open_rows))
    n_random = round(random_share * n_rows)
    edges = np.linspace(0, len(open_rows), n_random + 1)
    places = np.floor(edges[:-1] + random.uniform(size=n_random) * np.diff(edges)).astype(int)
    by_chance = open_rows[places]
    worst = open_rows[~np.isin(open_rows, by_chance)][: n_rows - n_random]
    drawn = np.repeat([WORST_FIRST, AT_RANDOM], [len(worst), n_random])
    return np.concatenate([worst, by_chance]), drawn


def expected_yield(ratings: Ratings, counts: tuple[int, ...] = FORECASTS) -> dict[int, float]:
    """Return how many wrong labels the next rows will hold, looked at worst first.

    Parameters
    ----------
    ratings : Ratings
        What an audit says.
    counts : tuple of int
        Numbers of rows; those above the number of open rows are cut to it.
    """
    rows = ratings.worst_first[~ratings.verified[ratings.worst_first]]
    found = np.cumsum(np.nan_to_num(ratings.wrong_proba[rows]))
    most = len(rows)
    sizes = sorted({min(count, most) for count in counts} - {0})
    return {size: float(found[size - 1]) for size in sizes}


def scaled_by_verified(ratings: Ratings, verified: VerifiedLabels) -> Ratings:
    """Return ratings whose probabilities of being wrong agree with what a person found.

    The log odds are moved and stretched, by a logistic fit with a weak prior.

    Parameters
    ----------
    ratings : Ratings
        What the audit says, before verified labels are entered.
    verified : VerifiedLabels
        What a person found.
    """
    rated = ~np.isnan(ratings.wrong_proba)
    of_known = rated[verified.rows]
    if not of_known.any():
        return ratings
    rows = verified.rows[of_known]
    wrong = verified.truth[of_known] != ratings.given[rows]
    odds = logit(np.clip(ratings.wrong_proba, _LEAST, _MOST))
    shift, slope = _logistic_fit(odds[rows], wrong)
    return replace(ratings, wrong_proba=expit(shift + slope * odds))


def _logistic_fit(odds: np.ndarray, wrong: np.ndarray) -> tuple[float, float]:
    """Return shift and slope of log odds, by Newton's method on a concave posterior."""
    design = np.column_stack([np.ones(len(odds)), odds])
    centre = np.array([0.0, 1.0])
    precision = np.diag([1 / _SHIFT_SPREAD**2, 1 / _SLOPE_SPREAD**2])
    theta = centre.copy()
    for _ in range(50):
        p = expit(design @ theta)
        gradient = design.T @ (wrong - p) - precision @ (theta - centre)
        hessian = (design * (p * (1 - p))[:, None]).T @ design + precision
        step = np.linalg.solve(hessian, gradient)
        theta = theta + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-10:
            break
    return float(theta[0]), float(max(theta[1], 0.05))
