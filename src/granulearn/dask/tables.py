"""A table in parts on a cluster: `fit`, `predict` and `audit` of the command line.

A first pass over the parts profiles cells and labels. A second one counts what the checks need,
and samples rows to memory: the preprocessor, and every model but networks in closed form, learn
from this sample. Rows held out are scored, and all rows rated or predicted, part by part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
from dask import delayed
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline

from granulearn.audit.noise_rate import NoiseRate
from granulearn.dask.audit import (
    PART_NAME,
    AuditTotals,
    Rater,
    audit_sample,
    joined_totals,
    rate_block,
    write_frame,
)
from granulearn.dask.blocks import SAMPLE_SIZE, Block, Facts, Sample, sampling_rates
from granulearn.dask.classifiers import CLOSED_FORM, fit_closed_form
from granulearn.dask.cluster import compute, tree_reduce
from granulearn.models.row_reading import RowReading
from granulearn.preprocess import TablePreprocessor
from granulearn.tables.checks import CheckStatistics, check_rows
from granulearn.tables.infer import ColumnOptions
from granulearn.tables.inspection import (
    TableReport,
    first_pass,
    problems_of_names,
    report_first,
    report_second,
)
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.labels import Labels, read_labels
from granulearn.tables.messages import Message, Setting, TableError
from granulearn.tables.parse.cells import as_text, is_nested, row_hashes
from granulearn.tables.schema import Schema, TypedRows, joined_rows
from granulearn.tables.training_table import TrainingTable, as_labels, chosen_rows
from granulearn.training.model_kinds import make_model
from granulearn.training.prediction import Predictor
from granulearn.training.training import (
    Trained,
    cannot_be_split,
    errors_about_table,
    make_card,
    make_pipeline,
    scores_of_confusion,
)
from granulearn.utils.files import folder_written_atomically, written_atomically
from granulearn.utils.text import counted

Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class PartReader:
    """How a part becomes typed rows, and which of them are held out or sampled."""

    target: str
    schema: Schema
    labels: Labels
    classes: np.ndarray
    """All classes as a model learns them, sorted."""
    rates: np.ndarray
    """Probability with which a training row of each class is sampled."""
    test: float
    seed: int

    def read(self, part: TableFile, number: int) -> PartRows:
        """Read the rows of a part; `number` is that of the part."""
        names = [self.target, *(column.name for column in self.schema.used)]
        typed, labels, row = [], [], part.first_row
        for batch in [*part.batches(names)] or [_no_rows(names)]:
            typed.append(self.schema.read(batch, row))
            labels.append(read_labels(batch.column(self.target), self.labels))
            row += batch.num_rows
        found = pa.concat_arrays(labels)
        labelled = np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False))
        y = as_labels(found.take(pa.array(labelled)), self.labels)
        codes = np.searchsorted(self.classes, y)
        # The same draws in every pass: a part is drawn from where it is read.
        draws = np.random.default_rng([self.seed, number]).random((2, len(codes)))
        held_out = draws[0] < self.test
        sampled = ~held_out & (draws[1] < self.rates[codes])
        return PartRows(self.schema, joined_rows(typed), found, labelled, codes, held_out, sampled)


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of a part; all arrays but `labels` are of the rows with a label."""

    schema: Schema
    typed: TypedRows
    labels: pa.Array
    """Class of each row; null for none."""
    labelled: np.ndarray
    """Positions of the rows with a label."""
    codes: np.ndarray
    held_out: np.ndarray
    sampled: np.ndarray

    def features(self, chosen: np.ndarray | slice) -> TypedRows:
        """Return the features of some of the rows with a label."""
        return chosen_rows(self.typed, self.schema, self.labelled[chosen])


