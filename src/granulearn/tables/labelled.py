"""A table and its labels, wherever they stand: in a column of it, or beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from granulearn.tables.errors import TableError
from granulearn.tables.io.frames import FrameTable, table_of
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.io.frames import text_of

TARGET = "target"


class GivenLabels:
    """Labels that were passed beside a table.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Numbers, or texts with None or NaN for a missing one.
    """

    def __init__(self, y: Any):
        # Of nullable types, NumPy would make whole numbers floats if one is missing.
        nullable = type(getattr(y, "dtype", None)).__module__.startswith("pandas")
        given = np.asarray(y, dtype=object) if nullable else np.asarray(y)
        if given.ndim != 1:
            raise TableError(f"y has {given.ndim} dimensions; give one label for each row.")
        texts = [text_of(value) for value in given.tolist()]
        known = np.array([text is not None for text in texts], dtype=bool)
        plain = np.array(given[known].tolist()) if given.dtype == object else given[known]
        self._numbers: np.ndarray | None = None
        if plain.dtype.kind in "biuf":
            self._numbers = np.zeros(len(given), plain.dtype)
            self._numbers[known] = plain
            # With a word before it, since these are classes, even if there are many of them.
            texts = [None if text is None else f"class {text}" for text in texts]
        self.cells = pa.array(texts, pa.string())
        """A text for each label."""

    def values(self, rows: np.ndarray, names: np.ndarray) -> np.ndarray:
        """Return the labels of some rows: numbers as they were given, texts as they are joined.

        Parameters
        ----------
        rows : ndarray
            Numbers of the rows that have a label.
        names : ndarray
            What their texts became.
        """
        return names if self._numbers is None else self._numbers[rows]


@contextmanager
def labelled_table(X: Any, y: Any) -> Iterator[tuple[TableFile, str, GivenLabels | None]]:
    """Give a table that has its labels in a column, the column, and labels that were beside it.

    Parameters
    ----------
    X : path, frame, Arrow table, list of dicts, dict of columns or array
        The table.
    y : str, or array-like of shape (n_rows,)
        The column of labels, or the labels.
    """
    with table_of(X) as file:
        if isinstance(y, str):
            yield file, y, None
            return
        name = str(getattr(y, "name", None) or TARGET)
        while name in file.names:
            name += "_"
        labels = GivenLabels(y)
        table = pa.Table.from_batches(list(file.batches()))
        if table.num_rows != len(labels.cells):
            raise TableError(
                "Found input variables with inconsistent numbers of samples: "
                f"[{table.num_rows}, {len(labels.cells)}]; y needs a label for each row."
            )
        yield FrameTable(table.append_column(name, labels.cells), file.path), name, labels
