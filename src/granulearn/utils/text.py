"""Text for messages and terminals: counted nouns, long cells in short, no control characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Control characters but for tab and line feed, those that turn the direction of text, other
# ends of lines, and halves of characters, which file names may hold and nothing can encode.
CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LETTERS_SHOWN = 80


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: "1 row", "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {plural or noun + 's'}"


def quoted(text: str) -> str:
    """Return a text in quotation marks; of a long one its beginning, and how long it is."""
    text = str(text)  # a text of NumPy would show its type
    if len(text) <= _LETTERS_SHOWN:
        return repr(text)
    return f"{text[:_LETTERS_SHOWN]!r}... ({len(text):,} characters)"


def listed(items: Sequence[str], separator: str = ", ", most: int = 10) -> str:
    """Return items as text; of a long list its beginning, and how many more there are."""
    more = [f"and {len(items) - most} more"] if len(items) > most else []
    return separator.join([*items[:most], *more])


def visible(text: str) -> str:
    r"""Return a text with characters that could command a terminal spelt out.

    Examples
    --------
    >>> print(visible("red: \x1b[31m"))
    red: \x1b[31m
    """
    return CONTROL_CHARACTERS.sub(lambda found: repr(found[0])[1:-1], text)
