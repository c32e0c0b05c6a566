r"""Scores as LaTeX and CSV.

A LaTeX document that takes a table in needs ``\usepackage{booktabs}``; ``\usepackage{graphicx}`` if
it is wide, and ``\usepackage{longtable}`` if it is longer than a page.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from granulearn.bench.figures import score_label
from granulearn.bench.runs import CLEAN
from granulearn.bench.study import StudyError
from granulearn.tables.writing import write_table
from granulearn.utils.files import write_text_atomically, written_atomically

# With more methods than these, figures and the list of runs show them, no table.
MOST_COLUMNS = 20
LONGEST_ON_A_PAGE = 40
"""Lines of a LaTeX table; a longer one goes on on the next page. An article has room for 42."""
WIDEST_AT_FULL_SIZE = 60
"""Signs of a line, with room between columns; a wider table is made to fit the text."""
_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
})  # fmt: skip


def _of_scores(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the summaries whose methods are compared; those of sensitivity are figures."""
    if "studies" not in summary:
        return [summary]
    return [summary["studies"][name] for name in ("table1", "noise")]


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
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize, write_csv
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_csv(summarize(store), Path(folder, "table.csv")).name
    'table.csv'
    """
    frames = {study["study"].name: score_frame(study) for study in _of_scores(summary)}
    frame = pd.concat(frames, names=["study"]).reset_index("study")
    frame = frame if "studies" in summary else frame.drop(columns="study")
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with written_atomically(target) as temporary:
        write_table(pa.Table.from_pandas(frame, preserve_index=False), temporary)
    return target


def table_name(summary: dict[str, Any]) -> str:
    """Return the name of a study's table; by another score than the study's own it is another."""
    study = summary["study"]
    same = summary["score"] == study.compare.score
    return study.name if same else f"{study.name}-{summary['score']}"


def score_digits(summary: dict[str, Any]) -> int:
    """Return how many decimals the compared score is shown with: losses and times are small."""
    return 2 if summary["in_percent"] else 4


def score_frame(summary: dict[str, Any]) -> pd.DataFrame:
    """Return the compared score: a line per data set and condition, a column per method.

    If the study stands beside a table of the paper, there is one line per source: ``rerun``, and
    ``paper`` where it has a figure.
    """
    means = summary["means"]
    if summary["paper"] is None:
        return means.round(score_digits(summary)).reset_index()
    theirs = summary["paper"]["points"].pivot(
        index=means.index.names, columns="method", values="paper"
    )
    both = pd.concat({"rerun": means, "paper": theirs}, names=["source"])
    lines = [(source, *place) for place in means.index for source in ("rerun", "paper")]
    both = both.reindex([line for line in lines if line in both.index])
    frame = both.reorder_levels([*means.index.names, "source"]).round(score_digits(summary))
    return frame.reset_index()


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
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize, write_latex
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_latex(summarize(store), Path(folder, "table.tex")).name
    'table.tex'
    """
    tables = [_latex(study, of_paper="studies" in summary) for study in _of_scores(summary)]
    return write_text_atomically(path, "\n\n".join(tables) + "\n")


def _latex(summary: dict[str, Any], *, of_paper: bool) -> str:
    study, progress, words = summary["study"], summary["progress"], score_label(summary)
    several, methods = len(summary["conditions"]) > 1, summary["methods"]
    if len(methods) > MOST_COLUMNS:
        methods = [method.name for method in study.method if not method.vary]
    if not methods:
        raise StudyError(
            f"{study.name} has {len(summary['methods'])} variants of "
            f"{len(study.method)} method(s), too many columns for a LaTeX table; its figures "
            "(--figures) and its CSV (--csv) show them."
        )
    scores = summary["means"][methods].round(score_digits(summary))
    scores = scores if several else scores.droplevel("condition")
    ranks = dict(summary["comparisons"][0]["result"].ranks) if summary["comparisons"] else {}
    if of_paper and several:  # the paper has noise without clean labels, and unranked
        scores, ranks = scores.drop(index=CLEAN, level="condition"), {}
    missing = progress["runs"] - progress["done"]
    state = f" {missing} of {progress['runs']} runs are missing." if missing else ""
    state += " Variants are left out." if len(methods) < len(summary["methods"]) else ""
    return latex_table(
        scores,
        caption=f"{words[0].upper()}{words[1:]}, mean over splits.{state}",
        label=f"tab:{table_name(summary)}",
        average="Overall average" if several else f"Average {words.removesuffix(' (%)')}",
        ranks=ranks,
        higher_is_better=summary["higher_is_better"],
        digits=score_digits(summary),
    )


