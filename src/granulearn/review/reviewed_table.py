"""The table of a review: read once, checked for changes, audited, corrected."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from granulearn.audit.annotated_table import (
    annotations_of_columns,
    audit_annotations,
    voted_table,
)
from granulearn.audit.annotations import LONG_COLUMNS
from granulearn.audit.table_audit import (
    audit_listing,
    audit_table,
    columns_of_listing,
    is_listing,
)
from granulearn.audit.verified import CHANGE, VerifiedLabels
from granulearn.review.cards import AuditedRows
from granulearn.review.decisions import Decision
from granulearn.review.verified_labels import class_names
from granulearn.tables import (
    ColumnOptions,
    ReadOptions,
    TableError,
    TrainingTable,
    read_training_table,
    table_of,
)
from granulearn.tables.io.table_file import known_columns

if TYPE_CHECKING:
    from granulearn.audit.label_audit import LabelAudit


class ReviewedTable:
    """A table whose labels are reviewed.

    Parameters
    ----------
    source : path, frame, Arrow table, list of dicts or dict of columns
        The table.
    target : str or None
        The column of labels; None with annotations.
    keep : sequence of str, default=()
        Columns that come first on every card.
    group : str, default=None
        The column of rows that stay together, which is no input.
    options : ColumnOptions, default=None
        What the user says about the columns.
    read_options : ReadOptions, default=None
        How to read the file.
    annotations : sequence of str or DataFrame, default=None
        As for `Review`.
    anonymous : bool, default=False
        Whether to number the annotators and to hide their names.
    """

    def __init__(
        self,
        source: Any,
        target: str | None,
        keep: Sequence[str] = (),
        group: str | None = None,
        options: ColumnOptions | None = None,
        read_options: ReadOptions | None = None,
        annotations: Any = None,
        *,
        anonymous: bool = False,
    ):
        if (target is None) == (annotations is None):
            raise ValueError("name the column of labels by target, or pass annotations, not both.")
        self.source, self.keep, self.group = source, tuple(keep), group
        self._annotations, self._anonymous = annotations, anonymous
        self.path = Path(source) if isinstance(source, (str, os.PathLike)) else None
        self._stamp, self._read_options = _stamp(self.path), read_options
        options = options or ColumnOptions()
        with table_of(source, read_options) as file:
            known_columns(file.path, file.names, self.keep)
            self.is_listing = is_listing(file.names)
            """Whether it is a list of suspects, with the ratings of a larger table."""
            no_inputs = [] if group is None else [group]
            if self.is_listing:
                no_inputs += columns_of_listing(file.names)
            ignored = tuple(dict.fromkeys((*options.ignore, *no_inputs)))
            self.options = replace(options, ignore=ignored)
            self.labels_of_annotators: Any = None
            self.data: TrainingTable
            if target is not None:
                self.data = read_training_table(file, target, self.options, keep_cells=True)
            else:
                labels, columns = annotations, list[str]()
                if not hasattr(labels, "columns"):
                    exact = self.options.exact_labels
                    labels, columns = annotations_of_columns(file, annotations, exact=exact)
                self.data = voted_table(file, labels, self.options, columns)
                self.labels_of_annotators = without_names(labels) if anonymous else labels
            self.target = self.data.target
            self.location = file.location

    def with_options(self, options: ColumnOptions) -> ReviewedTable:
        """Return the same table, read again with other options."""
        self.check_unchanged()
        target = None if self._annotations is not None else self.target
        return ReviewedTable(
            self.source, target, self.keep, self.group, options, self._read_options,
            self._annotations, anonymous=self._anonymous,
        )  # fmt: skip

    def check_unchanged(self) -> None:
        """Raise a `TableError` if the file was written or moved since it was read."""
        if _stamp(self.path) != self._stamp:
            raise TableError(
                f"{self.path} has changed since it was read, or is not there any more; decisions "
                "about it would be about other rows. Start the review again."
            )

    @cached_property
    def position_of(self) -> dict[int, int]:
        """Row number, from 1 -> position among the rows with a label."""
        return {row + 1: position for position, row in enumerate(self.data.rows.tolist())}

    def audited(self, verified: VerifiedLabels, **settings: Any) -> AuditedRows:
        """Audit the table with the labels that a person has verified; settings of `audit_table`."""
        settings |= {"verified": verified, "groups": self.group}
        if self.labels_of_annotators is not None:
            done = audit_annotations(self.data, self.labels_of_annotators, **settings)
        elif self.is_listing:
            done = audit_listing(self.data, verified)
        else:
            done = audit_table(self.data, **settings)
        return AuditedRows(done, self.keep, long_cards=True)

    def corrected(self, decisions: Sequence[Decision], audit: LabelAudit) -> pd.DataFrame:
        """Return the table as a frame, with the labels that decisions changed.

        The consensus of annotators is a column of its own.
        """
        assert self.data.cells is not None
        is_frame = hasattr(self.source, "iloc")
        frame = self.source.copy() if is_frame else self.data.cells.to_pandas()
        if self.labels_of_annotators is not None:
            frame[self.target] = audit.consensus_
        names, values = class_names(self.data), self.data.coded_labels[0].tolist()
        changes = {}
        for d in decisions:
            if d.decision == CHANGE:
                code = names.code(d.new_label)
                changes[d.row - 1] = d.new_label if code is None else values[code]
        if not changes:
            return frame
        position = list(map(str, frame.columns)).index(self.target)
        before = frame.iloc[:, position]
        labels = before.astype(object)
        labels.iloc[list(changes)] = np.array([*changes.values()], dtype=object)
        is_known = set(changes.values()) <= set(values)
        frame.isetitem(position, labels.astype(before.dtype) if is_known else labels)
        return frame


def without_names(labels: pd.DataFrame) -> pd.DataFrame:
    """Return annotations with numbered annotators, in an order that tells no names."""
    is_long = set(LONG_COLUMNS) == set(labels.columns)
    names = pd.unique(labels["annotator"]) if is_long else labels.columns
    order = np.random.default_rng(len(labels)).permutation(len(names)) + 1
    digits = len(str(len(names)))
    new = {name: f"annotator {k:0{digits}}" for name, k in zip(names, order, strict=True)}
    if is_long:
        return labels.assign(annotator=labels["annotator"].map(new))
    return labels.rename(columns=new)


def _stamp(path: Path | None) -> tuple[int, int, int] | None:
    """Return what differs once a file was written or replaced; None without a file."""
    if path is None or not path.is_file():
        return None
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
