"""Decisions applied to a table: the same table, with the labels that were changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from granulearn.audit.verified import CHANGE
from granulearn.review.class_names import ClassNames
from granulearn.review.decisions import EXCLUDE, Decision, DecisionsError, check_belong
from granulearn.tables import ReadOptions, open_table
from granulearn.tables.io.table_file import known_columns
from granulearn.tables.labels import decide_labels, label_key, profile_labels
from granulearn.tables.parse.cells import as_text, row_hashes

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.review.reviewed_table import ReviewedTable

_SHOWN = 5
# What an audit writes before a label that a spreadsheet would take for a formula.
_GUARD = "'"


@dataclass(frozen=True)
class Correction:
    """What decisions did to a table."""

    decisions: int
    """How many there are."""
    changed: int
    """Labels that are others now."""
    already: int
    """Labels that were as they should be before."""
    excluded: int
    """Rows that are not to be learnt from."""
    dropped: int
    """Rows that were left out."""


def correct_table(
    path: Path,
    draft: Path,
    decisions: Sequence[Decision],
    *,
    source: str,
    target: str | None = None,
    drop_excluded: bool = False,
    undo: bool = False,
    reading: ReadOptions | None = None,
) -> Correction:
    """Write a table again with the labels that were changed, and all else as it was.

    A label that is already as a decision wants it stays, so that a corrected table can be
    corrected again.

    Parameters
    ----------
    path : Path
        The table, a file.
    draft : Path
        Where to write.
    decisions : sequence of Decision
        One for each row; without any, the file is copied.
    source : str
        Where they stand, for messages.
    target : str, default=None
        The column of labels; None takes the one that the decisions name.
    drop_excluded : bool, default=False
        Whether to leave excluded rows out.
    undo : bool, default=False
        Whether to change the labels back to what they were.
    reading : ReadOptions, default=None
        What is known about the file.

    Raises
    ------
    DecisionsError
        If the decisions are about another table, or about labels that are others now.
    """
    column = decided_column(decisions, source, target)
    if column is None and decisions:
        raise DecisionsError(f"{source} does not say which column holds the labels; name it.")
    excluded = [d.row - 1 for d in decisions if d.decision == EXCLUDE]
    with open_table(path, reading) as file:
        column = column or file.names[0]
        known_columns(file.path, file.names, [column])
        batches = list(file.batches()) if decisions else []
        cells = pa.Table.from_batches(batches) if batches else None
        check_belong(decisions, [] if cells is None else row_hashes(cells, column), source)
        changes = [d for d in decisions if d.decision == CHANGE]
        texts = {}
        if cells is not None and changes:
            labels = _LabelCells(cells[column].combine_chunks(), column)
            texts = labels.taken_back(changes, source) if undo else labels.changed(changes, source)
        dropped = excluded if drop_excluded else []
        file.rewrite(draft, column, texts, drop=dropped)
    already = len(changes) - len(texts)
    return Correction(len(decisions), len(texts), already, len(excluded), len(dropped))


def decided_column(
    decisions: Sequence[Decision], source: str, named: str | None = None
) -> str | None:
    """Return the column of labels that decisions are about; None if nobody says.

    Parameters
    ----------
    decisions : sequence of Decision
        One for each row.
    source : str
        Where they stand, for messages.
    named : str, default=None
        The column, if the user names one.
    """
    found = sorted({d.target for d in decisions if d.target})
    if len(found) > 1:
        raise DecisionsError(
            f"{source} is about {len(found)} columns, {found[0]!r} and {found[1]!r} among them; "
            "keep the decisions about one of them."
        )
    if named is not None and found and found[0] != named:
        raise DecisionsError(
            f"{source} is about the column {found[0]!r}, not {named!r}; name that column, or "
            "another file of decisions."
        )
    return found[0] if found else named


class _LabelCells:
    """The labels of a table as they stand there.

    Parameters
    ----------
    column : pyarrow Array
        As it was read.
    name : str
        Of the column.
    """

    def __init__(self, column: pa.Array, name: str):
        self._texts = as_text(column, trimmed=False)
        known = decide_labels(profile_labels(column, name), name)
        self._names = ClassNames(known.classes)
        self._spellings = {spelling.strip() for spelling in known.spellings}

    def changed(self, changes: Sequence[Decision], source: str) -> dict[int, str]:
        """Return the cells that change, by row from 0.

        Parameters
        ----------
        changes : sequence of Decision
            Of changes alone.
        source : str
            Where they stand, for messages.
        """
        spelt = {d.row: self._spelt(d, source) for d in changes}
        self._check_no_third(changes, source)
        return {d.row - 1: spelt[d.row] for d in changes if not self._is_new(d)}

    def taken_back(self, changes: Sequence[Decision], source: str) -> dict[int, str]:
        """Return the cells that become what they were, by row from 0.

        Parameters
        ----------
        changes : sequence of Decision
            Of changes alone.
        source : str
            Where they stand, for messages.
        """
        self._check_no_third(changes, source)
        back = [d for d in changes if self._is_new(d) and not (_was(d) and self._is_old(d))]
        unknown = next((d for d in back if not _was(d)), None)
        if unknown is not None:
            raise DecisionsError(
                f"{source}, line {unknown.line}: the file does not say what row {unknown.row} was "
                "before ('given_label'), so the change cannot be taken back."
            )
        return {d.row - 1: _was(d) for d in back}

    def _check_no_third(self, changes: Sequence[Decision], source: str) -> None:
        """Refuse rows that have neither the label of before nor the new one."""
        third = [d for d in changes if not self._is_old(d) and not self._is_new(d)]
        if third:
            named = "; ".join(
                f"row {d.row} is {self._text(d)!r} and was {_was(d)!r}, to become {d.label!r}"
                for d in third[:_SHOWN]
            )
            more = f"; and {len(third) - _SHOWN} more" if len(third) > _SHOWN else ""
            raise DecisionsError(
                f"{source} is about labels that are others now ({named}{more}); decide on them "
                "again."
            )

    def _text(self, decision: Decision) -> str:
        return self._texts[decision.row - 1].as_py() or ""

    def _is_old(self, decision: Decision) -> bool:
        """Return whether a label is still the given one; true if nobody says which that was."""
        was = _was(decision)
        return not was or _is_label(self._text(decision), was, other=decision.label)

    def _is_new(self, decision: Decision) -> bool:
        code, new = self._names.code(decision.label), decision.label
        if code is not None and new not in self._spellings:
            new = self._names.names[code]
        return _is_label(self._text(decision), new, other=_was(decision))

    def _spelt(self, decision: Decision, source: str) -> str:
        """Return a new label as it is spelt in the table: exactly so, or as its class is."""
        if decision.label in self._spellings:
            return decision.label
        return self._names.known(decision.label, f"{source}, line {decision.line}: ")


def _was(decision: Decision) -> str:
    """Return the label of before, as it stood in the table; empty if the file does not say."""
    return decision.cell or decision.given


def _is_label(cell: str, label: str, *, other: str) -> bool:
    """Return whether a cell has a label, in whatever spelling that cannot mean the other one."""
    if cell.strip() == label.strip():
        return True
    keys = {label_key(label), label_key(label.removeprefix(_GUARD))}
    return label_key(cell) in keys and label_key(other) not in keys


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
    names, values = ClassNames(map(str, table.classes.tolist())), table.classes.tolist()
    changes = {d.row - 1: names.known(d.label) for d in decisions if d.decision == CHANGE}
    if not changes:
        return frame
    value_of = dict(zip(names.names, values, strict=True))
    place = list(map(str, frame.columns)).index(target)
    labels: list[Any] = frame.iloc[:, place].tolist()
    for row, label in changes.items():
        labels[row] = value_of[label]
    kind = frame.dtypes.iloc[place]
    frame.isetitem(place, type(frame.iloc[:, place])(labels, index=frame.index).astype(kind))
    return frame
