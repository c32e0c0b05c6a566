"""Words of messages that several stages share."""

from __future__ import annotations

_LETTERS_SHOWN = 80


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with what it counts: "1 row", "2 rows".

    Parameters
    ----------
    n : int
        The number.
    noun : str
        What one of them is called.
    plural : str, default=None
        What several are called, if it is not the noun with an s.
    """
    return f"{n} {noun}" if n == 1 else f"{n} {plural or noun + 's'}"


def quoted(text: str) -> str:
    """Return a text in quotation marks; of a long one its beginning, and how long it is.

    Parameters
    ----------
    text : str
        A cell, for one: whoever made the table decides how long it is.
    """
    text = str(text)  # a text of NumPy would show its type
    if len(text) <= _LETTERS_SHOWN:
        return repr(text)
    return f"{text[:_LETTERS_SHOWN]!r}... ({len(text):,} characters)"
