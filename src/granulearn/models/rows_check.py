"""Drift: what rows hold that training did not, counted by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy.stats import hypergeom

from granulearn.models.model_card import ModelCard
from granulearn.models.row_reader import RowReader
from granulearn.tables.schema import TypedRows
from granulearn.utils.text import counted, quoted

_SHOWN = 3
_CHANCE = 1e-3


@dataclass(frozen=True)
class ColumnCheck:
    """What one column of some rows holds, held against training.

    Examples
    --------
    >>> from granulearn.models import ColumnCheck
    >>> column = ColumnCheck("age", rows=100, below=1, above=2)
    >>> column.n_drifted, str(column)
    (3, "column 'age': 1 below the range of training, 2 above the range of training, of 100 cells")
    """

    name: str
    rows: int
    missing: int = 0
    """Cells that are empty."""
    failures: int = 0
    """Cells that have another form than in training; they count as missing."""
    below: int = 0
    """Numbers, or dates, below the least one of training."""
    above: int = 0
    """Numbers, or dates, above the largest one of training."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Categories that training did not have, and how often each was met."""
    missing_in_training: int = 0
    """Training rows in which the cell was empty."""
    rows_in_training: int = 0
    """All training rows; 0 if the card does not say."""

    @property
    def more_missing(self) -> bool:
        """Whether clearly more cells are empty than in training.

        Where training had no empty cell, one is more. Where it had some, a hypergeometric test
        compares the rows of training with these: the p-value must be below 0.001.
        """
        if not self.missing_in_training:
            return self.missing > 0
        both = self.rows_in_training + self.rows
        empty = self.missing_in_training + self.missing
        return bool(hypergeom.sf(self.missing - 1, both, empty, self.rows) < _CHANCE)

    @property
    def n_drifted(self) -> int:
        """Cells that training did not have the like of; missing ones count if `more_missing`."""
        others = self.failures + self.below + self.above + sum(self.unknown.values())
        return others + (self.missing if self.more_missing else 0)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {
            **asdict(self),
            "more_missing": self.more_missing,
            "n_drifted": self.n_drifted,
        }

    def __str__(self) -> str:
        empty, rows = self.missing_in_training, self.rows_in_training
        training = f"{empty} of {rows}" if empty else "none"
        changes = [
            f"{count} {what}"
            for count, what in (
                (self.missing if self.more_missing else 0, f"missing ({training} in training)"),
                (self.failures, "of another form"),
                (self.below, "below the range of training"),
                (self.above, "above the range of training"),
            )
            if count
        ]
        if self.unknown:
            first = ", ".join(map(quoted, list(self.unknown)[:_SHOWN]))
            more = ", ..." if len(self.unknown) > _SHOWN else ""
            total = sum(self.unknown.values())
            changes.append(f"{total} of unknown categories ({first}{more})")
        found = ", ".join(changes) or "as in training"
        return f"column {self.name!r}: {found}, of {counted(self.rows, 'cell')}"


@dataclass(frozen=True)
class RowsCheck:
    """What `LoadedModel.check` found; its text is one line per column with drift.

    Examples
    --------
    >>> from granulearn.models import ColumnCheck, RowsCheck
    >>> found = RowsCheck(100, (ColumnCheck("age", 100), ColumnCheck("city", 100, failures=4)))
    >>> [column.name for column in found.drifted]
    ['city']
    >>> print(found)
    column 'city': 4 of another form, of 100 cells
    """

    rows: int
    columns: tuple[ColumnCheck, ...]

    @property
    def drifted(self) -> tuple[ColumnCheck, ...]:
        """The columns with cells that training did not have the like of, the worst first."""
        found = (column for column in self.columns if column.n_drifted)
        return tuple(sorted(found, key=lambda column: -column.n_drifted))

    def to_json(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {"rows": self.rows, "columns": [column.to_json() for column in self.columns]}

    def __str__(self) -> str:
        if not self.drifted:
            return f"{counted(self.rows, 'row')}: all cells are as in training."
        return "\n".join(map(str, self.drifted))


def check_rows(card: ModelCard, reader: RowReader, parts: Iterable[TypedRows]) -> RowsCheck:
    """Return how rows differ from training.

    Parameters
    ----------
    card : ModelCard
        Of the model.
    reader : RowReader
        Which reads the rows.
    parts : iterable of TypedRows
        The rows, as it reads them.
    """
    below, above = Counter[str](), Counter[str]()
    cards = {column.name: column for column in card.columns}
    for rows in parts:
        for name, own in cards.items():
            cells = rows.cells[name]
            if own.lowest is not None and isinstance(cells, np.ndarray):
                below[name] += int((cells < own.lowest).sum())
                above[name] += int((cells > own.highest).sum())
    found = []
    for column in reader.inputs.schema.used:
        # Of a date this is the running number, the date itself.
        own = cards[column.feature_names[-1]]
        check = ColumnCheck(
            column.name,
            reader.n_rows,
            missing=reader.n_rows - reader.known_cells[column.name],
            failures=reader.failures[column.name].count,
            below=below[own.name],
            above=above[own.name],
            unknown=dict(reader.unknown[column.name].most_common()),
            missing_in_training=own.missing if card.rows else 0,
            rows_in_training=card.rows or 0,
        )
        found.append(check)
    return RowsCheck(reader.n_rows, tuple(found))
