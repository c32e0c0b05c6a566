"""Files of decisions: a journal of a review, or the list of an audit that a person filled in."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Mapping
from pathlib import Path

from granulearn.audit.verified import AT_RANDOM, CHANGE, WORST_FIRST
from granulearn.review.decisions import DECISIONS, UNDO, Decision, DecisionsError, standing

COLUMNS = {
    "row": "row",
    "hash": "row_hash",
    "given_label": "given",
    "decision": "decision",
    "new_label": "label",
    "note": "note",
    "who": "who",
    "when": "when",
    "verdict": "verdict",
    "probability": "probability",
    "drawn": "drawn",
    "target": "target",
    "cell": "cell",
    "batch": "batch",
    "version": "version",
}
"""Column of a journal -> field of a `Decision`."""
# Other files may have the columns of a table besides these, and one of them may well be called as
# a column that only journals have; a list of an audit has them all.
_OF_LISTS = ("row", "hash", "given_label", "decision", "new_label", "note", "drawn")
_BY_HAND = (*_OF_LISTS, "who", "when")
_LIST = {"predicted_label", "label_quality"}


def read_decisions(path: Path) -> list[Decision]:
    """Read the decisions of a file that hold, by row; lines without one are passed over.

    Parameters
    ----------
    path : Path
        A CSV file with the columns ``row`` and ``decision``, and ``new_label`` or ``label``
        for changes (``predicted_label`` stands in where it is empty or the ``given_label`` one);
        others of `COLUMNS` are looked at if there. A journal of a review is such a file, and so
        is the list that an audit writes, with its column ``decision`` filled in.

    Returns
    -------
    list of Decision
        The last one about each row that was not undone.

    See Also
    --------
    granulearn.review.verified_by : What they say of the labels of a table.
    granulearn.Review : Writes such files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from granulearn.review import read_decisions
    >>> said = pd.DataFrame({"row": [7, 9, 8], "decision": ["exclude", "keep", ""]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     said.to_csv(path)
    ...     [(decision.row, decision.decision) for decision in read_decisions(path)]
    [(7, 'exclude'), (9, 'keep')]
    """
    return standing(read_lines(path))


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
            f"{path} cannot be read: there is no such file; `granulearn review` writes one as soon "
            "as a label is decided on."
        ) from error
    except OSError as error:
        raise DecisionsError(f"{path} cannot be read: {error.strerror or error}") from error
    if end_of_whole_lines(content) < len(content):
        warnings.warn(
            f"{path} ends in the middle of a line or of a batch, which is left out.",
            UserWarning,
            stacklevel=3,
        )
    return parse_lines(content, str(path))


def parse_lines(content: bytes, source: str) -> list[Decision]:
    """Return the decisions of a file's content, in their order.

    Parameters
    ----------
    content : bytes
        What `read_lines` reads.
    source : str
        The file, for messages.
    """
    try:
        text = content[: end_of_whole_lines(content)].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DecisionsError(f"{source} is not UTF-8 text; save it as CSV UTF-8.") from error
    if not is_journal(content):
        text = text.replace("\r\n", "\n")  # a spreadsheet's, inside of cells too
    # Not splitlines, which ends lines where a cell has a form feed or the like.
    # Spreadsheets of some countries write semicolons.
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    try:
        rows = [(reader.line_num, cells) for cells in reader]
        names = list(reader.fieldnames or ())
    except csv.Error as error:
        raise DecisionsError(f"{source} is no CSV file: line {reader.line_num}: {error}") from error
    missing = [name for name in ("row", "decision") if name not in names]
    if missing:
        raise DecisionsError(
            f"{source} has no column {missing[0]!r}; decisions need 'row' and 'decision' "
            f"({', '.join(DECISIONS)}), and 'new_label' for a change. "
            f"It has {', '.join(names) or 'none'}."
        )
    known = _columns_of_decisions({*names})
    found = [
        _decision(source, line, {name: cell or "" for name, cell in cells.items() if name}, known)
        for line, cells in rows
    ]
    return [decision for decision in found if decision is not None]


def _columns_of_decisions(names: set[str]) -> dict[str, str]:
    """Return which columns of a file say something about decisions."""
    if names >= COLUMNS.keys():
        return COLUMNS
    return {name: COLUMNS[name] for name in (_OF_LISTS if names >= _LIST else _BY_HAND)}


def is_journal(content: bytes) -> bool:
    """Return whether a file was written by a review, line by line.

    Parameters
    ----------
    content : bytes
        Of the file.
    """
    head = content.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf").rstrip(b"\r")
    return head == ",".join(COLUMNS).encode()


def end_of_whole_lines(content: bytes) -> int:
    """Return where the part of a file ends that was written whole.

    A journal ends with a line end. What stands after the last one is a line, or a batch of
    lines, that a killed process or a full disk cut short; nobody was told that it was saved.

    Parameters
    ----------
    content : bytes
        Of the file.
    """
    # Imported when used: the stage of tables needs optional packages.
    from granulearn.tables.io.text import row_starts

    if not is_journal(content):
        return len(content)
    # A carriage return alone ends no line of a journal.
    end = row_starts(content, ",").end
    while end and content[end - 1 : end] != b"\n":
        end = row_starts(content[: end - 1], ",").end
    return _without_cut_batch(content, end)


def _without_cut_batch(content: bytes, end: int) -> int:
    """Return where the last line before a batch ends that lacks some of its lines."""
    whole = io.StringIO(content[:end].decode("utf-8", "replace"), newline="")
    reader = csv.DictReader(whole)
    try:
        assert reader.fieldnames is not None
        ends, batches = [whole.tell()], []  # of the header and of each line
        for cells in reader:
            ends.append(whole.tell())
            batches.append(cells.get("batch") or "")
    except csv.Error:  # told when the lines are read
        return end
    if not batches or not batches[-1]:
        return end
    first = len(batches)
    while first and batches[first - 1] == batches[-1]:
        first -= 1
    _, _, size = batches[-1].rpartition("/")
    if not size.isdigit() or len(batches) - first >= int(size):
        return end
    return len(whole.getvalue()[: ends[first]].encode())


def _decision(
    source: str, line: int, cells: dict[str, str], known: Mapping[str, str]
) -> Decision | None:
    # The label as it stands in the table is told by its blanks, too.
    exact = {name: cells.get(name, "") for name in ("cell", "target") if name in known}
    cells = {name: cell.strip() for name, cell in cells.items()}
    said = cells["decision"].lower()
    if not said:
        return None
    if said not in (*DECISIONS, UNDO):
        raise DecisionsError(
            f"{source}, line {line}: {said!r} is no decision; use {', '.join(DECISIONS)}."
        )
    if not cells["row"].isascii() or not cells["row"].isdigit() or int(cells["row"]) < 1:
        raise DecisionsError(
            f"{source}, line {line}: {cells['row']!r} is no row number; rows count from 1."
        )
    label = cells.get("new_label", cells.get("label", ""))
    # The labels of a table may be in a column "label" themselves; one that was not changed
    # is no new one.
    if not label or label == cells.get("given_label"):
        label = cells.get("predicted_label", "") or label
    if said == CHANGE and (not label or label == cells.get("given_label")):
        raise DecisionsError(
            f"{source}, line {line}: a change needs the new label in 'new_label'"
            f"{', and ' + repr(label) + ' is the given one' if label else ''}."
        )
    drawn = cells.get("drawn", "") or WORST_FIRST
    if drawn not in (AT_RANDOM, WORST_FIRST):
        raise DecisionsError(
            f"{source}, line {line}: drawn is {drawn!r}; it is {AT_RANDOM!r} or {WORST_FIRST!r}."
        )
    others = {
        field: cells.get(column, "")
        for column, field in known.items()
        if column not in ("row", "decision", "new_label", "drawn", *exact)
    }
    return Decision(
        int(cells["row"]),
        said,
        label=label if said == CHANGE else "",
        drawn=drawn,
        line=line,
        **others,
        **exact,
    )
