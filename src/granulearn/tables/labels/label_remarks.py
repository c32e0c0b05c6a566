"""What is wrong with the labels of a target, or odd about them, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.labels.label_survey import (
    DECIMALS,
    MAX_SPELLINGS,
    NUMBER,
    LabelSurvey,
    label_key,
)
from granulearn.tables.messages import Message, Setting
from granulearn.tables.parse.cells import is_null_token

# A search by five-fold cross-validation needs each class in each fold.
ENOUGH_ROWS = 5
# More numbers than this, some of them with decimals, are measurements.
MAX_DECIMAL_CLASSES = 20
# Whole numbers may be many classes, but then each has its rows: ages and counts have rare values.
MAX_WHOLE_CLASSES = 50
# Words that name nearly every row are names or texts; a table of a few rows cannot tell.
FEW_CLASSES = 10
# Some words among measurements, as "broken" among temperatures, make them no classes.
_MOST = 0.95
_LISTED = 10
_NUMBER = re.compile(NUMBER, re.ASCII)
_DECIMALS = re.compile(DECIMALS, re.ASCII)


@dataclass(frozen=True)
class _Numbers:
    """Those of the classes that spell a number."""

    names: tuple[str, ...]
    decimals: bool
    rows: int

    @classmethod
    def among(cls, classes: Mapping[str, int]) -> _Numbers:
        names = tuple(name for name in classes if _NUMBER.match(name))
        return cls(
            names,
            any(_DECIMALS.search(name) for name in names),
            sum(classes[name] for name in names),
        )


def label_problems(target: str, classes: Mapping[str, int]) -> tuple[str, ...]:
    """Return why a target cannot be learned, and what to do.

    Parameters
    ----------
    target : str
        The column.
    classes : mapping of str to int
        Its classes with their rows.
    """
    rows = sum(classes.values())
    numbers = _Numbers.among(classes)
    if len(classes) < 2:
        found = "".join(f"{_short(name)} in every row that has one" for name in classes)
        why = "with one class there" if classes else "there"
        return (
            f"Column {target!r}, the target, is {found or 'empty in every row'}; {why} is nothing "
            "to tell apart: choose another column or add rows of other classes.",
        )
    if _are_measurements(classes, numbers):
        kind = "numbers with decimals" if numbers.decimals else "whole numbers"
        found = f"{len(numbers.names)} different {kind}"
        return (_refused_numbers(target, found, numbers.names[0]),)
    if len(classes) > max(FEW_CLASSES, rows / 2):
        found = f"{len(classes)} different labels in {rows} rows"
        return (_refused_texts(target, found, next(iter(classes))),)
    return ()


def too_many_labels(target: str, survey: LabelSurvey) -> str:
    """Return why a target with too many spellings to count cannot be learned.

    Parameters
    ----------
    target : str
        The column.
    survey : LabelSurvey
        What is known of it.
    """
    if survey.numbers > survey.rows / 2:
        kind = "numbers with decimals" if survey.decimals else "whole numbers"
        found = f"more than {MAX_SPELLINGS} different {kind}"
        return _refused_numbers(target, found, survey.example)
    found = f"more than {MAX_SPELLINGS} different labels in {survey.rows} rows"
    return _refused_texts(target, found, survey.example)


def label_warnings(
    target: str,
    classes: Mapping[str, int],
    joined: Mapping[str, Mapping[str, int]],
    misspelt: Sequence[tuple[str, str]],
) -> tuple[str, ...]:
    """Return what was decided about the labels of a target, and what looks odd.

    Parameters
    ----------
    target : str
        The column.
    classes : mapping of str to int
        Its classes with their rows.
    joined : mapping of str to mappings of str to int
        Classes of several spellings, each with its rows.
    misspelt : sequence of pairs of str
        Rare classes, each with the frequent one that it looks like.
    """
    return (
        *_said_joined(target, joined),
        *_said_misspelt(target, misspelt, classes),
        *_said_numbers(target, classes),
        *_said_marks(target, classes),
        *_said_small(target, classes),
    )


def said_unlabelled(target: str, unlabelled: Mapping[str, int]) -> tuple[str, ...]:
    """Return how many rows have no label, and what stands there; nothing if all have one.

    Parameters
    ----------
    target : str
        The column.
    unlabelled : mapping of str to int
        Marks of a missing label with their rows.
    """
    if not unlabelled:
        return ()
    total = sum(unlabelled.values())
    marks = [f"{rows} {repr(mark) if mark else 'empty'}" for mark, rows in unlabelled.items()]
    verb = "has" if total == 1 else "have"
    return (
        f"{_rows(total)} {verb} no label in {target!r} ({_list(marks)}); nothing is learned from "
        "them.",
    )


def _are_measurements(classes: Mapping[str, int], numbers: _Numbers) -> bool:
    n_numbers = len(numbers.names)
    if n_numbers < _MOST * len(classes):
        return False
    if numbers.decimals:
        return n_numbers > MAX_DECIMAL_CLASSES
    too_small = any(classes[name] < ENOUGH_ROWS for name in numbers.names)
    return (n_numbers > MAX_WHOLE_CLASSES and too_small) or (
        n_numbers > MAX_DECIMAL_CLASSES and numbers.rows < ENOUGH_ROWS * n_numbers
    )


def _refused_numbers(target: str, found: str, example: str) -> str:
    return (
        f"Column {target!r}, the target, holds {found} ({example}, ...), and classes are learned "
        "here, not measurements: choose another column, group the values (below 10, 10 to 20, "
        "...), or fit a regressor in Python, RVFLRegressor for one; if they are classes, write a "
        "letter before each."
    )


def _refused_texts(target: str, found: str, example: str) -> str:
    return (
        f"Column {target!r}, the target, holds {found} ({_short(example)}, ...), "
        "which looks like a name, a number of its row or a text, not like a class: choose another "
        "column, or group the labels."
    )


def _said_joined(target: str, joined: Mapping[str, Mapping[str, int]]) -> Iterable[str]:
    if not joined:
        return
    groups = [
        f"{_short(name)} = "
        + " + ".join(f"{_short(text)} ({rows})" for text, rows in texts.items())
        for name, texts in joined.items()
    ]
    yield Message(
        f"Labels of {target!r} that differ only in case, blanks, Unicode form or a final '.0' "
        f"were joined, with their rows: {_list(groups, '; ')}; ",
        Setting("exact_labels", True),
        " keeps them apart.",
    )


def _said_misspelt(
    target: str, misspelt: Iterable[tuple[str, str]], classes: Mapping[str, int]
) -> Iterable[str]:
    pairs = [
        f"{_short(rare)} ({_rows(classes[rare])}) like {_short(meant)} ({_rows(classes[meant])})"
        for rare, meant in misspelt
    ]
    if pairs:
        yield (
            f"Labels of {target!r} look misspelt and were kept as classes of their own: "
            f"{_list(pairs, '; ')}; correct them in the table if they are."
        )


def _said_numbers(target: str, classes: Mapping[str, int]) -> Iterable[str]:
    numbers = _Numbers.among(classes)
    if len(numbers.names) > MAX_DECIMAL_CLASSES and len(numbers.names) == len(classes):
        yield (
            f"The {len(classes)} different numbers in {target!r} are learned as classes, without "
            "their order; group the values, or fit a regressor in Python, if they are "
            "measurements."
        )


def _said_marks(target: str, classes: Mapping[str, int]) -> Iterable[str]:
    names = list(classes)
    marks = np.asarray(
        is_null_token(pc.utf8_trim_whitespace(pa.array(names, pa.string()))), dtype=bool
    )
    found = [
        f"{_short(name)} ({_rows(classes[name])})"
        for name, mark in zip(names, marks, strict=True)
        if mark or label_key(name) == "none"
    ]
    if found:
        yield (
            f"Labels of {target!r} that may stand for a missing one were kept as classes: "
            f"{_list(found)}; leave the cells empty if these rows have no label."
        )


def _said_small(target: str, classes: Mapping[str, int]) -> Iterable[str]:
    found = [
        f"{_short(name)} ({_rows(rows)})" for name, rows in classes.items() if rows < ENOUGH_ROWS
    ]
    if found:
        yield (
            f"Classes of {target!r} with fewer than {ENOUGH_ROWS} rows can hardly be learned, or "
            f"checked: {_list(found)}; add rows, or join them with another class."
        )


def _rows(rows: int) -> str:
    return f"{rows} row{'s' if rows != 1 else ''}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _list(items: list[str], separator: str = ", ") -> str:
    shown = separator.join(items[:_LISTED])
    left = len(items) - _LISTED
    return shown if left <= 0 else f"{shown}{separator}and {left} more"