@dataclass(frozen=True, eq=False)
class PartCheck:
    """What the second pass counts and samples; `+` adds the parts that follow."""

    statistics: CheckStatistics
    n_training: np.ndarray
    """(n_classes,) training rows of each class."""
    features: TypedRows
    """Of the sampled rows."""
    rows: np.ndarray
    """(4, n) code, number of the row in the table, number of the part, and position there."""

    def __add__(self, later: PartCheck) -> PartCheck:
        """Return the counts and samples of both."""
        return PartCheck(
            self.statistics + later.statistics,
            self.n_training + later.n_training,
            joined_rows([self.features, later.features]),
            np.hstack([self.rows, later.rows]),
        )


@dataclass(frozen=True, eq=False)
class Survey:
    """A table in parts after both passes."""

    parts: Sequence[TableFile]
    reader: PartReader
    report: TableReport
    n_training: np.ndarray
    sample: TrainingTable
    """The sampled training rows."""
    rows: np.ndarray
    """As of `PartCheck`."""

    @property
    def has_all(self) -> bool:
        """Whether every training row is in the sample."""
        return len(self.sample.y) == self.n_training.sum()

    def preprocess(self) -> tuple[TablePreprocessor, Sample]:
        """Return the fitted preprocessor, and the sample as numbers."""
        preprocessor = TablePreprocessor(self.report.schema.feature_types)
        X = preprocessor.fit_transform(self.sample.typed.cells, self.sample.y)
        return preprocessor, Sample(X, self.sample.y, None, *self.rows[2:])


