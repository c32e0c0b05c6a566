"""A table in parts on a cluster: `fit`, `predict` and `audit` of the command line.

A first pass over the parts profiles cells and labels. A second one counts what the checks need,
and samples rows to memory: models and audits learn from this sample as from any table. All rows
are then rated, or predicted, part by part (`run_parts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
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

from granulearn.audit.ratings import VERDICTS, AuditSummary
from granulearn.dask.audit import Rater, audit_sample
from granulearn.dask.blocks import SAMPLE_SIZE, Sample, drawn_rows, sampling_rates
from granulearn.dask.cluster import compute, tree_reduce
from granulearn.models.prediction import Predictor
from granulearn.models.row_reader import RowReader
from granulearn.tables.checks import CheckStatistics, check_rows
from granulearn.tables.infer import ColumnOptions
from granulearn.tables.inspection import (
    FirstPass,
    TableReport,
    first_pass,
    problems_of_names,
    report_first,
    report_second,
)
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.labels import Labels
from granulearn.tables.messages import TableError
from granulearn.tables.parse.cells import as_text, is_nested, row_hashes
from granulearn.tables.schema import Schema, TypedRows, joined_rows
from granulearn.tables.training_table import TrainingTable, as_labels, read_rows
from granulearn.training.training import Trained, train
from granulearn.utils.files import folder_written_atomically
from granulearn.utils.text import counted

PART_NAME = "part-{:05d}.parquet"
Progress = Callable[[str], None]


def run_parts(
    function: Callable[..., Any],
    join: Callable[[Any, Any], Any],
    parts: Sequence[TableFile],
    *shared: Any,
) -> Any:
    """Apply a function to each part, with its number, on the workers; return the joined results.

    Parameters
    ----------
    function : callable
        Takes a part, its number, and what is shared; None is left out when results are joined.
    join : callable
        Joins the results of neighbours.
    parts : sequence of TableFile
        The parts of a table.
    *shared : object
        Sent to each worker once.
    """
    work, sent = delayed(function), [delayed(thing) for thing in shared]
    tasks = [work(part, number, *sent) for number, part in enumerate(parts)]
    (joined,) = compute(tree_reduce(join, tasks))
    return joined


@dataclass(frozen=True, eq=False)
class PartReader:
    """How a part becomes typed rows, and which of them are sampled."""

    target: str
    schema: Schema
    labels: Labels
    classes: np.ndarray
    """All classes as a model learns them, sorted."""
    rates: np.ndarray
    """Probability with which a row of each class is sampled."""
    seed: int

    def read(self, part: TableFile) -> tuple[TypedRows, pa.Array, np.ndarray, np.ndarray]:
        """Return all rows of a part and their labels; positions and codes of rows with a label."""
        names = [self.target, *(column.name for column in self.schema.used)]
        empty = pa.RecordBatch.from_pydict({name: pa.array([], pa.string()) for name in names})
        typed, labels, labelled, y = read_rows(
            [*part.batches(names)] or [empty],
            part.first_row,
            self.schema,
            self.target,
            self.labels,
        )
        return typed, labels, labelled, np.searchsorted(self.classes, y)


@dataclass(frozen=True, eq=False)
class PartCheck:
    """What the second pass counts and samples; `+` adds the parts that follow."""

    statistics: CheckStatistics
    features: TypedRows
    """Of the sampled rows."""
    rows: np.ndarray
    """(4, n) code, number of the row in the table, number of the part, and position there."""

    def __add__(self, later: PartCheck) -> PartCheck:
        """Return the counts and samples of both."""
        return PartCheck(
            self.statistics + later.statistics,
            joined_rows([self.features, later.features]),
            np.hstack([self.rows, later.rows]),
        )


@dataclass(frozen=True, eq=False)
class SampledTable:
    """A table in parts, with its report and a sample of its rows."""

    parts: Sequence[TableFile]
    reader: PartReader
    report: TableReport
    sample: TrainingTable
    """The sampled rows."""
    positions: np.ndarray
    """(2, n) number of the part of each of them, and position among its rows with a label."""

    @property
    def n_labels(self) -> int:
        """Rows with a label in the whole table."""
        return sum(self.reader.labels.classes.values())


def sample_table(
    file: TableFile,
    target: str,
    options: ColumnOptions,
    sample_size: int,
    seed: int,
    progress: Progress,
) -> SampledTable:
    """Profile, check and sample a table in parts.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of labels.
    options : ColumnOptions
        What the user says about the columns.
    sample_size : int
        About how many rows to sample; all if there are no more.
    seed : int
        Of the sample.
    progress : callable
        Progress callback.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    parts = file.parts()
    progress(f"profiling {counted(len(parts), 'part')}")
    profiles = run_parts(profile_part, add, parts, target)
    problems = problems_of_names(file.names, target, options)
    report = report_first(file, profiles, target if target in file.names else None, options)
    problems = (*problems, *report.problems)
    if problems or report.labels is None:
        raise TableError.about(file.path, problems)
    names = pa.array(report.labels.classes, pa.string())
    classes, order = np.unique(as_labels(names, report.labels), return_index=True)
    counts = np.array(list(report.labels.classes.values()))[order]
    rates = sampling_rates(counts, sample_size)
    reader = PartReader(target, report.schema, report.labels, classes, rates, seed)

    progress(f"checking {counted(report.rows, 'row')}")
    found = run_parts(check_part, add, parts, reader)
    report = report_second(report, found.statistics, options)
    codes, rows, *positions = found.rows
    typed = found.features.take(np.arange(len(codes)), report.schema)
    sample = TrainingTable(report, typed, classes[codes], rows, cells=None, lines=None)
    reader = replace(reader, schema=report.schema)
    return SampledTable(parts, reader, report, sample, np.array(positions))


