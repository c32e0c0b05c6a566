"""The queue of a review: which rows come next, in an order and by a filter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.audit.ratings import Ratings
from granulearn.review.cards import rows_of_pair
from granulearn.tables.parse.cells import as_text, is_nested

# Between the cells of a row: no word of a search goes from one cell into the next.
_SEPARATOR = "\x1f"


@dataclass(frozen=True)
class RowFilter:
    """Which rows a person wants to see; the default wants all."""

    verdicts: frozenset[str] = frozenset()
    """Verdicts to see; empty means all."""
    pair: str = ""
    """Given and second class, see `pair_key`; empty means all."""
    find: str = ""
    """Words that all occur in a row's cells or labels; ``#12`` is the row of that number."""


@dataclass(frozen=True, eq=False)
class RowQueue:
    """The rows of one audit that can be filtered and searched.

    Parameters
    ----------
    ratings : Ratings
        Of the audit.
    rows : ndarray of shape (n,)
        Number, from 1, of each row with a label.
    cells : pyarrow Table
        The cells of these rows.
    """

    ratings: Ratings
    rows: np.ndarray
    cells: pa.Table

    def positions(self, order: np.ndarray, is_open: np.ndarray, asked: RowFilter) -> np.ndarray:
        """Return the open rows that fit a filter.

        Parameters
        ----------
        order : ndarray of int
            Positions in the order of the queue.
        is_open : ndarray of shape (n,)
            True for rows without a decision.
        asked : RowFilter
            Which rows to see.
        """
        fits = is_open.copy()
        if asked.verdicts:
            fits &= np.isin(self.ratings.verdicts, list(asked.verdicts))
        if asked.pair:
            fits &= rows_of_pair(self.ratings, asked.pair)
        for word in asked.find.lower().split():
            if word[:1] == "#" and word[1:].isdecimal():
                fits &= self.rows == int(word[1:])
            else:
                found = pc.match_substring(self._searched, word)
                fits &= found.to_numpy(zero_copy_only=False)
        return order[fits[order]]

    @cached_property
    def _searched(self) -> pa.Array:
        """The cells and labels of each row as one text, in lower case."""
        names = np.append(self.ratings.classes.astype(str), "").astype(object)
        columns = [
            pc.fill_null(as_text(self.cells[name].combine_chunks()), "")
            for name in self.cells.column_names
            if not is_nested(self.cells[name].type)
        ]
        columns += [
            pa.array(names[codes], pa.string())
            for codes in (self.ratings.given, self.ratings.second_classes)
        ]
        return pc.utf8_lower(pc.binary_join_element_wise(*columns, _SEPARATOR))
