"""Decisions about labels: one line each, in a CSV file beside the table.

The file names a row by its number and by a hash of its cells, so that decisions about one
table are not taken for decisions about another. A later line about a row replaces an
earlier one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP, WORST_FIRST, VerifiedLabels

EXCLUDE, UNSURE = "exclude", "unsure"
DECISIONS = (KEEP, CHANGE, EXCLUDE, UNSURE)
_SHOWN = 5


class DecisionsError(ValueError):
    """A file of decisions that cannot be used, and why."""


@dataclass(frozen=True)
class Decision:
    """What a person says about the label of one row."""

    row: int
    """Number of the data row, from 1."""
    decision: str
    """One of `DECISIONS`."""
    label: str
    """The new label of a change; else empty."""
    row_hash: str = ""
    """Of the row's cells, see `granulearn.tables.row_hashes`; empty if the file has none."""
    drawn: str = WORST_FIRST
    """ "random" if the row was drawn at random, and so stands for others."""
    line: int = 0
    """Line of the file."""
    given: str = ""
    """The label at that time; empty if the file does not say."""


def read_decisions(path: Path) -> list[Decision]:
    """Read a file of decisions; lines without one are passed over.

    Parameters
    ----------
    path : Path
        A CSV file with the columns ``row`` and ``decision``, and ``new_label`` or ``label``
        for changes (``suggested`` stands in where it is empty or the ``given`` one);
        ``hash``, ``given`` and ``drawn`` are looked at if there.
        The list that an audit writes, with its column ``decision`` filled in, is such a file.

    Returns
    -------
    list of Decision
        The last one about each row, by row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DecisionsError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DecisionsError(f"{path} is not UTF-8 text; save it as CSV UTF-8.") from error
    # Not splitlines, which ends lines where a cell has a form feed or the like.
    # Spreadsheets of some countries write semicolons.
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text), strict=True, delimiter=separator)
    try:
        rows = [(reader.line_num, cells) for cells in reader]
        names = list(reader.fieldnames or ())
    except csv.Error as error:
        raise DecisionsError(f"{path} is no CSV file: line {reader.line_num}: {error}") from error
    missing = [name for name in ("row", "decision") if name not in names]
    if missing:
        raise DecisionsError(
            f"{path} has no column {missing[0]!r}; decisions need 'row' and 'decision' "
            f"({', '.join(DECISIONS)}), and 'new_label' for a change. "
            f"It has {', '.join(names) or 'none'}."
        )
    latest: dict[int, Decision] = {}
    for number, cells in rows:
        decision = _decision(path, number, {k: (v or "").strip() for k, v in cells.items() if k})
        if decision is not None:
            latest[decision.row] = decision
    return [latest[row] for row in sorted(latest)]


def _decision(path: Path, line: int, cells: dict[str, str]) -> Decision | None:
    said = cells["decision"].lower()
    if not said:
        return None
    if said not in DECISIONS:
        raise DecisionsError(
            f"{path}, line {line}: {said!r} is no decision; use {', '.join(DECISIONS)}."
        )
    if not cells["row"].isascii() or not cells["row"].isdigit() or int(cells["row"]) < 1:
        raise DecisionsError(
            f"{path}, line {line}: {cells['row']!r} is no row number; rows count from 1."
        )
    label = cells.get("new_label", cells.get("label", ""))
    # The labels of a table may be in a column "label" themselves; one that was not changed
    # is no new one.
    if not label or label == cells.get("given"):
        label = cells.get("suggested", "") or label
    if said == CHANGE and (not label or label == cells.get("given")):
        raise DecisionsError(
            f"{path}, line {line}: a change needs the new label in 'new_label'"
            f"{', and ' + repr(label) + ' is the given one' if label else ''}."
        )
    drawn = cells.get("drawn", "") or WORST_FIRST
    if drawn not in (AT_RANDOM, WORST_FIRST):
        raise DecisionsError(
            f"{path}, line {line}: drawn is {drawn!r}; it is {AT_RANDOM!r} or {WORST_FIRST!r}."
        )
    return Decision(
        row=int(cells["row"]),
        decision=said,
        label=label if said == CHANGE else "",
        given=cells.get("given", ""),
        row_hash=cells.get("hash", ""),
        drawn=drawn,
        line=line,
    )


def verified_by(
    decisions: Sequence[Decision],
    *,
    rows: np.ndarray,
    n_rows: int,
    hashes: Sequence[str],
    given: np.ndarray,
    classes: np.ndarray,
    source: str,
) -> VerifiedLabels:
    """Return the labels that decisions confirm or correct, by position among the rows with a label.

    Parameters
    ----------
    decisions : sequence of Decision
        One for each row.
    rows : ndarray of shape (n,)
        Number of each row with a label in the table, from 0.
    n_rows : int
        Number of all rows of the table.
    hashes : sequence of str
        Of all rows of the table.
    given : ndarray of shape (n,)
        Number of the given class of each row with a label.
    classes : ndarray
        The class labels, sorted.
    source : str
        Name of the file of decisions, for messages.
    """
    outside = [d.row for d in decisions if d.row > n_rows]
    if outside:
        raise DecisionsError(
            f"{source} speaks of row {outside[0]}, and the table has {n_rows} rows; do the "
            "decisions belong to another table?"
        )
    strangers = [d.row for d in decisions if d.row_hash and d.row_hash != hashes[d.row - 1]]
    if strangers:
        named = ", ".join(map(str, strangers[:_SHOWN]))
        raise DecisionsError(
            f"{source} was made for other cells in {len(strangers)} of {len(decisions)} rows (row "
            f"{named}); the decisions belong to another table, or it was changed since."
        )
    position = np.full(n_rows, -1)
    position[rows] = np.arange(len(rows))
    numbers = _numbers_of(classes)
    unknown = [d for d in decisions if d.decision == CHANGE and _key(d.label, numbers) is None]
    if unknown:
        raise DecisionsError(
            f"{source}, line {unknown[0].line}: {unknown[0].label!r} is no class of the table; the "
            f"classes are {', '.join(map(str, classes.tolist()[:10]))}."
        )
    settled = [d for d in decisions if d.decision in (KEEP, CHANGE) and position[d.row - 1] >= 0]
    at = np.array([position[d.row - 1] for d in settled], dtype=np.intp)
    changed = [
        d
        for d, place in zip(settled, at, strict=True)
        if d.decision == KEEP and d.given and numbers.get(_key(d.given, numbers)) != given[place]
    ]
    if changed:
        raise DecisionsError(
            f"{source}, line {changed[0].line}: row {changed[0].row} was kept as "
            f"{changed[0].given!r}, and its label is another one now; decide on it again."
        )
    truth = np.array(
        [
            numbers[_key(d.label, numbers)] if d.decision == CHANGE else given[place]
            for d, place in zip(settled, at, strict=True)
        ],
        dtype=np.intp,
    )
    return VerifiedLabels(at, truth, np.array([d.drawn == AT_RANDOM for d in settled], dtype=bool))


def _numbers_of(classes: np.ndarray) -> dict[str | None, int]:
    """Return the number of each class, by all the ways in which a spreadsheet may write it."""
    named = [str(label) for label in classes.tolist()]
    numbers: dict[str | None, int] = {}
    # Exact names come last, and win.
    for spelt in (_as_number, str.casefold, "'{}".format, str):
        numbers |= {spelt(name): code for code, name in enumerate(named) if spelt(name)}
    return numbers


def _key(label: str, numbers: dict[str | None, int]) -> str | None:
    """Return how the label stands among the numbers of classes; None if it does not."""
    spellings = (label, label.casefold(), _as_number(label))
    return next((spelt for spelt in spellings if spelt and spelt in numbers), None)


def _as_number(label: str) -> str:
    """Return a number in one way of writing it; empty if the label is none."""
    try:
        return f"number {float(label)!r}"
    except ValueError:
        return ""
