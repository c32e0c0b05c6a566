"""Texts that name the label of their row, as a note does that was written after the decision."""

from __future__ import annotations

import re
from collections.abc import Callable

from granulearn.tables.faults.leaks import MIN_ROWS, Contingency
from granulearn.tables.labels.label_survey import label_key

# What must be right of the cells that name a class.
MIN_SHARE = 0.97
# What must name a class of the cells that are there.
MIN_NAMING = 0.5
# Where nearly all rows have one label, any word is right nearly always: naming must be wrong far
# more seldom than the most frequent label is.
OF_CHANCE = 0.3
# Shorter names, as "no" or "a", are words of any text.
SHORTEST = 3
# Of more classes no one writes the name into a note, and looking for each takes long.
MAX_CLASSES = 200


def naming_share(counts: Contingency) -> float | None:
    """Return how many of a column's cells name the label of their row; None if too few do.

    Parameters
    ----------
    counts : mapping of pairs to int
        How often each value of the column occurs with each label.
    """
    known = {
        (value, label): rows for (value, label), rows in counts.items() if isinstance(value, str)
    }
    of_label: dict[str, int] = {}
    for (_, label), rows in known.items():
        of_label[label] = of_label.get(label, 0) + rows
    total = sum(of_label.values())
    named_in = _finder([label for _, label in counts])
    if total < MIN_ROWS or len(of_label) < 2 or named_in is None:
        return None
    named = {value: named_in(value) for value in {value for value, _ in known}}
    naming = sum(rows for (value, _), rows in known.items() if named[value])
    right = sum(
        rows for (value, label), rows in known.items() if named[value] == {label_key(label)}
    )
    if naming < max(MIN_ROWS, MIN_NAMING * total):
        return None
    wrong_by_chance = 1 - max(of_label.values()) / total
    if naming - right > min(1 - MIN_SHARE, OF_CHANCE * wrong_by_chance) * naming:
        return None
    return right / total


def _finder(labels: list[str]) -> Callable[[str], set[str]] | None:
    """Return what finds the classes that a text names, if there are some to find."""
    names = {label_key(label) for label in labels}
    names = {name for name in names if sum(map(str.isalpha, name)) >= SHORTEST}
    if not names or len(names) > MAX_CLASSES:
        return None
    # The longest first: "not good" does not name "good".
    ordered = sorted(names, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)")
    return lambda text: set(pattern.findall(label_key(text)))
