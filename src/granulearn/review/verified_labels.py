"""From decisions to verified labels, which an audit and a model take for true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from granulearn.audit.verified import AT_RANDOM, CHANGE, KEEP, VerifiedLabels
from granulearn.review.decisions import Decision, DecisionsError, check_rows
from granulearn.tables import TrainingTable
from granulearn.tables.labels import label_key
from granulearn.utils.text import CONTROL_CHARACTERS, listed, quoted

GUARD = "'"
"""An audit writes it before a label that a spreadsheet would take for a formula."""
_LONGEST_LABEL = 200


class ClassNames:
    """Finds the class of a label, in all spellings of people and spreadsheets.

    A label is the class of the same spelling; else the one that differs in case, blanks or
    Unicode form only, or that is the same whole number. A label that fits two classes is neither.
    """

    def __init__(self, names: Iterable[str]):
        self.names = list(names)
        self._exact = {name: code for code, name in enumerate(self.names)}
        self._similar: dict[str, int | None] = {}
        for code, name in enumerate(self.names):
            key = label_key(name)
            self._similar[key] = None if key in self._similar else code

    def code(self, label: str) -> int | None:
        """Return the number of the class of a label in any spelling; None if it is none."""
        for text in (label, label.removeprefix(GUARD)):
            code = self._exact[text] if text in self._exact else self._similar.get(label_key(text))
            if code is not None:
                return code
        return None

    def with_new(self, labels: Iterable[str]) -> ClassNames:
        """Return these classes, and those of labels that are none of them."""
        plain = (" ".join(label.split()) for label in labels)
        new = dict.fromkeys(label for label in plain if self.code(label) is None)
        for label in new:
            if not label or len(label) > _LONGEST_LABEL or CONTROL_CHARACTERS.search(label):
                raise DecisionsError(
                    f"{quoted(label)} cannot be a class; name it by 1 to {_LONGEST_LABEL} letters."
                )
        return ClassNames([*self.names, *new])

    def known(self, label: str, where: str = "") -> str:
        """Return the class of a label; `where` begins the `DecisionsError` for an unknown one."""
        code = self.code(label)
        if code is None:
            raise DecisionsError(
                f"{where}{quoted(label)} is no class of the table; the classes are "
                f"{listed(self.names)}."
            )
        return self.names[code]


def class_names(table: TrainingTable) -> ClassNames:
    """Return the classes of a table by name."""
    return ClassNames(map(str, table.coded_labels[0].tolist()))


def verified_by(decisions: Sequence[Decision], table: TrainingTable, source: str) -> VerifiedLabels:
    """Return the labels that decisions confirm or correct, by position among the labelled rows.

    Parameters
    ----------
    decisions : sequence of Decision
        One for each row.
    table : TrainingTable
        The table, read with its cells.
    source : str
        Name of the file of decisions, for messages.

    Raises
    ------
    DecisionsError
        If they are about another table, or about labels that were edited since.

    Notes
    -----
    A change of a review to a class that the table does not have verifies nothing.

    Examples
    --------
    >>> from granulearn.review import Decision, verified_by
    >>> from granulearn.tables import read_training_table, table_of
    >>> pets = {"legs": [4, 4, 2, 2], "pet": ["cat", "cat", "cat", "bird"]}
    >>> table = read_training_table(table_of(pets), "pet", keep_cells=True)
    >>> verified_by([Decision(row=3, decision="change", new_label="bird")], table, "d.csv")
    VerifiedLabels(rows=array([2]), truth=array([0]), at_random=array([False]))
    """
    check_rows(decisions, table.hashes, source)
    positions = {row: position for position, row in enumerate(table.rows.tolist())}
    names, given = class_names(table), table.coded_labels[1]
    found = []
    for decision in decisions:
        where = f"{source}, line {decision.line}: "
        is_change = decision.decision == CHANGE
        new = names.code(decision.new_label) if is_change else None
        is_new_class = is_change and new is None
        if is_new_class and not decision.version:
            names.known(decision.new_label, where)  # by hand; on a page it was confirmed
        position = positions.get(decision.row - 1)
        if decision.decision not in (KEEP, CHANGE) or position is None or is_new_class:
            continue
        code = int(given[position])
        if table.classes is not None and decision.given_label:
            # The consensus may be another one since; what was decided holds.
            code = names.names.index(names.known(decision.given_label, where))
        elif is_stale(decision, code, names):
            raise DecisionsError(
                f"{where}row {decision.row} was {decision.given_label!r}, and its label is "
                f"{names.names[code]!r} now; decide on it again in a review."
            )
        found.append((position, code if new is None else new, decision.drawn == AT_RANDOM))
    rows, truths, at_random = np.array(sorted(found), dtype=np.intp).reshape(-1, 3).T
    return VerifiedLabels(rows, truths, at_random.astype(bool))


def is_stale(decision: Decision, given: int, names: ClassNames) -> bool:
    """Return whether a decision is about another label than the class that its row has now.

    A label that was changed may be in the table already.
    """
    if not decision.given_label or decision.decision not in (KEEP, CHANGE):
        return False
    labels = [decision.given_label] + [decision.new_label] * (decision.decision == CHANGE)
    return given not in map(names.code, labels)
