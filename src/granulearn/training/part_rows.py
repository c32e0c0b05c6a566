"""The rows of one part of a table: looked at, held out or learnt from, where the part is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from granulearn.balls.row_keys import draws_of, key_of_draw
from granulearn.datasets.target_encoding import folds_of_rows
from granulearn.tables.checks import CheckStatistics, check_rows
from granulearn.tables.inspection import FirstPass, first_pass
from granulearn.tables.io.table_file import TablePart
from granulearn.tables.labels import MAX_SPELLINGS, Labels, read_labels
from granulearn.tables.parse.cells import as_text
from granulearn.tables.schema import Schema, TypedRows, joined_rows
from granulearn.tables.training_table import as_labels, chosen_rows
from granulearn.training.part_statistics import (
    ClassedRows,
    Statistics,
    join_statistics,
    statistics_of_rows,
)

_KEY_NUMBER = 6


@dataclass(frozen=True)
class Request:
    """What the user asked for; it is the same in every part."""

    target: str
    """The column of labels."""
    test: float
    seed: int

    def held_out(self, rows: np.ndarray) -> np.ndarray:
        """Return which rows are held out, the same ones however the table is cut into parts.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of rows with a label, in the whole table.
        """
        draws = draws_of(rows.astype(np.uint64), key_of_draw(self.seed, _KEY_NUMBER))
        return draws < np.uint64(self.test * 2.0**64)


@dataclass(frozen=True, eq=False)
class FirstSight:
    """What the first pass tells about some parts."""

    look: FirstPass | None
    """None if they have no rows."""
    training_labels: tuple[Counter[str], ...]
    """For each part, how many rows to learn from have each label, as it is spelt."""

    def __add__(self, later: FirstSight) -> FirstSight:
        """Return what is known about these parts and those that follow."""
        looks = [sight.look for sight in (self, later) if sight.look is not None]
        look = looks[0] + looks[1] if len(looks) == 2 else next(iter(looks), None)
        return FirstSight(look, self.training_labels + later.training_labels)


@dataclass(frozen=True, eq=False)
class SecondSight:
    """What the second pass tells about some rows."""

    examination: CheckStatistics
    statistics: dict[str, Statistics]
    """Of the features of training rows."""

    def __add__(self, later: SecondSight) -> SecondSight:
        """Return what is known about these rows and those that follow."""
        return SecondSight(
            self.examination + later.examination,
            join_statistics(self.statistics, later.statistics),
        )


@dataclass(frozen=True, eq=False)
class RowReading:
    """How a part becomes typed rows with labels."""

    request: Request
    schema: Schema
    labels: Labels
    classes: np.ndarray
    """All classes as a model learns them, sorted."""


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of a part, and which of them are learnt from or held out."""

    reading: RowReading
    first_row: int
    """Number of the first row in the whole table."""
    typed: TypedRows
    labels: pa.Array
    """Class of each row; null for none."""
    training: np.ndarray
    """Places of the rows that are learnt from."""
    held_out: np.ndarray
    """Places of the rows that are held out."""

    def features(self, places: np.ndarray) -> TypedRows:
        """Return the features of some rows.

        Parameters
        ----------
        places : ndarray of int
            Which rows.
        """
        return chosen_rows(self.typed, self.reading.schema, places)

    def y(self, places: np.ndarray) -> np.ndarray:
        """Return the labels of some rows.

        Parameters
        ----------
        places : ndarray of int
            Which rows; all have a label.
        """
        return as_labels(self.labels.take(pa.array(places)), self.reading.labels)

    def classed(self, starts: np.ndarray) -> ClassedRows:
        """Return class and fold of the rows that are learnt from.

        Parameters
        ----------
        starts : ndarray of shape (n_classes,)
            As for `folds_of_rows`.
        """
        codes = np.searchsorted(self.reading.classes, self.y(self.training))
        folds, n_classes = folds_of_rows(codes, starts), len(self.reading.classes)
        return ClassedRows(codes, folds, n_classes, self.first_row + self.training)


