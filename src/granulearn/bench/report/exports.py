"""What goes from results into a paper or a spreadsheet: LaTeX, Markdown, CSV, figures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from granulearn.bench.report.figures import score_label, write_figures
from granulearn.bench.report.latex import latex_table
from granulearn.bench.report.page import MOST_COLUMNS
from granulearn.bench.report.paper_page import paper_markdown
from granulearn.bench.report.result_tables import (
    score_digits,
    score_frame,
    study_markdown,
    table_name,
)
from granulearn.bench.studies import StudyError
from granulearn.bench.studies.cells import CLEAN
from granulearn.tables.writing import guarded_frame
from granulearn.utils.files import write_text_atomically


def is_of_the_paper(summary: dict[str, Any]) -> bool:
    """Return whether a summary is that of the whole paper, of several studies.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.report import is_of_the_paper
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     is_of_the_paper(summarize(store))
    False
    """
    return "studies" in summary


def write_latex(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Write the score table of a study; of the paper, those of table 1 and of label noise.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.
    path : path
        The file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    StudyError
        If a study has nothing but variants, and too many of them for a table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.report import write_latex
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_latex(summarize(store), Path(folder, "table.tex")).name
    'table.tex'
    """
    of_paper = is_of_the_paper(summary)
    studies = _of_scores(summary)
    tables = [_latex(_without_clean(study) if of_paper else study) for study in studies]
    return write_text_atomically(path, "\n\n".join(tables) + "\n")


def write_markdown(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Write results for readers: scores, ranks and what the statistics say.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.
    path : path
        The file.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.report import write_markdown
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_markdown(summarize(store), Path(folder, "table.md")).name
    'table.md'
    """
    text = paper_markdown(summary) if is_of_the_paper(summary) else study_markdown(summary)
    return write_text_atomically(path, text)


def write_csv(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Write the compared score of every data set, condition and method.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.
    path : path
        The file.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.report import write_csv
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_csv(summarize(store), Path(folder, "table.csv")).name
    'table.csv'
    """
    frames = []
    for study in _of_scores(summary):
        frame = score_frame(study)
        if is_of_the_paper(summary):
            frame.insert(0, "study", study["study"]["name"])
        frames.append(frame)
    frame = guarded_frame(pd.concat(frames, ignore_index=True))
    return write_text_atomically(path, frame.to_csv(index=False, lineterminator="\n"))


def write_all_figures(summary: dict[str, Any], directory: str | os.PathLike) -> list[Path]:
    """Write every figure as SVG and PDF; those of several studies with the study's name.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.
    directory : path
        Where to; made if it is not there.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.report import write_all_figures
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_all_figures(summarize(store), folder)
    []
    """
    if not is_of_the_paper(summary):
        return write_figures(summary, directory)
    written = []
    for name, study in summary["studies"].items():
        written += write_figures(study, directory, f"{name}-")
    return written


def _of_scores(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the summaries whose methods are compared; those of sensitivity are figures."""
    if not is_of_the_paper(summary):
        return [summary]
    return [summary["studies"][name] for name in ("table1", "noise")]


def _without_clean(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the summary of label noise as the paper has it: without clean labels, and unranked."""
    if len(summary["conditions"]) < 2:
        return summary
    lines = [line for line in summary["per_set"] if line["condition"] != CLEAN]
    return {**summary, "per_set": lines, "comparisons": []}


def _latex(summary: dict[str, Any]) -> str:
    several = len(summary["conditions"]) > 1
    methods = _columns(summary)
    ranks = summary["comparisons"][0]["ranks"] if summary["comparisons"] else {}
    heads = ["dataset", "condition"] if several else ["dataset"]
    lines = [
        {**line, **dict(zip(summary["methods"], line["values"], strict=True))}
        for line in summary["per_set"]
    ]
    scores = pd.DataFrame(lines, columns=[*heads, *methods]).set_index(heads)
    progress, words = summary["progress"], score_label(summary)
    missing = progress["cells"] - progress["done"]
    state = f" {missing} of {progress['cells']} cells are missing." if missing else ""
    state += " Variants are left out." if len(methods) < len(summary["methods"]) else ""
    return latex_table(
        scores,
        caption=f"{words[0].upper()}{words[1:]}, mean over splits.{state}",
        label=f"tab:{table_name(summary)}",
        average=f"{'Overall average' if several else 'Average ' + words.removesuffix(' (%)')}",
        ranks=ranks,
        higher_is_better=summary["higher_is_better"],
        digits=score_digits(summary),
    )


def _columns(summary: dict[str, Any]) -> list[str]:
    """Return the methods that a table has room for; of many, variants are left to the figures."""
    if len(summary["methods"]) <= MOST_COLUMNS:
        return summary["methods"]
    study = summary["study"]
    fixed = [method["name"] for method in study["methods"] if not method["vary"]]
    if not fixed:
        raise StudyError(
            f"{study['name']} has {len(summary['methods'])} variants of "
            f"{len(study['methods'])} method(s), too many columns for a LaTeX table; its figures "
            "(--figures) and its CSV (--csv) show them."
        )
    return fixed