def survey_table(
    file: TableFile, target: str, options: ColumnOptions, test: float, seed: int, tell: Tell
) -> Survey:
    """Return the report on a table, and a sample of its training rows.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of labels.
    options : ColumnOptions
        What the user says about the columns.
    test : float
        Fraction of the rows to hold out.
    seed : int
        Of the rows held out and of the sample.
    tell : callable
        Progress callback.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    parts = file.parts()
    tell(f"looking at {counted(len(parts), 'part')}")
    (look,) = compute(tree_reduce(add, [delayed(profile_part)(part, target) for part in parts]))
    problems = problems_of_names(file.names, target, options)
    report = report_first(file, look, target if target in file.names else None, options)
    problems = (*problems, *report.problems)
    if problems or report.labels is None:
        raise TableError.about(file.path, problems)
    names = pa.array(report.labels.classes, pa.string())
    classes, order = np.unique(as_labels(names, report.labels), return_index=True)
    counts = np.array(list(report.labels.classes.values()))[order]
    rates = sampling_rates(counts * (1 - test), SAMPLE_SIZE)
    reader = PartReader(target, report.schema, report.labels, classes, rates, test, seed)

    tell(f"examining {counted(report.rows, 'row')}")
    check, shared = delayed(check_part), delayed(reader)
    checks = [check(part, number, shared) for number, part in enumerate(parts)]
    (found,) = compute(tree_reduce(add, checks))
    report = report_second(report, found.statistics, options)
    _check_rows_left(file, reader, int(counts.sum()), found.n_training)
    codes, rows, _, _ = found.rows
    every_row = np.arange(len(codes))
    sample = TrainingTable(
        report=report,
        typed=chosen_rows(found.features, report.schema, every_row),
        y=classes[codes],
        rows=rows,
        cells=None,
        lines=None,
    )
    reader = replace(reader, schema=report.schema)
    return Survey(parts, reader, report, found.n_training, sample, found.rows)


def profile_part(part: TableFile, target: str) -> Any:
    """Profile cells and labels of a part; None if it has no rows."""
    batches = [batch for batch in part.batches() if batch.num_rows]
    has_target = bool(batches) and target in batches[0].schema.names
    return first_pass(batches, target if has_target else None, part.first_row)


def check_part(part: TableFile, number: int, reader: PartReader) -> PartCheck:
    """Count what the checks need of a part, and sample its training rows."""
    rows = reader.read(part, number)
    classes = list(reader.labels.classes)
    position = np.flatnonzero(rows.sampled)
    codes = rows.codes[position]
    own = [codes, part.first_row + rows.labelled[position], np.full(len(codes), number), position]
    return PartCheck(
        check_rows(rows.typed, rows.labels, reader.schema, classes, part.first_row),
        np.bincount(rows.codes[~rows.held_out], minlength=len(reader.classes)),
        rows.features(position),
        np.array(own, dtype=np.int64),
    )


def train_on_cluster(
    file: TableFile,
    model: str,
    target: str,
    options: ColumnOptions,
    *,
    test: float,
    seed: int,
    tell: Tell,
) -> Trained:
    """Survey a table, fit, and score on the rows held out; there is no cross-validation.

    Parameters
    ----------
    file : TableFile
        What to learn from.
    model : str
        A name of `model_kinds`.
    target : str
        The column of labels; rows without one are left out and counted.
    options : ColumnOptions
        What the user says about the columns.
    test : float
        Fraction of the rows to hold out, from 0 to below 1.
    seed : int
        Seed of the rows held out, the sample and the model.
    tell : callable
        Progress callback.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    survey = survey_table(file, target, options, test, seed, tell)
    sample, n_training, classes = survey.sample, survey.n_training, survey.reader.classes
    classifier = make_model(model, seed)
    takes_all = not survey.has_all and type(classifier) in CLOSED_FORM
    n_rows = int(n_training.sum()) if takes_all else len(sample.y)
    shown = counted(n_rows, "row")
    tell(f"fitting {model} to {shown if n_rows == n_training.sum() else 'a sample of ' + shown}")
    with errors_about_table(model):
        if takes_all:
            pipeline = _fit_to_all(classifier, survey)
        else:
            pipeline = make_pipeline(classifier).fit(sample.X, sample.y)
    scores = {}
    if test:
        tell("scoring on the rows held out")
        shared, count = delayed((survey.reader, pipeline)), delayed(confusion_of_part)
        tables = [count(part, number, shared) for number, part in enumerate(survey.parts)]
        (counts,) = compute(tree_reduce(np.add, tables))
        scores["held_out"] = scores_of_confusion(counts, classes)
    n_unlabelled = sum(survey.report.labels.unlabelled.values()) if survey.report.labels else 0
    facts = {"scores": scores, "seed": seed, "dropped_rows": n_unlabelled}
    card = make_card(model, pipeline, sample, sample.X, sample.y, **facts)
    if takes_all:
        more = n_rows / len(sample.y)
        columns = [replace(c, missing=round(c.missing * more)) for c in card.columns]
        by_class = dict(zip(map(str, classes), n_training.tolist(), strict=True))
        card = replace(card, rows=n_rows, classes=by_class, columns=tuple(columns))
    return Trained(pipeline, card, survey.report)


def _fit_to_all(classifier: Any, survey: Survey) -> Pipeline:
    """Fit a network in closed form to all training rows; columns are learnt from the sample.

    The sampled rows are encoded out of fold, all others by a sample that they are not in.
    """
    preprocessor, sample = survey.preprocess()
    if "n_jobs" in classifier.get_params():
        classifier.set_params(n_jobs=None)  # each worker has a core of its own
    classes, n_training = survey.reader.classes, survey.n_training
    n_parts, types = len(survey.parts), ("numbers",) * sample.X.shape[1]
    codes = np.searchsorted(classes, sample.y)
    make, shared = delayed(block_of_part), delayed((survey.reader, preprocessor))
    blocks = [make(part, number, shared) for number, part in enumerate(survey.parts)]
    blocks.append(delayed(Block(n_parts, sample.X, classes, codes, None, None, None, types)))
    counts = np.column_stack([n_training, n_training, np.zeros_like(n_training)])
    facts = Facts(0, {}, None, types, classes, counts, True)
    model = fit_closed_form(classifier, blocks, facts)
    return Pipeline([("preprocess", preprocessor), ("model", model)])


