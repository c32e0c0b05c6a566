"""Rows whose inputs are far from all others.

A row is compared with a few hundred rows of the table. What counts is its distance to the
nearest of them, half absolute and half relative to how far apart these are: a row of a
sparse class is no stranger than its neighbours, and a row near a dense one is no outlier for
being a little outside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from granulearn.audit.embedding import DEVIATIONS, EmbeddedRows
from granulearn.audit.ratings import Issue, named_rows, worst_first

OUTLIER = "outlier"
OUTLIER_FROM = 0.5
"""A row of a larger score is an outlier."""

# The farthest twentieth of the rows begins at the second of these quantiles. An outlier lies
# beyond it by twice its distance from the first, which holds for tails as heavy as Pareto's.
_TYPICAL, _FAR = 0.75, 0.95
_BEYOND = 2.0
# The least that the two may differ by, as rows of few different values all lie alike.
_LEAST_SPREAD = 0.05
_STEEPNESS = 1.5
# Fewer rows do not show what is typical.
FEWEST_ROWS = 20
# Neighbours that are copies of each other do not make a row infinitely far from them.
_LEAST_LOCAL = 0.1


@dataclass(frozen=True, eq=False)
class OutlierRule:
    """What is typical in a table, by which any row has a score."""

    of_references: np.ndarray
    """(m,) how far each reference is from others; empty where nothing can be called an outlier."""
    edge: float = 0.0
    spread: float = 1.0

    def scores(self, nearest: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Return outlier scores of rows, from 0 to 1; a row above 0.5 is an outlier.

        Parameters
        ----------
        nearest, distances : ndarray of shape (n_rows, k)
            The nearest references of each row, and how far they are.
        """
        if len(self.of_references) == 0:
            return np.zeros(len(nearest))
        far = self.log_distance(nearest, distances)
        return expit(_STEEPNESS * (far - self.edge - _BEYOND * self.spread) / self.spread)

    def log_distance(self, nearest: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Return how far rows are from the references near them, in logarithms."""
        local = np.median(self.of_references[nearest], axis=1)
        with np.errstate(divide="ignore"):
            return np.log(distances[:, -1]) - 0.5 * np.log(local)


def fit_outlier_rule(rows: EmbeddedRows) -> OutlierRule:
    """Return what is typical among the rows of a table.

    Parameters
    ----------
    rows : EmbeddedRows
        All rows.
    """
    of_references = rows.distances[rows.sample[: rows.gaps.shape[1]], -1]
    positive = of_references[of_references > 0]
    # Where nearly all rows are copies, they do not say how far apart others may be.
    if len(rows.points) < FEWEST_ROWS or len(positive) == 0:
        return OutlierRule(np.empty(0))
    rule = OutlierRule(np.maximum(of_references, _LEAST_LOCAL * np.median(positive)))
    far = rule.log_distance(rows.nearest[rows.sample], rows.distances[rows.sample])
    far = np.maximum(far, np.min(far[np.isfinite(far)]))
    typical, edge = np.quantile(far, [_TYPICAL, _FAR])
    return replace(rule, edge=float(edge), spread=max(float(edge - typical), _LEAST_SPREAD))


def outlier_scores(rows: EmbeddedRows) -> np.ndarray:
    """Return how far the inputs of each row are from those of all others.

    Labels do not matter, nor do units of columns and their correlation.

    Parameters
    ----------
    rows : EmbeddedRows
        All rows.

    Returns
    -------
    ndarray of shape (n_rows,)
        From 0 to 1; a row above 0.5 is an outlier. All are 0 if there are fewer than 20 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.audit.embedding import embed_rows
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> X[7, 2] = 60  # a slip of the keyboard
    >>> np.flatnonzero(outlier_scores(embed_rows(X)) > 0.5)
    array([7])
    """
    return fit_outlier_rule(rows).scores(rows.nearest, rows.distances)


def find_outliers(
    X: np.ndarray, rows: EmbeddedRows, names: list[str], positions: np.ndarray | None = None
) -> list[Issue]:
    """Return an issue for each outlier.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    rows : EmbeddedRows
        The rows of X.
    names : list of str
        Of the columns of X.
    positions : ndarray of shape (n_rows,), default=None
        Number by which a reader finds each row.
    """
    scores = outlier_scores(rows)
    found = []
    for row in np.flatnonzero(scores > OUTLIER_FROM).tolist():
        # Halved: the difference of two huge numbers would overflow.
        away = np.abs(X[row] / 2 - rows.embedding.medians / 2) / (rows.embedding.scales / 2)
        worst = int(away.argmax())
        where = "by its inputs taken together"
        columns: tuple[str, ...] = ()
        if away[worst] > DEVIATIONS:
            columns = (names[worst],)
            where = f"most of all in {names[worst]}"
        message = (
            f"{named_rows([row], positions).capitalize()} is far from all others, {where}; "
            "check its inputs before its label."
        )
        found.append(Issue(OUTLIER, float(scores[row]), (row,), message, columns))
    return worst_first(found, "{n} more rows are far from all others; check their inputs too.")
