"""`granulearn predict`: a file of any size, chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.exit_codes import UsageError
from granulearn.utils.text import counted

if TYPE_CHECKING:
    from granulearn.models.prediction import Predictor
    from granulearn.tables import TableFile


@opt.takes_table
def predict(
    model: opt.ModelArgument,
    table: opt.TableArgument,
    output: Annotated[
        Path,
        opt.output_option(
            "CSV or Parquet file to write; - is standard output. Of a table in parts, a folder."
        ),
    ],
    proba: Annotated[bool, Option("--proba", help="Add a probability per class.")] = False,
    keep: opt.KeepOption = None,
    strict: Annotated[
        bool, Option("--strict", help="Refuse unknown categories and cells that do not parse.")
    ] = False,
    dask: opt.DaskOption = None,
    json: opt.JsonOption = False,
    *,
    options: opt.FileOptions,
) -> None:
    """Predict the rows of a file of any size, in constant memory.

    Columns are matched by name, in any order; others are ignored. The output has a column
    `prediction`, and with --proba a column `probability_CLASS` for each class; a model of
    several numbers gives `prediction_1`, `prediction_2` and so on. Cells are parsed as in
    training: a cell that does not parse counts as missing, an unknown category as none of the
    known ones, both with a note. The table - is standard input.

    With --dask, and for a directory if the output has no ending, a Dask cluster predicts the
    parts, started here unless --dask names one. The output is a folder of Parquet files, one for
    each part, in the order of the rows.

    Example: granulearn predict model.granulearn new.csv --proba -o out.csv
    """
    from granulearn.models import load_model
    from granulearn.models.loaded_model import final_predictor
    from granulearn.models.prediction import Predictor

    streams = out.is_standard_output(output)
    in_parts = dask is not None or (table.is_dir() and not output.suffix and not streams)
    if in_parts and output.exists():
        raise UsageError(f"{output} is there already; remove it, or name another folder.")
    endings = () if in_parts else opt.TEXT_ENDINGS + opt.PARQUET_ENDINGS
    opt.check_output(output, *endings, others=(table, model), json=json)
    opt.check_is_file(model)
    predictor = Predictor(load_model(model), proba=proba, keep=tuple(keep or ()), strict=strict)
    if proba and not predictor.classes:
        kind = type(final_predictor(predictor.loaded.pipeline)).__name__
        raise UsageError(
            f"--proba needs a model of classes, and {kind} predicts numbers; leave out --proba."
        )
    with options.open(table) as file:
        for note in file.notes:
            out.note(note)
        predictor.check_columns(file.path, file.names)
        if in_parts:
            from granulearn.dask.tables import predict_on_cluster

            with out.stage_progress(hidden=json) as stage, opt.cluster(dask, stage):
                predict_on_cluster(predictor, file, output, stage)
        else:
            # A bar would be drawn into answers that go to the same terminal.
            hidden = json or out.is_shown(output)
            with out.row_progress(file.n_rows, hidden=hidden) as progress:
                _predict_file(predictor, file, output, progress)
        for line in predictor.reader.warnings(file.location):
            out.note(line)
    n_rows = predictor.reader.n_rows
    if json:
        facts = {"file": str(output), "rows": n_rows, "predicted": predictor.counts}
        facts |= {"ignored_columns": predictor.ignored_columns(file.names)}
        failures = {name: found.count for name, found in predictor.reader.failures.items()}
        facts |= {"new_categories": predictor.reader.unknown, "failures": failures}
        out.print_json(facts)
        return
    counts = ", ".join(f"{label}: {count}" for label, count in predictor.counts.items())
    shown = f" ({counts})" if counts else ""
    out.print_written(f"{counted(n_rows, 'row')} predicted{shown}", output)


def _predict_file(
    predictor: Predictor, file: TableFile, output: Path, progress: Callable[[int], None]
) -> None:
    """Predict every row of a file and write the answers."""
    from threadpoolctl import threadpool_limits

    def location(row: int) -> str:
        return f"{file.path}, {file.location(row)}"

    # One thread computes while another reads ahead.
    with out.written_output(output) as temporary, threadpool_limits(1, user_api="blas"):
        predictor.write(file, partial(_open_writer, temporary), location, progress)
        predictor.reader.finish(file.path, file.location)


def _open_writer(temporary: Path, schema: Any) -> Any:
    from granulearn.tables.writing import open_writer

    name, count = Counter(schema.names).most_common(1)[0]
    if count > 1:
        raise UsageError(
            f"--keep {name}: the output has a column of that name already, what is "
            "predicted; rename the column in the table, or leave it out."
        )
    return open_writer(temporary, schema)
