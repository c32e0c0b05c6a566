"""Samples as the trees of a forest need them: in an order and with numbers of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from granulearn.balls.makers import power_of_two_scale
from granulearn.balls.records import order_and_ties, repetitions


@dataclass(frozen=True, eq=False)
class ForestRows:
    """Samples in an order, and with class numbers, that depend on the samples alone.

    Trees draw rows by position and classes by number. In any other order, a
    permutation of the data or new names of its classes would give another forest.
    """

    samples: np.ndarray
    """(m,) the sample of each row; a sample of weight two has two rows."""
    columns: np.ndarray
    """(d, m) inputs, shifted and scaled."""
    codes: np.ndarray
    """(m,) class of each row, in the canonical numbers."""
    numbers: np.ndarray
    """(K,) canonical number of each class."""
    weights: np.ndarray
    """(m,) weight of each row; empty where all are one."""
    units: np.ndarray
    """(m,) number of the group that a tree sees whole or not at all; empty without groups."""
    shift: np.ndarray
    scale: float


def forest_rows(
    X, codes, n_classes, sample_weight=None, class_factor=None, groups=None
) -> ForestRows:
    """Repeat samples by their weight, and bring rows, classes and groups into canonical order."""
    samples, weights = np.arange(len(X)), np.ones(len(X))
    if sample_weight is not None:
        n_copies = repetitions(sample_weight)
        samples = np.repeat(samples, n_copies)
        weights = (sample_weight / np.maximum(n_copies, 1))[samples]
    order, numbers = canonical_order(X[samples], codes[samples], n_classes)
    units = np.empty(0, dtype=np.intp)
    if groups is not None:
        order, units = canonical_groups(X[samples], numbers[codes[samples]], groups[samples])
    samples, weights = samples[order], weights[order]
    if class_factor is not None:
        weights = weights * class_factor[codes[samples]]
    scale = power_of_two_scale(X)
    columns = np.ascontiguousarray(X[samples].T, dtype=np.float64)
    columns *= scale
    shift = columns.mean(axis=1)
    columns -= shift[:, None]
    if (weights == 1).all():
        weights = np.empty(0)
    own = numbers[codes[samples]]
    return ForestRows(samples, columns, own, numbers, weights, units, shift, scale)


def canonical_order(X, codes, n_classes) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the rows and a number for each class, whatever the classes are called.

    Rows are sorted by their values. Classes are numbered by the positions of their
    rows in that order, and equal rows are sorted by these numbers.
    """
    by_value, place = order_and_ties(X)
    own = codes[by_value]
    # Bytes of big-endian numbers compare as the sequences of numbers do.
    places = [place[own == code].astype(">i8").tobytes() for code in range(n_classes)]
    numbers = np.empty(n_classes, dtype=np.int64)
    numbers[sorted(range(n_classes), key=lambda code: places[code])] = np.arange(n_classes)
    return by_value[np.lexsort((numbers[own], place))], numbers


def canonical_groups(X, numbers, groups) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the rows, and the group of each row of it, whatever groups are called.

    Groups are numbered by the values and classes of their rows; equal rows of equal
    classes are sorted by these numbers.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    numbers : ndarray of shape (n_rows,)
        Canonical number of each row's class.
    groups : ndarray of shape (n_rows,)
        Number of each row's group, from zero.
    """
    order, place = order_and_ties(X, numbers)
    own = groups[order]
    # A stable sort keeps the rows of a group in their order.
    together = np.argsort(own, kind="stable")
    bounds = np.cumsum(np.bincount(own))[:-1]
    contents = [part.astype(">i8").tobytes() for part in np.split(place[together], bounds)]
    units = np.empty(len(contents), dtype=np.intp)
    units[sorted(range(len(contents)), key=contents.__getitem__)] = np.arange(len(contents))
    moved = np.lexsort((units[own], place))
    return order[moved], units[own[moved]]


def class_by_class(X: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the canonical order of the rows, the rows of each class together.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    codes : ndarray of shape (n_rows,)
        Class of each row.
    n_classes : int
        Number of classes.
    """
    order, numbers = canonical_order(X, codes, n_classes)
    return order[np.argsort(numbers[codes[order]], kind="stable")]
