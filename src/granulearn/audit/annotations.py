"""Annotations as users have them, validated: one column per annotator, or one row per label."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from granulearn.audit.annotators import Annotations
from granulearn.audit.validation import in_order_of
from granulearn.utils.text import counted, listed

LONG_COLUMNS = ("row", "annotator", "label")
FEW_LABELS = 5
LEAST_INFORMATION = 0.04


def read_annotations(
    annotations: Any, index: Any = None, n_rows: int | None = None, dependent: Any = None
) -> tuple[Annotations, Any]:
    """Return annotations by number, and the names of the rows.

    Parameters
    ----------
    annotations : DataFrame or array-like of shape (n_rows, n_annotators)
        One column per annotator, missing where they gave no label; or a frame with the columns
        ``row``, ``annotator`` and ``label``, one row per label.
    index : sequence, default=None
        Names of the rows of the inputs; None means that they are numbered from zero.
    n_rows : int, default=None
        Number of rows of the inputs; None takes the rows of the annotations.
    dependent : mapping or sequence, default=None
        Group of some annotators by name, or of all in their order: a group counts as one
        annotator on each row.
    """
    if set(LONG_COLUMNS) == set(getattr(annotations, "columns", ())):
        rows, names, who, labels, index = _from_long(annotations, index, n_rows)
    else:
        rows, names, who, labels, index = _from_wide(annotations, index, n_rows)
    n_rows = n_rows or len(index if index is not None else annotations)
    codes, classes = _numbered_labels(labels)
    if len(classes) < 2:
        found = f"only one class ({classes.tolist()[0]!r})" if len(classes) else "no label"
        raise ValueError(
            f"the annotations hold {found}, and there must be two classes or more to tell apart."
        )
    weights = _weights(rows, who, names, dependent)
    return Annotations(rows, who, codes, weights, n_rows, names, classes), index


def _from_wide(table: Any, index: Any, n_rows: int | None):
    if hasattr(table, "columns"):
        table = in_order_of(table, index, "annotations")
        index, names = table.index if index is None else index, np.asarray(table.columns)
        if not table.columns.is_unique:
            raise ValueError("two columns of annotations have one name; name each annotator.")
    else:
        table = np.asarray(table, dtype=None)
        if table.ndim != 2:
            raise ValueError(
                f"annotations have the shape {table.shape}; give one column per annotator, or a "
                f"frame with the columns {', '.join(LONG_COLUMNS)}."
            )
        names = np.arange(table.shape[1])
        table = pd.DataFrame(table)
    if n_rows is not None and len(table) != n_rows:
        raise ValueError(
            f"annotations have {len(table)} rows and X has {n_rows}; give one row for each, with "
            "missing cells where an annotator was not asked."
        )
    rows, who = np.nonzero(table.notna().to_numpy())
    return rows, names, who, table.astype(object).to_numpy()[rows, who], index


def _from_long(table: pd.DataFrame, index: Any, n_rows: int | None):
    table = table[table["label"].notna()]
    if index is None:
        index = pd.RangeIndex(n_rows) if n_rows else pd.Index(pd.unique(table["row"]), name="row")
    index = pd.Index(index)
    if not index.is_unique:
        raise ValueError("rows of the same name cannot be told apart; make the index of X unique.")
    rows = index.get_indexer(table["row"])
    if (rows < 0).any():
        unknown = list(dict.fromkeys(map(repr, table["row"][rows < 0].tolist())))
        raise ValueError(
            f"{(rows < 0).sum()} annotations name rows that X does not have: "
            f"{listed(unknown, most=5)}; rows are named by the index of X, or numbered from zero."
        )
    if table["annotator"].isna().any():
        raise ValueError("some annotations have no annotator; give each one a name.")
    who, names = pd.factorize(table["annotator"], sort=True)
    twice = np.flatnonzero(pd.Series(rows * len(names) + who).duplicated())
    if len(twice):
        first = table.iloc[twice[0]]
        raise ValueError(
            f"{len(twice)} labels are a second one by the same annotator on a row, first by "
            f"{str(first['annotator'])!r} on row {str(first['row'])!r}; keep one of them."
        )
    return rows, np.asarray(names), who, table["label"].to_numpy(object), index


def _numbered_labels(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels by number, and the classes; floats that are whole become whole."""
    is_text = np.array([isinstance(label, str) for label in labels], dtype=bool)
    if is_text.any() and not is_text.all():
        raise ValueError(
            f"labels are texts and others, such as {labels[is_text][0]!r} and "
            f"{labels[~is_text][0]!r}; write all of them in one way."
        )
    classes, codes = np.unique(np.array(labels.tolist()), return_inverse=True)
    if classes.dtype.kind == "f":
        if not np.isfinite(classes).all() or (classes != np.round(classes)).any():
            raise ValueError(
                f"the labels hold numbers such as {classes[classes != np.round(classes)][0]:g}, "
                "which are no classes."
            )
        classes = classes.astype(int)
    return codes, classes


def _weights(rows: np.ndarray, who: np.ndarray, names: np.ndarray, dependent: Any) -> np.ndarray:
    """Return one over the number of annotators of the same group on the same row."""
    if dependent is None:
        return np.ones(len(rows))
    if not isinstance(dependent, Mapping):
        if len(dependent) != len(names):
            raise ValueError(
                f"groups_of_annotators has {len(dependent)} entries and there are {len(names)} "
                "annotators; give one for each, or a dictionary by name."
            )
        dependent = dict(zip(names.tolist(), dependent, strict=True))
    unknown = [repr(name) for name in dependent if name not in set(names.tolist())]
    if unknown:
        raise ValueError(
            f"groups_of_annotators names {listed(unknown, most=5)}; the annotators are "
            f"{listed([repr(name) for name in names.tolist()], most=5)}."
        )
    keys = [("group", dependent[n]) if n in dependent else ("alone", n) for n in names.tolist()]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    group = np.array([numbers[key] for key in keys])[who]
    _, at, counts = np.unique(rows * len(numbers) + group, return_inverse=True, return_counts=True)
    return 1 / counts[at]


def counted_once(given: Annotations, copies: pd.DataFrame) -> Annotations:
    """Return annotations with annotators of found pairs as groups.

    Parameters
    ----------
    given : Annotations
        The labels.
    copies : DataFrame
        Pairs: ``annotator`` and ``other``.
    """
    numbers = {name: number for number, name in enumerate(given.names.tolist())}
    A, pairs = len(numbers), [copies[name].map(numbers) for name in ("annotator", "other")]
    groups = connected_components(coo_array((np.ones(len(copies)), pairs), shape=(A, A)))[1]
    return replace(given, weights=_weights(given.rows, given.annotators, given.names, groups))


def warn_of_annotations(given: Annotations, is_fixed: np.ndarray) -> None:
    """Warn of what no estimate can make up for.

    Parameters
    ----------
    given : Annotations
        The labels.
    is_fixed : ndarray of shape (n_rows,)
        True for verified rows.
    """
    if given.n_labels.max() < 2 and not is_fixed.any():
        warnings.warn(
            "no row has two labels, so annotators are compared by the inputs alone; ask for a "
            "second label of some rows.",
            UserWarning,
            stacklevel=4,
        )
    counts = np.bincount(given.annotators, minlength=len(given.names))
    few = given.names[counts < FEW_LABELS].tolist()
    if few:
        warnings.warn(
            f"{counted(len(few), 'annotator')} gave fewer than {FEW_LABELS} labels "
            f"({listed([repr(name) for name in few], most=5)}); they count as typical ones.",
            UserWarning,
            stacklevel=4,
        )
