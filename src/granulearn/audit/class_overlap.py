"""Classes that the inputs do not separate, though they separate both from the others."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.stats import rankdata

from granulearn.audit.ratings import Issue, Ratings

OVERLAP = "overlapping classes"

# The probability that a row of the one class looks more like it than a row of the other: one
# half if the inputs do not separate them.
APART_FROM = 0.6
# Few rows may look alike by chance. Nearly certainly, the probability is not above this.
CERTAINLY_BELOW = 0.75
_CERTAIN = 1.645  # deviations: nineteen times of twenty
# The same probability for rows of either class against all others, from which on inputs say
# something.
SEPARATED_FROM = 0.75
FEWEST_ROWS = 10
# What is far from an overlap need not be looked at closely.
_LEAST_CONFUSED = 0.5
_LEAST_LIFT = 1.3


def find_overlaps(ratings: Ratings) -> list[Issue]:
    """Return an issue for each pair of classes that may be one.

    Rows of the two classes must be separated from all others, so that tables whose inputs say
    nothing, and tables of two classes, have no such pair.

    Parameters
    ----------
    ratings : Ratings
        With probabilities by models that did not see the row.

    Returns
    -------
    list of Issue
        The worst first.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.audit.ratings import Ratings
    >>> codes = np.repeat([0, 1, 2], 50)
    >>> proba = np.where((codes < 2)[:, None], [0.45, 0.45, 0.1], [0.1, 0.1, 0.8])
    >>> proba += np.random.default_rng(0).normal(scale=0.01, size=proba.shape)
    >>> nothing = np.full(150, np.nan)
    >>> ratings = Ratings(np.array(["car", "dog", "puppy"]), 2 - codes, proba[:, ::-1],
    ...                   nothing, nothing, codes, nothing, nothing)
    >>> [issue.classes for issue in find_overlaps(ratings)]
    [('dog', 'puppy')]
    """
    known = ~np.isnan(ratings.proba).any(axis=1)
    proba, codes = ratings.proba[known], ratings.given[known]
    n_classes = proba.shape[1]
    counts = np.bincount(codes, minlength=n_classes)
    if n_classes < 3 or len(codes) == 0:
        return []
    sums = np.zeros((n_classes, n_classes))
    for k in range(n_classes):
        sums[k] = proba[codes == k].sum(axis=0)
    found = []
    for a, b in itertools.combinations(np.flatnonzero(counts >= FEWEST_ROWS).tolist(), 2):
        if not _is_worth_a_look(sums, counts, a, b):
            continue
        apart = _separation(proba, codes, a, b)
        if apart is None:
            continue
        score = 1 - 0.5 * max(apart - 0.5, 0) / (APART_FROM - 0.5)
        names = tuple(ratings.classes[[a, b]].tolist())
        message = (
            f"The inputs separate {names[0]} and {names[1]} from all others but hardly from each "
            f"other (right {apart:.0%} of the time for a row of each, and guessing is right 50%); "
            "if they mean the same, make them one class, else add an input that separates them."
        )
        found.append(Issue(OVERLAP, score, (), message, classes=names))
    return sorted(found, key=lambda issue: -issue.score)


def _is_worth_a_look(sums: np.ndarray, counts: np.ndarray, a: int, b: int) -> bool:
    """Say whether the mean probabilities of the classes allow an overlap."""
    own_a, own_b = sums[a, a] / counts[a], sums[b, b] / counts[b]
    confused = (
        sums[a, b] / counts[a] >= _LEAST_CONFUSED * own_b
        and sums[b, a] / counts[b] >= _LEAST_CONFUSED * own_a
    )
    either = sums[:, a] + sums[:, b]
    n_both, n_others = counts[a] + counts[b], counts.sum() - counts[a] - counts[b]
    of_both = (either[a] + either[b]) / n_both
    of_others = (either.sum() - either[a] - either[b]) / max(n_others, 1)
    return bool(confused and n_others > 0 and of_both >= _LEAST_LIFT * of_others)


def _separation(proba: np.ndarray, codes: np.ndarray, a: int, b: int) -> float | None:
    """Return how well two classes are separated, if they overlap; else None."""
    is_a, is_b = codes == a, codes == b
    either = proba[:, a] + proba[:, b]
    both = is_a | is_b
    share = proba[both, b] / np.maximum(either[both], np.finfo(float).tiny)
    apart = _order_probability(share, is_b[both])
    n_a, n_b = int(is_a.sum()), int(is_b.sum())
    deviation = np.sqrt((n_a + n_b + 1) / (12 * n_a * n_b))
    if apart > APART_FROM or apart + _CERTAIN * deviation > CERTAINLY_BELOW:
        return None
    return apart if _order_probability(either, both) >= SEPARATED_FROM else None


def _order_probability(values: np.ndarray, is_high: np.ndarray) -> float:
    """Return the probability that a value of the marked rows is larger; ties count half."""
    n_high = int(is_high.sum())
    n_low = len(values) - n_high
    above = rankdata(values)[is_high].sum() - n_high * (n_high + 1) / 2
    return float(above / (n_high * n_low))
