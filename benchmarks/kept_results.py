"""The command line of a comparison that keeps a file of results: run and continue it, or report."""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path


def run_or_report(
    about: str | None,
    script: str,
    title: str,
    run: Callable[..., None],
    report: Callable[[Path], str],
    **counts: int,
) -> None:
    """Do what the command line asks.

    Parameters
    ----------
    about : str
        What ``--help`` says.
    script : str
        Path of the script, which the page names.
    title : str
        Of the page.
    run : callable
        Takes the file of results, and computes what it does not have yet.
    report : callable
        Takes the file, and returns the page's text.
    **counts : int
        Options of `run`, with what they are unless the command line says otherwise.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("file", type=Path, help="CSV file of results; made or continued")
    for name, usual in counts.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--report", type=Path, help="Markdown file to write instead of running")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of labels that no tree left out
    if arguments.report is None:
        run(arguments.file, **{name: getattr(arguments, name) for name in counts})
        return
    heading = f"# {title}\n\nMade by `benchmarks/{Path(script).name}`.\n\n"
    arguments.report.write_text(heading + report(arguments.file).rstrip() + "\n", encoding="utf-8")
