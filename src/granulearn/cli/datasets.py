"""`granulearn datasets`: tables to try the commands on."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from typer import Argument, Option

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.exit_codes import UsageError

datasets = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@datasets.callback(invoke_without_command=True)
def list_all(
    context: typer.Context, data_dir: opt.DataDirOption = None, json: opt.JsonOption = False
) -> None:
    """List the data sets that have a name, or write one as a file.

    Example: granulearn datasets export iris -o iris.csv
    """
    if context.invoked_subcommand is not None:
        return
    from granulearn.datasets import list_datasets
    from granulearn.datasets.sources import ENVIRONMENT_VARIABLE

    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if data_dir is None and named and not (Path(named) / "manifest.csv").is_file():
        fault = "has no manifest.csv" if Path(named).is_dir() else "is not a directory"
        out.note(f"{ENVIRONMENT_VARIABLE}={named} {fault}; its sets are not listed.")
    figures = ["rows", "features", "classes", "minority_rows", "here"]
    known = list_datasets(data_dir)[figures].astype(object)
    known = known.where(known.notna(), None)
    if json:
        out.print_json(known.to_dict("index"))
        return
    headers = ("name", "rows", "features", "classes", "rarest class", "here")
    rows = [
        (name, *("" if n is None else n for n in numbers), here or Text("no", style="dim"))
        for name, *numbers, here in known.itertuples()
    ]
    out.print_table("data sets", headers, rows)


@datasets.command()
def export(
    context: typer.Context,
    name: Annotated[str, Argument(help="Name of the set.")],
    output: Annotated[
        Path, opt.output_option("CSV or Parquet file to write; - is standard output.")
    ],
    target: Annotated[str, Option("--target", "-t", help="Name of the label column.")] = "target",
    data_dir: opt.DataDirOption = None,
    json: opt.JsonOption = False,
) -> None:
    """Write a data set as a CSV or Parquet file, labels last.

    Example: granulearn datasets export iris -o iris.csv
    """
    import pyarrow as pa

    from granulearn.datasets import load
    from granulearn.tables.writing import write_table

    before_the_verb = context.parent.params if context.parent else {}
    data_dir = data_dir or before_the_verb.get("data_dir")
    json = json or before_the_verb.get("json", False)
    opt.check_output(output, *opt.TEXT_ENDINGS, *opt.PARQUET_ENDINGS, json=json)
    dataset = load(name, data_dir)
    if target in dataset.X.columns:
        raise UsageError(f"{name} has a feature {target!r}; pass another name as --target.")
    frame = dataset.X.assign(**{target: dataset.y})
    with out.written_output(output) as temporary:
        write_table(pa.Table.from_pandas(frame, preserve_index=False), temporary)
    about = dataset.description
    if json:
        names = ("name", "rows", "features", "classes", "source", "licence", "quirks")
        facts = {key: getattr(about, key) for key in names}
        out.print_json({"file": str(output), "target": target, **facts})
        return
    size = f"{about.rows} rows, {about.features} features, {about.classes} classes"
    out.print_written(f"{about.name}: {size}, from {about.source}", output)
