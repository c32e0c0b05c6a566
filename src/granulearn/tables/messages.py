"""Messages that name settings, as Python or the command line writes them, and `TableError`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A parameter with an advised value; `str` gives it as Python writes it."""

    name: str
    """Of a parameter, as of `ColumnOptions` or `ReadOptions`."""
    value: str | bool | int | tuple[str, ...] | None = None
    """A tuple for a parameter that takes several names; None names the parameter alone."""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}=..."
        # A list, since the comma of a tuple of one looks like a typing error.
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return f"{self.name}={value!r}"


class Message(str):
    """A sentence whose settings can be shown as Python or as command line options."""

    parts: tuple[str | Setting, ...]

    def __new__(cls, *parts: str | Setting) -> Message:
        """Return the sentence with settings as Python writes them."""
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


class TableError(ValueError):
    """A table cannot be used; each problem says what was found, where, and what to do.

    Parameters
    ----------
    *problems : str
        One sentence each.

    Examples
    --------
    >>> from granulearn.tables import TableError, read_training_table, table_of
    >>> try:
    ...     read_training_table(table_of({"age": [31, 47]}), "label")
    ... except TableError as error:
    ...     print(error)
    the table: There is no column 'label' (target=...); did you mean one of ['age']?
    """

    def __init__(self, *problems: str):
        super().__init__(" ".join(problems))
        self.problems = problems

    @classmethod
    def about(cls, path: object, problems: Iterable[str]) -> TableError:
        """Return the error for a table, named in front of each of its problems.

        Parameters
        ----------
        path : object
            The table.
        problems : iterable of str
            One sentence each.
        """
        return cls(*(Message(f"{path}: ", problem) for problem in problems))

    def __reduce__(self):
        return type(self), self.problems
