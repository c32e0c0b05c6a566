"""From a table in parts to a fitted pipeline: the work of `training`, on a Dask cluster.

Nothing but sums, counts and balls leaves the parts. They are read once to tell what
the columns and labels are, once to look for leaks and to learn statistics, once or
twice more for medians where cells are missing, once to three times to fit, once to score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
from dask import delayed
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline

from granulearn._words import counted
from granulearn.balls.row_keys import MANY_ROWS, in_single_precision
from granulearn.distributed.blocks import Block, check_block
from granulearn.distributed.classifiers import fit_blocks
from granulearn.distributed.cluster import compute
from granulearn.distributed.prediction import for_prediction
from granulearn.distributed.reduction import tree_reduce
from granulearn.models import ModelCard
from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.errors import TableError
from granulearn.tables.inspection import (
    FirstPass,
    TableReport,
    problems_of_names,
    report_first,
    report_second,
)
from granulearn.tables.io.table_file import TableFile, TablePart
from granulearn.tables.labels import Labels
from granulearn.tables.messages import Message, Setting
from granulearn.tables.training_table import as_labels
from granulearn.training.model_kinds import make_model
from granulearn.training.part_medians import with_exact_medians
from granulearn.training.part_preparation import Preparation, prepare_from_statistics
from granulearn.training.part_rows import (
    Request,
    RowReading,
    examine_part,
    look_at_part,
    read_part,
    rows_before,
)
from granulearn.training.part_statistics import Statistics, card_of
from granulearn.training.training import (
    Trained,
    cannot_be_split,
    errors_about_table,
    scores_of_confusion,
)


@dataclass(frozen=True, eq=False)
class BlockReading:
    """How a part becomes what a model learns from."""

    rows: RowReading
    prepare: Preparation
    rounded: bool
    """Whether inputs are rounded, as those of a large table are."""


@dataclass(frozen=True, eq=False)
class SurveyedParts:
    """A table in parts of which is known what its columns and labels are."""

    parts: Sequence[TablePart]
    report: TableReport
    reading: BlockReading
    before: np.ndarray
    """As of `rows_before`."""
    statistics: dict[str, Statistics]
    """Of the features."""

    @property
    def n_training(self) -> np.ndarray:
        """(n_classes,) rows of each class to learn from."""
        return self.before[-1] - self.before[0]

    def blocks(self) -> list[Any]:
        """Return one delayed `Block` for each part."""
        shared, make = delayed(self.reading), delayed(block_of_part)
        return [
            make(part, number, shared, self.before[number])
            for number, part in enumerate(self.parts)
        ]


def survey_on_cluster(
    file: TableFile,
    target: str,
    options: ColumnOptions,
    request: Request,
    tell: Callable[[str], None],
) -> SurveyedParts:
    """Tell what the columns and labels of a table are, and how its rows become numbers.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of labels.
    options : ColumnOptions
        What the user says about the columns.
    request : Request
        Which rows are held out.
    tell : callable
        Told what is being done.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    parts = file.parts()
    tell(f"looking at {counted(len(parts), 'part')}")
    looks = [delayed(look_at_part)(part, request) for part in parts]
    (sight,) = compute(tree_reduce(add, looks))
    report, labels = _report_or_raise(file, sight.look, target, options)
    reading = RowReading(request, report.schema, labels, _classes(labels))
    before = rows_before(sight.training_labels, reading)
    _check_rows_left(file, reading, before[-1] - before[0])

    tell(f"examining {counted(report.rows, 'row')}")
    examine, first_reading = delayed(examine_part), delayed(reading)
    looks = [
        examine(part, first_reading, starts)
        for part, starts in zip(parts, before[:-1], strict=True)
    ]
    (second,) = compute(tree_reduce(add, looks))
    report = report_second(report, second.examination, options)
    reading = replace(reading, schema=report.schema)
    statistics = with_exact_medians(_of_used(second.statistics, report), parts, reading, tell)
    prepare = prepare_from_statistics(statistics, reading.classes)
    rounded = int((before[-1] - before[0]).sum()) > MANY_ROWS
    whole = BlockReading(reading, prepare, rounded)
    return SurveyedParts(parts, report, whole, before, statistics)