def block_of_part(
    part: TableFile, number: int, shared: tuple[PartReader, TablePreprocessor]
) -> Block | None:
    """Return the training rows of a part that are not in the sample."""
    reader, preprocessor = shared
    rows = reader.read(part, number)
    chosen = np.flatnonzero(~rows.held_out & ~rows.sampled)
    if not len(chosen):
        return None
    X = preprocessor.transform(rows.features(chosen).cells)
    types = ("numbers",) * X.shape[1]
    return Block(number, X, reader.classes, rows.codes[chosen], None, None, None, types)


def confusion_of_part(
    part: TableFile, number: int, shared: tuple[PartReader, Pipeline]
) -> np.ndarray:
    """Count true against predicted classes among the rows of a part that are held out."""
    reader, pipeline = shared
    rows, classes = reader.read(part, number), reader.classes
    chosen = np.flatnonzero(rows.held_out)
    if not len(chosen):
        return np.zeros((len(classes), len(classes)), dtype=np.int64)
    predicted = pipeline.predict(rows.features(chosen).to_frame())
    return confusion_matrix(classes[rows.codes[chosen]], predicted, labels=classes)


def _check_rows_left(
    file: TableFile, reader: PartReader, n_rows: int, n_training: np.ndarray
) -> None:
    """Raise, as `train` does, if too few rows can be held out; by chance it may be none."""
    n_classes, none_held_out = len(reader.classes), n_rows == n_training.sum()
    if reader.test and (none_held_out or round(reader.test * n_rows) < n_classes):
        raise cannot_be_split(n_rows, n_classes, reader.test)
    lacking = reader.classes[n_training == 0]
    if len(lacking):
        said = (
            f"{file.path}: class {lacking[0]} of column {reader.target!r}, the target, "
            "has no row left to learn from; add rows of it, or pass "
        )
        raise TableError(Message(said, Setting("test", 0), "."))


def _no_rows(names: Sequence[str]) -> pa.RecordBatch:
    nothing = pa.array([], pa.string())
    return pa.RecordBatch.from_arrays([nothing] * len(names), names=list(names))


# ---- audit -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PartsAudit:
    """What an audit says about the labels of a table in parts."""

    noise: NoiseRate
    n_labels: int
    counts: dict[str, int]
    """How many labels have each verdict."""
    worst: pd.DataFrame
    """The most doubtful labels, the worst first: ``row`` (number of the data row, from 1),
    ``hash`` of its cells, what ratings have, ``decision`` and ``new_label`` to be filled in,
    and the columns of the table as text."""
    report: TableReport


