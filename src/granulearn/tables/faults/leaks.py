"""Columns that alone give the target away: a copy of it, a code of it, or their being filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from granulearn.tables.labels.label_survey import label_key

# A value with its label, and the rows that have both; the value None is a missing cell.
Contingency = Mapping[tuple[float | str | None, str], int]

# What must be right of all rows, and of each class on average, to say that a column names the
# class. The second keeps a class of one row in a thousand from being overlooked.
MIN_SHARE = 0.995
MIN_BALANCED_SHARE = 0.99
# What must be right, of all rows and of each class, for a column to be worth a word. Of some 200
# public tables, five have such a column that is honest.
NEAR_SHARE = 0.97
# Fewer rows than this can agree by chance.
MIN_ROWS = 20
# A leak that is missing in most rows still decides the others.
MIN_KNOWN = 0.2
# A value that occurs once names any class; a few of them among many others do no harm.
MIN_REPEATED = 0.9
# Twenty values of twenty rows each may name three classes, two hundred of two rows may not.
VALUES_PER_CLASS = 2
ROWS_PER_VALUE = 10


@dataclass(frozen=True)
class Leak:
    """A column that gives the target away."""

    name: str
    share: float
    """Of the rows that the column speaks about, those whose class it names."""
    how: str
    """"copy": its cells are the labels; "code": each value stands for a class; "filled": whether
    a cell is missing tells the class, at least for some of the classes."""


def find_leak(name: str, counts: Contingency) -> Leak | None:
    """Return the leak that a column is, or None.

    Parameters
    ----------
    name : str
        The column.
    counts : mapping of pairs to int
        How often each of its values occurs with each label.
    """
    labelled = sum(counts.values())
    known = {pair: rows for pair, rows in counts.items() if pair[0] is not None}
    if sum(known.values()) >= MIN_KNOWN * labelled:
        named = _named(known)
        if named is not None:
            share, majority = named
            copy = all(label_key(_text(value)) == label_key(label) for value, label in majority)
            return Leak(name, share, "copy" if copy else "code")
    named = _named(counts) if len(known) < len(counts) else None
    return None if named is None else Leak(name, named[0], "filled")


def near_share(counts: Contingency) -> float | None:
    """Return how many of a column's cells name the class, if that is nearly a leak; else None.

    Parameters
    ----------
    counts : mapping of pairs to int
        How often each of its values occurs with each label.
    """
    known = {pair: rows for pair, rows in counts.items() if pair[0] is not None}
    if sum(known.values()) < MIN_KNOWN * sum(counts.values()):
        return None
    named = _named(known, NEAR_SHARE, NEAR_SHARE)
    return None if named is None else named[0]


def _named(
    counts: Contingency,
    min_share: float = MIN_SHARE,
    min_balanced_share: float = MIN_BALANCED_SHARE,
) -> tuple[float, list[tuple[float | str | None, str]]] | None:
    """Return how many rows the most frequent label of their value is right for, and these pairs.

    None if that is too few for the column to be a leak.
    """
    values: dict[float | str | None, int] = {}
    for value, _ in counts:
        values.setdefault(value, len(values))
    labels = {label: code for code, label in enumerate(sorted({label for _, label in counts}))}
    total = sum(counts.values())
    most = max(VALUES_PER_CLASS * len(labels), total / ROWS_PER_VALUE)
    if total < MIN_ROWS or len(values) > most:
        return None
    table = np.zeros((len(values), len(labels)), dtype=np.int64)
    for (value, label), rows in counts.items():
        table[values[value], labels[label]] = rows
    repeated = table.sum(axis=1) > 1
    table = table[repeated]
    if table.sum() < MIN_REPEATED * total:
        return None
    majority = table.argmax(axis=1)
    right = np.bincount(majority, table.max(axis=1, initial=0), minlength=len(labels))
    of_class = table.sum(axis=0)
    present = of_class > 0
    if present.sum() < 2:
        return None
    share = float(right.sum() / of_class.sum())
    balanced = float((right[present] / of_class[present]).mean())
    if share < min_share or balanced < min_balanced_share:
        return None
    kept = [value for value, code in values.items() if repeated[code]]
    names = list(labels)
    return share, [(value, names[code]) for value, code in zip(kept, majority, strict=True)]


def _text(value: float | str | None) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
