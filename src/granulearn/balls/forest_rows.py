"""Samples as the trees of a forest need them: in an order and with numbers of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from granulearn.balls.ball_set import power_of_two_scale
from granulearn.balls.keyed_tables import KeyedTable, TableFrame
from granulearn.balls.narrow_tables import NarrowTable, narrow_table
from granulearn.utils.validation import repetitions


@dataclass(frozen=True, eq=False)
class ForestRows:
    """Samples in an order, and with class numbers, that depend on the samples alone.

    Trees draw rows by position and classes by number. In any other order, a
    permutation of the data or new names of its classes would give another forest.
    """

    samples: np.ndarray
    """(m,) the sample of each row; a sample of weight two has two rows."""
    plain: np.ndarray
    """(p, m) features of more than two values, shifted and scaled."""
    marked: np.ndarray
    """(c, m) codes of the others, as in `NarrowTable`."""
    table: NarrowTable
    """Says where a feature is; its values are as they came."""
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
    keys: np.ndarray
    """(m,) keys by which trees draw rows of a large table; empty where they draw by place."""

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.shift)

    def columns(self, drawn: np.ndarray):
        """Return the features of some rows, side by side, as the compiled loops want them."""
        from granulearn.balls._column_kernels import Columns

        return Columns(
            np.take(self.plain, drawn, axis=1),
            np.take(self.marked, drawn, axis=1),
            self.table.places,
            self.table.marks,
            self.table.lows * self.scale - self.shift,
            self.table.highs * self.scale - self.shift,
        )


def forest_rows(
    X, codes, n_classes, sample_weight=None, class_factor=None, groups=None, keyed=None
) -> ForestRows:
    """Repeat samples by their weight, and bring rows, classes and groups into canonical order.

    Rows of a keyed table stay where they are: a tree draws them by their keys.
    """
    table = narrow_table(X)
    if keyed is not None:
        return _keyed_rows(table, codes, sample_weight, class_factor, keyed)
    n_copies, weights = None, np.ones(len(table))
    if sample_weight is not None:
        n_copies = repetitions(sample_weight)
        weights = sample_weight / np.maximum(n_copies, 1)
    samples, numbers = canonical_order(table, codes, n_classes, n_copies)
    units = np.empty(0, dtype=np.intp)
    if groups is not None:
        samples, units = canonical_groups(table, numbers[codes], groups, n_copies)
    weights = weights[samples]
    if class_factor is not None:
        weights = weights * class_factor[codes[samples]]
    if (weights == 1).all():
        weights = np.empty(0)
    scale = power_of_two_scale(np.array(table.extremes(), table.plain.dtype))
    plain = np.ascontiguousarray(table.plain[samples].T, dtype=np.float64)
    marked = np.ascontiguousarray(table.codes[samples].T)
    plain *= scale
    shift = np.empty(table.n_features)
    means = plain.mean(axis=1)
    plain -= means[:, None]
    shift[table.marks == 0] = means[table.places[table.marks == 0]]
    for feature in np.flatnonzero(table.marks):
        is_on = marked[table.places[feature]] == table.marks[feature]
        shift[feature] = (scale * np.where(is_on, table.highs[feature], table.lows[feature])).mean()
    own = numbers[codes[samples]]
    return ForestRows(
        samples, plain, marked, table, own, numbers, weights, units, shift, scale,
        keys=np.empty(0, np.uint64),
    )  # fmt: skip


def _keyed_rows(table, codes, sample_weight, class_factor, keyed: KeyedTable) -> ForestRows:
    keys = keyed.keys
    samples = keys.rows if len(keys.rows) else np.arange(len(table))
    weights = np.ones(len(table))
    if sample_weight is not None:
        weights = sample_weight / np.maximum(repetitions(sample_weight), 1)
    weights = weights[samples]
    if class_factor is not None:
        weights = weights * class_factor[codes[samples]]
    if (weights == 1).all():
        weights = np.empty(0)
    if len(keys.rows):
        table_rows = replace(table, plain=table.plain[samples], codes=table.codes[samples])
    else:
        table_rows = table
    return rows_in_place(table_rows, codes[samples], weights, keyed.frame, samples, keys.keys)


def rows_in_place(
    table: NarrowTable,
    codes: np.ndarray,
    weights: np.ndarray,
    frame: TableFrame,
    samples: np.ndarray,
    keys: np.ndarray,
) -> ForestRows:
    """Return rows of a large table, all or some, as a tree needs them, in the order they have.

    Parameters
    ----------
    table : NarrowTable
        Their inputs.
    codes : ndarray of shape (n_rows,)
        Class of each.
    weights : ndarray of shape (n_rows,)
        Weight of each; empty where all weights of the whole table are one.
    frame : TableFrame
        What all rows share.
    samples : ndarray of shape (n_rows,)
        The sample that each row is of.
    keys : ndarray of shape (n_rows,)
        Key of each row.
    """
    plain = np.multiply(table.plain.T, frame.scale, order="C", dtype=np.float64)
    marked = np.ascontiguousarray(table.codes.T)
    features = np.flatnonzero(table.marks == 0)
    shift = np.empty(len(plain))
    shift[table.places[features]] = frame.shift[features]
    plain -= shift[:, None]
    own = frame.numbers[codes]
    units = np.empty(0, dtype=np.intp)
    return ForestRows(
        samples, plain, marked, table, own, frame.numbers, weights, units, frame.shift,
        frame.scale, keys,
    )  # fmt: skip


def canonical_order(X, codes, n_classes, n_copies=None) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the rows and a number for each class, whatever the classes are called.

    Rows are sorted by their values. Classes are numbered by the positions of their
    rows in that order, and equal rows are sorted by these numbers.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features) or NarrowTable
        Inputs.
    codes : ndarray of shape (n_rows,)
        Class of each row.
    n_classes : int
        Number of classes.
    n_copies : ndarray of shape (n_rows,), default=None
        How often each row comes, maybe never; None means once.
    """
    by_value, place = _with_copies(*narrow_table(X).value_order, n_copies)
    own = codes[by_value]
    # Bytes of big-endian numbers compare as the sequences of numbers do.
    places = [place[own == code].astype(">i8").tobytes() for code in range(n_classes)]
    numbers = np.empty(n_classes, dtype=np.int64)
    numbers[sorted(range(n_classes), key=lambda code: places[code])] = np.arange(n_classes)
    return by_value[np.lexsort((numbers[own], place))], numbers


