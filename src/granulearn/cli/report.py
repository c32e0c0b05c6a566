"""``granulearn report``: turn the results of a study into a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from granulearn.bench.studies import (
    PAPER,
    Store,
    StudyError,
    holds_the_paper,
    summarize,
    summarize_paper,
)
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import check_can_be_written, check_not_an_input
from granulearn.cli.output import console, stage_progress

RESULTS = Path("results")


def report(
    results: Annotated[
        Path | None, typer.Argument(help="Result file; default: the newest in results/.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The page to write; report.html, unless others are asked for."
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            help="Which study, if the file holds several; `paper` is all that the paper reports."
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            help="Which of its scores is shown and compared, such as log_loss; by default the one "
            "that the study compares."
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            help="Write STUDY.csv and STUDY.md to this directory; by another score, "
            "STUDY-SCORE.csv and STUDY-SCORE.md."
        ),
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(help="Write the scores as a LaTeX table: best bold, second underlined."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write scores, ranks and statistics as Markdown.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the scores as CSV.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Write every figure to this directory, as SVG and PDF.")
    ] = None,
) -> None:
    """Turn the results of a study into one page that needs no network, or into tables and figures.

    The results of `granulearn bench paper` become the page of the whole paper.

    Example: granulearn report results/quick.db --score fit_seconds --latex times.tex
    """
    path = results or _newest()
    others = (tables, latex, markdown, csv, figures)
    if output is None and not any(others):
        output = Path("report.html")
    for file in (output, latex, markdown, csv):
        if file is not None:
            check_not_an_input(file, path)
            _check_place(file)
    for folder in (tables, figures):
        if folder is not None:
            _check_place(folder / "files")
    with stage_progress(hidden=False) as tell:
        tell(f"reading {path.name} and comparing its methods")
        with Store(path, readonly=True) as store:
            try:
                summary = _summary(store, study, score)
            except StudyError as error:
                raise UsageError(str(error)) from error
        tell("drawing and writing")
        try:
            written = _written(summary, output, others)
        except StudyError as error:
            raise UsageError(str(error)) from error
    for file in written:
        console().print(f"written: {file}", soft_wrap=True)


def _summary(store: Store, study: str | None, score: str | None) -> dict[str, Any]:
    """Return what a store says of a study, or of the whole paper."""
    if study == PAPER or (study is None and holds_the_paper(store)):
        if score is not None:
            raise StudyError(
                "all that the paper reports is accuracy; for another score say which study, as in "
                f"--study table1 --score {score}."
            )
        return summarize_paper(store)
    return summarize(store, study, score=score)


def _written(
    summary: dict[str, Any], output: Path | None, others: tuple[Path | None, ...]
) -> list[Path]:
    """Write what was asked for; return the files."""
    # Imported here: drawing needs packages that the other verbs do not.
    from granulearn.bench import report as reports

    whole = reports.is_of_the_paper(summary)
    tables, latex, markdown, csv, figures = others
    written = []
    if latex is not None:  # first: a study that is no table is refused before anything is written
        written.append(reports.write_latex(summary, latex))
    if output is not None:
        write = reports.write_paper_page if whole else reports.write_page
        written.append(write(summary, output))
    if tables is not None:
        for own in summary["studies"].values() if whole else [summary]:
            written += reports.write_tables(own, tables)
    if markdown is not None:
        written.append(reports.write_markdown(summary, markdown))
    if csv is not None:
        written.append(reports.write_csv(summary, csv))
    if figures is not None:
        written += reports.write_all_figures(summary, figures)
    return written


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
