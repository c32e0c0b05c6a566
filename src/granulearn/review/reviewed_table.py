"""The table of a review: read once, checked for changes, audited, corrected."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from granulearn.audit.table_audit import (
    TableAudit,
    audit_listing,
    audit_table,
    columns_of_listing,
    is_listing,
)
from granulearn.audit.verified import CHANGE, VerifiedLabels
from granulearn.review.cards import CardBuilder
from granulearn.review.decisions import Decision
from granulearn.review.queue import RowQueue
from granulearn.review.verified_labels import class_names
from granulearn.tables import (
    ColumnOptions,
    ReadOptions,
    TableError,
    TrainingTable,
    read_training_table,
    table_of,
)
from granulearn.tables.inspection import no_column
from granulearn.tables.messages import Setting

if TYPE_CHECKING:
    import pandas as pd

# A card of a wide table has as many lines as a person would scroll through.
_MOST_COLUMNS = 60


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """An audit of the table, with its queue and its cards."""

    done: TableAudit
    queue: RowQueue
    builder: CardBuilder


class ReviewedTable:
    """A table whose labels are reviewed.

    Parameters
    ----------
    source : path, frame, Arrow table, list of dicts or dict of columns
        The table.
    target : str
        The column of labels.
    keep : sequence of str, default=()
        Columns that come first on every card.
    options : ColumnOptions, default=None
        What the user says about the columns.
    read_options : ReadOptions, default=None
        How to read the file.
    """

    def __init__(
        self,
        source: Any,
        target: str,
        keep: Sequence[str] = (),
        options: ColumnOptions | None = None,
        read_options: ReadOptions | None = None,
    ):
        self.source, self.target, self.keep = source, target, tuple(keep)
        self.options, self.read_options = options or ColumnOptions(), read_options
        self.path = Path(source) if isinstance(source, (str, os.PathLike)) else None
        self._stamp = self._digest = None
        if self.path is not None and self.path.is_file():
            self._stamp, self._digest = _stamp(self.path), _digest(self.path)
        with table_of(source, read_options) as file:
            unknown = [name for name in self.keep if name not in file.names]
            if unknown:
                problems = [no_column(name, file.names, Setting("keep")) for name in unknown]
                raise TableError.about(file.path, problems)
            self.is_listing = is_listing(file.names)
            """Whether it is a list of suspects, with the ratings of a larger table."""
            if self.is_listing:
                ignored = (*self.options.ignore, *columns_of_listing(file.names))
                self.options = replace(self.options, ignore=tuple(dict.fromkeys(ignored)))
            self.data: TrainingTable = read_training_table(
                file, target, self.options, keep_cells=True
            )
            self.location = file.location

    def with_options(self, options: ColumnOptions) -> ReviewedTable:
        """Return the same table, read again with other options.

        Parameters
        ----------
        options : ColumnOptions
            What the user says about the columns now.
        """
        self.check_unchanged()
        return ReviewedTable(self.source, self.target, self.keep, options, self.read_options)

    def check_unchanged(self) -> None:
        """Raise a `TableError` if the file was changed since it was read."""
        if self.path is None or self._stamp is None:
            return
        try:
            stamp = _stamp(self.path)
            if stamp == self._stamp:
                return
            is_same = _digest(self.path) == self._digest
        except OSError as error:
            raise TableError(
                f"{self.path} is not there any more ({error.strerror}); put it back, and decide "
                "again."
            ) from error
        if not is_same:
            raise TableError(
                f"{self.path} has changed since it was read; decisions about it would be about "
                "other rows. Start the review again."
            )
        self._stamp = stamp  # written again with the same content

    @property
    def cells(self) -> pa.Table:
        """All rows and all columns as they were read."""
        assert self.data.cells is not None
        return self.data.cells

    @cached_property
    def position_of(self) -> dict[int, int]:
        """Row number, from 1 -> position among the rows with a label."""
        return {row + 1: position for position, row in enumerate(self.data.rows.tolist())}

    def audited(self, verified: VerifiedLabels, **settings: Any) -> AuditedTable:
        """Audit the table.

        Parameters
        ----------
        verified : VerifiedLabels
            Labels that a person has verified.
        **settings
            Of `audit_table`.
        """
        if self.is_listing:
            done = audit_listing(self.data, verified)
        else:
            done = audit_table(self.data, verified=verified, **settings)
        cells = self.cells.take(pa.array(self.data.rows))
        queue = RowQueue(done.audit.ratings_, self.data.rows + 1, cells)
        return AuditedTable(done, queue, CardBuilder(done, self.keep, _MOST_COLUMNS))

    def corrected(self, decisions: Sequence[Decision]) -> pd.DataFrame:
        """Return the table as a frame, with the changed labels.

        Parameters
        ----------
        decisions : sequence of Decision
            One for each row.
        """
        is_frame = hasattr(self.source, "iloc")
        frame = self.source.copy() if is_frame else self.cells.to_pandas()
        names, values = class_names(self.data), self.data.coded_labels[0].tolist()
        label_of = dict(zip(names.names, values, strict=True))
        changes = {
            d.row - 1: label_of[names.known(d.new_label)] for d in decisions if d.decision == CHANGE
        }
        if not changes:
            return frame
        position = list(map(str, frame.columns)).index(self.target)
        before = frame.iloc[:, position]
        labels = before.astype(object)
        labels.iloc[list(changes)] = np.array([*changes.values()], dtype=object)
        frame.isetitem(position, labels.astype(before.dtype))
        return frame


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").digest()