def latex_table(
    scores: pd.DataFrame,
    *,
    caption: str = "",
    label: str = "",
    average: str = "Average accuracy",
    ranks: Mapping[Any, float] | None = None,
    higher_is_better: bool = True,
    digits: int = 2,
) -> str:
    r"""Return a table of scores as LaTeX.

    Parameters
    ----------
    scores : DataFrame
        One column per method. One row per data set; or one per data set and condition, then
        each data set gets a line with its average, and the last line is the average of these
        as they are shown.
    caption, label : str, default=""
        Of the table; what is empty is left out.
    average : str, default="Average accuracy"
        Head of the line of averages.
    ranks : mapping, default=None
        Average rank of each method, as a comparison found them; those it lacks are dashes, and
        without any there is no line of ranks. By default rows are ranked as they are given.
    higher_is_better : bool, default=True
        Whether the largest score is the best.
    digits : int, default=2
        Decimals.

    Returns
    -------
    str
        A ``table`` environment, or a ``longtable`` with its head on every page. In each line the
        best is bold and the second best underlined, by what is shown: equal figures are marked
        alike. A data set that lacks a score is in no average and no rank.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn.bench import latex_table
    >>> scores = pd.DataFrame({"a": [90.0, 70.0], "b": [80.0, 75.0]}, index=["x_1", "y"])
    >>> print(latex_table(scores))
    \begin{table}
    \centering
    \begin{tabular}{lrr}
    \toprule
    Data set & a & b \\
    \midrule
    x\_1 & \textbf{90.00} & \underline{80.00} \\
    y & \underline{70.00} & \textbf{75.00} \\
    \midrule
    Average accuracy & \textbf{80.00} & \underline{77.50} \\
    Average rank & \textbf{1.50} & \textbf{1.50} \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    levels, names = scores.index.nlevels, ["Data set", "Condition"][: scores.index.nlevels]
    scores = scores.astype(float)
    lines: list[list[str]] = []

    def add(heads: list[Any], values: Any, *, is_rank: bool = False, rule: bool = False) -> None:
        places = 2 if is_rank else digits
        figures = np.round(np.asarray(values, dtype=float), places)
        best = np.unique(figures[np.isfinite(figures)])
        best = best[::-1] if higher_is_better and not is_rank else best
        marks = dict(zip(best.tolist(), (r"\textbf{%s}", r"\underline{%s}"), strict=False))
        texts = [
            marks.get(value, "%s") % f"{value:.{places}f}" if np.isfinite(value) else "--"
            for value in figures.tolist()
        ]
        first, *others = [*map(_escaped, heads), *[""] * (levels - len(heads))]
        lines.append([f"\\midrule\n{first}" if rule else first, *others, *texts])

    averages = []
    for dataset, rows in scores.round(digits).groupby(level=0, sort=False):
        for number, (place, values) in enumerate(zip(rows.index, rows.to_numpy(), strict=True)):
            heads = [dataset] if levels == 1 else [dataset if number == 0 else "", place[1]]
            add(heads, values, rule=levels == 2 and number == 0 and bool(lines))
        averages.append(rows.mean(skipna=False).round(digits))
        if levels == 2 and len(rows) > 1:
            add(["", "Average"], averages[-1])
    complete = scores.dropna()
    if has_average := len(complete) > 1:
        # Of several conditions the mean of what stands above it, so that a reader finds it again.
        means = complete.mean() if levels == 1 else pd.DataFrame(averages).mean(skipna=False)
        add([average], means, rule=True)
        if ranks is None and scores.shape[1] > 1:
            ranks = dict(complete.rank(axis=1, ascending=not higher_is_better).mean())
    if ranks:
        add(["Average rank"], [ranks.get(name, np.nan) for name in scores], is_rank=True,
            rule=not has_average)  # fmt: skip
    longest = max((len(line[0].splitlines()[-1]) for line in lines if line[0]), default=0)
    heads = [*names[1:], *map(str, scores)]
    width = longest + sum(max(len(head), digits + 3) + 3 for head in heads)
    return _environment(
        pd.DataFrame(lines, columns=[*names, *map(_escaped, scores)]),
        caption=_escaped(caption) or None,
        label=label or None,
        column_format="l" * levels + "r" * scores.shape[1],
        wide=width > WIDEST_AT_FULL_SIZE,
    )


def _environment(frame: pd.DataFrame, *, wide: bool, **settings: Any) -> str:
    """Return lines of LaTeX as a table, or as several pages; a wide one is made smaller."""
    style = frame.style.hide(axis="index")
    closer = r"\setlength{\tabcolsep}{3pt}"
    if len(frame) + frame.iloc[:, 0].str.count(r"\\midrule").sum() > LONGEST_ON_A_PAGE:
        text = style.to_latex(hrules=True, environment="longtable", **settings).strip()
        # No box holds what goes over several pages, so it is in small print.
        return rf"{{\scriptsize{closer}" + f"\n{text}\n}}" if wide else text
    text = style.to_latex(hrules=True, position_float="centering", **settings).strip()
    if not wide:
        return text
    # A box is made smaller if it is wider than the text, and left alone otherwise.
    fitted = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    text = text.replace(r"\begin{tabular}", f"{closer}\n{fitted}\n\\begin{{tabular}}")
    return text.replace(r"\end{tabular}", r"\end{tabular}}")


def _escaped(text: Any) -> str:
    return str(text).translate(_ESCAPES)
