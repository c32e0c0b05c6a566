"""Classes that the inputs do not separate, though they separate both from the others."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from granulearn.audit.ratings import Issue, Ratings, percent

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
# Only classes that are at least this probable for rows of the other one, relative to its own rows,
# are compared: a table may have thousands of pairs.
_LEAST_CONFUSED = 0.5


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
    ...                   nothing, nothing, codes, nothing, nothing, nothing)
    >>> [issue.classes for issue in find_overlaps(ratings)]
    [('dog', 'puppy')]
    """
    known = ~np.isnan(ratings.proba).any(axis=1)
    proba, codes = ratings.proba[known], ratings.given[known]
    n_classes = proba.shape[1]
    counts = np.bincount(codes, minlength=n_classes)
    if n_classes < 3 or len(codes) == 0:
        return []
    means = np.zeros((n_classes, n_classes))
    enough = counts >= FEWEST_ROWS
    for k in np.flatnonzero(enough):
        means[k] = proba[codes == k].mean(axis=0)
    confused = means >= _LEAST_CONFUSED * means.diagonal()
    pairs = np.argwhere(np.triu(confused & confused.T & enough & enough[:, None], 1))
    found = []
    for a, b in pairs.tolist():
        apart = _separation(proba, codes, a, b)
        if apart is None:
            continue
        score = 1 - 0.5 * max(apart - 0.5, 0) / (APART_FROM - 0.5)
        names = tuple(ratings.classes[[a, b]].tolist())
        how = f"right {percent(apart)} of the time for a row of each, and guessing is right 50 %"
        message = (
            f"The inputs separate {names[0]} and {names[1]} from all others but hardly from each "
            f"other ({how if apart > 0.5 else 'no better than guessing'}); "
            "if they mean the same, make them one class, else add an input that separates them."
        )
        found.append(Issue(OVERLAP, score, (), message, classes=names))
    return sorted(found, key=lambda issue: -issue.score)


def _separation(proba: np.ndarray, codes: np.ndarray, a: int, b: int) -> float | None:
    """Return how well two classes are separated, if they overlap; else None."""
    is_a, is_b = codes == a, codes == b
    either = proba[:, a] + proba[:, b]
    both = is_a | is_b
    share = proba[both, b] / np.maximum(either[both], np.finfo(float).tiny)
    apart = float(roc_auc_score(is_b[both], share))
    n_a, n_b = int(is_a.sum()), int(is_b.sum())
    deviation = np.sqrt((n_a + n_b + 1) / (12 * n_a * n_b))
    if apart > APART_FROM or apart + _CERTAIN * deviation > CERTAINLY_BELOW:
        return None
    if both.all() or roc_auc_score(both, either) < SEPARATED_FROM:
        return None
    return apart
