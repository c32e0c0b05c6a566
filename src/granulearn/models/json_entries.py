"""What JSON holds in the place of each entry of a record, looked at before anything is made of it.

Cards of models come from files that anyone may have written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from granulearn._invariants import FINITE, MOST_ROWS

Entries = Mapping[str, Callable[[Any], bool]]
"""By name: whether a value can be there."""

_SHOWN = 80


def check_entries(content: Any, entries: Entries, what: str, needed: Collection[str] = ()) -> None:
    """Raise TypeError unless a record has known entries alone, and each is of its kind.

    Parameters
    ----------
    content : object
        From JSON.
    entries : mapping
        What can be there.
    what : str
        What the record is, for the message.
    needed : collection of str, default=()
        Names of entries that must be there.
    """
    if not isinstance(content, Mapping):
        raise TypeError(f"{_short(content)} is not {what}")
    for name, value in content.items():
        if name not in entries:
            raise TypeError(f"{what} has an unknown entry {_short(name)}")
        if not entries[name](value):
            raise TypeError(f"{what} has {_short(value)} as its {name}")
    for name in needed:
        if name not in content:
            raise TypeError(f"{what} lacks its {name}")


def is_text(value: Any) -> bool:
    """Return whether a value is text."""
    return type(value) is str


def is_truth(value: Any) -> bool:
    """Return whether a value is true or false."""
    return type(value) is bool


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number."""
    return type(value) is int


def is_count(value: Any) -> bool:
    """Return whether a value is a number of rows, cells or balls."""
    return type(value) is int and 0 <= value <= MOST_ROWS


def is_number(value: Any) -> bool:
    """Return whether a value is a number that a float can be."""
    return type(value) in (int, float) and abs(value) <= FINITE


def is_mapping(value: Any) -> bool:
    """Return whether a value has entries of its own."""
    return isinstance(value, Mapping)


def are_texts(values: Any) -> bool:
    """Return whether values are a list of texts, none of them twice."""
    return is_list(values) and all(map(is_text, values)) and len({*values}) == len(values)


def are_counts(values: Any) -> bool:
    """Return whether values are counts by text."""
    known = isinstance(values, Mapping) and all(map(is_text, values))
    return known and all(map(is_count, values.values()))


def is_list(values: Any) -> bool:
    """Return whether values are a list; a record has them as a tuple."""
    return isinstance(values, list | tuple)


def or_none(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return what allows None beside other values.

    Parameters
    ----------
    fits : callable
        Says whether another value can be there.
    """
    return lambda value: value is None or fits(value)


def _short(value: Any) -> str:
    """Return a value as a message shows it, without its control characters."""
    return ascii(value)[:_SHOWN]
