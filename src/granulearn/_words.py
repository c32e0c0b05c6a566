"""Words of messages that several stages share."""

from __future__ import annotations


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