def audit_on_cluster(
    file: TableFile,
    target: str,
    options: ColumnOptions,
    ratings: Path,
    *,
    n_worst: int,
    seed: int,
    tell: Tell,
) -> PartsAudit:
    """Survey a table, rate every label, and write the ratings as Parquet files.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of labels; rows without one are not rated.
    options : ColumnOptions
        What the user says about the columns.
    ratings : Path
        The folder to make, on a disk that every worker sees; it is there when all files are.
    n_worst : int
        How many of the most doubtful labels to return.
    seed : int
        Seed of the audit.
    tell : callable
        Progress callback.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    survey = survey_table(file, target, options, 0.0, seed, tell)
    n_labels = int(survey.n_training.sum())
    tell(f"learning from {counted(len(survey.sample.y), 'label')}")
    preprocessor, sample = survey.preprocess()
    audit, rater, sampled = audit_sample(sample, None, seed)
    tell(f"rating {counted(n_labels, 'label')}")
    rate, shared = delayed(rated_part), delayed((survey.reader, preprocessor, rater))
    with folder_written_atomically(ratings) as draft:
        tasks = [
            rate(part, number, shared, sampled.get(number), str(draft), n_worst)
            for number, part in enumerate(survey.parts)
        ]
        totals = joined_totals(tasks, n_worst)
    return PartsAudit(audit.noise_, n_labels, totals.counts, totals.worst, survey.report)


def rated_part(
    part: TableFile,
    number: int,
    shared: tuple[PartReader, TablePreprocessor, Rater],
    sampled: pd.DataFrame | None,
    folder: str,
    n_worst: int,
) -> AuditTotals:
    """Write the ratings of a part; return their totals, and its worst rows with their cells."""
    reader, preprocessor, rater = shared
    rows = reader.read(part, number)
    X = preprocessor.transform(rows.features(slice(None)).cells)
    frame = rate_block(X, rows.codes, rater, sampled)
    own = frame.set_axis(pd.Index(part.first_row + rows.labelled + 1, name="row"))
    totals = write_frame(own, folder, number, n_worst)
    if not len(totals.worst):
        return totals
    at = totals.worst.index.to_numpy() - part.first_row - 1
    cells = pa.Table.from_batches(list(part.batches())).take(pa.array(at))
    worst = totals.worst
    worst.insert(0, "hash", row_hashes(cells, reader.target))
    worst["decision"], worst["new_label"] = "", ""
    shown = {
        f"{name} (column)" if name in worst or name == "row" else name: np.asarray(
            as_text(cells[name].combine_chunks()).to_pandas()
        )
        for name in cells.column_names
        if not is_nested(cells[name].type)
    }
    worst = pd.concat([worst, pd.DataFrame(shown, worst.index, dtype=object)], axis=1)
    return AuditTotals(totals.counts, worst)


# ---- predictions -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PredictedParts:
    """What was predicted in some parts."""

    n_rows: int
    counts: Counter
    """How often each class was predicted."""
    reading: RowReading
    """Knows the warnings about the rows."""

    def __add__(self, later: PredictedParts) -> PredictedParts:
        """Return what was predicted in both."""
        reading = deepcopy(self.reading)
        reading.absorb(later.reading)
        return PredictedParts(self.n_rows + later.n_rows, self.counts + later.counts, reading)


def predict_on_cluster(predictor: Predictor, file: TableFile, output: Path, tell: Tell) -> int:
    """Predict every part of a table, and write a folder of Parquet files; return how many rows.

    The folder is there when all files are, or not at all.

    Parameters
    ----------
    predictor : Predictor
        The model; it gets the counts and warnings of all parts.
    file : TableFile
        The rows.
    output : Path
        The folder, on a disk that every worker sees under the same name.
    tell : callable
        Progress callback.
    """
    parts = file.parts()
    with folder_written_atomically(output) as draft:
        tell(f"predicting {counted(len(parts), 'part')}")
        shared, predict = delayed(predictor), delayed(predicted_part)
        tasks = [
            predict(part, number, shared, str(draft), str(file.path))
            for number, part in enumerate(parts)
        ]
        (done,) = compute(tree_reduce(add, tasks))
        if done.n_rows == 0:
            raise TableError(f"{file.path} has no data rows; add rows.")
        predictor.counts.update(done.counts)
        predictor.reading.absorb(done.reading)
        predictor.reading.check_cells(file.path, file.place)
    return done.n_rows


def predicted_part(
    part: TableFile, number: int, predictor: Predictor, folder: str, path: str
) -> PredictedParts:
    """Predict the rows of one part, and write them to a file; `path` is for messages."""
    own = predictor.afresh()  # another task may use the same one
    target = Path(folder) / PART_NAME.format(number)

    def place(row: int) -> str:
        return f"{path}, row {row + 1}"

    with written_atomically(target) as draft, own.reading.forms_first(path, place):
        draft.write_bytes(b"")
        open_writer = partial(parquet.ParquetWriter, draft)
        n_rows = own.write(part, open_writer, place, first_row=part.first_row)
    if n_rows == 0:
        target.unlink()
    return PredictedParts(n_rows, own.counts, own.reading)
