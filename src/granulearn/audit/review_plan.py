"""What to look at next, and what it will yield."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from granulearn.audit.ratings import Ratings
from granulearn.audit.verified import AT_RANDOM, WORST_FIRST, VerifiedLabels

FORECASTS = (20, 50, 100)
# How far what a person finds may move and turn the line of log odds.
_SHIFT_SPREAD, _SLOPE_SPREAD = 3.0, 1.0
_LEAST, _MOST = 0.001, 0.999


def next_rows(
    ratings: Ratings, n_rows: int, random_fraction: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows to look at among those nobody has verified.

    Rows at random are drawn all along the order by label quality, one from each stretch, and
    each row is equally likely to be drawn. The rest are the worst of the others.

    Parameters
    ----------
    ratings : Ratings
        What an audit says.
    n_rows : int
        How many to choose; fewer if there are fewer.
    random_fraction : float
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
    n_random = round(random_fraction * n_rows)
    by_chance = open_rows[_spread_draw(len(open_rows), n_random, random)]
    worst = open_rows[~np.isin(open_rows, by_chance)][: n_rows - n_random]
    drawn = np.repeat([WORST_FIRST, AT_RANDOM], [len(worst), n_random])
    # In any order but by label quality: whoever stops early has seen a random part of them.
    return np.concatenate([worst, random.permutation(by_chance)]), drawn


def _spread_draw(n_rows: int, n_drawn: int, random: np.random.RandomState) -> np.ndarray:
    """Draw so many places, each with the same probability, all along the order.

    Ordered pivotal sampling (Deville and Tillé 1998): chances of neighbours are joined, and
    one of them has the sum, until somebody's reaches one.
    """
    if n_drawn == 0:
        return np.empty(0, dtype=np.intp)
    share, kept, holder = n_drawn / n_rows, [], 0
    chance = share
    for row, luck in enumerate(random.uniform(size=n_rows - 1).tolist(), start=1):
        both = chance + share
        if both < 1:
            chance = both
            holder = holder if luck * both < both - share else row
        else:
            chance = both - 1
            if luck * (2 - both) < 1 - share:
                kept.append(holder)
                holder = row
            else:
                kept.append(row)
    # What is left is one or nothing, but for rounding.
    return np.sort([*kept, holder][:n_drawn]).astype(np.intp)


def expected_errors(ratings: Ratings, counts: tuple[int, ...] = FORECASTS) -> dict[int, float]:
    """Return how many wrong labels the next rows will hold, looked at worst first.

    Parameters
    ----------
    ratings : Ratings
        What an audit says.
    counts : tuple of int
        Numbers of rows; those above the number of open rows are cut to it.
    """
    rows = ratings.worst_first[~ratings.verified[ratings.worst_first]]
    if np.isnan(ratings.error_proba[rows]).all():
        return {}
    # What cannot be rated comes last, and nothing is expected of it.
    found = np.cumsum(np.nan_to_num(ratings.error_proba[rows]))
    most = len(rows)
    sizes = sorted({min(count, most) for count in counts} - {0})
    return {size: float(found[size - 1]) for size in sizes}


def scaled_by_verified(ratings: Ratings, verified: VerifiedLabels) -> Ratings:
    """Return ratings whose probabilities of being wrong agree with what a person found.

    Log odds of being wrong become a line in the log odds of label quality. Before anybody
    looked it is the line that fits the probabilities of the audit best; what was found
    moves and turns it.

    Parameters
    ----------
    ratings : Ratings
        What the audit says, before verified labels are entered.
    verified : VerifiedLabels
        What a person found.
    """
    rated = ~np.isnan(ratings.error_proba)
    rows = verified.rows[rated[verified.rows]]
    if len(rows) == 0:
        return ratings
    truth = verified.truth[rated[verified.rows]]
    doubt = -logit(np.clip(ratings.label_quality, _LEAST, _MOST))
    said = logit(np.clip(ratings.error_proba, _LEAST, _MOST))
    before = _line_through(doubt[rated], said[rated])
    shift, slope = _logistic_fit(doubt[rows], truth != ratings.given[rows], before)
    return replace(ratings, error_proba=expit(shift + slope * doubt))


def _line_through(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return shift and slope of the least squares line; the slope is not negative."""
    centred = x - x.mean()
    slope = max(float(centred @ (y - y.mean()) / max(centred @ centred, 1e-12)), 0.0)
    return np.array([y.mean() - slope * x.mean(), slope])


def _logistic_fit(doubt: np.ndarray, wrong: np.ndarray, before: np.ndarray) -> tuple[float, float]:
    """Return shift and slope of log odds, by Newton's method on a concave posterior."""
    design = np.column_stack([np.ones(len(doubt)), doubt])
    precision = np.diag([1 / _SHIFT_SPREAD**2, 1 / _SLOPE_SPREAD**2])
    line = before.copy()
    for _ in range(50):
        p = expit(design @ line)
        gradient = design.T @ (wrong - p) - precision @ (line - before)
        hessian = (design * (p * (1 - p))[:, None]).T @ design + precision
        step = np.linalg.solve(hessian, gradient)
        line = line + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-10:
            break
    # A person who finds more wrong labels among reliable ones does not turn the order around.
    return float(line[0]), float(max(line[1], 0.05))
