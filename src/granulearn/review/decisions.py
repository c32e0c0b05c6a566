"""Decisions about labels: one about a row, the active ones of many, and their files.

A file of decisions is a journal of a review, or the list of an audit that a person filled in.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP, WORST_FIRST
from granulearn.utils.text import listed, quoted

EXCLUDE, UNSURE, UNDO = "exclude", "unsure", "undo"
DECISIONS = (KEEP, CHANGE, EXCLUDE, UNSURE)
"""The label is right; another one is; do not learn from the row; nobody can tell."""
_ROWS_SHOWN = 5


class DecisionsError(ValueError):
    """Decisions that cannot be used, and why.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from granulearn.review import DecisionsError, read_decisions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     pd.DataFrame({"row": [7], "decision": ["perhaps"]}).to_csv(path)
    ...     try:
    ...         read_decisions(path)
    ...     except DecisionsError as error:
    ...         print(str(error).split(", ", 1)[1])
    line 2: 'perhaps' is no decision; use keep, change, exclude, unsure.
    """


@dataclass(frozen=True)
class Decision:
    """What a person says about the label of one row: one line of a file of decisions.

    See Also
    --------
    granulearn.Review : Writes them.
    granulearn.review.read_decisions : Reads them.

    Examples
    --------
    >>> from granulearn.review import Decision
    >>> Decision(row=7, decision="change", new_label="approved", given_label="refused").new_label
    'approved'
    """

    row: int
    """Number of the data row, from 1."""
    decision: str
    """One of `DECISIONS`, or "undo": the last decision about the row does not count."""
    new_label: str = ""
    """The new label of a change; else empty."""
    hash: str = ""
    """Hash of the row's cells without the label; empty if the file has none."""
    drawn: str = WORST_FIRST
    """ "random" for a row of a random sample, else "worst"."""
    line: int = 0
    """Line of the file; 0 before it is written."""
    given_label: str = ""
    """The label at that time; empty if the file does not say."""
    cell: str = ""
    """The cell of the label, where its spelling differs from the name of the class."""
    target: str = ""
    """The column of labels; empty if the file does not say."""
    note: str = ""
    who: str = ""
    when: str = ""
    """Time in ISO 8601."""
    verdict: str = ""
    """Verdict of the audit at that time."""
    probability: str = ""
    """Probability at that time that the label is wrong; empty if unknown."""
    batch: str = ""
    """``name/size`` of the action: of the decisions that were taken at once."""
    version: str = ""
    """Version of granulearn."""


Counted = dict[int, list[Decision]]
"""By row: the decisions of a journal that were not undone. The last one is active."""


def count_line(line: Decision, counted: Counted) -> Decision | None:
    """Add a line of a journal to those that count; return the decision that it takes back, if any.

    An "undo" takes back the last decision about its row that still counts.
    """
    history = counted.setdefault(line.row, [])
    if line.decision == UNDO:
        return history.pop() if history else None
    history.append(line)
    return None


def active_decisions(lines: Iterable[Decision]) -> list[Decision]:
    """Return the active decisions of a journal by row: the last about each that was not undone."""
    counted: Counted = {}
    for line in lines:
        count_line(line, counted)
    return [counted[row][-1] for row in sorted(counted) if counted[row]]


def check_rows(decisions: Sequence[Decision], hashes: Sequence[str], source: str) -> None:
    """Raise a `DecisionsError` if decisions are about other rows than those of a table.

    `hashes` are those of all rows of the table; `source` is where the decisions come from.
    """
    outside = [d.row for d in decisions if d.row > len(hashes)]
    if outside:
        raise DecisionsError(
            f"{source} has a decision about row {outside[0]}, and the table has {len(hashes)} "
            "rows; do the decisions belong to another table?"
        )
    others = [str(d.row) for d in decisions if d.hash and d.hash != hashes[d.row - 1]]
    if others:
        raise DecisionsError(
            f"{source} was made for other cells in {len(others)} of {len(decisions)} rows (row "
            f"{listed(others, most=_ROWS_SHOWN)}); the decisions belong to another table, or it "
            "was changed since."
        )


