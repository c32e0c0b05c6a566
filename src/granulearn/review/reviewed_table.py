"""The table of a review: read once, known again, and audited with what was decided about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from granulearn.audit.explanation import Explainer
from granulearn.audit.table_audit import (
    TableAudit,
    audit_listing,
    audit_table,
    columns_of_listing,
    is_listing,
)
from granulearn.audit.verified import VerifiedLabels
from granulearn.review.cards import ShownTable
from granulearn.review.decisions import Decision
from granulearn.review.queue import RowQueue
from granulearn.review.verified_labels import verified_by
from granulearn.tables import (
    ColumnOptions,
    ReadOptions,
    TableError,
    TrainingTable,
    read_training_table,
    table_of,
)
from granulearn.tables.parse.cells import row_hashes

# A card of a wide table has as many lines as a person would scroll through.
_MOST_COLUMNS = 60


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """An audit of the table, with all that cards and queues need of it."""

    done: TableAudit
    queue: RowQueue
    shown: ShownTable
    explainer: Explainer


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
    reading : ReadOptions, default=None
        What is known about the file.
    """

    def __init__(
        self,
        source: Any,
        target: str,
        keep: Sequence[str] = (),
        options: ColumnOptions | None = None,
        reading: ReadOptions | None = None,
    ):
        self.source, self.target, self.keep = source, target, tuple(keep)
        self.options, self.reading = options or ColumnOptions(), reading
        self.path = Path(source) if isinstance(source, (str, os.PathLike)) else None
        self._stamp = self._digest = None
        if self.path is not None and self.path.is_file():
            self._stamp, self._digest = _stamp(self.path), _digest(self.path)
        with table_of(source, reading) as file:
            _check_kept(self.keep, file.names, file.path)
            self.is_listing = is_listing(file.names)
            """Whether it is a list of suspects, whose ratings are those of a larger table."""
            if self.is_listing:
                ignored = (*self.options.ignore, *columns_of_listing(file.names))
                self.options = replace(self.options, ignore=tuple(dict.fromkeys(ignored)))
            self.data: TrainingTable = read_training_table(
                file, target, self.options, keep_cells=True
            )
            self.place = file.place

    def with_options(self, options: ColumnOptions) -> ReviewedTable:
        """Return the same table, read again with other options.

        Parameters
        ----------
        options : ColumnOptions
            What the user says about the columns now.
        """
        self.check_unchanged()
        return ReviewedTable(self.source, self.target, self.keep, options, self.reading)

    def check_unchanged(self) -> None:
        """Raise a `TableError` if the file is not the one that was read."""
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
        self._stamp = stamp  # touched, but as it was

    @property
    def cells(self) -> pa.Table:
        """All rows and all columns as they were read."""
        assert self.data.cells is not None
        return self.data.cells

    @cached_property
    def hashes(self) -> list[str]:
        """Of the cells of each row of the table, labels left out."""
        return row_hashes(self.cells, self.target)

    @cached_property
    def classes(self) -> np.ndarray:
        """The class labels, sorted."""
        return np.unique(self.data.y)

    @cached_property
    def position_of(self) -> dict[int, int]:
        """Row number, from 1 -> position among the rows with a label."""
        return {row + 1: position for position, row in enumerate(self.data.rows.tolist())}

    def verified(self, decisions: Sequence[Decision], source: str) -> VerifiedLabels:
        """Return the labels that decisions confirm or correct.

        Parameters
        ----------
        decisions : sequence of Decision
            One for each row.
        source : str
            Where they stand, for messages.
        """
        return verified_by(
            decisions,
            rows=self.data.rows,
            hashes=self.hashes,
            given=np.searchsorted(self.classes, self.data.y),
            classes=self.classes,
            source=source,
        )

    def audited(self, verified: VerifiedLabels, **settings: Any) -> AuditedTable:
        """Audit the table with what is known of its labels.

        Parameters
        ----------
        verified : VerifiedLabels
            What a person said.
        **settings
            Of `audit_table`.
        """
        if self.is_listing:
            done = audit_listing(self.data, verified)
        else:
            done = audit_table(self.data, verified=verified, **settings)
        numbers = self.data.rows + 1
        inputs = done.shown_cells()
        shown = ShownTable(inputs, numbers, self.keep, _MOST_COLUMNS)
        cells = self.cells.take(pa.array(self.data.rows))
        queue = RowQueue(done.audit.ratings_, numbers, cells)
        return AuditedTable(done, queue, shown, Explainer(done.audit, done.X, inputs, done.names))


def _check_kept(keep: tuple[str, ...], names: Sequence[str], path: Path) -> None:
    from granulearn.tables.inspection import no_column
    from granulearn.tables.messages import Setting

    unknown = [no_column(name, names, Setting("keep")) for name in keep if name not in names]
    if unknown:
        raise TableError.about(path, unknown)


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _digest(path: Path) -> bytes:
    content = blake2b()
    with path.open("rb") as file:
        while block := file.read(2**20):
            content.update(block)
    return content.digest()
