"""`granulearn datasets`: what there is to try the commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import output_option
from granulearn.cli.output import JsonOption, bold, console, print_json, table

DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with a manifest.csv; or set GRANULEARN_DATA."),
]

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
    name: Annotated[str, typer.Argument(help="Name of the set.", show_default=False)],
    output: Annotated[Path, output_option("CSV or Parquet file to write.")],
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
    from granulearn.cli.sources import CSV_SUFFIXES, PARQUET_SUFFIXES
    from granulearn.datasets import load
    from granulearn.persistence import written_atomically

    suffix = output.suffix.lower()
    if suffix not in CSV_SUFFIXES + PARQUET_SUFFIXES:
        raise UsageError(
            f"--output {output} ends in {suffix!r}; "
            f"use one of {', '.join(CSV_SUFFIXES + PARQUET_SUFFIXES)}."
        )
    dataset = load(name, data_dir, download=download)
    if target in dataset.X.columns:
        raise UsageError(f"{name} has a feature {target!r}; pass another name as --target.")
    frame = dataset.X.assign(**{target: dataset.y})
    with written_atomically(output) as draft:
        if suffix in PARQUET_SUFFIXES:
            frame.to_parquet(draft, index=False)
        else:
            frame.to_csv(draft, index=False, sep="\t" if suffix == ".tsv" else ",")
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
    console().print(
        f"{about.name}: {about.rows} rows, {about.features} features, {about.classes} classes, "
        f"from {about.source}\nsaved",
        bold(output),
    )
