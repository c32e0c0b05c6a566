"""``granulearn bench``: run a study, or go on with one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from granulearn.bench.studies import (
    DEFAULT_STUDY,
    PAPER,
    PAPER_STUDIES,
    Cell,
    Outcome,
    RunResult,
    Store,
    Study,
    StudyError,
    expand,
    list_studies,
    load_study,
    run_study,
    select,
    summarize_paper,
)
from granulearn.bench.studies.methods import CLASSIFIERS, SCHEME_NAMES
from granulearn.bench.studies.new_study import write_new_study
from granulearn.bench.studies.preparation import load_dataset
from granulearn.bench.studies.remaining_time import RemainingTime
from granulearn.bench.studies.schema import study_keys
from granulearn.bench.studies.scores import OWN_SCORES
from granulearn.bench.studies.study_files import scores_not_given
from granulearn.cli.exit_codes import SOME_CELLS_FAILED, InterruptedRunError, UsageError
from granulearn.cli.options import DaskOption, cluster
from granulearn.cli.output import as_shown, console, message_console
from granulearn.datasets import DatasetUnavailableError, UnknownDatasetError

NEW = "new"
_PAPER_QUESTION = "What of the paper's tables, figures and claims is found again?"


def bench(
    study: Annotated[
        str,
        typer.Argument(
            help="Name of a shipped study, a .toml file of your own, `paper` for all that the "
            "paper reports, or `new` to write a study to begin with."
        ),
    ] = DEFAULT_STUDY,
    name: Annotated[
        str | None,
        typer.Argument(help="With `new`: name of the study to write.", show_default=False),
    ] = None,
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
        typer.Option(
            help="Some cells only: dataset=bupa,vehicle2  method='*GB*'  noise=clean  "
            "split='repeat 1'"
        ),
    ] = None,
    dask: DaskOption = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the shipped studies.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print every key of a study file, and what it means.")
    ] = False,
) -> None:
    """Run a study; what was computed before is kept, what failed is tried again.

    Exit code 7 says that the run went to its end, but some cells failed.
    With --dask, the cluster's workers read the data sets themselves: --data-dir
    must name a directory that they have too.
    """
    if list_them:
        _print_studies()
        return
    if schema:
        _print_schema()
        return
    if (study == NEW) != (name is not None):
        raise UsageError(
            "`granulearn bench new NAME` writes a study to begin with; a study that is run is "
            "named alone."
        )
    try:
        if name is not None:
            _write_new(name)
            return
        directory = None if data_dir is None else str(data_dir.resolve() if dask else data_dir)
        planned = _planned(study, only or [])
        _check_datasets(planned, directory, study)
    except StudyError as error:
        raise UsageError(str(error)) from error
    _say_what_is_lacking(planned, study)
    own_name = PAPER if study == PAPER else planned[0][0].name
    path = results or Path("results") / f"{own_name}.db"
    _say((own_name, "bold"), f": {_PAPER_QUESTION if study == PAPER else planned[0][0].question}")
    total = sum(len(cells) for _, cells in planned)
    with cluster(dask, jobs) as client, Store(path) as store:
        _say_what_is_replaced(planned, store)
        try:
            result = RunResult(0, 0, ())
            with _shown_progress(planned, store) as tell:
                for chosen, _ in planned:  # an interrupted run knows all that is missing
                    store.save_study(chosen.name, chosen.model_dump_json())
                for chosen, cells in planned:
                    result += run_study(
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
            keys = {cell.key for _, cells in planned for cell in cells}
            kept = len(store.done_keys() & keys)
            raise InterruptedRunError(
                f"interrupted; {kept} of {total} cells are kept in {path}. "
                "The same command goes on from there."
            ) from None
    if study == PAPER:
        _write_paper_page(path)
    _report_end(result, path)


def _write_paper_page(results: Path) -> None:
    """Write the page of the whole paper beside its results."""
    # Imported here: drawing needs packages that the other verbs do not.
    from granulearn.bench.report import write_paper_page

    with Store(results, readonly=True) as store:
        page = write_paper_page(summarize_paper(store), results.with_suffix(".html"))
    console().print(f"page:    {page}", soft_wrap=True)


def _planned(study: str, only: list[str]) -> list[tuple[Study, list[Cell]]]:
    """Return the studies to run, each with the cells that are asked for."""
    studies = [load_study(name) for name in (PAPER_STUDIES if study == PAPER else [study])]
    expanded = [expand(chosen) for chosen in studies]
    kept = {cell.key for cell in select([cell for cells in expanded for cell in cells], only)}
    return [
        (chosen, [cell for cell in cells if cell.key in kept])
        for chosen, cells in zip(studies, expanded, strict=True)
    ]


@contextmanager
def _shown_progress(
    planned: Sequence[tuple[Study, list[Cell]]], store: Store
) -> Iterator[Callable[[Cell, Outcome | None], None]]:
    """Give a function that is told of every cell; it moves a bar and prints failures."""
    cells = [cell for _, some in planned for cell in some]
    expected = RemainingTime(cells)
    before = {key: row.outcome.fit_seconds for key, row in store.rows().items()}
    begun = time.monotonic()
    progress = _bar(message_console(soft_wrap=True))
    with progress:
        task = progress.add_task("", total=len(cells), left="")

        def tell(cell: Cell, outcome: Outcome | None) -> None:
            if outcome is None:
                expected.known_before(cell, before.get(cell.key))
            else:
                expected.done(cell, outcome.fit_seconds, time.monotonic() - begun)
            left = _said_left(expected.left(time.monotonic() - begun))
            progress.update(task, advance=1, description=cell.unit.dataset, left=left)
            if outcome is not None and outcome.reason:
                failed = Text.assemble(("failed:", "red"), as_shown(f" {cell}: {outcome.reason}"))
                progress.console.print(failed)

        yield tell


def _bar(console: Console) -> Progress:
    """Return a bar. Where a terminal is narrow it gives way, then the name: never the count."""
    return Progress(
        BarColumn(bar_width=None),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[left]}"),
        TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis", max_width=24),
        ),
        console=console,
    )


def _said_left(seconds: float | None) -> str:
    """Return how long a run takes from now on, and when it will be done."""
    if seconds is None:
        return "estimating the time left"
    now = datetime.now()
    end = now + timedelta(seconds=seconds)
    minutes, rest = divmod(round(seconds), 60)
    when = f"{end:%H:%M}" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M}"
    return f"left: {minutes}:{rest:02d}, done at {when}"


def _check_datasets(
    planned: Sequence[tuple[Study, list[Cell]]], data_dir: str | None, asked: str
) -> None:
    """Refuse unknown names; say which known sets cannot be read here, and go on."""
    absent = {}
    wanted = {
        (cell.unit.dataset, cell.unit.place): chosen for chosen, cells in planned for cell in cells
    }
    for (name, place), chosen in wanted.items():
        try:
            dataset, _ = load_dataset(name, data_dir, place)
        except UnknownDatasetError as error:
            from granulearn.cli.datasets import by_options

            file = asked if asked.endswith(".toml") else f"{chosen.name}.toml"
            where = f"{file}, datasets[{chosen.dataset_names.index(name)}]"
            raise StudyError(f"{where}: {by_options(str(error))}") from error
        except DatasetUnavailableError as error:
            absent[name] = error
            continue
        for quirk in dataset.description.quirks if place else ():
            _say((f"{name}:", "yellow"), f" {quirk}")
    if absent:
        _say(
            (f"{len(absent)} data set(s) cannot be read here, their cells will fail:", "yellow"),
            f" {', '.join(absent)}. Name a directory that has them with --data-dir.",
        )


def _say_what_is_lacking(planned: Sequence[tuple[Study, list[Cell]]], asked: str) -> None:
    """Say which scores will be missing, for want of probabilities; the others stand."""
    for study, _ in planned:
        file = asked if asked.endswith(".toml") else f"{study.name}.toml"
        for method, key, score, lacks in scores_not_given(study):
            if key == "scores":
                _say((f"{file}, scores:", "yellow"),
                     f" {method!r} gets no {score!r}, which needs {lacks}.")  # fmt: skip


def _say_what_is_replaced(planned: Sequence[tuple[Study, list[Cell]]], store: Store) -> None:
    """Say that a result file holds another study of the same name; a report knows one of them."""
    known = store.studies()
    for study, _ in planned:
        if study.name in known and not _asks_the_same(known[study.name], study):
            _say((f"{store.path}:", "yellow"),
                 f" its study {study.name!r} asks for something else; its cells are kept, and "
                 "reports show the one that is run now.")  # fmt: skip


def _asks_the_same(kept: str, study: Study) -> bool:
    """Return whether a study of a store is this one, whatever is in the files beside it."""
    try:
        before = Study.model_validate_json(kept)
    except ValueError:  # of another version
        return False
    return before.model_copy(update={"found": None}) == study.model_copy(update={"found": None})


def _write_new(name: str) -> None:
    study, *beside = write_new_study(name)
    console().print(f"written: {study}", soft_wrap=True)
    for file in beside:
        console().print(f"         {file}", soft_wrap=True)
    console().print(f"run it:  granulearn bench {study}", soft_wrap=True)


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
    table.add_row(PAPER, f"{_PAPER_QUESTION} ({', '.join(PAPER_STUDIES)})")
    console().print(table)


def _print_schema() -> None:
    out = console()
    head = "A study is a TOML file; its name is the file's. A key without a default must be there."
    out.print(head, soft_wrap=True)
    for key in study_keys():
        default = f"  (default: {key.default})" if key.default else ""
        line = Text.assemble((key.place, "bold cyan"), as_shown(f" = {key.values}{default}"))
        out.print(Text.assemble("\n", line), soft_wrap=True)
        out.print(Padding(as_shown(key.meaning), (0, 0, 0, 4)))
    for what, names, more in [
        ("Scores", OWN_SCORES, "any scorer of scikit-learn"),
        ("Estimators", CLASSIFIERS, "classes of other packages and of your own"),
        ("membership", SCHEME_NAMES["membership"](), "your own"),
        ("balls", SCHEME_NAMES["balls"](), "your own"),
    ]:
        out.print(f"\n{what}: {', '.join(names)}, and {more}.", soft_wrap=True, highlight=False)


def _say(*parts: str | tuple[str, str]) -> None:
    """Print texts one after the other; a pair is a text with its style."""
    pairs = [part if isinstance(part, tuple) else (part, "") for part in parts]
    message_console(soft_wrap=True).print(Text.assemble(*(as_shown(*pair) for pair in pairs)))
