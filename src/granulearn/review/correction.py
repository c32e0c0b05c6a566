"""Decisions applied to a table: the same table, with the labels that were changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from granulearn.audit.verified import CHANGE
from granulearn.review.decisions import Decision

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.review.reviewed_table import ReviewedTable


def corrected_frame(table: ReviewedTable, decisions: Sequence[Decision]) -> pd.DataFrame:
    """Return a table as a frame, with the labels that were changed.

    Parameters
    ----------
    table : ReviewedTable
        The table; it stays as it is.
    decisions : sequence of Decision
        One for each row.
    """
    source, target = table.source, table.target
    frame = source.copy() if hasattr(source, "iloc") else table.cells.to_pandas()
    changes = {d.row - 1: d.label for d in decisions if d.decision == CHANGE}
    if not changes:
        return frame
    value_of = {str(label): label for label in table.classes.tolist()}
    place = list(map(str, frame.columns)).index(target)
    labels: list[Any] = frame.iloc[:, place].tolist()
    for row, label in changes.items():
        labels[row] = value_of.get(label, label)
    kind = frame.dtypes.iloc[place]
    frame.isetitem(place, type(frame.iloc[:, place])(labels, index=frame.index).astype(kind))
    return frame