def profile_part(part: TableFile, number: int, target: str) -> FirstPass | None:
    """Profile cells and labels of a part; None if it has no rows."""
    batches = [batch for batch in part.batches() if batch.num_rows]
    has_target = bool(batches) and target in batches[0].schema.names
    return first_pass(batches, target if has_target else None, part.first_row)


def check_part(part: TableFile, number: int, reader: PartReader) -> PartCheck:
    """Count what the checks need of a part, and sample its rows."""
    typed, labels, labelled, codes = reader.read(part)
    position = np.flatnonzero(drawn_rows(reader.seed, number, codes, reader.rates))
    rows = labelled[position]
    own = [codes[position], part.first_row + rows, np.full(len(rows), number), position]
    return PartCheck(
        check_rows(typed, labels, reader.schema, list(reader.labels.classes), part.first_row),
        typed.take(rows, reader.schema),
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
    progress: Progress,
    **parameters: Any,
) -> Trained:
    """Fit a model to a sample of a table in parts, as to a table in memory.

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
        Fraction of the sample to hold out, from 0 to below 1.
    seed : int
        Seed of the sample, the rows held out and the model.
    progress : callable
        Progress callback.
    **parameters
        Of the model.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    table = sample_table(file, target, options, round(SAMPLE_SIZE / (1 - test)), seed, progress)
    parameters |= {"seed": seed, "progress": progress}
    trained = train(table.sample, model, tune=False, test=test, **parameters)
    card = replace(trained.card, dropped_rows=table.report.rows - table.n_labels)
    return replace(trained, card=card)


# ---- audit -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PartsAudit:
    """What an audit says about the labels of a table in parts."""

    summary: AuditSummary
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
    progress: Progress,
) -> PartsAudit:
    """Rate every label of a table in parts, and write the ratings as Parquet files.

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
    progress : callable
        Progress callback.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    table = sample_table(file, target, options, SAMPLE_SIZE, seed, progress)
    sample, n_labels = table.sample, table.n_labels
    progress(f"learning from {counted(len(sample.y), 'label')}")
    rows = Sample(sample.typed.cells, sample.y, None, *table.positions)
    rater = audit_sample(rows, n_labels, None, seed, table.report.schema.feature_types)
    progress(f"rating {counted(n_labels, 'label')}")
    joined = partial(_joined_ratings, n_worst)
    with folder_written_atomically(ratings) as temporary:
        shared = table.reader, rater, str(temporary), n_worst
        counts, worst = run_parts(rate_part, joined, table.parts, *shared)
    verdicts = {name: counts[name] for name in VERDICTS}
    return PartsAudit(rater.summary, verdicts, worst, table.report)


def rate_part(
    part: TableFile,
    number: int,
    reader: PartReader,
    rater: Rater,
    folder: str,
    n_worst: int,
) -> tuple[Counter, pd.DataFrame] | None:
    """Write the ratings of a part; return verdicts counted, and the worst rows with their cells."""
    typed, _, labelled, codes = reader.read(part)
    frame = rater.rate(number, typed.take(labelled, reader.schema).cells, codes)
    frame.index = pd.Index(part.first_row + labelled + 1, name="row")
    frame.reset_index().to_parquet(Path(folder) / PART_NAME.format(number), index=False)
    if frame.empty:
        return None
    worst = _worst(frame, n_worst)
    at = worst.index.to_numpy() - part.first_row - 1
    cells = pa.Table.from_batches(list(part.batches())).take(pa.array(at))
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
    return Counter(frame["verdict"]), worst


def _joined_ratings(n_worst: int, first: tuple, second: tuple) -> tuple[Counter, pd.DataFrame]:
    return first[0] + second[0], _worst(pd.concat([first[1], second[1]]), n_worst)


def _worst(frame: pd.DataFrame, n_worst: int) -> pd.DataFrame:
    # Labels that cannot be rated come last; of equal ones, the first of the table.
    by = ["error_probability", "label_quality"]
    return frame.sort_values(by, ascending=[False, True], kind="stable").head(n_worst)


# ---- predictions -----------------------------------------------------------------------------


def predict_on_cluster(
    predictor: Predictor, file: TableFile, output: Path, progress: Progress
) -> None:
    """Predict every part of a table, and write a folder of Parquet files.

    The folder is there when all files are, or not at all.

    Parameters
    ----------
    predictor : Predictor
        The model; it gets the counts and warnings of all parts.
    file : TableFile
        The rows.
    output : Path
        The folder, on a disk that every worker sees under the same name.
    progress : callable
        Progress callback.
    """
    parts = file.parts()
    with folder_written_atomically(output) as temporary:
        progress(f"predicting {counted(len(parts), 'part')}")
        shared = predictor, str(temporary), str(file.path)
        counts, predictor.reader = run_parts(predict_part, _joined_predictions, parts, *shared)
        predictor.counts.update(counts)
        predictor.reader.finish(file.path, file.location)


def predict_part(
    part: TableFile, number: int, predictor: Predictor, folder: str, path: str
) -> tuple[Counter, RowReader]:
    """Predict the rows of a part, and write them to a file; `path` is for messages."""
    own = predictor.starting_at(part.first_row)  # another task may use the same one
    open_writer = partial(parquet.ParquetWriter, Path(folder) / PART_NAME.format(number))
    own.write(part, open_writer, lambda row: f"{path}, row {row + 1}")
    return own.counts, own.reader


def _joined_predictions(first: tuple, second: tuple) -> tuple[Counter, RowReader]:
    return first[0] + second[0], first[1] + second[1]
