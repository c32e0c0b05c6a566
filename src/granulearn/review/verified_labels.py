"""From decisions to the labels that an audit and a model may take for true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP, VerifiedLabels
from granulearn.review.class_names import ClassNames
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

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.review import Decision, verified_by
    >>> verified = verified_by(
    ...     [Decision(row=2, decision="change", label="yes")],
    ...     rows=np.arange(3),
    ...     hashes=["", "", ""],
    ...     given=np.array([0, 0, 1]),
    ...     classes=np.array(["no", "yes"]),
    ...     source="decisions.csv",
    ... )
    >>> verified
    VerifiedLabels(rows=array([1]), truth=array([1]), at_random=array([False]))
    """
    check_belong(decisions, hashes, source)
    position = np.full(len(hashes), -1)
    position[rows] = np.arange(len(rows))
    names = ClassNames(map(str, classes.tolist()))
    for decision in decisions:
        if decision.decision == CHANGE:
            names.known(decision.label, f"{source}, line {decision.line}: ")
    settled = [d for d in decisions if d.decision in (KEEP, CHANGE) and position[d.row - 1] >= 0]
    at = np.array([position[d.row - 1] for d in settled], dtype=np.intp)
    for decision, place in zip(settled, at, strict=True):
        if is_stale(decision, int(given[place]), names):
            raise DecisionsError(
                f"{source}, line {decision.line}: row {decision.row} was {decision.given!r}, and "
                f"its label is {names.names[given[place]]!r} now; decide on it again in a review."
            )
    truth = np.array(
        [
            names.code(d.label) if d.decision == CHANGE else given[place]
            for d, place in zip(settled, at, strict=True)
        ],
        dtype=np.intp,
    )
    return VerifiedLabels(at, truth, np.array([d.drawn == AT_RANDOM for d in settled], dtype=bool))


def is_stale(decision: Decision, given: int, names: ClassNames) -> bool:
    """Return whether a decision is about another label than a row has now.

    A label that was changed may be in the table already.

    Parameters
    ----------
    decision : Decision
        What was decided.
    given : int
        Number of the class that the row has.
    names : ClassNames
        The classes of the table.
    """
    if not decision.given or decision.decision not in (KEEP, CHANGE):
        return False
    was = {names.code(decision.given)}
    if decision.decision == CHANGE:
        was.add(names.code(decision.label))
    return given not in was
