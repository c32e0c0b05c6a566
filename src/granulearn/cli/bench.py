"""``granulearn bench``: run a study, or go on with one."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text
from typer import Argument, Option

from granulearn.bench import (
    Outcome,
    Run,
    Store,
    Study,
    StudyError,
    StudyResult,
    expand,
    list_studies,
    load_study,
    run_study,
    select,
    summarize_paper,
)
from granulearn.bench.data import load_dataset
from granulearn.bench.methods import CLASSIFIERS, SCHEME_NAMES
from granulearn.bench.scores import OWN_SCORES
from granulearn.bench.study import study_keys
from granulearn.bench.study_files import (
    DEFAULT_STUDY,
    PAPER,
    PAPER_STUDIES,
    scores_not_given,
    write_new_study,
)
from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.exit_codes import INTERRUPTED, SOME_RUNS_FAILED, UsageError, VerbError
from granulearn.datasets import DatasetUnavailableError, UnknownDatasetError

Planned = list[tuple[Study, list[Run]]]
NEW = "new"
SPEED_SECONDS = 3600.0  # runs take very different times
_PAPER_QUESTION = "What of the paper's tables, figures and claims is reproduced?"
_STUDY = (
    "Name of a shipped study, a .toml file of your own, `paper` for all that the paper reports, "
    "or `new` to write a study to begin with."
)
_ONLY = "Only some runs: dataset=bupa,vehicle2  method='*GB*'  noise=clean  split='repeat 1'"


def bench(
    study: Annotated[str, Argument(help=_STUDY)] = DEFAULT_STUDY,
    name: Annotated[str | None, Argument(help="With `new`: name of the study to write.")] = None,
    results: Annotated[Path | None, Option(help="Result file; default: results/STUDY.db.")] = None,
    jobs: Annotated[int, Option(min=1, help="Processes that compute runs.")] = os.cpu_count() or 1,
    data_dir: opt.DataDirOption = None,
    resume: Annotated[
        bool, Option("--resume/--fresh", help="Keep what is computed, or forget it first.")
    ] = True,
    only: Annotated[list[str] | None, Option(help=_ONLY)] = None,
    dask: opt.DaskOption = None,
    list_them: Annotated[bool, Option("--list", help="List the shipped studies.")] = False,
    schema: Annotated[
        bool, Option("--schema", help="Print every key of a study file, and what it means.")
    ] = False,
) -> None:
    """Run a study. Finished runs are kept, failed ones are tried again.

    Exit code 7 says that the run went to its end, but some runs failed.
    With --dask, the cluster's workers read the data sets themselves: --data-dir
    must name a directory that they have too.

    Example: granulearn bench quick
    """
    if list_them:
        _print_studies()
    elif schema:
        _print_schema()
    elif (study == NEW) != (name is not None):
        new = "`granulearn bench new NAME` writes a study to begin with"
        raise UsageError(f"{new}; a study that is run is named alone.")
    elif name is not None:
        written, *beside = write_new_study(name)
        lines = [f"written: {written}", *(f"         {file}" for file in beside)]
        out.say("\n".join([*lines, f"run it:  granulearn bench {written}"]), soft_wrap=True)
    else:
        if study.endswith(".toml"):
            code = "the classes that it names, also from files beside it"
            out.note(f"{study} runs code: {code}. Run only studies that you trust.")
        directory = None if data_dir is None else str(data_dir.resolve() if dask else data_dir)
        _run(study, only or [], results, jobs, directory, not resume, dask)


def _run(
    asked: str, only: list[str], results: Path | None, jobs: int, data_dir: str | None,
    fresh: bool, dask: str | None,
) -> None:  # fmt: skip
    studies = [load_study(name) for name in (PAPER_STUDIES if asked == PAPER else [asked])]
    expanded = [expand(study) for study in studies]
    kept = {run.key for run in select([run for runs in expanded for run in runs], only)}
    planned = [
        (study, [run for run in runs if run.key in kept])
        for study, runs in zip(studies, expanded, strict=True)
    ]
    _check_datasets(planned, data_dir, asked)
    name, question = studies[0].name, studies[0].question
    if asked == PAPER:
        name, question = PAPER, _PAPER_QUESTION
    path = results or Path("results") / f"{name}.db"
    for study in studies:
        for method, key, score, lacks in scores_not_given(study):
            if key == "scores":
                where = f"{_file(asked, study)}, scores"
                out.warn(f"{where}: {method!r} gets no {score!r}, which needs {lacks}.")
    out.note(f"{name}: {question}")
    cluster = opt.cluster(dask, out.note, jobs) if dask else nullcontext()
    with cluster as client, Store(path) as store:
        result = StudyResult(0, 0, ())
        try:
            with _shown_progress(sum(len(runs) for _, runs in planned)) as report:
                for study in studies:  # an interrupted run knows all that is missing
                    store.save_study(study.name, study.to_json())
                for study, runs in planned:
                    result += run_study(
                        study, runs, store, jobs=jobs, data_dir=data_dir, fresh=fresh,
                        client=client, on_outcome=report,
                    )  # fmt: skip
        except KeyboardInterrupt:
            raise VerbError(
                f"interrupted; {len(store.done_keys() & kept)} of {len(kept)} runs are kept in "
                f"{path}. The same command goes on from there.",
                INTERRUPTED,
            ) from None
    if asked == PAPER:
        # Imported here: drawing needs packages that the other verbs do not.
        from granulearn.bench import write_page

        with Store(path, readonly=True) as store:
            page = write_page(summarize_paper(store), path.with_suffix(".html"))
        out.say(f"page:    {page}", soft_wrap=True)
    failed = len(result.failed)
    counts = f"{result.computed} computed, {result.found} were there, {failed} failed"
    out.note(f"{counts}; {result.asked} runs in all.")
    out.say(f"results: {path}\nreport:  granulearn report {path} -o report.html", soft_wrap=True)
    if failed:
        out.warn(f"{failed} run(s) failed; the reasons are kept. The same command repeats them.")
        raise typer.Exit(SOME_RUNS_FAILED)


@contextmanager
def _shown_progress(n_runs: int) -> Iterator[Callable[[Run, Outcome | None], None]]:
    """Give a function that takes every run and its outcome; it moves a bar, prints failures."""
    # In a narrow terminal the bar gives way, then the name: never the count.
    whole = Column(no_wrap=True)
    columns = (
        BarColumn(bar_width=None),
        MofNCompleteColumn(table_column=whole),
        TimeElapsedColumn(table_column=whole),
        TimeRemainingColumn(table_column=whole),
        TextColumn("{task.description}", markup=False),
    )
    console = out.message_console(soft_wrap=True)
    with Progress(*columns, console=console, speed_estimate_period=SPEED_SECONDS) as progress:
        task, left = progress.add_task("", total=n_runs), n_runs

        def report(run: Run, outcome: Outcome | None) -> None:
            nonlocal left
            if outcome is None:  # found in the store: it says nothing about the time left
                left -= 1
                progress.update(task, total=left)
                return
            progress.update(task, advance=1, description=run.unit.dataset[:24])
            if outcome.reason:
                out.warn(f"failed: {run}: {outcome.reason}")

        yield report


def _file(asked: str, study: Study) -> str:
    return asked if asked.endswith(".toml") else f"{study.name}.toml"


def _check_datasets(planned: Planned, data_dir: str | None, asked: str) -> None:
    """Refuse unknown names; warn of known sets that cannot be read here, and go on."""
    absent = []
    wanted = {(r.unit.dataset, r.unit.file): study for study, runs in planned for r in runs}
    for (name, file), study in wanted.items():
        try:
            dataset, _ = load_dataset(name, data_dir, file)
        except UnknownDatasetError as error:
            number = study.dataset_names.index(name)
            raise StudyError(f"{_file(asked, study)}, datasets[{number}]: {error}") from error
        except DatasetUnavailableError:
            absent.append(name)
            continue
        for quirk in dataset.description.quirks if file else ():
            out.note(f"{name}: {quirk}")
    if absent:
        absence = f"{len(absent)} data set(s) cannot be read here, their runs will fail"
        step = "Name a directory that has them with --data-dir."
        out.warn(f"{absence}: {', '.join(absent)}. {step}")


def _print_studies() -> None:
    known = list_studies()
    rows = [(n + " (default)" * (n == DEFAULT_STUDY), known[n]) for n in known]
    rows.append((PAPER, f"{_PAPER_QUESTION} ({', '.join(PAPER_STUDIES)})"))
    out.print_table("studies", ("study", "question"), rows, justify="left")


def _print_schema() -> None:
    about = "A study is a TOML file; its name is the file's. A key without a default must be there."
    out.say(about, soft_wrap=True)
    for key in study_keys():
        default = f"  (default: {key.default})" if key.default else ""
        line = f" = {key.values}{default}"
        out.say(Text.assemble("\n", (key.path, "bold cyan"), line), soft_wrap=True)
        out.say(Padding(key.meaning, (0, 0, 0, 4)))
    for what, names, more in [
        ("Scores", OWN_SCORES, "any scorer of scikit-learn"),
        ("Estimators", CLASSIFIERS, "classes of other packages and of your own"),
        ("membership", SCHEME_NAMES["membership"](), "your own"),
        ("balls", SCHEME_NAMES["balls"](), "your own"),
    ]:
        out.say(f"\n{what}: {', '.join(names)}, and {more}.", soft_wrap=True)
