"""Labels that a person has verified: confirmed, or corrected."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

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
    frame, by_position = _frame(verified, n_samples)
    frame = frame[frame["label"].notna()]
    if frame.empty:
        return NO_VERIFIED
    names = list(range(n_samples) if by_position or index is None else index)
    if len(set(names)) < len(names):
        raise ValueError(
            "rows of the same name cannot be told apart in verified; make the index unique, or "
            "give one entry per sample."
        )
    rows, unknown = _found(frame.index, names)
    if unknown:
        raise ValueError(
            f"verified names {len(unknown)} row(s) that the data does not have: "
            f"{_listed(unknown)}. Do they belong to another table?"
        )
    twice = frame.index[frame.index.duplicated()]
    if len(twice):
        raise ValueError(f"verified names a row twice: {twice.tolist()[0]!r}; keep one decision.")
    truth, unknown = _found(frame["label"], classes.tolist())
    if unknown:
        raise ValueError(
            f"verified holds {len(unknown)} label(s) that are no class of y: {_listed(unknown)}; "
            f"the classes are {_listed(classes.tolist())}."
        )
    drawn = frame["drawn"].fillna(WORST_FIRST)
    unlisted = drawn[~drawn.isin([AT_RANDOM, WORST_FIRST])]
    if len(unlisted):
        raise ValueError(
            f"verified says how rows were drawn: {str(unlisted.iloc[0])!r} is unknown; use "
            f"{AT_RANDOM!r} for rows drawn at random and {WORST_FIRST!r} for all others."
        )
    order = np.argsort(rows)
    return VerifiedLabels(rows[order], truth[order], (drawn == AT_RANDOM).to_numpy()[order])


def _frame(verified: Any, n_samples: int) -> tuple[pd.DataFrame, bool]:
    """Return a frame with ``label`` and ``drawn`` by row, and whether rows are positions."""
    import pandas as pd

    if hasattr(verified, "columns"):
        if "label" not in verified.columns:
            raise ValueError(
                "a frame of verified labels needs a column 'label', indexed by row; it has "
                f"{list(verified.columns)}."
            )
        frame = pd.DataFrame({"label": verified["label"].astype(object)})
        return frame.assign(drawn=verified.get("drawn")), False
    if isinstance(verified, Mapping):
        labels = pd.Series(list(verified.values()), list(verified), dtype=object)
    elif hasattr(verified, "index") and hasattr(verified, "items"):
        labels = verified.astype(object)
    else:
        if len(verified) != n_samples:
            raise ValueError(
                f"verified has {len(verified)} entries and there are {n_samples} samples; give "
                "one per sample, None where nobody looked, or a dictionary by row."
            )
        labels = pd.Series(list(verified), dtype=object)
        return pd.DataFrame({"label": labels, "drawn": None}), True
    return pd.DataFrame({"label": labels, "drawn": None}), False


def _found(values: Any, names: Sequence[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return the numbers of values among names, and the values that are not among them."""
    number = {name: code for code, name in enumerate(names)}
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    codes = [number.get(value) if isinstance(value, Hashable) else None for value in plain]
    unknown = [value for value, code in zip(plain, codes, strict=True) if code is None]
    return np.array([code or 0 for code in codes], dtype=np.intp), unknown


def _listed(values: list) -> str:
    distinct = list(dict.fromkeys(map(repr, values)))
    more = f" and {len(distinct) - _SHOWN} more" if len(distinct) > _SHOWN else ""
    return ", ".join(distinct[:_SHOWN]) + more
