"""`granulearn fit`: a table becomes a model file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.check import as_facts, show_short
from granulearn.cli.exit_codes import UsageError
from granulearn.training.model_kinds import DEFAULT_MODEL, kinds_with, model_kinds
from granulearn.utils.text import counted

if TYPE_CHECKING:
    from granulearn.models import ModelCard

# A wider matrix does not fit a terminal; all of it is in --json and the card.
MAX_CLASSES_SHOWN = 12
# A class with fewer rows, as a share of those of the most frequent class, is rare.
RARE = 0.1
SETTINGS_SHOWN = ("class_cost", "n_estimators", "n_layers", "C", "n_hidden", "activation")


@opt.takes_table
def fit(
    table: opt.TableArgument,
    output: Annotated[Path, opt.output_option("Model file to write.")],
    target: opt.TargetIfAnyOption = None,
    model: opt.ModelOption = DEFAULT_MODEL,
    tune: Annotated[
        bool,
        Option("--tune", help="Search for the best settings first; the default needs no search."),
    ] = False,
    class_cost: Annotated[
        Literal["balanced"] | None,
        Option(help="balanced: predict a class where it is more probable than on average."),
    ] = None,
    test: Annotated[
        float,
        Option(min=0.0, max=0.9, help="Fraction of rows to hold out for scores; 0 fits to all."),
    ] = 0.3,
    decisions: opt.DecisionsOption = None,
    seed: opt.SeedOption = 0,
    dask: opt.DaskOption = None,
    json: opt.JsonOption = False,
    *,
    options: opt.LabelOptions,
) -> None:
    """Fit a model that predicts a column of a table.

    The types of columns are detected (`granulearn check` shows them), missing cells filled in,
    categories encoded and numbers scaled. The model file holds all of it, and a card with columns,
    scores, versions and seed. The scores are those of the saved model on rows that it has not
    seen.

    A directory, a file larger than a quarter of the memory, and any table with --dask is
    read in parts by a Dask cluster, which is started here unless --dask names one; its workers must
    see the table under the same path. The model is then fitted to a sample of about 50,000 rows,
    and scored on others.

    With --decisions, changed labels are learned as corrected, excluded rows are left out, and
    the model is scored on verified rows after learning from the given and from the corrected
    labels.

    Example: granulearn fit train.csv --target label -o model.granulearn
    """
    from granulearn.models import save_model
    from granulearn.review import read_decisions
    from granulearn.training.training import train
    from granulearn.training.verified_training import review_labels, train_verified

    opt.check_output(output, others=(table, decisions))
    if class_cost and model not in (takers := kinds_with("class_cost")):
        raise UsageError(f"--class-cost is not for --model {model}; use {', '.join(takers)}.")
    is_crowd = options.is_crowd(target)
    if is_crowd:
        out.note("scores compare with the consensus, which the inputs helped to find.")
    in_parts = dask is not None or opt.is_large(table)
    if in_parts:
        opt.refuse_in_parts(decisions=decisions, tune=tune, annotators=is_crowd)
    elif tune and not model_kinds()[model].tunable:
        out.note(f"{model} has no grid to search, so --tune changes nothing.")
        tune = False
    with options.open(table) as file:
        # A search draws a bar of its own.
        with out.stage_progress(hidden=json or tune) as progress:
            progress(f"reading {table.name}")
            settings: dict[str, Any] = {"test": test, "seed": seed, "class_cost": class_cost}
            settings["progress"] = progress
            if in_parts:
                from granulearn.dask.tables import train_on_cluster

                assert target is not None
                with opt.cluster(dask, progress):
                    trained = train_on_cluster(file, model, target, options.columns, **settings)
            elif decisions is None:
                data = options.read(file, target, seed)
                trained = train(data, model, tune=tune, **settings)
            else:
                given = read_decisions(decisions)
                data = options.read(file, target, seed, given, str(decisions), keep_cells=True)
                reviewed = review_labels(data, given, str(decisions))
                trained = train_verified(reviewed, model, tune=tune, **settings)
            progress(f"saving {output.name}")
            card = save_model(trained.pipeline, output, trained.card)
        if json:
            facts = {"table": as_facts(trained.report, file.location)}
            out.print_json({"file": str(output), **card.to_json(), **facts})
            return
        show_short(trained.report, file.location)
    _show(table.name, card, trained.report.rows - card.dropped_rows if in_parts else None)
    out.print_saved(output)


def _show(name: str, card: ModelCard, n_rows: int | None) -> None:
    scores, fitted = card.scores, counted(card.rows or 0, "sample")
    n_used = (card.rows or 0) + scores.get("held_out", {}).get("rows", 0)
    if n_rows is not None and n_used < n_rows:
        fitted += " drawn from all rows"
    n_rows = n_rows or n_used
    n_numbers = sum(column.type == "number" for column in card.columns)
    numbers = counted(n_numbers, "number")
    others = counted(len(card.columns) - n_numbers, "category", "categories")
    size = f"{counted(n_rows, 'row')}, {counted(len(card.columns), 'feature')}"
    out.headline(name, f"{size} ({numbers}, {others}), {len(card.classes)} classes")
    made = f"{counted(card.balls, 'ball')} of " if card.balls else ""
    known = {**card.parameters, **card.chosen}
    settings = ", ".join(f"{key}={known[key]}" for key in SETTINGS_SHOWN if known.get(key))
    out.headline(card.model, f"{made}{fitted}; {settings}")
    if card.doubted_labels:
        are = "is" if card.doubted_labels == 1 else "are"
        out.say(f"{card.doubted_labels} of these labels {are} doubted; see: granulearn audit")
    out.say()
    _show_scores(scores.get("cross_validated"), scores.get("held_out"))
    for line in scores.get("verified", {}).get("messages", ()):
        out.say(line, soft_wrap=True)
    n_rarest, rarest = min((n, label) for label, n in card.classes.items())
    if n_rarest < RARE * max(card.classes.values()) and not known.get("class_cost"):
        step = "--class-cost balanced predicts it more often"
        out.say(f"class {rarest} is rare ({counted(n_rarest, 'sample')}): {step}")


def _show_scores(across: dict[str, Any] | None, held_out: dict[str, Any] | None) -> None:
    names = ("accuracy", "balanced accuracy", "macro F1")
    columns: dict[str, Iterable[str]] = {"": names}
    if across:
        columns[f"{across['folds']}-fold cross-validation"] = [
            f"{across[name]['mean']:.3f} ± {across[name]['std']:.3f}" for name in names
        ]
    if held_out:
        n_rows = counted(held_out["rows"], "row")
        columns[f"{n_rows} held out"] = [f"{held_out[name]:.3f}" for name in names]
    if len(columns) == 1:
        out.say("no scores: no rows are held out, and none could be cross-validated")
        return
    out.print_table("scores", columns, zip(*columns.values(), strict=True))
    if not held_out:
        return
    if "confusion" not in held_out:
        return
    classes, counts = held_out["confusion"]["classes"], held_out["confusion"]["counts"]
    if len(classes) > MAX_CLASSES_SHOWN:
        out.say(f"confusion matrix of {len(classes)} classes: see --json")
        return
    rows = [(label, *row) for label, row in zip(classes, counts, strict=True)]
    out.print_table("confusion, rows held out", ("true \\ predicted", *classes), rows)
