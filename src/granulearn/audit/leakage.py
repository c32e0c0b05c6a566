"""Target leakage: columns of numbers that alone predict the classes, as no honest input does.

The rule is that of raw tables (`granulearn.tables.checks`). There it is applied to the values of
a column of few; here also to the intervals into which a column of many values is cut.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from granulearn.audit.issues import Issue
from granulearn.tables.checks import (
    MIN_ROWS,
    NEAR_SHARE,
    ROWS_PER_VALUE,
    VALUES_PER_CLASS,
    majority_classes,
)

LEAK = "target leakage"

SAMPLE = 1_024
# If more of the columns tell the classes, the task is easy.
MOST_SHARE = 0.25


def find_leaks(
    X: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    names: Sequence[str],
    sample: np.ndarray,
    sources: Sequence[str] | None = None,
) -> list[Issue]:
    """Return an issue for each column that alone tells the classes, if few columns do.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    codes : ndarray of shape (n_rows,)
        Number of the class of each row.
    classes : ndarray of shape (n_classes,)
        The classes.
    names : sequence of str
        Of the columns of X.
    sample : ndarray of int
        Rows in random order, that stand for all.
    sources : sequence of str, default=None
        The column of the table that each column of X comes from; None means itself.
    """
    sources = names if sources is None else sources
    if len(codes) < MIN_ROWS or len(set(sources)) < 2 or len(classes) < 2:
        return []
    sample = sample[:SAMPLE]
    leaking, found = set(), []
    most_leaking = max(1, MOST_SHARE * len(set(sources)))
    for column in _candidates(X[sample], codes[sample], len(classes)):
        counts = _contingency(X[:, column], codes, len(classes), sample)
        if not majority_classes(counts, (NEAR_SHARE, NEAR_SHARE))[0]:
            continue
        leaking.add(sources[column])
        if len(leaking) > most_leaking:
            return []
        share, _ = majority_classes(counts)
        if not share:
            continue
        message = (
            f"{names[column]} alone tells the class of {share:.1%} of the rows; if it is not "
            "known before the label is, leave it out."
        )
        found.append(Issue(LEAK, share, (), message, columns=(names[column],)))
    return found


def _candidates(X: np.ndarray, codes: np.ndarray, n_classes: int) -> list[int]:
    """Return the columns of a sample that may tell the classes.

    Sorted by such a column, rows of a class stand together, or rows of each value do.
    """
    n_rows = len(X)
    n_wrong = int(np.ceil(2 * (1 - NEAR_SHARE) * n_rows))
    by_label = np.argsort(codes, kind="stable")
    X, codes = X[by_label], codes[by_label]
    order = np.argsort(X, axis=0, kind="stable")
    values, labels = np.take_along_axis(X, order, axis=0), codes[order]
    new_value = values[1:] != values[:-1]
    new_label = labels[1:] != labels[:-1]
    # A change of the label within a value is a row that the value does not tell; a change
    # between two values is none if there are few values.
    n_values = 1 + new_value.sum(axis=0)
    few = n_values <= max(VALUES_PER_CLASS * n_classes, n_rows / ROWS_PER_VALUE)
    together = new_label.sum(axis=0) <= VALUES_PER_CLASS * n_classes - 1 + 2 * n_wrong
    told = (new_label & ~new_value).sum(axis=0) <= n_wrong
    return np.flatnonzero((n_values > 1) & np.where(few, told, together)).tolist()


def _contingency(
    column: np.ndarray, codes: np.ndarray, n_classes: int, sample: np.ndarray
) -> np.ndarray:
    """Return how often each value, or each interval if there are many, occurs with each class."""
    values, numbers = np.unique(column, return_inverse=True)
    if len(values) > max(VALUES_PER_CLASS * n_classes, len(column) / ROWS_PER_VALUE):
        tree = DecisionTreeClassifier(
            max_leaf_nodes=VALUES_PER_CLASS * n_classes, random_state=0
        ).fit(column[sample, None], codes[sample])
        is_split = tree.tree_.feature >= 0
        edges = np.sort(tree.tree_.threshold[is_split])
        numbers = np.searchsorted(edges, column)
    counts = np.zeros((numbers.max() + 1, n_classes), np.int64)
    np.add.at(counts, (numbers, codes), 1)
    return counts[counts.any(axis=1)]
