"""Target leakage: columns of numbers that alone predict the classes, as no honest input does.

The rule is that of raw tables (`granulearn.tables.checks`). There it is applied to the values of
a column of few; here also to the intervals into which a column of many values is cut.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from granulearn.audit.ratings import Issue
from granulearn.tables.checks import (
    MIN_ROWS,
    NEAR_SHARE,
    ROWS_PER_VALUE,
    VALUES_PER_CLASS,
    majority_classes,
)

LEAK = "target leakage"

# Rows by which columns are judged; more say nothing new.
SAMPLE = 5_000
# If more of the columns predict the classes, the task is easy.
MOST_SHARE = 0.25


def find_leaks(
    X: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    names: Sequence[str],
    sample: np.ndarray,
    sources: Sequence[str],
) -> list[Issue]:
    """Return an issue for each column that alone predicts the classes, if few columns do.

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
    sources : sequence of str
        The column of the table that each column of X comes from.
    """
    if len(codes) < MIN_ROWS or len(set(sources)) < 2 or len(classes) < 2:
        return []
    X, codes = X[sample[:SAMPLE]], codes[sample[:SAMPLE]]
    leaking, found = set(), []
    for column, values in enumerate(X.T):
        counts = _contingency(values, codes, len(classes))
        if not majority_classes(counts, (NEAR_SHARE, NEAR_SHARE))[0]:
            continue
        leaking.add(sources[column])
        if len(leaking) > max(1, MOST_SHARE * len(set(sources))):
            return []
        share, _ = majority_classes(counts)
        if not share:
            continue
        message = (
            f"{names[column]} alone predicts the class of {100 * share:.1f} % of the rows; if it "
            "is not known before the label is, leave it out."
        )
        found.append(Issue(LEAK, share, (), message, columns=(names[column],)))
    return found


def _contingency(values: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how often each value occurs with each class; intervals stand for many values."""
    distinct, numbers = np.unique(values, return_inverse=True)
    most = VALUES_PER_CLASS * n_classes
    if len(distinct) > max(most, len(values) / ROWS_PER_VALUE):
        tree = DecisionTreeClassifier(max_leaf_nodes=most, random_state=0)
        numbers = tree.fit(values[:, None], codes).apply(values[:, None])
    counts = np.zeros((numbers.max() + 1, n_classes), np.int64)
    np.add.at(counts, (numbers, codes), 1)
    return counts[counts.any(axis=1)]
