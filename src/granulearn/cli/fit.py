"""`granulearn fit`: a table becomes a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from granulearn.cli.model_kinds import DEFAULT_MODEL
from granulearn.cli.options import (
    CategoricalOption,
    IgnoreOption,
    ModelOption,
    SeedOption,
    TableArgument,
    TargetOption,
    check_not_an_input,
    output_option,
)
from granulearn.cli.output import JsonOption, console, print_json, table

if TYPE_CHECKING:
    from granulearn.cli.training_table import TrainingTable
    from granulearn.persistence import ModelCard

# A wider matrix does not fit a terminal; all of it is in --json and the card.
MAX_CLASSES_SHOWN = 12


def fit(
    table: TableArgument,
    target: TargetOption,
    output: Annotated[Path, output_option("Model file to write.")],
    model: ModelOption = DEFAULT_MODEL,
    tune: Annotated[bool, typer.Option("--tune", help="Search the best settings first.")] = False,
    test: Annotated[
        float,
        typer.Option("--test", min=0.0, max=0.9, help="Share of rows held out; 0 uses all."),
    ] = 0.3,
    categorical: CategoricalOption = None,
    ignore: IgnoreOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Learn to predict a column of a CSV or Parquet file.

    Numbers and categories are told apart, missing cells filled in, categories
    encoded, numbers scaled; all of it is saved with the model, and a card with
    the columns, scores, versions and seed. The scores are those of the model
    that is saved: it has not seen the rows held out.

    Example: granulearn fit train.csv --target label --tune -o model.skops
    """
    from granulearn.cli.training import train
    from granulearn.cli.training_table import read_training_table
    from granulearn.persistence import save_model

    check_not_an_input(output, table)
    data = read_training_table(table, target, categorical=categorical or (), ignore=ignore or ())
    trained = train(data, model, tune=tune, test=test, seed=seed)
    card = save_model(trained.pipeline, output, trained.card)
    if json:
        print_json({"file": str(output), **card.to_json()})
    else:
        _show(table, output, data, card)


def _show(path: Path, output: Path, data: TrainingTable, card: ModelCard) -> None:
    out = console()
    numbers = sum(column.kind == "number" for column in card.columns)
    out.print(
        f"[bold]{path.name}[/bold]: {len(data.y)} rows, {len(card.columns)} features ({numbers} "
        f"numbers, {len(card.columns) - numbers} categories), {len(card.classes)} classes"
    )
    if data.dropped_rows:
        out.print(f"{data.dropped_rows} rows without a label were left out")
    made = f"{card.balls} balls of {card.rows} samples" if card.balls else f"{card.rows} samples"
    settings = ", ".join(
        f"{key}={card.parameters[key]}"
        for key in ("C", "n_hidden", "activation")
        if key in card.parameters
    )
    out.print(f"[bold]{card.model}[/bold]: fitted to {made}; {settings}\n")
    _show_scores(out, card)
    out.print(f"saved [bold]{output}[/bold]")


def _show_scores(out, card: ModelCard) -> None:
    across, held_out = card.scores.get("cross_validated"), card.scores.get("held_out")
    headers = []
    if across:
        headers.append(f"{across['folds']}-fold cross-validation")
    if held_out:
        headers.append(f"{held_out['rows']} rows held out")
    if not headers:
        out.print("no scores: a class has a single row, and no rows are held out")
        return
    scores = table("scores", "", *headers)
    for name in ("accuracy", "balanced accuracy", "macro F1"):
        cells = [f"{across[name]['mean']:.3f} ± {across[name]['std']:.3f}"] if across else []
        cells += [f"{held_out[name]:.3f}"] if held_out else []
        scores.add_row(name, *cells)
    out.print(scores)
    if held_out:
        _show_confusion(out, held_out["confusion"])


def _show_confusion(out, confusion) -> None:
    classes = confusion["classes"]
    if len(classes) > MAX_CLASSES_SHOWN:
        out.print(f"confusion matrix of {len(classes)} classes: see --json")
        return
    matrix = table("confusion, rows held out", "true \\ predicted", *classes)
    for label, counts in zip(classes, confusion["counts"], strict=True):
        matrix.add_row(label, *map(str, counts))
    out.print(matrix)