def look_at_part(part: TablePart, request: Request) -> FirstSight:
    """Tell what the cells and labels of a part are.

    Parameters
    ----------
    part : TablePart
        Some rows.
    request : Request
        What the user asked for.
    """
    batches = [batch for batch in part.batches() if batch.num_rows]
    has_target = bool(batches) and request.target in batches[0].schema.names
    look = first_pass(batches, request.target if has_target else None, part.first_row)
    if look is None or look.labels is None or look.labels.spellings.num_rows > MAX_SPELLINGS:
        return FirstSight(look, (Counter(),))
    columns = [batch.column(request.target) for batch in batches]
    # Whether a cell is a label depends on the cell alone: nothing need be decided yet.
    labelled = pa.concat_arrays([read_labels(column, Labels()).is_valid() for column in columns])
    spelt = pa.concat_arrays([as_text(column, trimmed=False) for column in columns])
    places = np.flatnonzero(labelled.to_numpy(zero_copy_only=False))
    training = spelt.take(pa.array(places[~request.held_out(part.first_row + places)]))
    return FirstSight(look, (Counter(training.to_pylist()),))


def read_part(part: TablePart, reading: RowReading) -> PartRows:
    """Read the rows of a part.

    Parameters
    ----------
    part : TablePart
        Some rows, perhaps none.
    reading : RowReading
        How they are read.
    """
    target, schema = reading.request.target, reading.schema
    names = [target, *(column.name for column in schema.used)]
    typed, labels, row = [], [], part.first_row
    for batch in [*part.batches(names)] or [_no_rows(names)]:
        typed.append(schema.read(batch, row))
        labels.append(read_labels(batch.column(target), reading.labels))
        row += batch.num_rows
    classes = pa.concat_arrays(labels)
    places = np.flatnonzero(classes.is_valid().to_numpy(zero_copy_only=False))
    held_out = reading.request.held_out(part.first_row + places)
    return PartRows(
        reading,
        part.first_row,
        joined_rows(typed),
        classes,
        training=places[~held_out],
        held_out=places[held_out],
    )


def examine_part(part: TablePart, reading: RowReading, starts: np.ndarray) -> SecondSight:
    """Look for what could give a false all-clear, and learn what pipelines learn.

    Parameters
    ----------
    part : TablePart
        Some rows, perhaps none.
    reading : RowReading
        How it is read.
    starts : ndarray of shape (n_classes,)
        As for `folds_of_rows`.
    """
    rows = read_part(part, reading)
    classes = list(reading.labels.classes)
    examination = check_rows(rows.typed, rows.labels, reading.schema, classes, part.first_row)
    cells = rows.features(rows.training).cells
    return SecondSight(examination, statistics_of_rows(cells, rows.classed(starts)))


def rows_before(training: Sequence[Counter[str]], reading: RowReading) -> np.ndarray:
    """Return, for each part, the training rows before its first of each class.

    Parameters
    ----------
    training : sequence of Counter
        For each part, its rows to learn from by the spelling of their label.
    reading : RowReading
        What was decided about the labels.

    Returns
    -------
    ndarray of shape (n_parts + 1, n_classes)
        As `folds_of_rows` takes them: all rows of smaller classes, and those of the
        same class in earlier parts. The last row ends the last part.
    """
    counts = np.zeros((len(training) + 1, len(reading.classes)), dtype=np.int64)
    spellings = reading.labels.spellings
    names = pa.array(spellings.values(), pa.string())
    places = np.searchsorted(reading.classes, as_labels(names, reading.labels))
    place_of = dict(zip(spellings, places, strict=True))
    for number, labels in enumerate(training, start=1):
        for spelling, rows in labels.items():
            counts[number, place_of[spelling]] += rows
    totals = counts.sum(axis=0)
    return np.cumsum(counts, axis=0) + np.cumsum(totals) - totals


def _no_rows(names: Sequence[str]) -> pa.RecordBatch:
    nothing = pa.array([], pa.string())
    return pa.RecordBatch.from_arrays([nothing] * len(names), names=list(names))