def train_on_cluster(
    file: TableFile,
    model: str,
    target: str,
    options: ColumnOptions,
    *,
    test: float,
    seed: int,
    tell: Callable[[str], None],
) -> Trained:
    """Survey, fit, and score on the rows held out; there is no cross-validation.

    Parameters
    ----------
    file : TableFile
        What to learn from.
    model : str
        A name of `model_kinds` whose classifier can be fitted in parts.
    target : str
        The column of labels; rows without one are left out and counted.
    options : ColumnOptions
        What the user says about the columns.
    test : float
        Share of the rows to hold out, from 0 to below 1.
    seed : int
        Seed of the rows held out and of the model.
    tell : callable
        Told what is being done.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    surveyed = survey_on_cluster(file, target, options, Request(target, test, seed), tell)
    report, reading, prepare = surveyed.report, surveyed.reading.rows, surveyed.reading.prepare
    n_training = surveyed.n_training
    tell(f"fitting {model} to {counted(int(n_training.sum()), 'row')}")
    classifier = make_model(model, seed)
    if "n_jobs" in classifier.get_params():
        classifier.set_params(n_jobs=None)  # each worker has a core of its own
    with errors_about_table(model):
        fit_blocks(classifier, surveyed.blocks(), prepare.n_features)
    scores = {}
    if test:
        tell("scoring on the rows held out")
        scores["held_out"] = _held_out(surveyed.parts, delayed(surveyed.reading), classifier)
    meanings = {
        name: said for column in report.schema.used for name, said in column.meanings.items()
    }
    card = ModelCard(
        model=model,
        rows=int(n_training.sum()),
        classes=dict(zip(map(str, reading.classes), n_training.tolist(), strict=True)),
        balls=len(classifier.balls_) if hasattr(classifier, "balls_") else None,
        parameters=classifier.get_params(),
        target=target,
        columns=tuple(
            replace(card_of(name, known), meaning=meanings.get(name, ""))
            for name, known in surveyed.statistics.items()
        ),
        schema=report.schema,
        dropped_rows=sum(reading.labels.unlabelled.values()),
        scores=scores,
        seed=seed,
    )
    pipeline = Pipeline([("prepare", prepare.step), ("model", classifier)])
    return Trained(pipeline, card, report)


def block_of_part(part: TablePart, number: int, reading: BlockReading, starts: np.ndarray) -> Block:
    """Read the rows of a part that are learnt from.

    Parameters
    ----------
    part : TablePart
        Some rows.
    number : int
        Number of the part.
    reading : BlockReading
        How they are read.
    starts : ndarray of shape (n_classes,)
        As for `folds_of_rows`.
    """
    rows = read_part(part, reading.rows)
    X, prepare = np.empty((0, reading.prepare.n_features)), reading.prepare
    if len(rows.training):
        X = prepare.training_rows(rows.features(rows.training), rows.classed(starts).folds)
        if reading.rounded:
            X = in_single_precision(X)
    return check_block(number, X, rows.y(rows.training), None, None)


def confusion_of_part(part: TablePart, reading: BlockReading, classifier: Any) -> np.ndarray:
    """Count true against predicted classes among the rows of a part that are held out.

    Parameters
    ----------
    part : TablePart
        Some rows.
    reading : BlockReading
        How they are read.
    classifier : fitted classifier
        What predicts them.
    """
    rows = read_part(part, reading.rows)
    n_classes = len(classifier.classes_)
    if not len(rows.held_out):
        return np.zeros((n_classes, n_classes), dtype=np.int64)
    predicted = classifier.predict(reading.prepare.new_rows(rows.features(rows.held_out)))
    return confusion_matrix(rows.y(rows.held_out), predicted, labels=classifier.classes_)


def _report_or_raise(
    file: TableFile, look: FirstPass | None, target: str, options: ColumnOptions
) -> tuple[TableReport, Labels]:
    """Return what the first look tells, or raise with all that is wrong with the table."""
    problems = problems_of_names(file.names, target, options)
    report = report_first(file, look, target if target in file.names else None, options)
    problems = (*problems, *report.problems)
    if problems or report.labels is None:
        raise TableError.about(file.path, problems)
    return report, report.labels


def _classes(labels: Labels) -> np.ndarray:
    return np.unique(as_labels(pa.array(labels.classes, pa.string()), labels))


def _check_rows_left(file: TableFile, reading: RowReading, n_training: np.ndarray) -> None:
    """Raise, as `train` does, if too few rows can be held out; by chance it may be none."""
    rows, test = sum(reading.labels.classes.values()), reading.request.test
    n_classes, none_held_out = len(reading.classes), rows == n_training.sum()
    if test and (none_held_out or round(test * rows) < n_classes):
        raise cannot_be_split(rows, n_classes, test)
    lacking = reading.classes[n_training == 0]
    if len(lacking):
        said = (
            f"{file.path}: class {lacking[0]} of column {reading.request.target!r}, the target, "
            "has no row left to learn from; add rows of it, or pass "
        )
        raise TableError(Message(said, Setting("test", 0), "."))


def _of_used(statistics: dict[str, Statistics], report: TableReport) -> dict[str, Statistics]:
    """Return the statistics of columns that do not give the target away."""
    used = [name for column in report.schema.used for name in column.feature_names]
    return {name: statistics[name] for name in used}


def _held_out(parts: Sequence[TablePart], reading: Any, classifier: Any) -> dict[str, Any]:
    shared = delayed(for_prediction(classifier))
    count = delayed(confusion_of_part)
    tables = [count(part, reading, shared) for part in parts]
    (counts,) = compute(tree_reduce(np.add, tables))
    return scores_of_confusion(counts, classifier.classes_)
