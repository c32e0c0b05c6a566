"""Rare labels that look like a misspelt frequent one: listed for the user, never joined."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Comparing each label with each would take minutes for thousands of them, and who has so many
# classes reads no list of misspellings.
MAX_RARE = 1000
MAX_FREQUENT = 100
# Short words are often one letter apart and both meant, as "yes" and "yet".
SHORTEST = 4
SHORTEST_WITH_TWO_EDITS = 8
TIMES_AS_FREQUENT = 5
RARE_SHARE = 0.01
_DIGITS = re.compile(r"\d+")


def find_misspelt(counts: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a rare label and the frequent one that was probably meant.

    Labels that differ in their digits only, such as grade 1 and grade 2, are both meant.

    Parameters
    ----------
    counts : mapping of str to int
        Labels, blanks and case already made alike, with their rows.
    """
    most = max(2, RARE_SHARE * sum(counts.values()))
    rare = sorted(label for label, rows in counts.items() if rows <= most)
    frequent = sorted(counts, key=lambda label: (-counts[label], label))[:MAX_FREQUENT]
    if len(rare) > MAX_RARE:
        return ()
    pairs = []
    for label in rare:
        enough = TIMES_AS_FREQUENT * counts[label]
        candidates = [other for other in frequent if counts[other] >= enough]
        meant = min(
            (
                (edits, position, other)
                for position, other in enumerate(candidates)
                if (edits := _edits(label, other))
            ),
            default=None,
        )
        if meant is not None:
            pairs.append((label, meant[2]))
    return tuple(pairs)


def _edits(a: str, b: str) -> int:
    """Return how many edits lead from a to b; 0 if so many that both are probably meant."""
    shortest = min(len(a), len(b))
    if a == b or shortest < SHORTEST or _DIGITS.sub("", a) == _DIGITS.sub("", b):
        return 0
    allowed = 2 if shortest >= SHORTEST_WITH_TWO_EDITS else 1
    return next((edits for edits in range(1, allowed + 1) if within_edits(a, b, edits)), 0)


def within_edits(a: str, b: str, edits: int) -> bool:
    """Return whether so many letters added, lost, replaced or swapped lead from a to b.

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
