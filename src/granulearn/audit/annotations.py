"""Annotations as users have them, validated: one column per annotator, or one row per label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from granulearn.audit.annotators import Annotations
from granulearn.audit.validation import in_order_of
from granulearn.tables import TableError
from granulearn.utils.text import listed

LONG_COLUMNS = ("row", "annotator", "label")


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
        table = annotations[annotations["label"].notna()]
        if index is None:
            index = pd.RangeIndex(n_rows) if n_rows else pd.Index(pd.unique(table["row"]))
        rows = _rows_of(table, pd.Index(index))
        who, names = pd.factorize(table["annotator"], sort=True)
        if (who < 0).any():
            raise TableError("some annotations have no annotator; give each one a name.")
        names, labels = np.asarray(names), table["label"].to_numpy(object)
    else:
        has_names = hasattr(annotations, "columns")
        table = pd.DataFrame(in_order_of(annotations, index, "annotations"))
        index = table.index if index is None and has_names else index
        if n_rows not in (None, len(table)) or not table.columns.is_unique:
            raise TableError(
                f"annotations have {len(table)} rows and {table.columns.nunique()} names for "
                f"{table.shape[1]} columns; give one row for each of the {n_rows or len(table)} of "
                "X, and one column for each annotator, or a frame with the columns "
                f"{', '.join(LONG_COLUMNS)}."
            )
        rows, who = np.nonzero(table.notna().to_numpy())
        names, labels = np.asarray(table.columns), table.to_numpy(object)[rows, who]
    codes, classes = _numbered_labels(labels)
    n = n_rows or (len(table) if index is None else len(index))
    given = Annotations(rows, who, codes, np.ones(len(rows)), n, names, classes)
    return (given if dependent is None else _by_group(given, dependent)), index


def _rows_of(table: pd.DataFrame, index: pd.Index) -> np.ndarray:
    """Return the position of the row of each label; refuse unknown and repeated ones."""
    if not index.is_unique:
        raise TableError("rows of the same name cannot be told apart; make the index of X unique.")
    rows = index.get_indexer(pd.Index(table["row"]))
    if (rows < 0).any():
        raise TableError(
            f"{(rows < 0).sum()} annotations name rows that X does not have: "
            f"{_shown(table['row'][rows < 0])}; rows are named by the index of X, or numbered from "
            "zero."
        )
    refuse_second_labels(table["row"], table["annotator"])
    return rows


def refuse_second_labels(rows: Any, annotators: Any, source: str = "") -> None:
    """Refuse two labels by one annotator on one row.

    Parameters
    ----------
    rows, annotators : sequence
        Row and annotator of each label, by name.
    source : str, default=""
        Where the labels are from.
    """
    labels = pd.DataFrame({"row": rows, "annotator": annotators})
    twice = labels[labels.duplicated()]
    if len(twice):
        row, who = map(str, twice.iloc[0])
        raise TableError(
            f"{source}{len(twice)} labels are a second one by the same annotator on a row, first "
            f"by {who!r} on row {row!r}; keep one of them."
        )


def _numbered_labels(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels by number, and the classes; floats that are whole become whole."""
    is_text = np.array([isinstance(label, str) for label in labels], dtype=bool)
    if is_text.any() and not is_text.all():
        raise TableError(
            f"labels are texts and others, such as {labels[is_text][0]!r} and "
            f"{labels[~is_text][0]!r}; write all of them in one way."
        )
    classes, codes = np.unique(np.array(labels.tolist()), return_inverse=True)
    if len(classes) < 2:
        raise TableError(
            f"the annotations hold {len(classes)} classes ({_shown(classes)}), and there must be "
            "two or more to tell apart."
        )
    if classes.dtype.kind == "f":
        is_class = classes == np.round(classes)
        if not is_class.all():
            raise TableError(
                f"the labels hold {_shown(classes[~is_class])}: numbers that are no classes."
            )
        classes = classes.astype(int)
    return codes, classes


def _by_group(given: Annotations, groups: Any) -> Annotations:
    """Return annotations weighted by one over the annotators of the same group on the same row."""
    names = given.names.tolist()
    if not isinstance(groups, Mapping):
        if len(groups) != len(names):
            raise TableError(
                f"groups_of_annotators has {len(groups)} entries and there are {len(names)} "
                "annotators; give one for each, or a dictionary by name."
            )
        groups = dict(zip(names, groups, strict=True))
    unknown = [name for name in groups if name not in names]
    if unknown:
        raise TableError(
            f"groups_of_annotators names {_shown(unknown)}; the annotators are {_shown(names)}."
        )
    keys = [("group", groups[name]) if name in groups else ("alone", name) for name in names]
    group = pd.factorize(pd.Series(keys))[0][given.annotators]
    pairs = np.column_stack([given.rows, group])
    _, at, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    return replace(given, weights=1 / counts[at])


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
    pairs = [copies[name].map(numbers) for name in ("annotator", "other")]
    graph = coo_array((np.ones(len(copies)), pairs), shape=(len(numbers), len(numbers)))
    return _by_group(given, connected_components(graph)[1])


def _shown(values: Any) -> str:
    return listed(list(dict.fromkeys(map(repr, np.asarray(values).tolist()))), most=5)
