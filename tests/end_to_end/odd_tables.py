"""Tables that are odd in one way each, and whether they can be learned from."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np

# Forty rows to learn from, where only something else is odd.
TEXT = "size,colour,label\n" + "".join(
    f"{row}.5,{'red' if row % 3 else 'blue'},{'a' if row % 2 else 'b'}\n" for row in range(40)
)
# Exit codes; damage at random may hit what nothing depends on.
OK, REFUSED, NO_FILE, EITHER = (0,), (3,), (5,), (0, 3)
LINES = TEXT.splitlines()


@dataclass(frozen=True)
class OddTable:
    """A table that is odd, and what `granulearn fit` makes of it."""

    make: Callable[[Path], Path]
    """Takes a folder and returns the path to give to the command."""
    codes: tuple[int, ...]
    """The exit codes that are right: a model, or why there is none."""
    says: tuple[str, ...]
    """Words that must occur in what is said of it."""
    target: str
    options: tuple[str, ...]


ODD: dict[str, OddTable] = {}


def odd(
    name: str,
    file: str,
    content: str | bytes | Callable[[Path], object],
    codes: tuple[int, ...],
    *says: str,
    target: str = "label",
    options: tuple[str, ...] = (),
) -> None:
    """Note a file under a name, with what is in it, or a function that writes it."""

    def make(folder: Path) -> Path:
        path = folder / file
        if callable(content):
            content(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    assert name not in ODD, name
    ODD[name] = OddTable(make, codes, says, target, options)


def with_header(header: str) -> str:
    """Return the plain table with another header."""
    return "\n".join([header, *LINES[1:]])


def with_line(number: int, line: str) -> str:
    """Return the plain table with another line; the header is line 0."""
    return "\n".join([*LINES[:number], line, *LINES[number + 1 :]])


def labelled(labels: list[str]) -> str:
    """Return 40 rows that have these labels in turn."""
    rows = [line.rsplit(",", 1)[0] for line in LINES[1:]]
    return "\n".join([LINES[0], *map(",".join, zip(rows, islice(cycle(labels), 40), strict=True))])


def sized(cells: list[str]) -> str:
    """Return 40 rows with these cells in turn in a column of their own."""
    rows = zip(islice(cycle(cells), 40), LINES[1:], strict=True)
    return "\n".join([f"odd,{LINES[0]}", *map(",".join, rows)])


def flipped(data: bytes, seed: int) -> bytes:
    """Return the bytes with eight of them changed."""
    rng = np.random.default_rng(seed)
    changed = np.frombuffer(data, np.uint8).copy()
    changed[rng.integers(len(changed), size=8)] ^= rng.integers(1, 256, size=8).astype(np.uint8)
    return changed.tobytes()


def zipped(**members: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()
