"""Rows whose inputs are far from all others.

A row is compared with a few hundred rows of the table. What counts is its distance to the
nearest of them, taken half as it is and half in units of how far apart these are: a row of a
sparse class is no stranger than its neighbours, and a row near a dense one is no outlier for
being a little outside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_array

from granulearn.audit.embedding import DEVIATIONS, Places, place
from granulearn.audit.issues import Issue, named_rows, worst_first

OUTLIER = "outlier"
OUTLIER_FROM = 0.5
"""A row of a larger outlier_scores is an outlier."""

# The farthest twentieth of the rows begins at the second of these shares. Strange is what lies
# beyond it by twice its distance from the first, which holds for tails as heavy as Pareto's.
_USUAL, _FAR = 0.75, 0.95
_BEYOND = 2.0
# The least that the two may differ by, as rows of few different values all lie alike.
_LEAST_SPREAD = 0.05
_STEEPNESS = 1.5
# Among fewer rows nobody knows what is usual.
FEWEST_ROWS = 20
# Neighbours that are copies of each other do not make a row infinitely far from them.
_LEAST_LOCAL = 0.1


def outlier_scores(X: Any, n_threads: int = 1) -> np.ndarray:
    """Return how far the inputs of each row are from those of all others.

    Labels have no say. Units of columns and their correlation do not matter, nor does the
    order of the rows.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs.
    n_threads : int, default=1
        Threads; they change no result.

    Returns
    -------
    ndarray of shape (n_rows,)
        From 0 to 1; a row above 0.5 is an outlier. All are 0 if there are fewer than 20 rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> X[7, 2] = 60  # a slip of the keyboard
    >>> np.flatnonzero(outlier_scores(X) > 0.5)
    array([7])
    """
    X = check_array(X, dtype=np.float64, estimator="outlier_scores")
    return outlier_scores_of(place(X, n_threads))


def outlier_scores_of(places: Places) -> np.ndarray:
    """Return the outlier_scores of rows whose places are known.

    Parameters
    ----------
    places : Places
        Of all rows.
    """
    rule = rule_of_places(places)
    if rule is None:
        return np.zeros(len(places.points))
    return rule.scores(places.nearest, places.distances)


@dataclass(frozen=True, eq=False)
class OutlierRule:
    """What is usual in a table, so that the outlier_scores of any of its rows can be told."""

    of_references: np.ndarray
    """(m,) how far each reference is from others."""
    least_local: float
    edge: float
    spread: float

    def far(self, nearest: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Return how far rows are from the references near them, in logarithms.

        Parameters
        ----------
        nearest, distances : ndarray of shape (n_rows, k)
            The nearest references of each row, and how far they are.
        """
        local = np.median(self.of_references[nearest], axis=1)
        local = np.maximum(local, self.least_local)
        farthest = distances[:, -1].copy()  # not a column of an array, see `sure_regions`
        with np.errstate(divide="ignore"):
            return np.log(farthest) - 0.5 * np.log(local)

    def scores(self, nearest: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Return the outlier_scores of rows.

        Parameters
        ----------
        nearest, distances : ndarray of shape (n_rows, k)
            The nearest references of each row, and how far they are.
        """
        far = self.far(nearest, distances)
        return expit(_STEEPNESS * (far - self.edge - _BEYOND * self.spread) / self.spread)


def rule_of_places(places: Places) -> OutlierRule | None:
    """Return what is usual among rows; None where nothing can be called an outlier.

    Parameters
    ----------
    places : Places
        Of all rows.
    """
    away = places.distances[:, -1]
    of_references = away[places.references]
    positive = of_references[of_references > 0]
    # Where nearly all rows are copies, they do not say how far apart others may be.
    if len(away) < FEWEST_ROWS or len(positive) == 0:
        return None
    rule = OutlierRule(of_references, _LEAST_LOCAL * float(np.median(positive)), 0.0, 1.0)
    far = rule.far(places.nearest[places.typical], places.distances[places.typical])
    known = np.where(np.isfinite(far), far, np.min(far[np.isfinite(far)]))
    usual, edge = np.quantile(known, [_USUAL, _FAR])
    return replace(rule, edge=float(edge), spread=max(float(edge - usual), _LEAST_SPREAD))


def is_outlier(places: Places) -> np.ndarray:
    """Return where rows are far from all others.

    Parameters
    ----------
    places : Places
        Of all rows.
    """
    return outlier_scores_of(places) > OUTLIER_FROM


def find_outliers(
    X: np.ndarray, places: Places, names: list[str], positions: np.ndarray | None = None
) -> list[Issue]:
    """Return an issue for each outlier.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    places : Places
        Of the rows of X.
    names : list of str
        Of the columns of X.
    positions : ndarray of shape (n_rows,), default=None
        Number by which a reader finds each row.
    """
    scores = outlier_scores_of(places)
    found = []
    for row in np.flatnonzero(scores > OUTLIER_FROM).tolist():
        away = np.abs(X[row] / 2 - places.middles / 2) / (places.widths / 2)
        worst = int(away.argmax())
        where = "by its inputs taken together"
        columns: tuple[str, ...] = ()
        if away[worst] > DEVIATIONS:
            columns = (names[worst],)
            where = f"most of all in {names[worst]}"
        words = (
            f"{named_rows([row], positions).capitalize()} is far from all others, {where}; "
            "check its inputs before its label."
        )
        found.append(Issue(OUTLIER, float(scores[row]), (row,), words, columns))
    return worst_first(found, "{n} more rows are far from all others; check their inputs too.")
