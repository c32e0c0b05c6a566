"""The queue of a review: which rows come next, by which order, and by which filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from granulearn.audit.ratings import Ratings

if TYPE_CHECKING:
    import pyarrow as pa

# Cells of a row stand apart in the text that is searched: no word goes from one into the next.
_BETWEEN = "\x1f"


@dataclass(frozen=True)
class RowFilter:
    """Which rows a person wants to see; the default wants all."""

    verdicts: frozenset[str] = frozenset()
    """Verdicts to see; none means all."""
    pair: str = ""
    """Given and competing class, as `pair_key` names them; empty means all."""
    find: str = ""
    """Words that all occur in a row's cells or labels; ``#12`` is the row of that number."""


@dataclass(frozen=True)
class QueuedRow:
    """A row in the queue, in one line."""

    row: int
    given: str
    rival: str
    verdict: str
    against: float | None


def queued_row(ratings: Ratings, row: int, position: int) -> QueuedRow:
    """Return a row as the queue shows it.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    row : int
        Number of the row.
    position : int
        Its place among the ratings.
    """
    label_quality, rival = ratings.label_quality[position], ratings.second_classes[position]
    return QueuedRow(
        row=row,
        given=str(ratings.classes[ratings.given[position]]),
        rival="" if rival < 0 else str(ratings.classes[rival]),
        verdict=str(ratings.verdicts[position]),
        against=None if np.isnan(label_quality) else float(1 - label_quality),
    )


@dataclass(eq=False)
class RowQueue:
    """The rows that nobody has decided on, in order, of one audit.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    rows : ndarray of shape (n,)
        Number, from 1, of each row with a label.
    cells : pyarrow Table
        The cells of these rows.
    """

    ratings: Ratings
    rows: np.ndarray
    cells: pa.Table
    _searched: pa.Array | None = field(default=None, init=False)

    def positions(self, order: np.ndarray, is_open: np.ndarray, asked: RowFilter) -> np.ndarray:
        """Return the open rows that fit a filter.

        Parameters
        ----------
        order : ndarray of int
            Positions in the order in which they are to come.
        is_open : ndarray of shape (n,)
            True where nobody has decided.
        asked : RowFilter
            Which rows to see.
        """
        fits = is_open.copy()
        if asked.verdicts:
            fits &= np.isin(self.ratings.verdicts, list(asked.verdicts))
        if asked.pair:
            fits &= self._is_pair(asked.pair)
        for word in asked.find.lower().split():
            if word[:1] == "#" and word[1:].isdecimal():
                fits &= self.rows == int(word[1:])
            else:
                fits &= self._have(word)
        return order[fits[order]]

    def _is_pair(self, pair: str) -> np.ndarray:
        given, _, rival = pair.partition("-")
        if not (given.isdecimal() and rival.isdecimal()):
            return np.zeros(len(self.rows), dtype=bool)
        return (self.ratings.given == int(given)) & (self.ratings.second_classes == int(rival))

    def _have(self, word: str) -> np.ndarray:
        import pyarrow.compute as pc

        return pc.match_substring(self._texts(), word).to_numpy(zero_copy_only=False)

    def _texts(self) -> pa.Array:
        """Return all that can be found in each row, in small letters; made when first asked for."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from granulearn.tables.parse.cells import as_text, is_nested

        if self._searched is None:
            classes = np.append(self.ratings.classes.astype(str), "").astype(object)
            columns = [
                pc.fill_null(as_text(self.cells[name].combine_chunks()), "")
                for name in self.cells.column_names
                if not is_nested(self.cells[name].type)
            ]
            columns += [
                pa.array(classes[codes], pa.string())
                for codes in (self.ratings.given, self.ratings.second_classes)
            ]
            joined = pc.binary_join_element_wise(*columns, _BETWEEN)
            self._searched = pc.utf8_lower(joined)
        return self._searched
