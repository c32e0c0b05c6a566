"""Files of decisions: a journal of a review, or the list of an audit that a person filled in."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from granulearn.audit.verified import AT_RANDOM, CHANGE, WORST_FIRST
from granulearn.review.decisions import (
    DECISIONS,
    UNDO,
    Decision,
    DecisionsError,
    active_decisions,
)

COLUMNS = (
    "row", "hash", "given_label", "decision", "new_label", "note", "who", "when", "verdict",
    "probability", "drawn", "target", "cell", "batch", "version",
)  # fmt: skip
"""Columns of a journal, which are the fields of a `Decision`."""
# A list of an audit holds columns of the table too; one of them may be called "who" or "target".
_OF_LISTS = ("row", "hash", "given_label", "decision", "new_label", "note", "drawn")
_BY_HAND = (*_OF_LISTS, "who", "when")
_ONLY_IN_LISTS = {"predicted_label", "label_quality"}
_MUST_BE_QUOTED = re.compile(r'[",\r\n]')


def read_decisions(path: Path) -> list[Decision]:
    """Read the active decisions of a file, by row; lines without a decision are skipped.

    Parameters
    ----------
    path : Path
        A CSV file with the columns ``row`` and ``decision``, and ``new_label`` or ``label``
        for changes (``predicted_label`` is taken where it is empty or the ``given_label``);
        other columns of a journal are read if present. A journal of a review is such a file,
        and so is the list that an audit writes, with its column ``decision`` filled in.

    Returns
    -------
    list of Decision
        The last one about each row that was not undone.

    See Also
    --------
    granulearn.review.verified_by : The labels that they verify.
    granulearn.Review : Writes such files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from granulearn.review import read_decisions
    >>> table = pd.DataFrame({"row": [7, 9, 8], "decision": ["exclude", "keep", ""]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     table.to_csv(path)
    ...     [(decision.row, decision.decision) for decision in read_decisions(path)]
    [(7, 'exclude'), (9, 'keep')]
    """
    return active_decisions(read_lines(path))


def read_lines(path: Path) -> list[Decision]:
    """Read all decisions of a file, in their order, undone ones too.

    Parameters
    ----------
    path : Path
        As for `read_decisions`.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise DecisionsError(
            f"{path} cannot be read: there is no such file; `granulearn review` writes one with "
            "the first decision."
        ) from error
    except OSError as error:
        raise DecisionsError(f"{path} cannot be read: {error.strerror or error}") from error
    lines, end = parse_lines(content, str(path))
    if end < len(content):
        warnings.warn(
            f"{path} ends in the middle of a line or of a batch, which is left out.",
            UserWarning,
            stacklevel=3,
        )
    return lines


def parse_lines(content: bytes, source: str) -> tuple[list[Decision], int]:
    """Return the decisions of a file's content, and where its complete part ends.

    After that, a journal holds a line or a batch of lines that a killed process or a full disk
    cut off; it was never acknowledged.

    Parameters
    ----------
    content : bytes
        Of the file.
    source : str
        The file, for messages.
    """
    in_journal = is_journal(content)
    end = _end_of_lines(content) if in_journal else len(content)
    try:
        text = content[:end].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DecisionsError(f"{source} is not UTF-8 text; save it as CSV UTF-8.") from error
    if not in_journal:
        text = text.replace("\r\n", "\n")  # spreadsheets write it, within cells too
    header = text.partition("\n")[0]
    # Spreadsheets of some countries write semicolons.
    separator = max(",;\t", key=header.count)
    # A text in memory, since splitlines also splits at a form feed within a cell.
    stream = io.StringIO(text, newline="")
    reader = csv.DictReader(stream, strict=True, delimiter=separator)
    try:
        names = list(reader.fieldnames or ())
        ends, rows = [stream.tell()], []
        for cells in reader:
            rows.append((reader.line_num, cells))
            ends.append(stream.tell())
    except csv.Error as error:
        raise DecisionsError(f"{source} is no CSV file: line {reader.line_num}: {error}") from error
    missing = [name for name in ("row", "decision") if name not in names]
    if missing:
        raise DecisionsError(
            f"{source} has no column {missing[0]!r}; decisions need 'row' and 'decision' "
            f"({', '.join(DECISIONS)}), and 'new_label' for a change. "
            f"It has {', '.join(names) or 'none'}."
        )
    if in_journal:
        n_complete = _without_cut_batch([cells["batch"] or "" for _, cells in rows])
        end -= len(text[ends[n_complete] :].encode())
        rows = rows[:n_complete]
    known: Sequence[str] = _BY_HAND
    if {*names} >= {*COLUMNS}:
        known = COLUMNS
    elif {*names} >= _ONLY_IN_LISTS:
        known = _OF_LISTS
    plain = ((line, {name: cell or "" for name, cell in row.items() if name}) for line, row in rows)
    found = (_decision(cells, known, f"{source}, line {line}", line) for line, cells in plain)
    return [decision for decision in found if decision is not None], end


def is_journal(content: bytes) -> bool:
    """Return whether a review wrote a file.

    Parameters
    ----------
    content : bytes
        Of the file.
    """
    header = content.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf").rstrip(b"\r")
    return header == ",".join(COLUMNS).encode()


def _end_of_lines(content: bytes) -> int:
    """Return where the last complete line ends: at a line feed outside of quotes."""
    end, is_quoted = len(content), content.count(b'"') % 2
    while end and (is_quoted or content[end - 1 : end] != b"\n"):
        start = content.rfind(b"\n", 0, end - 1) + 1
        is_quoted ^= content.count(b'"', start, end) % 2
        end = start
    return end


def _without_cut_batch(batches: Sequence[str]) -> int:
    """Return how many lines stay if the last batch lacks some of its lines."""
    if not batches or not batches[-1]:
        return len(batches)
    first = len(batches)
    while first and batches[first - 1] == batches[-1]:
        first -= 1
    size = batches[-1].rpartition("/")[2]
    is_cut = size.isdecimal() and len(batches) - first < int(size)
    return first if is_cut else len(batches)


def _decision(
    cells: dict[str, str], known: Sequence[str], where: str, line: int
) -> Decision | None:
    # Blanks belong to the cell of a label.
    exact = {name: cells.get(name, "") for name in ("cell", "target") if name in known}
    cells = {name: cell.strip() for name, cell in cells.items()}
    decision = cells["decision"].lower()
    if not decision:
        return None
    if decision not in (*DECISIONS, UNDO):
        raise DecisionsError(f"{where}: {decision!r} is no decision; use {', '.join(DECISIONS)}.")
    row = cells["row"]
    if not row.isascii() or not row.isdigit() or int(row) < 1:
        raise DecisionsError(f"{where}: {row!r} is no row number; rows count from 1.")
    given = cells.get("given_label", "")
    label = cells.get("new_label", cells.get("label", ""))
    # A table may have a column "label" of its own, which then holds the given label.
    if not label or label == given:
        label = cells.get("predicted_label", "") or label
    if decision == CHANGE and (not label or label == given):
        raise DecisionsError(
            f"{where}: a change needs the new label in 'new_label'"
            f"{f', and {label!r} is the given one' if label else ''}."
        )
    drawn = cells.get("drawn", "") or WORST_FIRST
    if drawn not in (AT_RANDOM, WORST_FIRST):
        raise DecisionsError(
            f"{where}: drawn is {drawn!r}; it is {AT_RANDOM!r} or {WORST_FIRST!r}."
        )
    new_label = label if decision == CHANGE else ""
    parsed = {"row": int(row), "decision": decision, "new_label": new_label, "drawn": drawn}
    fields: dict[str, Any] = {name: cells.get(name, "") for name in known} | exact | parsed
    return Decision(**fields, line=line)


def journal_text(decisions: Sequence[Decision]) -> str:
    """Return the text of a journal.

    Parameters
    ----------
    decisions : sequence of Decision
        In the order in which they were taken.
    """
    return f"{','.join(COLUMNS)}\n{lines_text(decisions)}"


def lines_text(decisions: Sequence[Decision]) -> str:
    """Return decisions as lines of a journal.

    Parameters
    ----------
    decisions : sequence of Decision
        In the order in which they were taken.
    """
    lines = ([_quoted(str(getattr(d, name))) for name in COLUMNS] for d in decisions)
    return "".join(f"{','.join(line)}\n" for line in lines)


def _quoted(cell: str) -> str:
    # Python's writer leaves a carriage return without quotes before version 3.13.
    return '"{}"'.format(cell.replace('"', '""')) if _MUST_BE_QUOTED.search(cell) else cell
