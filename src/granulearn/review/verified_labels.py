"""From decisions to the labels that an audit and a model may take for true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP, VerifiedLabels
from granulearn.review.decisions import Decision, DecisionsError, check_belong


def verified_by(
    decisions: Sequence[Decision],
    *,
    rows: np.ndarray,
    hashes: Sequence[str],
    given: np.ndarray,
    classes: np.ndarray,
    source: str,
) -> VerifiedLabels:
    """Return the labels that decisions confirm or correct, by position among the rows with a label.

    Parameters
    ----------
    decisions : sequence of Decision
        One for each row.
    rows : ndarray of shape (n,)
        Number of each row with a label in the table, from 0.
    hashes : sequence of str
        Of all rows of the table.
    given : ndarray of shape (n,)
        Number of the given class of each row with a label.
    classes : ndarray
        The class labels, sorted.
    source : str
        Name of the file of decisions, for messages.
    """
    check_belong(decisions, hashes, source)
    position = np.full(len(hashes), -1)
    position[rows] = np.arange(len(rows))
    numbers = _numbers_of(classes)
    unknown = [d for d in decisions if d.decision == CHANGE and _key(d.label, numbers) is None]
    if unknown:
        raise DecisionsError(
            f"{source}, line {unknown[0].line}: {unknown[0].label!r} is no class of the table; the "
            f"classes are {', '.join(map(str, classes.tolist()[:10]))}."
        )
    settled = [d for d in decisions if d.decision in (KEEP, CHANGE) and position[d.row - 1] >= 0]
    at = np.array([position[d.row - 1] for d in settled], dtype=np.intp)
    changed = [
        d
        for d, place in zip(settled, at, strict=True)
        if d.decision == KEEP and d.given and numbers.get(_key(d.given, numbers)) != given[place]
    ]
    if changed:
        raise DecisionsError(
            f"{source}, line {changed[0].line}: row {changed[0].row} was kept as "
            f"{changed[0].given!r}, and its label is another one now; decide on it again."
        )
    truth = np.array(
        [
            numbers[_key(d.label, numbers)] if d.decision == CHANGE else given[place]
            for d, place in zip(settled, at, strict=True)
        ],
        dtype=np.intp,
    )
    return VerifiedLabels(at, truth, np.array([d.drawn == AT_RANDOM for d in settled], dtype=bool))


def _numbers_of(classes: np.ndarray) -> dict[str | None, int]:
    """Return the number of each class, by all the ways in which a spreadsheet may write it."""
    named = [str(label) for label in classes.tolist()]
    numbers: dict[str | None, int] = {}
    # Exact names come last, and win.
    for spelt in (_as_number, str.casefold, "'{}".format, str):
        numbers |= {spelt(name): code for code, name in enumerate(named) if spelt(name)}
    return numbers


def _key(label: str, numbers: dict[str | None, int]) -> str | None:
    """Return how the label stands among the numbers of classes; None if it does not."""
    spellings = (label, label.casefold(), _as_number(label))
    return next((spelt for spelt in spellings if spelt and spelt in numbers), None)


def _as_number(label: str) -> str:
    """Return a number in one way of writing it; empty if the label is none."""
    try:
        return f"number {float(label)!r}"
    except ValueError:
        return ""
