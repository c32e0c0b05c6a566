"""The classes of a target: spellings joined, doubtful ones named, what is no class refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.labels.label_remarks import (
    ENOUGH_ROWS,
    label_problems,
    label_warnings,
    said_unlabelled,
    too_many_labels,
)
from granulearn.tables.labels.label_survey import (
    LabelSurvey,
    join_label_surveys,
    label_key,
    survey_labels,
)
from granulearn.tables.labels.misspellings import find_misspelt
from granulearn.tables.parse.cells import as_text, is_null_token

__all__ = [
    "LabelSurvey",
    "Labels",
    "decide_labels",
    "join_label_surveys",
    "label_key",
    "read_labels",
    "survey_labels",
]

# A file is sorted by its labels if it is long enough and chance would hardly order it so.
SORTED_ROWS = 20
SORTED_CHANCE = 0.001


@dataclass(frozen=True)
class Labels:
    """The classes of a target, decided, with what a user should know about them."""

    classes: dict[str, int] = field(default_factory=dict)
    """Names of the classes, sorted, with their rows."""
    spellings: dict[str, str] = field(default_factory=dict)
    """The class of every spelling as it was read."""
    joined: dict[str, dict[str, int]] = field(default_factory=dict)
    """Classes of several spellings: each spelling with its rows, the most frequent first."""
    misspelt: tuple[tuple[str, str], ...] = ()
    """Rare classes with the frequent one that each looks like; they are not joined."""
    whole_numbers: bool = False
    """Whether every class is a whole number as `str` writes it."""
    truth_values: bool = False
    """Whether the classes are the truth values of a column that is stored as such."""
    unlabelled: dict[str, int] = field(default_factory=dict)
    """Marks of a missing label with their rows; an empty cell is ''."""
    small: dict[str, int] = field(default_factory=dict)
    """Classes with too few rows to learn, and to check what was learned."""
    first_rows: dict[str, int] = field(default_factory=dict)
    """The first row of each class."""
    sorted_by_label: bool = False
    """Whether the rows come class by class."""
    problems: tuple[str, ...] = ()
    """Why nothing can be learned from this target, and what to do."""
    warnings: tuple[str, ...] = ()
    """What was decided, or looks odd."""


def decide_labels(survey: LabelSurvey, target: str, *, exact: bool = False) -> Labels:
    """Return the classes that a column of labels holds.

    Spellings that differ in case, blanks or Unicode form only are joined to the most frequent.

    Parameters
    ----------
    survey : LabelSurvey
        Of all rows.
    target : str
        The column, for the messages.
    exact : bool, default=False
        Whether to keep all spellings apart.
    """
    counts = survey.counts
    unlabelled = dict(sorted(survey.unlabelled.items()))
    if counts is None:
        return Labels(
            unlabelled=unlabelled,
            problems=(too_many_labels(target, survey),),
            warnings=said_unlabelled(target, unlabelled),
        )
    spellings = {text: text for text in sorted(counts)} if exact else _joined_names(counts)
    classes = dict.fromkeys(sorted(set(spellings.values())), 0)
    variants: dict[str, dict[str, int]] = {}
    first_rows: dict[str, int] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        name = spellings[text]
        classes[name] += counts[text]
        variants.setdefault(name, {})[text] = counts[text]
        first_row = survey.first_rows[text]
        first_rows[name] = min(first_rows.get(name, first_row), first_row)
    joined = {name: variants[name] for name in classes if len(variants[name]) > 1}
    misspelt = _misspelt(classes)
    small = {name: rows for name, rows in classes.items() if rows < ENOUGH_ROWS}
    problems = label_problems(target, classes)
    # What is refused needs no list of a thousand small classes.
    warnings = () if problems else label_warnings(target, classes, joined, misspelt)
    return Labels(
        classes=classes,
        spellings=spellings,
        joined=joined,
        misspelt=misspelt,
        whole_numbers=bool(classes) and all(_is_plain_integer(name) for name in classes),
        truth_values=survey.truth_values,
        unlabelled=unlabelled,
        small=small,
        first_rows={name: first_rows[name] for name in classes},
        sorted_by_label=_comes_class_by_class(survey, classes),
        problems=problems,
        warnings=(*warnings, *said_unlabelled(target, unlabelled)),
    )


def read_labels(column: pa.Array, labels: Labels) -> pa.Array:
    """Return the class of each row, null where it has no label.

    A spelling that was not there when the classes were decided is only trimmed.

    Parameters
    ----------
    column : pyarrow Array
        The target as it was read.
    labels : Labels
        What `decide_labels` returned.
    """
    encoded = as_text(column, trimmed=False).dictionary_encode()
    trimmed = pc.utf8_trim_whitespace(encoded.dictionary)
    no_label = is_null_token(trimmed, of_labels=True).to_pylist()
    names = [
        None if missing else labels.spellings.get(spelling, plain)
        for spelling, plain, missing in zip(
            encoded.dictionary.to_pylist(), trimmed.to_pylist(), no_label, strict=True
        )
    ]
    return pa.array(names, pa.string()).take(encoded.indices)


def _joined_names(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the class of each spelling, named by the most frequent one with the same key."""
    groups: dict[str, list[str]] = {}
    for spelling in sorted(counts):
        groups.setdefault(label_key(spelling), []).append(spelling)
    names = {}
    for group in groups.values():
        # The first of the most frequent ones: `max` keeps the order of sorted spellings.
        name = max(group, key=lambda spelling: counts[spelling])
        names.update(dict.fromkeys(group, name.strip() or name))
    return dict(sorted(names.items()))


def _misspelt(classes: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    by_key: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name in sorted(classes, key=lambda name: (-classes[name], name)):
        key = label_key(name)
        by_key.setdefault(key, name)
        counts[key] = counts.get(key, 0) + classes[name]
    return tuple((by_key[rare], by_key[meant]) for rare, meant in find_misspelt(counts))


def _comes_class_by_class(survey: LabelSurvey, classes: Mapping[str, int]) -> bool:
    # Spellings kept apart are counted together here: a file sorted by class is no less sorted
    # because someone typed a capital letter.
    sizes: dict[str, int] = {}
    for name, rows in classes.items():
        key = label_key(name)
        sizes[key] = sizes.get(key, 0) + rows
    if survey.rows < SORTED_ROWS or len(sizes) < 2 or survey.runs != len(sizes):
        return False
    log_chance = math.lgamma(len(sizes) + 1) - math.lgamma(survey.rows + 1)
    log_chance += sum(math.lgamma(rows + 1) for rows in sizes.values())
    return log_chance < math.log(SORTED_CHANCE)


def _is_plain_integer(text: str) -> bool:
    """Return whether a text is a whole number as `str` writes it: no sign +, no leading zero."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19 and str(int(text)) == text
