"""A model predicts a table in parts on a Dask cluster: one file of answers for each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as parquet
from dask import delayed

from granulearn._words import counted
from granulearn.distributed.cluster import compute
from granulearn.distributed.reduction import tree_reduce
from granulearn.models.row_reading import RowReading
from granulearn.tables.errors import TableError
from granulearn.tables.io.table_file import TableFile, TablePart
from granulearn.training.prediction import Predictor
from granulearn.utils.files import folder_written_atomically, written_atomically

PART_NAME = "part-{:05d}.parquet"


@dataclass(frozen=True, eq=False)
class PredictedParts:
    """What was predicted in some parts."""

    n_rows: int
    counts: Counter
    """How often each class was predicted."""
    reading: RowReading
    """Knows what was odd about the rows."""


def predict_on_cluster(
    predictor: Predictor, file: TableFile, output: Path, tell: Callable[[str], None]
) -> int:
    """Predict every part of a table, and write a folder of Parquet files; return how many rows.

    The folder is there when all files are, or not at all.

    Parameters
    ----------
    predictor : Predictor
        The model; it is told what surprised the workers.
    file : TableFile
        The rows.
    output : Path
        The folder, on a disk that every worker sees under the same name.
    tell : callable
        Told what is being done.
    """
    parts = file.parts()
    with folder_written_atomically(output) as draft:
        tell(f"predicting {counted(len(parts), 'part')}")
        shared, predict = delayed(predictor), delayed(predicted_part)
        tasks = [
            predict(part, number, shared, str(draft), str(file.path))
            for number, part in enumerate(parts)
        ]
        (done,) = compute(tree_reduce(join_parts, tasks))
        if done.n_rows == 0:
            raise TableError(f"{file.path} has no data rows; add rows.")
        predictor.counts.update(done.counts)
        predictor.reading.absorb(done.reading)
        predictor.check_cells(file.path, file.place)
    return done.n_rows


def predicted_part(
    part: TablePart, number: int, predictor: Predictor, folder: str, path: str
) -> PredictedParts:
    """Predict the rows of one part, and write them to a file.

    Parameters
    ----------
    part : TablePart
        The rows.
    number : int
        Number of the part.
    predictor : Predictor
        The model; another task may use it at the same time, so it is left as it is.
    folder : str
        Where to write.
    path : str
        The table, for messages.
    """
    own = predictor.afresh()
    n_rows, first_row = 0, part.first_row
    target = Path(folder) / PART_NAME.format(number)
    writer = None

    def place(row: int) -> str:
        return f"{path}, row {row + 1}"

    with written_atomically(target) as draft, own.reading.forms_first(path, place):
        try:
            for chunk in own.loaded.chunks(part, own.input_names):
                answers = own.predict_batch(chunk, place, first_row + n_rows)
                if writer is None:
                    writer = parquet.ParquetWriter(draft, answers.schema)
                writer.write(answers)
                n_rows += chunk.num_rows
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            draft.write_bytes(b"")
    if n_rows == 0:
        target.unlink()
    return PredictedParts(n_rows, own.counts, own.reading)


def join_parts(first: PredictedParts, second: PredictedParts) -> PredictedParts:
    """Return what was predicted in earlier and in later parts.

    Parameters
    ----------
    first, second : PredictedParts
        Of earlier and of later parts.
    """
    reading = deepcopy(first.reading)
    reading.absorb(second.reading)
    counts = first.counts + second.counts
    return PredictedParts(first.n_rows + second.n_rows, counts, reading)
