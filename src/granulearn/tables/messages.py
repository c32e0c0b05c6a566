"""Messages that name parameters, shown as Python writes them or as options of a command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A parameter with the advised value; its text is how Python writes it."""

    name: str
    """Of a parameter, as of `ColumnOptions` or `ReadOptions`."""
    value: str | bool | int | tuple[str, ...] | None = None
    """A tuple for a parameter that takes several names; None names the parameter alone."""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}=..."
        # A list, since a tuple of one name has a comma that reads like a slip of the pen.
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return f"{self.name}={value!r}"


class Message(str):
    """A sentence whose settings can be shown in other forms."""

    parts: tuple[str | Setting, ...]

    def __new__(cls, *parts: str | Setting) -> Message:
        """Return the sentence in the form of Python."""
        flat: list[str | Setting] = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else (part,)
        message = super().__new__(cls, "".join(map(str, flat)))
        message.parts = tuple(flat)
        return message

    def __reduce__(self):
        return type(self), self.parts

    def spoken(self, speak: Callable[[Setting], str]) -> str:
        """Return the sentence with every setting shown in another form."""
        return "".join(speak(part) if isinstance(part, Setting) else part for part in self.parts)


def any_of(settings: Sequence[Setting]) -> Message:
    """Return alternative settings, joined by "or"."""
    first, *others = settings
    return Message(first, *(part for other in others for part in (" or ", other)))
