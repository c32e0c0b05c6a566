"""``granulearn bench``: run a study, or go on with one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from granulearn.cli.exit_codes import SOME_CELLS_FAILED, InterruptedRunError, UsageError
from granulearn.cli.options import DaskOption, cluster
from granulearn.cli.output import as_shown, console, message_console
from granulearn.datasets import DatasetUnavailableError, UnknownDatasetError, load
from granulearn.studies import (
    DEFAULT_STUDY,
    Cell,
    Outcome,
    RunResult,
    Store,
    StudyError,
    expand,
    list_studies,
    load_study,
    run_study,
    select,
)


def bench(
    study: Annotated[
        str, typer.Argument(help="Name of a shipped study, or a .toml file of your own.")
    ] = DEFAULT_STUDY,
    results: Annotated[
        Path | None, typer.Option(help="Result file; default: results/STUDY.db.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that compute cells.")] = os.cpu_count()
    or 1,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Directory of data sets with a manifest; default: $GRANULEARN_DATA."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Keep what is computed, or forget it first."),
    ] = True,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Some cells only: dataset=bupa,vehicle2  method='*GB*'  noise=clean"),
    ] = None,
    dask: DaskOption = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the shipped studies.")] = False,
) -> None:
    """Run a study; what was computed before is kept, what failed is tried again.

    Exit code 7 says that the run went to its end, but some cells failed.
    With --dask, the cluster's workers read the data sets themselves: --data-dir
    must name a directory that they have too.
    """
    if list_them:
        _print_studies()
        return
    directory = None if data_dir is None else str(data_dir.resolve() if dask else data_dir)
    try:
        chosen = load_study(study)
        cells = select(expand(chosen), only or [])
        _check_datasets(cells, directory)
    except StudyError as error:
        raise UsageError(str(error)) from error
    path = results or Path("results") / f"{chosen.name}.db"
    _say((chosen.name, "bold"), f": {chosen.question}")
    with cluster(dask, jobs) as client, Store(path) as store:
        try:
            with _shown_progress(len(cells)) as tell:
                result = run_study(
                    chosen,
                    cells,
                    store,
                    jobs=jobs,
                    data_dir=directory,
                    fresh=not resume,
                    on_outcome=tell,
                    client=client,
                )
        except KeyboardInterrupt:
            kept = len(store.done_keys() & {cell.key for cell in cells})
            raise InterruptedRunError(
                f"interrupted; {kept} of {len(cells)} cells are kept in {path}. "
                "The same command goes on from there."
            ) from None
    _report_end(result, path)


@contextmanager
def _shown_progress(total: int) -> Iterator[Callable[[Cell, Outcome | None], None]]:
    """Give a function that is told of every cell; it moves a bar and prints failures."""
    progress = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=message_console(soft_wrap=True),
    )
    with progress:
        task = progress.add_task("", total=total)

        def tell(cell: Cell, outcome: Outcome | None) -> None:
            progress.update(task, advance=1, description=cell.unit.dataset)
            if outcome is not None and outcome.reason:
                failed = Text.assemble(("failed:", "red"), as_shown(f" {cell}: {outcome.reason}"))
                progress.console.print(failed)

        yield tell


def _check_datasets(cells: list[Cell], data_dir: str | None) -> None:
    """Refuse unknown names; say which known sets cannot be read here, and go on."""
    absent = {}
    for name in dict.fromkeys(cell.unit.dataset for cell in cells):
        try:
            load(name, data_dir, download=False)
        except UnknownDatasetError as error:
            raise StudyError(f"datasets: {error}") from error
        except DatasetUnavailableError as error:
            absent[name] = error
    if absent:
        _say(
            (f"{len(absent)} data set(s) cannot be read here, their cells will fail:", "yellow"),
            f" {', '.join(absent)}. Name a directory that has them with --data-dir.",
        )


def _report_end(result: RunResult, path: Path) -> None:
    _say(
        f"{result.computed} computed, {result.found} were there, {len(result.failed)} failed; "
        f"{result.asked} cells in all."
    )
    console().print(f"results: {path}", soft_wrap=True)
    console().print(f"report:  granulearn report {path} -o report.html", soft_wrap=True)
    if result.failed:
        _say(
            (f"{len(result.failed)} cell(s) failed", "bold red"),
            "; the reasons are kept in the results. The same command tries them again.",
        )
        raise typer.Exit(SOME_CELLS_FAILED)


def _print_studies() -> None:
    table = Table("study", "question", box=None, pad_edge=False, header_style="cyan")
    for name, question in list_studies().items():
        shown = f"{name} (default)" if name == DEFAULT_STUDY else name
        table.add_row(shown, question)
    console().print(table)


def _say(*parts: str | tuple[str, str]) -> None:
    """Print texts one after the other; a pair is a text with its style."""
    pairs = [part if isinstance(part, tuple) else (part, "") for part in parts]
    message_console(soft_wrap=True).print(Text.assemble(*(as_shown(*pair) for pair in pairs)))
