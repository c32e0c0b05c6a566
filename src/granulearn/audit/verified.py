"""Labels that a person has looked at: confirmed, or corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

AT_RANDOM, WORST_FIRST = "random", "worst"
KEEP, CHANGE = "keep", "change"
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class VerifiedLabels:
    """Labels whose true class is known."""

    rows: np.ndarray
    """(m,) positions, ascending."""
    truth: np.ndarray
    """(m,) number of the true class."""
    at_random: np.ndarray
    """(m,) true for rows that were drawn at random, and so stand for others."""


NO_VERIFIED = VerifiedLabels(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, bool))


def check_verified(
    verified: Any, n_samples: int, classes: np.ndarray, index: Any
) -> VerifiedLabels:
    """Return verified labels by position.

    Parameters
    ----------
    verified : mapping, Series, DataFrame, array-like or None
        True labels: by row; or one entry per sample, missing where nobody looked; or a
        frame by row with ``label`` and, perhaps, ``drawn``: "random" for rows drawn at
        random, "worst" for others.
    n_samples : int
        Number of samples.
    classes : ndarray
        The class labels, sorted.
    index : sequence or None
        Names of the rows; None means that they are numbered from zero.
    """
    if verified is None:
        return NO_VERIFIED
    if isinstance(verified, VerifiedLabels):
        return verified
    rows, labels, drawn = _entries(verified, n_samples)
    if len(rows) == 0:
        return NO_VERIFIED
    positions = _positions(rows, n_samples, index)
    truth = _codes(labels, classes)
    known = {AT_RANDOM, WORST_FIRST}
    odd = sorted({str(way) for way in drawn if way not in known})
    if odd:
        raise ValueError(
            f"verified says how rows were drawn: {odd[0]!r} is unknown; use {AT_RANDOM!r} for rows "
            f"drawn at random and {WORST_FIRST!r} for all others."
        )
    order = np.argsort(positions, kind="stable")
    at_random = np.array([way == AT_RANDOM for way in drawn], dtype=bool)
    return VerifiedLabels(positions[order], truth[order], at_random[order])


def _entries(verified: Any, n_samples: int) -> tuple[list, list, list]:
    """Return rows, labels and how the rows were drawn; rows are names or positions."""
    if isinstance(verified, Mapping):
        kept = {row: label for row, label in verified.items() if not _is_missing(label)}
        return list(kept), list(kept.values()), [WORST_FIRST] * len(kept)
    if hasattr(verified, "columns"):
        if "label" not in verified.columns:
            raise ValueError(
                "a frame of verified labels needs a column 'label', indexed by row; it has "
                f"{list(verified.columns)}."
            )
        kept = verified[verified["label"].notna()]
        drawn = [WORST_FIRST] * len(kept)
        if "drawn" in kept.columns:
            drawn = [WORST_FIRST if _is_missing(way) else way for way in kept["drawn"]]
        return list(kept.index), list(kept["label"]), drawn
    if hasattr(verified, "index") and hasattr(verified, "items"):
        kept = verified[verified.notna()]
        return list(kept.index), list(kept), [WORST_FIRST] * len(kept)
    labels = list(verified)
    if len(labels) != n_samples:
        raise ValueError(
            f"verified has {len(labels)} entries and there are {n_samples} samples; give one per "
            "sample, None where nobody looked, or a dictionary by row."
        )
    rows = [row for row, label in enumerate(labels) if not _is_missing(label)]
    # Positions, whatever the rows are called.
    return (
        [_Position(row) for row in rows],
        [labels[row] for row in rows],
        [WORST_FIRST] * len(rows),
    )


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:
        # The NA of pandas, of which nothing is known.
        return True


class _Position(int):
    """A position, as opposed to a row's name."""


def _positions(rows: list, n_samples: int, index: Any) -> np.ndarray:
    if index is None or all(isinstance(row, _Position) for row in rows):
        place = {row: row for row in range(n_samples)}
    else:
        names = list(index)
        place = {name: position for position, name in enumerate(names)}
        if len(place) < len(names):
            raise ValueError(
                "rows of the same name cannot be told apart in verified; make the index unique, or "
                "give one entry per sample."
            )
    unknown = [row for row in rows if not _is_in(row, place)]
    if unknown:
        raise ValueError(
            f"verified names {len(unknown)} row(s) that the data does not have: "
            f"{_listed(unknown)}. Do they belong to another table?"
        )
    positions = np.array([place[row] for row in rows], dtype=np.intp)
    if len(np.unique(positions)) < len(positions):
        twice = [row for row in rows if rows.count(row) > 1]
        raise ValueError(f"verified names a row twice: {twice[0]!r}; keep one decision.")
    return positions


def _is_in(row: Any, place: dict) -> bool:
    try:
        return row in place
    except TypeError:
        return False


def _codes(labels: list, classes: np.ndarray) -> np.ndarray:
    number = {label: code for code, label in enumerate(classes.tolist())}
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    unknown = [label for label in plain if not _is_in(label, number)]
    if unknown:
        raise ValueError(
            f"verified holds {len(unknown)} label(s) that are no class of y: {_listed(unknown)}; "
            f"the classes are {_listed(list(number))}."
        )
    return np.array([number[label] for label in plain], dtype=np.intp)


def _listed(values: list) -> str:
    distinct = list(dict.fromkeys(map(repr, values)))
    more = f" and {len(distinct) - _SHOWN} more" if len(distinct) > _SHOWN else ""
    return ", ".join(distinct[:_SHOWN]) + more
