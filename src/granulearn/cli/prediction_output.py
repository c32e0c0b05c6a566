"""The answers of `granulearn predict`, written as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from threadpoolctl import threadpool_limits

from granulearn.balls.few_rows import loops_may_wait
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.streams import PARQUET_ENDINGS, written_output
from granulearn.tables import TableError, TableFile
from granulearn.tables.writing import CsvWriter
from granulearn.training.prediction import Predictor


def predict_file(
    predictor: Predictor, file: TableFile, output: Path, progress: Callable[[int], None]
) -> int:
    """Predict every row of a file and write the answers; return the number of rows.

    Parameters
    ----------
    predictor : Predictor
        The model.
    file : TableFile
        The rows.
    output : Path
        CSV or Parquet file, or ``-``; made at the end, or not at all.
    progress : callable
        Told the number of rows done.
    """
    n_rows = 0

    def place(row: int) -> str:
        return f"{file.path}, {file.place(row)}"

    # One thread computes while another reads ahead.
    with (
        written_output(output, ".csv") as draft,
        threadpool_limits(1, user_api="blas"),
        loops_may_wait(),
        predictor.reading.forms_first(file.path, file.place),
    ):
        writer = None
        try:
            for chunk in predictor.loaded.chunks(file, predictor.input_names):
                answers = predictor.predict_batch(chunk, place, n_rows)
                if writer is None:
                    _check_unique(answers.schema.names)
                    writer = _open_writer(draft, answers.schema)
                writer.write(answers)
                n_rows += chunk.num_rows
                progress(n_rows)
        finally:
            if writer is not None:
                writer.close()
        if n_rows == 0:
            raise TableError(f"{file.path} has a header but no data rows; add rows.")
        predictor.check_cells(file.path, file.place)
    return n_rows


def _check_unique(names: list[str]) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise UsageError(
            f"--keep {name}: the output has a column of that name already, what is "
            "predicted; rename the column in the table, or leave it out."
        )


def _open_writer(draft: Path, schema: pa.Schema) -> Any:
    if draft.suffix.lower() in PARQUET_ENDINGS:
        return parquet.ParquetWriter(draft, schema)
    separator = "\t" if draft.suffix.lower() == ".tsv" else ","
    return CsvWriter(draft, schema.names, separator)
