"""The classes of a target: spellings folded, missing labels counted, doubtful labels named."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn._words import counted
from granulearn.tables.errors import TableError
from granulearn.tables.messages import Message, Setting, listed
from granulearn.tables.parse.cells import as_text, is_nested, is_null_token

LONGEST_LABEL = 1000
# Counting stops here, so that a target of ten million different numbers costs no memory.
MAX_SPELLINGS = 10_000
# A search by five-fold cross-validation needs each class in each fold.
ENOUGH_ROWS = 5
# More numbers than this are measurements if some have decimals or have few rows each.
MAX_NUMBER_CLASSES = 20
# More whole numbers than this are measurements if one of them is rare, as ages and counts are.
MAX_WHOLE_CLASSES = 50
# The share of numbers among the classes from which on the target holds measurements.
MOSTLY_NUMBERS = 0.95
# Words that name nearly every row are names or texts, unless there are few.
FEW_CLASSES = 10
# A file is sorted by its labels if it is long enough and the order is hardly chance.
SORTED_ROWS = 20
SORTED_CHANCE = 0.001

# A number as people write it: with separators, a currency sign or a percent sign.
_NUMBER = re.compile(
    "[-+(]?\\s?[$€£¥]?\\s?"
    "((\\d+|\\d{1,3}([.,' \u00a0\u202f]\\d{3})+)([.,]\\d*)?|[.,]\\d+)"
    "([eE][-+]?\\d+)?\\s?[%€$£¥]?\\)?",
    re.ASCII,
)
_DECIMALS = re.compile(r"[.,]\d*[1-9]|[eE]-", re.ASCII)
_WHOLE = re.compile(r"\+?(-?[0-9]+)(\.0*)?")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # as `str` writes it


@dataclass(frozen=True)
class LabelProfile:
    """Spellings of the labels in some rows; `+` adds those of the rows that follow."""

    spellings: pa.Table
    """Columns `text` (null for an empty cell), `rows`, `first` and `last` (row numbers)."""
    booleans: bool
    """Whether the column is stored as booleans, not as text that may spell some."""

    def __add__(self, later: LabelProfile) -> LabelProfile:
        joined = pa.concat_tables([self.spellings, later.spellings])
        return LabelProfile(_distinct(joined), self.booleans and later.booleans)


def _distinct(spellings: pa.Table) -> pa.Table:
    """Return each spelling once, in order of first rows; no more than one beyond the maximum."""
    grouped = spellings.group_by("text").aggregate(
        [("rows", "sum"), ("first", "min"), ("last", "max")]
    )
    grouped = grouped.rename_columns(["text", "rows", "first", "last"]).sort_by("first")
    return grouped.slice(0, MAX_SPELLINGS + 1)


def profile_labels(column: pa.Array, target: str, first_row: int = 0) -> LabelProfile:
    """Count the spellings in some rows of the target.

    Parameters
    ----------
    column : pyarrow Array
        The target as it was read.
    target : str
        Its name, for messages.
    first_row : int, default=0
        Number of the first row in the table.
    """
    if is_nested(column.type):
        raise TableError(
            f"Column {target!r}, the target, holds lists or bytes ({column.type}), not one label "
            "per row; choose another column."
        )
    text = as_text(column, trimmed=False)
    longest = pc.max(pc.utf8_length(text)).as_py() or 0
    if longest > LONGEST_LABEL:
        raise TableError(
            f"Column {target!r}, the target, holds a text of {longest:,} characters, and the name "
            f"of a class has at most {LONGEST_LABEL:,}; choose another column or shorten its texts."
        )
    row, ones = np.arange(first_row, first_row + len(text)), np.ones(len(text), np.int64)
    table = pa.table({"text": text, "rows": ones, "first": row, "last": row})
    return LabelProfile(_distinct(table), pa.types.is_boolean(column.type))


def label_key(label: str) -> str:
    """Return what spellings have in common that differ in case, blanks or Unicode form only.

    Whole numbers have the key that `str` would write: 1, 1.0 and +1 are one class.

    Parameters
    ----------
    label : str
        Any spelling.
    """
    if not label.isascii():
        label = unicodedata.normalize("NFKC", label)
        # Signs without width, as a soft hyphen, cannot be seen in a table.
        label = "".join(sign for sign in label if unicodedata.category(sign) != "Cf")
    key = " ".join(label.casefold().split())
    if not key.isascii():
        key = unicodedata.normalize("NFKC", key)
    whole = _WHOLE.fullmatch(key)
    return whole[1] if whole else key


@dataclass(frozen=True)
class Labels:
    """The classes of a target, and messages about them."""

    classes: dict[str, int] = field(default_factory=dict)
    """Names of the classes, sorted, with their rows."""
    spellings: dict[str, str] = field(default_factory=dict)
    """The class of every spelling as it was read."""
    joined: dict[str, dict[str, int]] = field(default_factory=dict)
    """Classes of several spellings: each spelling with its rows, the most frequent first."""
    misspelt: tuple[tuple[str, str], ...] = ()
    """Rare classes with the frequent one that each looks like; they are not joined."""
    booleans: bool = False
    """Whether the column is stored as booleans."""
    unlabelled: dict[str, int] = field(default_factory=dict)
    """Null tokens with their rows; an empty cell is ''."""
    sorted_by_label: bool = False
    """Whether the rows come class by class."""
    problems: tuple[str, ...] = ()
    """Why nothing can be learned from this target, and what to do."""
    warnings: tuple[str, ...] = ()
    """Decisions that a user should know, and labels that look odd."""

    @property
    def small(self) -> dict[str, int]:
        """Classes with too few rows to learn them and to check the result, with their rows."""
        return {name: rows for name, rows in self.classes.items() if rows < ENOUGH_ROWS}

    @property
    def whole_numbers(self) -> bool:
        """Whether every class is a whole number as `str` writes it."""
        return bool(self.classes) and all(map(_INTEGER.fullmatch, self.classes))


def decide_labels(profile: LabelProfile, target: str, *, exact: bool = False) -> Labels:
    """Return the classes of a target; spellings with the same key are joined.

    Parameters
    ----------
    profile : LabelProfile
        Of all rows.
    target : str
        The column, for messages.
    exact : bool, default=False
        Whether to keep all spellings apart.
    """
    trimmed = pc.utf8_trim_whitespace(profile.spellings["text"].combine_chunks())
    tokens = is_null_token(trimmed, of_labels=True)
    unlabelled: Counter[str] = Counter()
    for token, spelling in zip(
        trimmed.filter(tokens), profile.spellings.filter(tokens)["rows"], strict=True
    ):
        unlabelled[token.as_py() or ""] += spelling.as_py()
    labelled = profile.spellings.filter(pc.invert(tokens)).to_pylist()
    counts = {spelling["text"]: spelling["rows"] for spelling in labelled}
    if len(counts) > MAX_SPELLINGS:
        return Labels(problems=_problems(target, counts))
    groups: dict[str, list[str]] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        groups.setdefault(text if exact else label_key(text), []).append(text)
    named = {
        texts[0] if exact else texts[0].strip() or texts[0]: texts for texts in groups.values()
    }
    classes = {name: sum(counts[text] for text in named[name]) for name in sorted(named)}
    labels = Labels(
        classes,
        spellings={text: name for name, texts in named.items() for text in texts},
        joined={
            name: {text: counts[text] for text in named[name]}
            for name in classes
            if len(named[name]) > 1
        },
        misspelt=find_misspelt(classes),
        booleans=profile.booleans,
        unlabelled=dict(sorted(unlabelled.items())),
        sorted_by_label=_is_sorted(labelled),
        problems=_problems(target, classes),
    )
    return replace(labels, warnings=tuple(_warnings(target, labels)))


def read_labels(column: pa.Array, labels: Labels) -> pa.Array:
    """Return the class of each row, null where it has no label.

    A spelling that was not there when the classes were decided is only trimmed.

    Parameters
    ----------
    column : pyarrow Array
        The target as it was read.
    labels : Labels
        Returned by `decide_labels`.
    """
    encoded = as_text(column, trimmed=False).dictionary_encode()
    trimmed = pc.utf8_trim_whitespace(encoded.dictionary)
    cells = zip(encoded.dictionary.to_pylist(), trimmed.to_pylist(), strict=True)
    names = pa.array([labels.spellings.get(text, plain) for text, plain in cells], pa.string())
    tokens = is_null_token(trimmed, of_labels=True)
    return pc.if_else(tokens, pa.scalar(None, pa.string()), names).take(encoded.indices)


def _is_sorted(spellings: list[dict[str, Any]]) -> bool:
    """Return whether the rows come class by class, and hardly by chance."""
    sizes: Counter[str] = Counter()
    spans: dict[str, tuple[int, int]] = {}
    for spelling in spellings:
        key, first, last = label_key(spelling["text"]), spelling["first"], spelling["last"]
        sizes[key] += spelling["rows"]
        earliest, latest = spans.get(key, (first, last))
        spans[key] = min(earliest, first), max(latest, last)
    overlap = any(a[1] > b[0] for a, b in pairwise(sorted(spans.values())))
    if sizes.total() < SORTED_ROWS or len(sizes) < 2 or overlap:
        return False
    log_chance = math.lgamma(len(sizes) + 1) - math.lgamma(sizes.total() + 1)
    log_chance += sum(math.lgamma(rows + 1) for rows in sizes.values())
    return log_chance < math.log(SORTED_CHANCE)


def _problems(target: str, classes: Mapping[str, int]) -> tuple[str, ...]:
    """Return why a target cannot be learned, and what to do."""
    about, rows = f"Column {target!r}, the target,", sum(classes.values())
    more = len(classes) > MAX_SPELLINGS
    found = f"more than {MAX_SPELLINGS}" if more else f"{len(classes)}"
    numbers = [name for name in classes if _NUMBER.fullmatch(name.strip())]
    if len(classes) < 2:
        value = "".join(f"{_short(name)} in every row that has one" for name in classes)
        return (
            f"{about} is {value or 'empty in every row'}; there is nothing to tell apart: choose "
            "another column or add rows of other classes.",
        )
    if _are_measurements(numbers, classes):
        kind = "numbers with decimals" if any(map(_DECIMALS.search, numbers)) else "whole numbers"
        return (
            f"{about} holds {found} different {kind} ({numbers[0]}, ...), not classes: choose "
            "another column, group the values (below 10, 10 to 20, ...), or fit a regressor in "
            "Python, such as RVFLRegressor; if they are classes, write a letter before each.",
        )
    if more or len(classes) > max(FEW_CLASSES, rows / 2):
        return (
            f"{about} holds {found} different labels in {rows} rows ({_short(min(classes))}, ...), "
            "which look like names, row numbers or texts, not like classes: choose another column, "
            "or group the labels.",
        )
    return ()


def _are_measurements(numbers: list[str], classes: Mapping[str, int]) -> bool:
    n_numbers, rows = len(numbers), [classes[name] for name in numbers]
    if n_numbers <= MAX_NUMBER_CLASSES or n_numbers < MOSTLY_NUMBERS * len(classes):
        return False
    rare = n_numbers > MAX_WHOLE_CLASSES and min(rows) < ENOUGH_ROWS
    return any(map(_DECIMALS.search, numbers)) or rare or sum(rows) < ENOUGH_ROWS * n_numbers


def _warnings(target: str, labels: Labels) -> Iterator[str]:
    """Yield what was decided about the labels of a target, and what looks odd."""
    classes = labels.classes if not labels.problems else {}

    def shown(names: Iterable[str]) -> str:
        return listed([f"{_short(name)} ({counted(classes[name], 'row')})" for name in names])

    if labels.joined and classes:
        groups = [
            f"{_short(name)} = " + " + ".join(f"{_short(text)} ({n})" for text, n in texts.items())
            for name, texts in labels.joined.items()
        ]
        yield Message(
            f"Labels of {target!r} that differ only in case, blanks, Unicode form or a final '.0' "
            f"were joined, with their rows: {listed(groups, '; ')}; to keep them apart: ",
            Setting("exact_labels", True),
            ".",
        )
    if labels.misspelt and classes:
        pairs = [f"{shown([rare])} like {shown([meant])}" for rare, meant in labels.misspelt]
        yield (
            f"Labels of {target!r} look misspelt and were kept as classes of their own: "
            f"{listed(pairs, '; ')}; correct them in the table if they are."
        )
    if len(classes) > MAX_NUMBER_CLASSES and all(map(_NUMBER.fullmatch, classes)):
        yield (
            f"The {len(classes)} different numbers in {target!r} are learned as classes, without "
            "their order; group the values, or fit a regressor in Python, if they are measurements."
        )
    tokens = is_null_token(pc.utf8_trim_whitespace(pa.array(classes, pa.string()))).to_pylist()
    doubtful = [
        name
        for name, token in zip(classes, tokens, strict=True)
        if token or label_key(name) == "none"
    ]
    if doubtful:
        yield (
            f"Labels of {target!r} that may stand for a missing one were kept as classes: "
            f"{shown(doubtful)}; leave the cells empty if these rows have no label."
        )
    if labels.small and classes:
        yield (
            f"Classes of {target!r} with fewer than {ENOUGH_ROWS} rows can hardly be learned or "
            f"checked: {shown(labels.small)}; add rows, or join them with another class."
        )
    if labels.unlabelled:
        cells = [
            f"{n} {token!r}" if token else f"{n} empty" for token, n in labels.unlabelled.items()
        ]
        n_rows = sum(labels.unlabelled.values())
        yield (
            f"{counted(n_rows, 'row')} {'has' if n_rows == 1 else 'have'} no label in {target!r} "
            f"({listed(cells)}); nothing is learned from them."
        )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


# Comparing each label with each takes minutes for thousands of them.
MAX_RARE = 1000
MAX_FREQUENT = 100
# A label is rare, and may be misspelt, up to this share of the rows.
RARE_SHARE = 0.01
TIMES_AS_FREQUENT = 5
# Short words are often one letter apart and both meant, as "yes" and "yet".
SHORTEST = 4
SHORTEST_WITH_TWO_EDITS = 8


def find_misspelt(classes: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a rare label and the frequent one that was probably meant.

    Labels that differ in their digits only, such as grade 1 and grade 2, are both meant.

    Parameters
    ----------
    classes : mapping of str to int
        Labels with their rows.
    """
    counts: Counter[str] = Counter()
    for name in classes:
        counts[label_key(name)] += classes[name]
    names = {label_key(name): name for name in sorted(classes, key=lambda name: classes[name])}
    rare = sorted(
        key for key, rows in counts.items() if rows <= max(2, RARE_SHARE * counts.total())
    )
    frequent = sorted(counts, key=lambda key: (-counts[key], key))[:MAX_FREQUENT]
    if len(rare) > MAX_RARE:
        return ()
    pairs = []
    for key in rare:
        candidates = [
            (edits, place, other)
            for place, other in enumerate(frequent)
            if counts[other] >= TIMES_AS_FREQUENT * counts[key] and (edits := _edits(key, other))
        ]
        if candidates:
            pairs.append((names[key], names[min(candidates)[2]]))
    return tuple(pairs)


def _edits(a: str, b: str) -> int:
    """Return how many edits lead from a to b; 0 if so many that both are probably meant."""
    shortest = min(len(a), len(b))
    if a == b or shortest < SHORTEST or re.sub(r"\d+", "", a) == re.sub(r"\d+", "", b):
        return 0
    allowed = 2 if shortest >= SHORTEST_WITH_TWO_EDITS else 1
    return next((edits for edits in range(1, allowed + 1) if within_edits(a, b, edits)), 0)


def within_edits(a: str, b: str, edits: int) -> bool:
    """Return whether `edits` letters added, lost, replaced or swapped lead from a to b.

    Parameters
    ----------
    a, b : str
        Two words.
    edits : int
        A small number: the time grows with a power of it.
    """
    if abs(len(a) - len(b)) > edits:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    if not a or not b or edits == 0:
        return max(len(a), len(b)) <= edits
    ways = [(a[1:], b[1:]), (a[1:], b), (a, b[1:])]
    if a[:2] == b[1::-1] and len(b) > 1:
        ways.append((a[2:], b[2:]))
    return any(within_edits(*rest, edits - 1) for rest in ways)
