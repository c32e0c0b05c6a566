"""``granulearn report``: turn the results of a study into a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import check_can_be_written, check_not_an_input
from granulearn.cli.output import console, stage_progress
from granulearn.studies import Store, StudyError, summarize

RESULTS = Path("results")


def report(
    results: Annotated[
        Path | None, typer.Argument(help="Result file; default: the newest in results/.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    study: Annotated[
        str | None, typer.Option(help="Which study, if the file holds several.")
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(help="Write STUDY.csv and STUDY.md to this directory instead of a page."),
    ] = None,
) -> None:
    """Turn the results of a study into one page that needs no network, or into small tables."""
    # Imported here: drawing needs packages that the other verbs do not.
    from granulearn.report import write_page, write_tables

    path = results or _newest()
    check_not_an_input(None if tables else output, path)
    _check_place(tables / "tables" if tables else output)
    with stage_progress(hidden=False) as tell:
        tell(f"reading {path.name} and comparing its methods")
        with Store(path, readonly=True) as store:
            try:
                summary = summarize(store, study)
            except StudyError as error:
                raise UsageError(str(error)) from error
        if tables is None:
            tell(f"drawing {output.name}")
            written = [write_page(summary, output)]
        else:
            written = write_tables(summary, tables)
    for file in written:
        console().print(f"written: {file}", soft_wrap=True)


def _check_place(file: Path) -> None:
    """Refuse a file that cannot be written; where folders are missing, the first one counts."""
    while not file.parent.exists():
        file = file.parent
    check_can_be_written(file)


def _newest() -> Path:
    found = sorted(RESULTS.glob("*.db"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UsageError("there is no result file in results/; make one with: granulearn bench")
    return found[-1]
