"""Names of columns: none empty, no two equal, and not too many."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from granulearn.tables.errors import TableError

MOST_COLUMNS = 100_000
LONGEST_NAME = 10_000
_REMARKS_SHOWN = 5


def similar_names(name: str, names: Sequence[str], most: int = 3) -> list[str]:
    """Return the columns that a name may be meant for, the nearest first; case does not count.

    Parameters
    ----------
    name : str
        What the user wrote.
    names : sequence of str
        The columns of the table.
    most : int, default=3
        How many are wanted.
    """
    spelt: dict[str, list[str]] = {}
    for own in names:
        spelt.setdefault(own.casefold(), []).append(own)
    near = get_close_matches(name.casefold(), spelt, most)
    return [own for key in near for own in spelt[key]][:most]


def check_width(path: Path, n_columns: int) -> None:
    """Refuse a table that has too many columns to be one.

    Parameters
    ----------
    path : Path
        The table, for the message.
    n_columns : int
        How many columns it has.
    """
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"{path} has {n_columns:,} columns, and at most {MOST_COLUMNS:,} can be read; "
            "transpose the table if its rows stand in columns, or take fewer columns."
        )


def _check_lengths(path: Path, header: Sequence[str]) -> None:
    for place, name in enumerate(header, start=1):
        if len(name) > LONGEST_NAME:
            raise TableError(
                f"{path}: the name of column {place} has {len(name):,} characters, and at most "
                f"{LONGEST_NAME:,} can be read ({name[:40]!r}...); give the column a name, or the "
                "table a header."
            )


def named_columns(path: Path, header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names that are unique and not empty, and remarks on those that were not.

    Parameters
    ----------
    path : Path
        The table, for the message.
    header : sequence of str
        The names as they stand in the file; blanks around them are taken away.
    """
    check_width(path, len(header))
    _check_lengths(path, header)
    stripped = [name.strip() for name in header]
    taken = set(stripped)
    first_place: dict[str, int] = {}
    names, remarks = [], []
    for place, name in enumerate(stripped, start=1):
        new = name or _unused(f"column {place}", taken, first_number=1)
        if not name:
            remarks.append(f"column {place} has no name and is called {new!r}")
        elif name in first_place:
            new = _unused(name, taken, first_number=2)
            remarks.append(
                f"columns {first_place[name]} and {place} are both named {name!r}; the second is "
                f"called {new!r}"
            )
        else:
            first_place[name] = place
        taken.add(new)
        names.append(new)
    if len(remarks) > _REMARKS_SHOWN:
        more = f"{len(remarks) - _REMARKS_SHOWN} more columns have no name of their own"
        remarks = [*remarks[:_REMARKS_SHOWN], more]
    if names and all(_is_number(name) for name in stripped):
        remarks.append(
            f"all names of columns are numbers, {names[0]} for one: if the table has no header, "
            "its first row was taken for one; give it a header"
        )
    return names, remarks


def _unused(name: str, taken: set[str], first_number: int) -> str:
    """Return the name with the first number in brackets that makes it new."""
    number = first_number
    while (new := name if number == 1 else f"{name} ({number})") in taken:
        number += 1
    return new


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
