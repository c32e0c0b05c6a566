"""What a user could set, in the words of the command line: the one place that knows its options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

# The entry point imports this file, so it must not load the tables.
if TYPE_CHECKING:
    from granulearn.tables.messages import Setting

_OPPOSITES = {"day_first": "--month-first"}
# What divides cells is often a sign that a shell takes for its own.
_ALWAYS_QUOTED = ("separator",)


def in_flags(message: str) -> str:
    """Return a sentence with its settings as options; any other text as it is.

    Parameters
    ----------
    message : str
        A `Message` perhaps.
    """
    # Asked of the object rather than of its class: that would have to be imported.
    spoken = getattr(message, "spoken", None)
    return message if spoken is None else spoken(flag)


def flag(setting: Setting) -> str:
    """Return a setting as it is written on a command line.

    Parameters
    ----------
    setting : Setting
        What is advised.
    """
    option, value = option_of(setting), setting.value
    if value is None or isinstance(value, bool):
        return option
    values = value if isinstance(value, tuple) else (str(value),)
    always = setting.name in _ALWAYS_QUOTED
    return " ".join(f"{option} {quoted(text, always=always)}" for text in values)


def option_of(setting: Setting) -> str:
    """Return the option alone, without what would stand after it.

    Parameters
    ----------
    setting : Setting
        What is advised.
    """
    if setting.value is False:
        return _OPPOSITES[setting.name]
    return "--" + setting.name.replace("_", "-")


def quoted(text: str, *, always: bool = False) -> str:
    """Return a text as a shell takes it for one word.

    Parameters
    ----------
    text : str
        The name of a column, for example.
    always : bool, default=False
        Whether a word that needs no quotes has them, too.
    """
    plain = re.fullmatch(r"[\w.,:/@%+-]+", text) and not text.startswith("-")
    return text if plain and not always else "'" + text.replace("'", "'\\''") + "'"
