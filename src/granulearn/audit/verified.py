"""Labels that a person has verified: confirmed, or corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.utils.text import listed

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
        True labels: by row; or one entry per sample, missing where not verified; or a
        frame by row with ``label`` and, perhaps, ``drawn``: "random" for rows drawn at
        random, "worst" for others.
    n_samples : int
        Number of samples.
    classes : ndarray
        The class labels, sorted.
    index : sequence or None
        Names of the rows; None means that they are numbered from zero.
    """
    import pandas as pd

    if verified is None:
        return NO_VERIFIED
    if isinstance(verified, VerifiedLabels):
        return verified
    frame, by_position = _frame(verified, n_samples)
    frame = frame[frame["label"].notna()]
    if frame.empty:
        return NO_VERIFIED
    names = pd.RangeIndex(n_samples) if by_position or index is None else pd.Index(index)
    if not names.is_unique:
        raise ValueError(
            "rows of the same name cannot be told apart in verified; make the index unique, or "
            "give one entry per sample."
        )
    rows = names.get_indexer(frame.index)
    if (rows < 0).any():
        raise ValueError(
            f"verified names {(rows < 0).sum()} row(s) that the data does not have: "
            f"{_shown(frame.index[rows < 0])}. Do they belong to another table?"
        )
    twice = frame.index[frame.index.duplicated()]
    if len(twice):
        raise ValueError(f"verified names a row twice: {twice.tolist()[0]!r}; keep one decision.")
    truth = pd.Index(classes.tolist()).get_indexer(frame["label"].tolist())
    if (truth < 0).any():
        raise ValueError(
            f"verified holds {(truth < 0).sum()} label(s) that are no class of y: "
            f"{_shown(frame['label'][truth < 0])}; the classes are {_shown(classes)}."
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
    by_row = isinstance(verified, Mapping) or hasattr(verified, "items")
    if not by_row and len(verified) != n_samples:
        raise ValueError(
            f"verified has {len(verified)} entries and there are {n_samples} samples; give "
            "one per sample, None where not verified, or a dictionary by row."
        )
    labels = pd.Series(dict(verified) if isinstance(verified, Mapping) else verified, dtype=object)
    return pd.DataFrame({"label": labels, "drawn": None}), not by_row


def _shown(values: Any) -> str:
    return listed(list(dict.fromkeys(map(repr, values.tolist()))), most=_SHOWN)
