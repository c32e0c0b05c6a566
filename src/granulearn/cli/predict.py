"""`granulearn predict`: a file of any size, chunk by chunk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from granulearn._words import counted
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import (
    DaskOption,
    ModelArgument,
    TableArgument,
    check_is_file,
    check_new_folder,
    check_not_an_input,
    cluster,
    output_option,
)
from granulearn.cli.output import JsonOption, note, print_json, row_progress, stage_progress
from granulearn.cli.table_options import AskedTable, column_names, takes_file_options


@takes_file_options
def predict(
    model: ModelArgument,
    table: TableArgument,
    output: Annotated[
        Path,
        output_option(
            "CSV or Parquet file to write; - is standard output. Of a table in parts, a folder."
        ),
    ],
    proba: Annotated[bool, typer.Option("--proba", help="Add a probability per class.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Column of the table to copy along; may be repeated.",
            autocompletion=column_names,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Refuse categories and forms of cells that training did not have."
        ),
    ] = False,
    dask: DaskOption = None,
    json: JsonOption = False,
    *,
    asked: AskedTable,
) -> None:
    """Predict every row of a file, of any size, in constant memory.

    Columns are matched by name, in any order; further columns are ignored. The
    output has a column `prediction`, and with --proba a column
    `probability_CLASS` for each class. A model of several numbers gives
    `prediction_1`, `prediction_2` and so on. Cells are read as in training: one of
    another form counts as missing, and a category that training did not have as none
    of the known ones, both with a remark. The table - is standard input.

    With --dask, and for a directory whose output has no ending, parts are predicted by a Dask
    cluster, one on this machine unless --dask names another, and the output is a folder of
    Parquet files, one for each part, in the order of the rows.

    Example: granulearn predict model.skops new.csv --proba -o out.csv
    """
    from granulearn.cli.prediction_output import predict_file
    from granulearn.cli.streams import (
        PARQUET_ENDINGS,
        TEXT_ENDINGS,
        check_output,
        is_standard_output,
        is_terminal,
        tell_written,
    )
    from granulearn.models import load_model
    from granulearn.models.predictors import final_predictor
    from granulearn.training.prediction import Predictor

    check_not_an_input(None if is_standard_output(output) else output, table, model)
    in_parts = dask is not None or (table.is_dir() and not output.suffix and str(output) != "-")
    if in_parts:
        check_new_folder(output)
    else:
        check_output(output, *TEXT_ENDINGS, *PARQUET_ENDINGS, json=json)
    check_is_file(model)
    predictor = Predictor(load_model(model), proba=proba, keep=tuple(keep or ()), strict=strict)
    if proba and not predictor.classes:
        raise UsageError(
            "--proba needs a model of classes, and "
            f"{type(final_predictor(predictor.loaded.pipeline)).__name__} predicts numbers; "
            "leave out --proba."
        )
    with asked.open(table) as file:
        for remark in file.remarks:
            note(remark)
        predictor.check_columns(file.path, file.names)
        if in_parts:
            from granulearn.training.cluster_prediction import predict_on_cluster

            with stage_progress(hidden=json) as tell:
                tell("starting the cluster" if dask in (None, "local") else "connecting")
                with cluster(dask or "local"):
                    n_rows = predict_on_cluster(predictor, file, output, tell)
        else:
            # A bar would be drawn into answers that go to the same terminal.
            hidden = json or is_terminal(output)
            with row_progress(file.rows_about, hidden=hidden) as progress:
                n_rows = predict_file(predictor, file, output, progress)
        for line in predictor.surprises(file.place):
            note(line)
    if json:
        print_json(
            {
                "file": str(output),
                "rows": n_rows,
                "predicted": {str(k): v for k, v in predictor.counts.items()},
                "ignored_columns": predictor.ignored_columns(file.names),
                "new_categories": predictor.new_categories(),
                "misfits": predictor.misfits(),
            }
        )
        return
    shares = ", ".join(f"{label}: {count}" for label, count in predictor.counts.items())
    shown = f" ({shares})" if shares else ""
    tell_written(f"{counted(n_rows, 'row')} predicted{shown}", output)
