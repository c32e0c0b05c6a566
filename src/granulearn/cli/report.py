"""``granulearn report``: turn the results of a study into a page."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from granulearn.bench import Store, holds_the_paper, summarize, summarize_paper
from granulearn.bench.study_files import PAPER
from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.exit_codes import UsageError

RESULTS = Path("results")


def report(
    results: Annotated[
        Path | None, Argument(help="Result file; default: the newest in results/.")
    ] = None,
    output: Annotated[
        Path | None,
        opt.output_option("The page to write; report.html, unless others are asked for."),
    ] = None,
    study: Annotated[
        str | None,
        Option(help="A study of the file, if it holds several; `paper`: all that the paper has."),
    ] = None,
    score: Annotated[
        str | None,
        Option(help="Score to show and compare, such as log_loss; default: the study's choice."),
    ] = None,
    tables: Annotated[
        Path | None,
        Option(help="Folder for STUDY.csv and STUDY.md (of another score: STUDY-SCORE)."),
    ] = None,
    latex: Annotated[
        Path | None,
        Option(help="Write the scores as a LaTeX table: best bold, second underlined."),
    ] = None,
    markdown: Annotated[
        Path | None, Option(help="Write scores, ranks and statistics as Markdown.")
    ] = None,
    csv: Annotated[Path | None, Option(help="Write the scores as CSV.")] = None,
    figures: Annotated[Path | None, Option(help="Folder for every figure, SVG and PDF.")] = None,
) -> None:
    """Turn the results of a study into one page that needs no network, or into tables and figures.

    The results of `granulearn bench paper` become the page of the whole paper.

    Example: granulearn report results/quick.db --score fit_seconds --latex times.tex
    """
    path = results or _newest()
    if not (output or tables or latex or markdown or csv or figures):
        output = Path("report.html")
    folders = [folder / "files" for folder in (tables, figures) if folder]
    for file in (output, latex, markdown, csv, *folders):
        while file and not file.parent.exists():  # it is made, if the first one can be written to
            file = file.parent
        opt.check_output(file, others=[path])
    with out.stage_progress() as progress:
        progress(f"reading {path.name} and comparing its methods")
        with Store(path, readonly=True) as store:
            summary = _summary(store, study, score)
        progress("drawing and writing")
        written = _write(summary, output, latex, markdown, csv, tables, figures)
    for file in written:
        out.say(f"written: {file}", soft_wrap=True)


def _write(summary: dict[str, Any], output, latex, markdown, csv, tables, figures) -> list[Path]:
    """Write the outputs that are not None; return the files."""
    # Imported here: drawing needs packages that the other verbs do not.
    import granulearn.bench as reports

    whole = "studies" in summary
    # LaTeX first: a study that is no table is refused before anything is written.
    files = [(latex, reports.write_latex), (output, reports.write_page)]
    files += [(markdown, reports.write_markdown), (csv, reports.write_csv)]
    written = [write(summary, path) for path, write in files if path]
    for own in summary["studies"].values() if whole else [summary]:
        written += reports.write_tables(own, tables) if tables else []
    return written + (reports.write_figures(summary, figures) if figures else [])


def _summary(store: Store, study: str | None, score: str | None) -> dict[str, Any]:
    """Return what a store says of a study, or of the whole paper."""
    if study != PAPER and (study is not None or not holds_the_paper(store)):
        return summarize(store, study, score=score)
    if score is not None:
        raise UsageError(
            "all that the paper reports is accuracy; for another score say which study, as in "
            f"--study table1 --score {score}."
        )
    return summarize_paper(store)


def _newest() -> Path:
    found = sorted(RESULTS.glob("*.db"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UsageError("there is no result file in results/; make one with: granulearn bench")
    return found[-1]
