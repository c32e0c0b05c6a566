"""Messages on stderr, one line each: control characters spelt out, settings as options.

The entry point imports this file before anything else, so it imports nothing heavy.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from granulearn.tables.messages import Setting

# Control characters but for tab and line feed, those that turn the direction of text, other
# ends of lines, and halves of characters, which file names may hold and nothing can encode.
CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Words of messages of `granulearn.datasets`.
_IN_PYTHON = {
    "list_datasets()": "`granulearn datasets`",
    "data_dir=": "--data-dir",
    "download=True": "--download",
}


def visible(text: str) -> str:
    r"""Return a text with characters that could command a terminal spelt out.

    Examples
    --------
    >>> print(visible("red: \x1b[31m"))
    red: \x1b[31m
    """
    return CONTROL_CHARACTERS.sub(lambda found: repr(found[0])[1:-1], text)


def error(message: str) -> None:
    """Print why a verb failed."""
    _write("error", message)


def warn(message: str) -> None:
    """Print what could lead a user to a wrong conclusion."""
    _write("warning", message)


def note(message: str) -> None:
    """Print what is neither result nor error."""
    _write("note", message)


def _write(kind: str, message: str) -> None:
    # A progress bar stands in for sys.stderr and makes room; typer.echo would write past it.
    one_line = visible(" ".join(in_flags(message).split()))
    sys.stderr.write(f"granulearn: {kind}: {one_line}\n")
    sys.stderr.flush()


def in_flags(message: str) -> str:
    """Return a sentence with its settings as options."""
    # The class `Message` is not looked up: it would have to be imported.
    spoken = getattr(message, "spoken", None)
    if spoken is not None:
        return spoken(flag)
    for in_python, option in _IN_PYTHON.items():
        message = message.replace(in_python, option)
    return message


def flag(setting: Setting) -> str:
    """Return a setting as a user types it: ``--ignore 'my zip'``."""
    option, value = option_of(setting), setting.value
    if value is None or isinstance(value, bool):
        return option
    values = value if isinstance(value, tuple) else (str(value),)
    # A separator is often a sign with a meaning in shells.
    always = setting.name == "separator"
    return " ".join(f"{option} {quoted(text, always=always)}" for text in values)


def option_of(setting: Setting) -> str:
    """Return the option of a setting, without its value."""
    if setting.name == "day_first" and setting.value is False:
        return "--month-first"
    return "--" + setting.name.replace("_", "-")


def quoted(text: str, *, always: bool = False) -> str:
    """Return a text as one word of a shell."""
    plain = re.fullmatch(r"[\w.,:/@%+-]+", text) and not text.startswith("-")
    return text if plain and not always else "'" + text.replace("'", "'\\''") + "'"
