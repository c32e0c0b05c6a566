"""Files that are no table to learn from, and what must be said about each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BAD: dict[str, BadTable] = {}

# Ten rows to learn from, where only something else is wrong.
PLAIN = "size,colour,label\n" + "".join(
    f"{row}.5,{'red' if row % 3 else 'blue'},{'a' if row % 2 else 'b'}\n" for row in range(40)
)


@dataclass(frozen=True)
class BadTable:
    """A file that must be refused.

    Parameters
    ----------
    name : str
        Its name in tests.
    make : callable
        Takes a folder and returns the path to give to the command.
    says : tuple of str
        Words that must occur in the message.
    target : str, default="label"
        The target to ask for.
    options : tuple of str, default=()
        Further options.
    code : int, default=3
        The exit code.
    """

    name: str
    make: Callable[[Path], Path]
    says: tuple[str, ...]
    target: str = "label"
    options: tuple[str, ...] = ()
    code: int = 3


def bad(
    *says: str, target: str = "label", options: tuple[str, ...] = (), code: int = 3
) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    """Register a function that makes a bad file, under the function's name.

    Parameters
    ----------
    *says : str
        Words that must occur in the message.
    target : str, default="label"
        The target to ask for.
    options : tuple of str, default=()
        Further options.
    code : int, default=3
        The exit code.
    """

    def register(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
        name = make.__name__
        BAD[name] = BadTable(name, make, says, target, options, code)
        return make

    return register


def holding(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
