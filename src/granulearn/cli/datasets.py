"""`granulearn datasets`: what there is to try the commands on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import output_option
from granulearn.cli.output import JsonOption, console, note, print_json, table

DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with a manifest.csv; or set GRANULEARN_DATA."),
]

# What messages for Python call what is an option here.
_OPTIONS = {
    "list_datasets()": "`granulearn datasets`",
    "data_dir=": "--data-dir",
    "download=True": "--download",
}

datasets = typer.Typer(add_completion=False, rich_markup_mode="rich")


@datasets.callback(invoke_without_command=True)
def list_all(
    context: typer.Context, data_dir: DataDirOption = None, json: JsonOption = False
) -> None:
    """List the data sets that have a name, or write one as a file.

    Example: granulearn datasets export crx -o credit.csv
    """
    if context.invoked_subcommand is not None:
        return
    from granulearn.datasets import list_datasets
    from granulearn.datasets.directory import ENVIRONMENT_VARIABLE

    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if data_dir is None and named and not (Path(named) / "manifest.csv").is_file():
        fault = "has no manifest.csv" if Path(named).is_dir() else "is not a directory"
        note(f"{ENVIRONMENT_VARIABLE}={named} {fault}; its sets are not listed.")
    known = list_datasets(data_dir)
    figures = ["rows", "features", "classes", "minority_rows", "here"]
    if json:
        records = known[figures].astype(object).where(known[figures].notna(), None)
        print_json({str(name): record for name, record in records.T.to_dict().items()})
        return
    listing = table("data sets", "name", "rows", "features", "classes", "rarest class", "here")
    for name, row in known.iterrows():
        cells = ["" if row.isna()[figure] else str(row[figure]) for figure in figures[:4]]
        listing.add_row(str(name), *cells, row["here"] or Text("no", style="dim"))
    console().print(listing)


@datasets.command()
def export(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the set.", show_default=False)],
    output: Annotated[Path, output_option("CSV or Parquet file to write; - is standard output.")],
    target: Annotated[
        str, typer.Option("--target", "-t", help="Name of the column of labels.")
    ] = "target",
    data_dir: DataDirOption = None,
    download: Annotated[
        bool, typer.Option("--download", help="Ask openml.org if no other source has the set.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write a data set as a CSV or Parquet file, labels last.

    Example: granulearn datasets export crx -o credit.csv
    """
    from granulearn.cli.streams import (
        PARQUET_ENDINGS,
        TEXT_ENDINGS,
        check_output,
        tell_written,
        written_output,
    )
    from granulearn.datasets import DatasetUnavailableError, UnknownDatasetError, load

    before_the_verb = context.parent.params if context.parent else {}
    data_dir = data_dir or before_the_verb.get("data_dir")
    json = json or before_the_verb.get("json", False)
    check_output(output, *TEXT_ENDINGS, *PARQUET_ENDINGS, json=json)
    try:
        dataset = load(name, data_dir, download=download)
    except (DatasetUnavailableError, UnknownDatasetError) as error:
        raise type(error)(by_options(str(error))) from error
    if target in dataset.X.columns:
        raise UsageError(f"{name} has a feature {target!r}; pass another name as --target.")
    from granulearn.tables.writing import guarded_frame

    frame = dataset.X.assign(**{target: dataset.y})
    with written_output(output, ".csv") as draft:
        suffix = draft.suffix.lower()
        if suffix in PARQUET_ENDINGS:
            frame.to_parquet(draft, index=False)
        else:
            guarded_frame(frame).to_csv(draft, index=False, sep="\t" if suffix == ".tsv" else ",")
    about = dataset.description
    if json:
        print_json(
            {
                "file": str(output),
                "name": about.name,
                "rows": about.rows,
                "features": about.features,
                "classes": about.classes,
                "target": target,
                "source": about.source,
                "licence": about.licence,
                "quirks": list(about.quirks),
            }
        )
        return
    summary = (
        f"{about.name}: {about.rows} rows, {about.features} features, {about.classes} classes, "
        f"from {about.source}"
    )
    tell_written(summary, output)


def by_options(message: str) -> str:
    """Return a message with the options of the command line for the names of Python."""
    for in_python, option in _OPTIONS.items():
        message = message.replace(in_python, option)
    return message
