"""What rows hold that training did not: drift, column by column, with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy.stats import hypergeom

from granulearn._words import counted, quoted
from granulearn.models.model_card import ColumnCard, ModelCard
from granulearn.models.row_reading import ReadRows, RowReading

_SHOWN = 3
_CHANCE = 1e-3


@dataclass(frozen=True)
class ColumnCheck:
    """What one column of some rows holds, held against training.

    Examples
    --------
    >>> from granulearn.models import ColumnCheck
    >>> column = ColumnCheck("age", rows=100, below=1, above=2)
    >>> column.surprising, str(column)
    (3, "column 'age': 1 below the range of training, 2 above the range of training, of 100 cells")
    """

    name: str
    rows: int
    missing: int = 0
    """Cells that are empty."""
    misfits: int = 0
    """Cells that have another form than in training; they count as missing."""
    below: int = 0
    """Numbers, or dates, below the least one of training."""
    above: int = 0
    """Numbers, or dates, above the largest one of training."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Categories that training did not have, and how often each was met."""
    missing_in_training: float = 0.0
    """Share of the training rows in which the cell was empty."""
    rows_in_training: int = 0
    """Rows that the share was taken from; 0 if the card does not say."""

    @property
    def more_missing(self) -> bool:
        """Whether clearly more cells are empty than in training.

        Where training had no empty cell, one is more. Where it had some, more are empty than
        chance explains: were the rows of training and these drawn from one feed, so many of
        all empty cells would be among these less than once in a thousand times.
        """
        if not self.missing_in_training:
            return self.missing > 0
        both = self.rows_in_training + self.rows
        empty = self._empty_in_training + self.missing
        return bool(hypergeom.sf(self.missing - 1, both, empty, self.rows) < _CHANCE)

    @property
    def surprising(self) -> int:
        """Cells that training did not have the like of; missing ones count if `more_missing`."""
        others = self.misfits + self.below + self.above + sum(self.unknown.values())
        return others + (self.missing if self.more_missing else 0)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {
            **asdict(self),
            "more_missing": self.more_missing,
            "surprising": self.surprising,
        }

    def __str__(self) -> str:
        training = "none"
        if self._empty_in_training:
            training = f"{self._empty_in_training} of {self.rows_in_training}"
        said = [
            f"{count} {what}"
            for count, what in (
                (self.missing if self.more_missing else 0, f"missing ({training} in training)"),
                (self.misfits, "of another form"),
                (self.below, "below the range of training"),
                (self.above, "above the range of training"),
            )
            if count
        ]
        if self.unknown:
            first = ", ".join(map(quoted, list(self.unknown)[:_SHOWN]))
            more = ", ..." if len(self.unknown) > _SHOWN else ""
            total = sum(self.unknown.values())
            said.append(f"{total} of unknown categories ({first}{more})")
        found = ", ".join(said) or "as in training"
        return f"column {self.name!r}: {found}, of {counted(self.rows, 'cell')}"

    @property
    def _empty_in_training(self) -> int:
        return round(self.missing_in_training * self.rows_in_training)


@dataclass(frozen=True)
class RowsCheck:
    """What `LoadedModel.check` found; its text is one line per column that surprises.

    Examples
    --------
    >>> from granulearn.models import ColumnCheck, RowsCheck
    >>> found = RowsCheck(100, (ColumnCheck("age", 100), ColumnCheck("city", 100, misfits=4)))
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
        found = (column for column in self.columns if column.surprising)
        return tuple(sorted(found, key=lambda column: -column.surprising))

    def to_json(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {"rows": self.rows, "columns": [column.to_json() for column in self.columns]}

    def __str__(self) -> str:
        if not self.drifted:
            return f"{counted(self.rows, 'row')}: all cells are as in training."
        return "\n".join(map(str, self.drifted))


class RowsCount:
    """Counts, batch by batch, what the cells of each column hold.

    Parameters
    ----------
    card : ModelCard
        Of the model.
    """

    def __init__(self, card: ModelCard):
        self._cards = {column.name: column for column in card.columns}
        self._training_rows = card.rows or 0
        self._rows = 0
        self._below: Counter = Counter()
        self._above: Counter = Counter()

    def add(self, read: ReadRows) -> None:
        """Count rows.

        Parameters
        ----------
        read : ReadRows
            Some rows of the table.
        """
        self._rows += read.n_rows
        for name, card in self._cards.items():
            cells = read.cells[name]
            if card.lowest is not None and isinstance(cells, np.ndarray):
                self._below[name] += int(np.count_nonzero(cells < card.lowest))
                self._above[name] += int(np.count_nonzero(cells > card.highest))

    def result(self, reading: RowReading) -> RowsCheck:
        """Return what was found.

        Parameters
        ----------
        reading : RowReading
            Which read the rows.
        """
        found = []
        for column in reading.inputs.schema.used:
            # Of a date this is the running number, the date itself.
            card = self._cards[column.feature_names[-1]]
            misfits = reading.misfits.get(column.name)
            check = ColumnCheck(
                column.name,
                self._rows,
                missing=self._rows - reading.known_cells[column.name],
                misfits=misfits.count if misfits else 0,
                below=self._below[card.name],
                above=self._above[card.name],
                unknown=dict(reading.unknown.get(column.name, Counter()).most_common()),
                missing_in_training=self._share_missing(card),
                rows_in_training=self._training_rows,
            )
            found.append(check)
        return RowsCheck(self._rows, tuple(found))

    def _share_missing(self, card: ColumnCard) -> float:
        return card.missing / self._training_rows if self._training_rows else 0.0
