"""New labels, given as text, in a column of any type of Arrow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.errors import TableError
from granulearn.tables.io.arrow import usual_type
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.parse.cells import as_text, is_nested


class LabelColumn:
    """A column, some of whose cells are to be changed.

    Parameters
    ----------
    table : TableFile
        The table, for messages.
    name : str
        The column.
    kind : pyarrow DataType
        As the file has it.
    cells : mapping of int to str
        New texts by row of the table.
    """

    def __init__(self, table: TableFile, name: str, kind: pa.DataType, cells: Mapping[int, str]):
        self._told = f"{table.path}: column {name!r}"
        self._rows = np.array(sorted(cells), dtype=np.int64)
        texts = [cells[row] for row in self._rows.tolist()]
        self._labels = self._cast(texts, kind) if texts else None

    def _cast(self, texts: list[str], kind: pa.DataType) -> pa.Array:
        """Return labels in the type of the column; in that of its values if it is a dictionary."""
        stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        values = stored.value_type if pa.types.is_dictionary(stored) else stored
        if is_nested(values) or pa.types.is_null(values) or pa.types.is_duration(values):
            raise TableError(
                f"{self._told} is of the type {kind}, whose cells cannot be changed; write the "
                "labels as text or as numbers."
            )
        different = dict.fromkeys(texts)
        value_of = {text: self._value(text, values) for text in different}
        return pa.array([value_of[text] for text in texts], values)

    def _value(self, text: str, kind: pa.DataType) -> pa.Scalar:
        try:
            # Arrow takes blanks around a number for part of it, and "1" for a truth value.
            if pa.types.is_boolean(kind) and text not in ("true", "false"):
                raise ValueError("it is neither true nor false")
            return pa.array([text], pa.string()).cast(kind)[0]
        except (pa.ArrowException, ValueError, UnicodeEncodeError) as error:
            raise TableError(
                f"{self._told} is of the type {kind}, which cannot hold the label {text!r} "
                f"({error}); spell it as one, or write the column as text."
            ) from error

    def of(self, column: pa.Array, first_row: int) -> pa.Array:
        """Return a stretch of the column with its new cells.

        Parameters
        ----------
        column : pyarrow Array
            The stretch.
        first_row : int
            Number of its first row in the table.
        """
        if self._labels is None:
            return column
        begin, end = np.searchsorted(self._rows, [first_row, first_row + len(column)])
        places = self._rows[begin:end] - first_row
        labels = self._labels[int(begin) : int(end)]
        if isinstance(column, pa.ExtensionArray):
            storage = self._replaced(column.storage, places, labels)
            return pa.ExtensionArray.from_storage(column.type, storage)
        return self._replaced(column, places, labels)

    def _replaced(self, column: pa.Array, places: np.ndarray, labels: pa.Array) -> pa.Array:
        if not pa.types.is_dictionary(column.type):
            return _with_values(column, places, labels)
        # Values are added at the end, and none is taken away: an order of classes is kept.
        # All stretches get the same ones, since a file of Arrow has one dictionary for all.
        known = column.dictionary
        every = pc.unique(self._labels)
        new = every.filter(pc.invert(pc.is_in(every, known)))
        dictionary = pa.concat_arrays([known, new]) if len(new) else known
        kind = column.type
        try:
            indices = pc.index_in(labels, dictionary).cast(kind.index_type)
        except pa.ArrowInvalid as error:
            raise TableError(
                f"{self._told} is of the type {kind}, which has no room for more different "
                f"labels ({error}); write the column as text."
            ) from error
        codes = _with_values(column.indices, places, indices)
        return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=kind.ordered)

    @staticmethod
    def texts(column: pa.Array) -> list[str | None]:
        """Return cells as text, as they are shown to who names labels.

        Parameters
        ----------
        column : pyarrow Array
            Cells of any type; those that have no text are None.
        """
        column = usual_type(column)
        values = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if is_nested(values):
            return [None] * len(column)
        return as_text(column, trimmed=False).to_pylist()


def _with_values(column: pa.Array, places: np.ndarray, values: pa.Array) -> pa.Array:
    """Return a column with other values at some places, which are in order."""
    if not len(places):
        return column
    if pa.types.is_string_view(column.type):  # whose rows Arrow cannot take
        text = pa.large_string()
        return _with_values(column.cast(text), places, values.cast(text)).cast(column.type)
    # Arrow replaces no values in columns of all types; taking rows works for all.
    sources = np.arange(len(column))
    sources[places] = len(column) + np.arange(len(places))
    return pa.concat_arrays([column, values]).take(pa.array(sources))
