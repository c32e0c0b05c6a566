"""``granulearn report``: turn the results of a study into a page."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from granulearn import bench
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
    # Folders are made, if files in them can be written.
    folders = [folder / "files" for folder in (tables, figures) if folder]
    for file in (output, latex, markdown, csv, *folders):
        while file and not file.parent.exists():
            file = file.parent
        opt.check_output(file, others=[path])
    with out.stage_progress() as progress:
        progress(f"reading {path.name} and comparing its methods")
        with Store(path, readonly=True) as store:
            summary = _summary(store, study, score)
        progress("drawing and writing")
        # LaTeX first: a study that is no table is refused before anything is written.
        files = [(latex, bench.write_latex), (output, bench.write_page)]
        files += [(markdown, bench.write_markdown), (csv, bench.write_csv)]
        written = [write(summary, file) for file, write in files if file]
        if tables:
            for own in summary.get("studies", {"": summary}).values():
                written += bench.write_tables(own, tables)
        if figures:
            written += bench.write_figures(summary, figures)
    for file in written:
        out.say(f"written: {file}", soft_wrap=True)


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
