"""Checks beside single labels: all that can be said of a table once its labels are rated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array

from granulearn.audit.class_overlap import find_overlaps
from granulearn.audit.embedding import Places, place
from granulearn.audit.issues import Issue
from granulearn.audit.near_duplicates import close_rows, find_contradictions, find_shared
from granulearn.audit.outliers import find_outliers
from granulearn.audit.ratings import Ratings
from granulearn.audit.scan_statistic import find_blocks

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.audit.explanation import FeatureName


def find_issues(
    X: Any,
    ratings: Ratings,
    *,
    groups: Any = None,
    names: Sequence[FeatureName] | None = None,
    positions: Any = None,
    places: Places | None = None,
    n_threads: int = 1,
) -> list[Issue]:
    """Return what a person should look at beside single labels, the worst first.

    Nothing is fitted again: labels were rated, and what is left is to compare rows.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The inputs that were audited.
    ratings : Ratings
        What the audit says about each label.
    groups : array-like of shape (n_rows,), default=None
        Group of each row, such as a patient or the part of a split; equal rows in two groups
        are reported. None means that there are no groups.
    names : sequence of str or tuple, default=None
        Names of the features; (column, category) for one of zeros and ones. None numbers them.
    positions : array-like of shape (n_rows,), default=None
        Where each row stands in its file, which is also how it is named; None means in the
        order they have, from 0.
    places : Places, default=None
        Where the rows lie, if that is known already.
    n_threads : int, default=1
        Threads; they change no result.

    Returns
    -------
    list of Issue
        Of the kinds "contradictory copies", "copies across groups", "outlier",
        "overlapping classes", "doubtful block" and "giveaway column".

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.audit import LabelAudit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> X[7], y[7] = X[3], 1 - y[3]  # one of the two is wrong
    >>> X[11, 2] = 200  # two digits too many
    >>> audit = LabelAudit(random_state=0).fit(X, y)
    >>> for issue in find_issues(X, audit.ratings_, names=["age", "height", "weight"]):
    ...     print(issue.kind, issue.rows)
    outlier (11,)
    contradictory copies (3, 7)
    """
    X = check_array(X, dtype=np.float64, estimator="find_issues")
    n_rows = len(X)
    _check_length("ratings", len(ratings.given), n_rows)
    positions = _checked(positions, "positions", n_rows)
    groups = _checked(groups, "groups", n_rows)
    if names is None:
        names = [f"column {j}" for j in range(X.shape[1])]
    if len(names) != X.shape[1]:
        raise ValueError(f"names has {len(names)} names, and X has {X.shape[1]} columns.")
    shown = [name if isinstance(name, str) else f"{name[0]} = {name[1]}" for name in names]
    sources = [name if isinstance(name, str) else name[0] for name in names]
    places = place(X, n_threads) if places is None else places
    close = close_rows(places)
    found = find_contradictions(close, ratings.believed, ratings.classes, positions)
    if groups is not None:
        found += find_shared(close, groups, positions)
    found += find_outliers(X, places, shown, positions)
    found += find_overlaps(ratings)
    found += find_blocks(ratings, positions)
    # Imported when it is used: it brings what reads tables along.
    from granulearn.audit.leakage import find_leaks

    found += find_leaks(X, ratings.believed, ratings.classes, shown, places.order, sources)
    return sorted(found, key=lambda issue: -issue.score)


def issues_frame(issues: Sequence[Issue]) -> pd.DataFrame:
    """Return issues as a frame, one row for each.

    Parameters
    ----------
    issues : sequence of Issue
        What was found.

    Returns
    -------
    DataFrame
        Columns ``kind``, ``score``, ``rows``, ``columns``, ``classes`` and ``words``.
    """
    import pandas as pd

    order = ["kind", "score", "rows", "columns", "classes", "words"]
    return pd.DataFrame(
        [[getattr(issue, name) for name in order] for issue in issues], columns=order
    )


def _checked(values: Any, name: str, n_rows: int) -> np.ndarray | None:
    if values is None:
        return None
    values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"{name} must have one value per row, and has shape {values.shape}.")
    _check_length(name, len(values), n_rows)
    return values


def _check_length(name: str, found: int, n_rows: int) -> None:
    if found != n_rows:
        raise ValueError(f"{name} are of {found} rows, and X has {n_rows}; pass the same rows.")
