"""Text of tables and files as a terminal may show it: what would command it is spelt out."""

from __future__ import annotations

import re

# Control characters but for tab and line feed, those that turn the direction of text, other
# ends of lines, and halves of characters, which file names may hold and nothing can encode.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return a text with characters that could command a terminal spelt out.

    Parameters
    ----------
    text : str
        A message with names and labels in it, for example.

    Examples
    --------
    >>> print(visible("red: \x1b[31m"))
    red: \x1b[31m
    """
    return _COMMANDS.sub(lambda found: repr(found[0])[1:-1], text)


def visible_in_json(text: str) -> str:
    r"""Return JSON that says the same without characters that could command a terminal.

    Parameters
    ----------
    text : str
        A whole JSON document, in which such characters can only stand inside of strings.

    Examples
    --------
    >>> print(visible_in_json('"\x9b31m"'))
    "\u009b31m"
    """
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
