"""`granulearn predict`: a file of any size, chunk by chunk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import (
    ModelArgument,
    TableArgument,
    check_not_an_input,
    output_option,
)
from granulearn.cli.output import JsonOption, note, print_json, row_progress


def predict(
    model: ModelArgument,
    table: TableArgument,
    output: Annotated[Path, output_option("CSV or Parquet file to write; - is standard output.")],
    proba: Annotated[bool, typer.Option("--proba", help="Add a probability per class.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Column of the table to copy along; may be repeated."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse categories that training did not have.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Predict every row of a file, of any size, in constant memory.

    Columns are matched by name, in any order; further columns are ignored. The
    output has a column `prediction`, and with --proba a column
    `probability_CLASS` for each class. A model of several numbers gives
    `prediction_1`, `prediction_2` and so on. A category that training did not
    have counts as none of the known ones, with a warning. The table - is standard
    input.

    Example: granulearn predict model.skops new.csv --proba -o out.csv
    """
    from granulearn.cli.prediction_output import predict_file
    from granulearn.cli.streams import as_file, check_output, is_standard_output, tell_written
    from granulearn.datasets.tables import CSV_SUFFIXES, PARQUET_SUFFIXES
    from granulearn.learning.prediction import Predictor
    from granulearn.learning.sources import check_is_file, open_source
    from granulearn.persistence import load_model
    from granulearn.persistence.predictors import final_predictor

    check_not_an_input(None if is_standard_output(output) else output, table, model)
    check_output(output, *CSV_SUFFIXES, *PARQUET_SUFFIXES, json=json)
    check_is_file(model)
    predictor = Predictor(load_model(model), proba=proba, keep=tuple(keep or ()), strict=strict)
    if proba and not predictor.classes:
        raise UsageError(
            "--proba needs a model of classes, and "
            f"{type(final_predictor(predictor.pipeline)).__name__} predicts numbers; "
            "leave out --proba."
        )
    with as_file(table) as file:
        source = open_source(file)
        predictor.check_columns(source)
        with row_progress(source.rows_about, hidden=json) as progress:
            n_rows = predict_file(predictor, source, output, progress)
    for line in predictor.surprises():
        note(line)
    if json:
        print_json(
            {
                "file": str(output),
                "rows": n_rows,
                "predicted": {str(k): v for k, v in predictor.counts.items()},
                "ignored_columns": predictor.ignored_columns(source),
                "new_categories": predictor.new_categories(),
            }
        )
        return
    shares = ", ".join(f"{label}: {count}" for label, count in predictor.counts.items())
    shown = f" ({shares})" if shares else ""
    tell_written(f"{n_rows} rows predicted{shown}", output)
