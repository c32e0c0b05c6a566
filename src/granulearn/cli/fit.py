"""`granulearn fit`: a table becomes a model file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from granulearn._words import counted
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import (
    DaskOption,
    ModelOption,
    SeedOption,
    TableArgument,
    TargetOption,
    check_can_be_written,
    check_not_an_input,
    cluster,
    output_option,
)
from granulearn.cli.output import (
    JsonOption,
    bold,
    console,
    note,
    print_json,
    stage_progress,
    table,
)
from granulearn.cli.table_options import AskedTable, takes_table_options
from granulearn.training.model_kinds import (
    DEFAULT_MODEL,
    model_kinds,
    names_in_parts,
)

if TYPE_CHECKING:
    from granulearn.models import ModelCard
    from granulearn.tables import TableFile
    from granulearn.training.trained_model import Trained

# A wider matrix does not fit a terminal; all of it is in --json and the card.
MAX_CLASSES_SHOWN = 12
SETTINGS_SHOWN = ("n_trees", "n_layers", "C", "n_hidden", "activation")


@takes_table_options
def fit(
    table: TableArgument,
    target: TargetOption,
    output: Annotated[Path, output_option("Model file to write.")],
    model: ModelOption = DEFAULT_MODEL,
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Search the best settings first; the default needs no search."),
    ] = False,
    test: Annotated[
        float,
        typer.Option("--test", min=0.0, max=0.9, help="Share of rows held out; 0 uses all."),
    ] = 0.3,
    decisions: Annotated[
        Path | None,
        typer.Option(
            "--decisions",
            help="CSV file of labels a person has looked at; they are learned as corrected.",
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 0,
    dask: DaskOption = None,
    json: JsonOption = False,
    *,
    asked: AskedTable,
) -> None:
    """Learn to predict a column of a table.

    Numbers, dates and categories are told apart (`granulearn check` shows how), missing
    cells filled in, categories encoded, numbers scaled; all of it is saved with the
    model, and a card with the columns, scores, versions and seed. The scores are those of the model
    that is saved: it has not seen the rows held out.

    A directory, a file larger than a quarter of the memory, and any table with
    --dask is read in parts by a Dask cluster, one on this machine unless
    --dask names another; its workers must see the table under the same path.

    With --decisions, labels that a person changed are learned as corrected, excluded rows are
    left out, and the model is scored on the rows that were looked at, with the given and with
    the corrected labels.

    Example: granulearn fit train.csv --target label -o model.skops
    """
    from granulearn.cli.table_facts import as_facts
    from granulearn.cli.table_report import show_short
    from granulearn.models import save_model
    from granulearn.training.size import is_large

    check_not_an_input(output, table, *([decisions] if decisions else []))
    check_can_be_written(output)
    in_parts = dask is not None or is_large(table)
    if in_parts and decisions:
        raise UsageError(
            "--decisions needs the whole table in memory, and this one is read in parts; write the "
            "corrected table with `granulearn correct`, and fit that."
        )
    with asked.open(table) as file:
        if in_parts:
            _check_fits_parts(model, tune=tune)
        elif tune and not model_kinds()[model].tunable:
            note(f"{model} has no grid to search, so --tune changes nothing.")
            tune = False
        # A search draws a bar of its own.
        with stage_progress(hidden=json or tune) as tell:
            if in_parts:
                trained = _fit_in_parts(file, target, model, asked, test, seed, dask, tell)
            else:
                tell(f"reading {table.name}")
                trained = _fit_in_memory(file, target, asked, decisions)(
                    model, tune=tune, test=test, seed=seed, tell=tell
                )
            tell(f"saving {output.name}")
            card = save_model(trained.pipeline, output, trained.card)
        if json:
            facts = {"table": as_facts(trained.report, file.place)} if trained.report else {}
            print_json({"file": str(output), **card.to_json(), **facts})
            return
        if trained.report:
            show_short(trained.report, file.place)
        _show(table, output, card)


def _check_fits_parts(model: str, *, tune: bool) -> None:
    """Refuse what needs all rows at once."""
    if tune:
        raise UsageError(
            "--tune needs the whole table in memory, and this one is read in parts; leave out "
            "--tune, or fit a sample of the rows."
        )
    if model not in names_in_parts():
        raise UsageError(
            f"--model {model} needs the whole table in memory, and this one is read in parts; "
            f"use one of {', '.join(names_in_parts())}."
        )


def _fit_in_memory(
    file: TableFile, target: str, asked: AskedTable, decisions: Path | None
) -> Callable[..., Trained]:
    """Return what trains on a table, and on what was decided about it."""
    from granulearn.tables import read_training_table

    if decisions is None:
        from granulearn.training.training import train

        return partial(train, read_training_table(file, target, asked.options))
    from granulearn.review import read_decisions
    from granulearn.training.verified_training import review_labels, train_verified

    said = read_decisions(decisions)
    data = read_training_table(file, target, asked.options, keep_cells=True)
    return partial(train_verified, review_labels(data, said, str(decisions)))


def _fit_in_parts(
    file: TableFile,
    target: str,
    model: str,
    asked: AskedTable,
    test: float,
    seed: int,
    dask: str | None,
    tell: Callable[[str], None],
) -> Trained:
    from granulearn.training.cluster_training import train_on_cluster

    tell("starting the cluster" if dask in (None, "local") else "connecting")
    with cluster(dask or "local"):
        return train_on_cluster(file, model, target, asked.options, test=test, seed=seed, tell=tell)


def _show(path: Path, output: Path, card: ModelCard) -> None:
    out = console()
    numbers = sum(column.kind == "number" for column in card.columns)
    n_rows = (card.rows or 0) + card.scores.get("held_out", {}).get("rows", 0)
    out.print(
        bold(path.name),
        f": {counted(n_rows, 'row')}, {counted(len(card.columns), 'feature')} "
        f"({counted(numbers, 'number')}, "
        f"{counted(len(card.columns) - numbers, 'category', 'categories')}), "
        f"{len(card.classes)} classes",
        sep="",
    )
    made = counted(card.rows or 0, "sample")
    made = f"{counted(card.balls, 'ball')} of {made}" if card.balls else made
    known = {**card.parameters, **card.chosen}
    settings = ", ".join(f"{key}={known[key]}" for key in SETTINGS_SHOWN if key in known)
    out.print(bold(card.model), f": {made}; {settings}", sep="")
    if card.doubted_labels:
        are = "is" if card.doubted_labels == 1 else "are"
        out.print(f"{card.doubted_labels} of these labels {are} doubted; see: granulearn audit")
    out.print()
    _show_scores(out, card)
    for line in card.scores.get("verified", {}).get("words", ()):
        out.print(line, soft_wrap=True)
    out.print("saved", bold(output))


def _show_scores(out, card: ModelCard) -> None:
    across, held_out = card.scores.get("cross_validated"), card.scores.get("held_out")
    headers = []
    if across:
        headers.append(f"{across['folds']}-fold cross-validation")
    if held_out:
        headers.append(f"{counted(held_out['rows'], 'row')} held out")
    if not headers:
        out.print("no scores: no rows are held out, and none could be cross-validated")
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
