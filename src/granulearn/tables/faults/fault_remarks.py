"""What could give a false all-clear, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from granulearn.tables.faults.examination import Findings
from granulearn.tables.faults.leaks import Leak
from granulearn.tables.messages import Message, Setting

_HOW = {
    "copy": "it holds the labels themselves",
    "code": "each of its values stands for one class",
    "filled": "where it is filled in tells the class",
}
_LISTED = 5
_NUMBERED = re.compile("prediction_[1-9][0-9]*")


def said_leaks(leaks: Mapping[str, Leak], kept: Iterable[str]) -> list[str]:
    """Return which columns give the target away, and what was done about it.

    Parameters
    ----------
    leaks : mapping of str to Leak
        Columns, each with the leak that it, or a feature made of it, is.
    kept : iterable of str
        Those of the columns that are used all the same.
    """
    kept = set(kept)
    said: list[str] = []
    for name, leak in leaks.items():
        step = (
            Message("it is used all the same; ", Setting("ignore", (name,)), " leaves it out")
            if name in kept
            else Message("it is left out; ", Setting("include", (name,)), " uses it")
        )
        part = "" if leak.name == name else f"by {leak.name!r}, which it becomes: "
        found = (
            f"Column {name!r} alone gives the target away ({part}{_HOW[leak.how]}, right in "
            f"{100 * leak.share:.1f} % of its rows): "
        )
        said.append(Message(found, step, "."))
    return said


def said_separated(names: Iterable[str]) -> list[str]:
    """Return which columns of numbers tell the classes apart.

    Parameters
    ----------
    names : iterable of str
        These columns.
    """
    return [
        Message(
            f"Column {name!r} alone tells all classes apart: its values in them do not overlap. "
            "If it was filled in after the label was known, pass ",
            Setting("ignore", (name,)),
            ".",
        )
        for name in names
    ]


def said_named(shares: Mapping[str, float]) -> list[str]:
    """Return which columns have cells that name the label.

    Parameters
    ----------
    shares : mapping of str to float
        These columns, each with the share of its cells that name the label of their row.
    """
    return [
        Message(
            f"The cells of column {name!r} name the label in {100 * share:.0f} % of the rows; if "
            "it was written after the label was known, pass ",
            Setting("ignore", (name,)),
            ".",
        )
        for name, share in shares.items()
    ]


def said_near(shares: Mapping[str, float]) -> list[str]:
    """Return, in one line, which columns nearly give the target away.

    Parameters
    ----------
    shares : mapping of str to float
        These columns, each with the share of its cells that stand for the class of their row.
    """
    if not shares:
        return []
    found = [f"{name!r} ({100 * share:.1f} %)" for name, share in shares.items()]
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    which, they, were = ("Column", "it", "was") if len(found) == 1 else ("Columns", "they", "were")
    tell = "alone tells" if len(found) == 1 else "each alone tell"
    return [
        Message(
            f"{which} {', '.join(found[:_LISTED])}{more} {tell} the class in nearly all rows; if "
            f"{they} {were} filled in after the label was known, pass ",
            Setting("ignore", tuple(shares)[:_LISTED]),
            ".",
        )
    ]


def said_predictions(names: Iterable[str]) -> list[str]:
    """Return which columns look like predictions of an earlier model.

    Parameters
    ----------
    names : iterable of str
        The columns that are used, in the order of the table.
    """
    names = list(names)
    found = ["prediction"] if "prediction" in names else []
    # Of several outputs, predictions are numbered and come last.
    count = sum(bool(_NUMBERED.fullmatch(name)) for name in names)
    numbered = [f"prediction_{number}" for number in range(1, count + 1)]
    if count > 1 and names[-count:] == numbered:
        found = numbered
    if not found:
        return []
    columns = "Column" if len(found) == 1 else "Columns"
    look = "looks" if len(found) == 1 else "look"
    return [
        Message(
            f"{columns} {', '.join(map(repr, found))} {look} like what `granulearn predict` wrote; "
            "if so, pass ",
            Setting("ignore", tuple(found)),
            ".",
        )
    ]


def said_repeats(findings: Findings, *, labelled: bool = True) -> list[str]:
    """Return how many rows repeat others, or contradict them.

    Parameters
    ----------
    findings : Findings
        Of the whole table.
    labelled : bool, default=True
        Whether labels were compared, too.
    """
    about = "" if findings.exact else "about "
    said = []
    if findings.duplicates:
        were = "row repeats" if findings.duplicates == 1 else "rows repeat"
        how = "label and all" if labelled else "in all columns that are used"
        said.append(
            f"{about}{findings.duplicates} {were} an earlier one, {how}; a copy in the "
            "rows held out makes scores too good: remove repeated rows unless they are different "
            "cases."
        )
    if findings.conflicts:
        first = ", ".join(f"{a + 1} and {b + 1}" for a, b in findings.conflict_rows[:3])
        said.append(
            f"{about}{findings.conflicts} rows have the same inputs as a row with another label "
            f"(data rows {first}): one of the labels is wrong, or an input is missing."
        )
    return [text[0].upper() + text[1:] for text in said]
