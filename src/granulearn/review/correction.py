"""Decisions applied to a table: the same table, with the labels that were changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from granulearn.audit.verified import CHANGE
from granulearn.review.decisions import (
    EXCLUDE,
    Decision,
    DecisionsError,
    check_rows,
    decided_column,
)
from granulearn.review.verified_labels import GUARD, ClassNames
from granulearn.tables import ReadOptions, open_table
from granulearn.tables.io.table_file import known_columns
from granulearn.tables.labels import decide_labels, label_key, profile_labels
from granulearn.tables.parse.cells import as_text, row_hashes
from granulearn.utils.text import listed

_ROWS_SHOWN = 5


@dataclass(frozen=True)
class Correction:
    """What a correction did to a table."""

    decisions: int
    changed: int
    """Labels that differ now."""
    already: int
    """Labels that were already so."""
    excluded: int
    """Excluded rows."""
    dropped: int
    """Rows that were left out."""
    new_classes: tuple[str, ...] = ()
    """Labels that no row had before."""


def correct_table(
    path: Path,
    temporary: Path,
    decisions: Sequence[Decision],
    *,
    source: str,
    target: str | None = None,
    drop_excluded: bool = False,
    undo: bool = False,
    read_options: ReadOptions | None = None,
) -> Correction:
    """Write a table again with changed labels; all else stays.

    A label that is already the new one stays, so that a corrected table can be corrected again.

    Parameters
    ----------
    path : Path
        The table, a file.
    temporary : Path
        Where to write.
    decisions : sequence of Decision
        One for each row; without any, the file is copied.
    source : str
        Where they come from, for messages.
    target : str, default=None
        The column of labels; None takes the one that the decisions name.
    drop_excluded : bool, default=False
        Whether to leave excluded rows out.
    undo : bool, default=False
        Whether to change the labels back.
    read_options : ReadOptions, default=None
        How to read the file.

    Raises
    ------
    DecisionsError
        If the decisions are about another table, or about labels that were edited since.
    """
    column = decided_column(decisions, source, target)
    if column is None and decisions:
        raise DecisionsError(f"{source} does not say which column holds the labels; name it.")
    excluded = [d.row - 1 for d in decisions if d.decision == EXCLUDE]
    changes = [d for d in decisions if d.decision == CHANGE]
    dropped = excluded if drop_excluded else []
    edits: dict[int, str] = {}
    labels: set[str] = set()
    with open_table(path, read_options) as file:
        column = column or file.names[0]
        if decisions:
            known_columns(file.path, file.names, [column])
            cells = pa.Table.from_batches(list(file.batches()))
            check_rows(decisions, row_hashes(cells, column), source)
            edits = _edits(changes, cells[column].combine_chunks(), column, source, undo=undo)
            labels = set(as_text(cells[column].combine_chunks()).unique().to_pylist())
        file.rewrite(temporary, column, edits, drop=dropped)
    already = len(changes) - len(edits)
    new = () if undo else tuple(sorted(set(edits.values()) - labels))
    return Correction(len(decisions), len(edits), already, len(excluded), len(dropped), new)


def _edits(
    changes: Sequence[Decision], labels: pa.Array, column: str, source: str, *, undo: bool
) -> dict[int, str]:
    """Return the cells to write, by row from 0; refuse labels that are neither old nor new."""
    texts = as_text(labels, trimmed=False).to_pylist()
    known = decide_labels(profile_labels(labels, column), column)
    names, spellings = ClassNames(known.classes), {text.strip() for text in known.spellings}
    edits, edited_since = {}, []
    for d in changes:
        where = f"{source}, line {d.line}: "
        cell, old = texts[d.row - 1] or "", d.cell or d.given_label
        # The new label in the exact spelling of a cell, or else as its class is spelled.
        code, new = names.code(d.new_label), d.new_label
        # A review asks before it takes a label that no row has.
        if new not in spellings and (code is not None or not (undo or d.version)):
            new = names.known(new, where)
        is_old = not old or _is_label(cell, old, other=d.new_label)
        is_new = _is_label(cell, new, other=old)
        if not (is_old or is_new):
            edited_since.append(f"row {d.row} is {cell!r} and was {old!r}, to become {new!r}")
        elif not undo and not is_new:
            edits[d.row - 1] = new
        elif undo and is_new and not (old and is_old):
            if not old:
                raise DecisionsError(
                    f"{where}the file does not say what row {d.row} was before ('given_label'), so "
                    "the change cannot be taken back."
                )
            edits[d.row - 1] = old
    if edited_since:
        raise DecisionsError(
            f"{source} is about labels that were edited since "
            f"({listed(edited_since, '; ', most=_ROWS_SHOWN)}); decide on them again."
        )
    return edits


def _is_label(cell: str, label: str, *, other: str) -> bool:
    """Return whether a cell holds a label, in a spelling that cannot mean the other one."""
    if cell.strip() == label.strip():
        return True
    keys = {label_key(label), label_key(label.removeprefix(GUARD))}
    return label_key(cell) in keys and label_key(other) not in keys