def decided_column(
    decisions: Sequence[Decision], source: str, named: str | None = None
) -> str | None:
    """Return the column of labels that decisions are about; None if unknown.

    It is the column that they name, or the one that the user has `named`, which must be the same.
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


# --- files

COLUMNS = (
    "row", "hash", "given_label", "decision", "new_label", "note", "who", "when", "verdict",
    "probability", "drawn", "target", "cell", "batch", "version",
)  # fmt: skip
"""Columns of a journal, which are the fields of a `Decision`."""
# A list of an audit holds columns of the table, too; one of them may be called "who" or "target".
_OF_LISTS = ("row", "hash", "given_label", "decision", "new_label", "note", "drawn")
_BY_HAND = (*_OF_LISTS, "who", "when")
_MUST_BE_QUOTED = re.compile(r'[",\r\n]')
# Lines of a journal; a quotation mark within a cell that does not begin with one is a character.
_FIELD = rb'(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n][^,\r\n]*+|)'
_LINES = re.compile(rb"(?:%b(?:,%b)*+\r?\n)*+" % (_FIELD, _FIELD))
_LATER_LINE = re.compile(rb"\n\d+,")
_ROW_NUMBER = re.compile(r"[0-9]{1,15}")


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
    """Read all decisions of a file, in their order, undone ones too."""
    if path.exists() and not path.is_file():
        raise DecisionsError(
            f"{path} cannot be read: it is a folder, a device or a pipe; name a file."
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DecisionsError(f"{path} cannot be read: {error.strerror or error}") from error
    complete = complete_lines(content, str(path))
    if len(complete) < len(content):
        warnings.warn(
            f"{path} ends in the middle of a line, which is left out.", UserWarning, stacklevel=3
        )
    return parse_lines(complete, str(path))


def parse_lines(content: bytes, source: str) -> list[Decision]:
    """Return all decisions of a file's content; `source` names the file in messages."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DecisionsError(f"{source} is not UTF-8 text; save it as CSV UTF-8.") from error
    # Spreadsheets of some countries write semicolons.
    separator = max(",;\t", key=text.partition("\n")[0].count)
    # A text in memory, since splitlines also splits at a form feed within a cell.
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    try:
        names = set(filter(None, reader.fieldnames or ()))
        rows = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise DecisionsError(f"{source} is no CSV file: line {reader.line_num}: {error}") from error
    missing = [name for name in ("row", "decision") if name not in names]
    if missing:
        raise DecisionsError(
            f"{source} has no column {missing[0]!r}; decisions need 'row' and 'decision' "
            f"({', '.join(DECISIONS)}), and 'new_label' for a change. "
            f"It has {listed(sorted(names))}."
        )
    is_list = names >= {"predicted_label", "label_quality"}
    known = COLUMNS if names >= {*COLUMNS} else _OF_LISTS if is_list else _BY_HAND
    plain = ((line, {name: row[name] or "" for name in names}) for line, row in rows)
    found = (_decision(cells, known, f"{source}, line {line}", line) for line, cells in plain)
    return [decision for decision in found if decision is not None]


def complete_lines(content: bytes, source: str) -> bytes:
    """Return a file's content without the line of a journal that was cut off at its end.

    A killed process or a full disk cuts off a line, which was never acknowledged. The last line of
    other files may lack its end.

    Raises
    ------
    DecisionsError
        If lines follow the one that does not end, so that decisions would be lost with it.
    """
    if not is_journal(content):
        return content
    lines = _LINES.match(content)
    assert lines is not None  # it may be empty
    rest = content[lines.end() :]
    # A line with all its columns is no unfinished one.
    is_whole = rest.endswith(b"\n") and rest.count(b",") >= len(COLUMNS) - 1
    if is_whole or _LATER_LINE.search(rest):
        line = content.count(b"\n", 0, lines.end()) + 1
        raise DecisionsError(
            f"{source}, line {line}: a quotation mark has no partner, so the cells of the line "
            "cannot be told apart; put the cell in quotes and write the mark twice."
        )
    return lines[0]


def is_journal(content: bytes) -> bool:
    """Return whether a review wrote a file: its header has the columns of a journal."""
    header = content.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf").rstrip(b"\r")
    return header == ",".join(COLUMNS).encode()


def _decision(
    cells: dict[str, str], known: Sequence[str], where: str, line: int
) -> Decision | None:
    # Blanks belong to the cell of a label, and to the name of a column.
    cells = {n: cell if n in ("cell", "target") else cell.strip() for n, cell in cells.items()}
    decision = cells["decision"].lower()
    if not decision:
        return None
    if decision not in (*DECISIONS, UNDO):
        raise DecisionsError(
            f"{where}: {quoted(decision)} is no decision; use {', '.join(DECISIONS)}."
        )
    row = cells["row"]
    if not _ROW_NUMBER.fullmatch(row) or int(row) < 1:
        raise DecisionsError(f"{where}: {quoted(row)} is no row number; rows count from 1.")
    given = cells.get("given_label", "")
    label = cells.get("new_label", cells.get("label", ""))
    # A table may have a column "label" of its own, which then holds the given label.
    if not label or label == given:
        label = cells.get("predicted_label", "") or label
    if decision == CHANGE and (not label or label == given):
        raise DecisionsError(
            f"{where}: a change needs the new label in 'new_label'; {label!r} is no other label."
        )
    drawn = AT_RANDOM if cells.get("drawn", "").lower() == AT_RANDOM else WORST_FIRST
    new_label = label if decision == CHANGE else ""
    parsed = {"row": int(row), "decision": decision, "new_label": new_label, "drawn": drawn}
    fields: dict[str, Any] = {name: cells.get(name, "") for name in known} | parsed
    return Decision(**fields, line=line)


def journal_text(decisions: Sequence[Decision]) -> str:
    """Return the text of a journal that holds decisions."""
    return f"{','.join(COLUMNS)}\n{lines_text(decisions)}"


def lines_text(decisions: Sequence[Decision]) -> str:
    """Return decisions as lines of a journal; refuse what could not be read again."""
    lines = ([_cell(d.row, name, str(getattr(d, name))) for name in COLUMNS] for d in decisions)
    return "".join(f"{','.join(line)}\n" for line in lines)


def _cell(row: int, name: str, text: str) -> str:
    longest = csv.field_size_limit()
    if len(text) > longest:
        raise DecisionsError(
            f"row {row}: {name!r} has {len(text):,} characters, and a file of decisions holds at "
            f"most {longest:,} in a cell; shorten it."
        )
    # Python's writer leaves a carriage return without quotes before version 3.13.
    return '"{}"'.format(text.replace('"', '""')) if _MUST_BE_QUOTED.search(text) else text
