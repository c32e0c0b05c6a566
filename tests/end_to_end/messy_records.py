"""What is known about a messy table: its file, its dirt, and the clean table below the dirt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd


@dataclass(frozen=True)
class Planted:
    """A table file and what must be said about it.

    Parameters
    ----------
    path : Path
        The file.
    target : str
        The column of labels.
    clean : DataFrame
        The columns that are learnt from, and the target, as a careful person would have written
        them: plain numbers, ISO dates, one spelling per label. Rows stand as in the file.
    kinds : mapping of str to str, default={}
        Column -> number, yes/no, date or category.
    units : mapping of str to str, default={}
        Column -> the unit of its numbers.
    left_out : mapping of str to str, default={}
        Column -> why nothing is learnt from it, as `check` words it.
    missing : mapping of str to mapping, default={}
        Column -> mark -> how many cells hold it.
    joined : mapping of str to mapping, default={}
        Class -> exact spelling -> count, where several spellings are one class.
    misspelt : tuple of (str, str), default=()
        Rare label, and the frequent one it looks like.
    unlabelled, duplicates, conflicts : int, default=0
        Rows without a label, repeated rows, rows whose inputs occur under another label too. At
        least so many: real data have some of their own.
    small : tuple of str, default=()
        Classes too small to learn.
    said : tuple of str, default=()
        Words that must occur in what is said about the table as a whole or about a column.
    """

    path: Path
    target: str
    clean: pd.DataFrame
    kinds: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    joined: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    misspelt: tuple[tuple[str, str], ...] = ()
    unlabelled: int = 0
    duplicates: int = 0
    conflicts: int = 0
    small: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def oddities(self) -> list[str]:
        """Return the names and words of which each must be found in what `audit` prints."""
        words = [*self.left_out, *self.said, *self.units.values()]
        words += [rare for rare, _ in self.misspelt]
        for label, spellings in self.joined.items():
            # The class itself is printed in any case; its other spellings only if it is said.
            shown = {unicodedata.normalize("NFC", spelling.strip()) for spelling in spellings}
            words += sorted(shown - {label}) or [label]
        return list(dict.fromkeys(words))


@dataclass(frozen=True)
class MessyTable:
    """A table that can be made in a folder.

    Parameters
    ----------
    name : str
        Its name in tests and results.
    odd : str
        What is odd about it, in a few words.
    make : callable
        Takes a folder, writes the file there, and returns what was planted.
    """

    name: str
    odd: str
    make: Callable[[Path], Planted]


TABLES: dict[str, MessyTable] = {}


def unsaid(words: Iterable[str], text: str) -> list[str]:
    """Return the words that do not stand in a text, as words of their own.

    Parameters
    ----------
    words : iterable of str
        The words.
    text : str
        The text; where its lines are broken does not matter.
    """
    flat = unicodedata.normalize("NFC", " ".join(text.split()))
    return [word for word in words if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", flat)]


def messy(odd: str) -> Callable[[Callable[[Path], Planted]], Callable[[Path], Planted]]:
    """Register a function that makes a table, under the function's name.

    Parameters
    ----------
    odd : str
        What is odd about the table, in a few words.
    """

    def register(make: Callable[[Path], Planted]) -> Callable[[Path], Planted]:
        TABLES[make.__name__] = MessyTable(make.__name__, odd, make)
        return make

    return register
