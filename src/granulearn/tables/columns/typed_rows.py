"""Rows of a table as a model takes them, and the cells among them that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from granulearn.tables.columns.survey_records import Cell

if TYPE_CHECKING:
    import pandas as pd

SHOWN_MISFITS = 5


@dataclass(frozen=True)
class Misfits:
    """Cells of a column that do not have the form of the others."""

    count: int
    first: tuple[Cell, ...]
    nested: bool = False
    """Whether they are lists, maps or bytes, which have no text."""

    def __add__(self, other: Misfits) -> Misfits:
        first = (self.first + other.first)[:SHOWN_MISFITS]
        return Misfits(self.count + other.count, first, self.nested and other.nested)


@dataclass(frozen=True, eq=False)
class TypedRows:
    """Some rows of a table as a model takes them."""

    cells: dict[str, np.ndarray | pa.Array]
    """By feature: floats, or text, which may be a dictionary; NaN or null for a missing cell."""
    misfits: dict[str, Misfits]
    """By column, for those in which some cells do not fit."""

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as a frame of floats and categories."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: cells if isinstance(cells, np.ndarray) else _categorical(cells)
                for name, cells in self.cells.items()
            }
        )


def _categorical(text: pa.Array) -> pd.Categorical:
    import pandas as pd

    if pa.types.is_dictionary(text.type):
        text = text.dictionary_decode()  # it may hold texts that no row has
    encoded = text.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(codes, pd.Index(encoded.dictionary.to_pylist(), dtype=object))


def joined_rows(parts: Iterator[TypedRows] | list[TypedRows]) -> TypedRows:
    """Return rows of several batches as one.

    Parameters
    ----------
    parts : iterable of TypedRows
        In order, at least one.
    """
    parts = list(parts)
    cells: dict[str, np.ndarray | pa.Array] = {}
    for name, first in parts[0].cells.items():
        pieces: list[Any] = [part.cells[name] for part in parts]
        if isinstance(first, np.ndarray):
            cells[name] = np.concatenate(pieces)
            continue
        if any(isinstance(piece, pa.DictionaryArray) for piece in pieces):
            pieces = [piece.dictionary_encode() for piece in pieces]
        cells[name] = pa.concat_arrays(pieces)
    misfits: dict[str, Misfits] = {}
    for part in parts:
        for name, found in part.misfits.items():
            misfits[name] = misfits[name] + found if name in misfits else found
    return TypedRows(cells, misfits)