def _with_copies(order, place, n_copies) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of rows, and their places, in which every row comes as often as it should."""
    if n_copies is None:
        return order, place
    times = n_copies[order]
    return np.repeat(order, times), np.repeat(place, times)


def canonical_groups(X, numbers, groups, n_copies=None) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the rows, and the group of each row of it, whatever groups are called.

    Groups are numbered by the values and classes of their rows; equal rows of equal
    classes are sorted by these numbers.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features) or NarrowTable
        Inputs.
    numbers : ndarray of shape (n_rows,)
        Canonical number of each row's class.
    groups : ndarray of shape (n_rows,)
        Number of each row's group, from zero.
    n_copies : ndarray of shape (n_rows,), default=None
        How often each row comes, maybe never; None means once.
    """
    order, place = refined_order(narrow_table(X), numbers)
    order, place = _with_copies(order, place, n_copies)
    own = groups[order]
    # A stable sort keeps the rows of a group in their order.
    together = np.argsort(own, kind="stable")
    bounds = np.cumsum(np.bincount(own))[:-1]
    contents = [part.astype(">i8").tobytes() for part in np.split(place[together], bounds)]
    units = np.empty(len(contents), dtype=np.intp)
    units[sorted(range(len(contents)), key=contents.__getitem__)] = np.arange(len(contents))
    moved = np.lexsort((units[own], place))
    return order[moved], units[own[moved]]


def refined_order(table: NarrowTable, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order by values and then by numbers, and places that equal rows share.

    Parameters
    ----------
    table : NarrowTable
        Inputs.
    numbers : ndarray of shape (n_rows,)
        One for each row.
    """
    order, place = table.value_order
    moved = np.lexsort((numbers[order], place))
    order, place = order[moved], place[moved]
    own = numbers[order]
    differs = np.ones(len(order), dtype=bool)
    differs[1:] = (place[1:] != place[:-1]) | (own[1:] != own[:-1])
    return order, np.maximum.accumulate(np.where(differs, np.arange(len(order)), 0))


def class_by_class(X, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the canonical order of the rows, the rows of each class together.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features) or NarrowTable
        Inputs.
    codes : ndarray of shape (n_rows,)
        Class of each row.
    n_classes : int
        Number of classes.
    """
    order, numbers = canonical_order(X, codes, n_classes)
    return order[np.argsort(numbers[codes[order]], kind="stable")]
