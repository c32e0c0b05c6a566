r"""Results as LaTeX, Markdown and CSV, all from one table of scores.

A LaTeX document that takes a table in needs ``\usepackage{booktabs}``; ``\usepackage{graphicx}`` if
it is wide, and ``\usepackage{longtable}`` if it is longer than a page.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from granulearn.bench.figures import score_label
from granulearn.bench.runs import CLEAN
from granulearn.bench.scores import SINGLE_BALLS
from granulearn.bench.statistics import average_ranks, describe_in_words
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
UNEVEN = (
    "Means are over the runs that a method has: where the numbers of runs differ, they are means "
    "over different runs. Ranks are over what all methods have."
)
GAP_HEADS = ["data sets", "methods", "runs of each", "why"]


# How verdicts are given, on the page and in Markdown.
RULE = (
    "Each claim is checked by one rule, on the paper's figures and on ours. A difference that the "
    "paper calls significant is reproduced if Nemenyi's test separates the two here as well, not "
    "reproduced if it separates them the other way round, and inconclusive in between; ranges over "
    "settings must differ by more than the standard error of a mean. The claims about figures S.1 "
    "and S.2 are known to us from a summary of the supplement, not from its text."
)
ELSEWHERE = (
    "The paper also promises robustness to outliers and to class imbalance, of which it has no "
    "table: the study stress tests both (granulearn bench stress)."
)


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


def write_tables(summary: dict[str, Any], directory: str | os.PathLike) -> list[Path]:
    """Write ``STUDY.csv`` and ``STUDY.md``, with the paper's figures where there are any.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
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
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize, write_tables
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     [path.name for path in write_tables(summarize(store), folder)]
    ['quick.csv', 'quick.md']
    """
    name = table_name(summary)
    more = f"Every data set: [{name}.csv]({name}.csv)."
    text = study_markdown(summary, more)
    return [
        write_csv(summary, Path(directory, f"{name}.csv")),
        write_text_atomically(Path(directory, f"{name}.md"), text),
    ]


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


def shown(value: float | None, digits: int = 2) -> str:
    """Return a number with this many decimals; a dash for a missing one."""
    return "–" if value is None or pd.isna(value) else f"{value:.{digits}f}"


def markdown_table(heads: list[str], rows: list[list[str]], *, numbers: bool = True) -> list[str]:
    """Return the lines of a table and an empty one; numbers stand on the right."""
    rule = ["---", *["---:" if numbers else "---"] * (len(heads) - 1)]
    return [*(f"| {' | '.join(row)} |" for row in [heads, rule, *rows]), ""]


def study_markdown(summary: dict[str, Any], more: str = "") -> str:
    """Return a study as Markdown: scores, ranks and statistics in words."""
    study, progress = summary["study"], summary["progress"]
    gaps = [[text.replace("|", "\\|") for text in row] for row in gaps_in_words(summary)]
    missing = ["## What is missing", "", *markdown_table(GAP_HEADS, gaps, numbers=False)]
    lines = [
        f"# {study.name}",
        study.question,
        *study.notes,
        f"{progress['done']} of {progress['runs']} runs computed, "
        f"{len(progress['failed'])} failed. {_commands(summary)}",
        *(["\n".join(missing[:-1])] if gaps else []),
        *_methods(summary),
    ]
    for position, found in enumerate(summary["comparisons"]):
        # The first is given in full, the others by who leads and what can be told apart.
        words = describe_in_words(found["result"], found["unit"])
        words = words if position == 0 else words[::2][:2]
        lines.append(f"**{found['title'][0].upper()}{found['title'][1:]}.** {' '.join(words)}")
    lines += (
        _conditions(summary) + ([more] if more else []) + ["\n".join(machines_in_words(summary))]
    )
    return "\n\n".join(lines) + "\n"


def study_file(summary: dict[str, Any]) -> str:
    """Return the name by which a study is run: a store does not keep the folder of its file."""
    name = summary["study"].name
    return str(name) if summary["shipped"] else f"FOLDER/{name}.toml"


def _commands(summary: dict[str, Any]) -> str:
    """Return the commands that make the page."""
    store = f"results/{summary['study'].name}.db"
    of_directory = bool(summary["table"]["source"].str.startswith("directory").any())
    bench = f"{'GRANULEARN_DATA=DIRECTORY ' * of_directory}granulearn bench {study_file(summary)}"
    same = summary["score"] == summary["study"].compare.score
    report = f"granulearn report {store}" + ("" if same else f" --score {summary['score']}")
    if summary["shipped"]:
        return f"Made by:\n\n```\n{bench} --results {store}\n{report} --tables docs/results\n```"
    return f"To run it again:\n\n```\n{bench}\n{report}\n```"


def gaps_in_words(summary: dict[str, Any]) -> list[list[str]]:
    """Return what is missing: data sets, methods, the number of runs of each, and why."""
    return [
        [
            _some(gap.dataset, len(summary["datasets"]), "data sets"),
            _some(gap.method, len(summary["methods"]), "methods"),
            str(gap.n),
            _cut(gap.reason),
        ]
        for gap in summary["progress"]["gaps"].itertuples()
    ]


def reasons_in_words(reasons: pd.Series) -> str:
    """Return the most common reasons of failures, each with its number."""
    counts = reasons.value_counts()
    named = [f"{_cut(str(reason))} ({count})" for reason, count in counts[:3].items()]
    return "; ".join([*named, *([f"others ({counts[3:].sum()})"] if len(counts) > 3 else [])])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:159]}…"


def _some(names: Sequence[str], n_all: int, words: str, most: int = 6) -> str:
    """Return names, of many the first few; all of them are named by their number."""
    if len(names) == n_all > 1:
        return f"all {n_all} {words}"
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def means_differ_in_runs(summary: dict[str, Any]) -> bool:
    """Return whether methods have different numbers of runs."""
    return bool(summary["ranking"]["runs"].nunique() > 1)


def _methods(summary: dict[str, Any]) -> list[str]:
    """Return ranks and means, with the paper's means where there are any."""
    # No times: they depend on the machine and what else it does; the page has them.
    ranking, digits = summary["ranking"], score_digits(summary)
    mean = f"mean {summary['score'].replace('_', ' ')}"
    columns = {mean: ranking[summary["score"]].map(lambda value: shown(value, digits))}
    if summary["comparisons"]:
        ranks = summary["comparisons"][0]["result"].ranks
        columns["average rank"] = ranks.reindex(ranking.index).map(shown)
    if summary["paper"]:
        both = summary["paper"]["means"].reindex(ranking.index)
        columns["paper"] = both["paper"].map(shown)
        columns["same runs, rerun"] = both["rerun"].map(shown)
        differences = (both["rerun"] - both["paper"]).dropna()
        columns["difference"] = differences.map("{:+.2f}".format).reindex(
            both.index, fill_value="–"
        )
    columns["balls"] = ranking["n_balls"].map(lambda value: shown(value, 0))
    if SINGLE_BALLS in ranking:
        columns["of one sample, %"] = ranking[SINGLE_BALLS].map(lambda value: shown(value, 0))
    uneven = means_differ_in_runs(summary)
    if uneven:
        columns["runs"] = ranking["runs"].astype(str)
    table = pd.DataFrame(columns).rename_axis("method").reset_index()
    lines = markdown_table(list(map(str, table)), table.to_numpy().tolist())
    return ["\n".join(lines[:-1]), *([UNEVEN] if uneven else [])]


def _conditions(summary: dict[str, Any]) -> list[str]:
    """Return the mean over data sets by condition: ours, and the paper's below it.

    A method that lacks one of the sets has none: it would be a mean over other sets.
    """
    if len(summary["conditions"]) < 2 or summary["means"].empty:
        return []
    frame = score_frame(summary)
    by = [name for name in ("condition", "source") if name in frame]
    grouped = frame.groupby(by, sort=False)[summary["methods"]]
    means = grouped.mean().where(grouped.count().eq(grouped.size(), axis=0)).reset_index()
    rows = [
        [*line[: len(by)], *(shown(value, score_digits(summary)) for value in line[len(by) :])]
        for line in means.to_numpy().tolist()
    ]
    return ["\n".join(markdown_table([*by, *summary["methods"]], rows)[:-1])]


def machines_in_words(summary: dict[str, Any]) -> list[str]:
    """Return version, dates, system, cores and packages of each machine, one sentence each."""
    found = []
    for item in summary["environments"]:
        packages = {**item["packages"]}
        days = dict.fromkeys((item["first"][:10], item["last"][:10]))
        found.append(
            f"Measured with granulearn {packages.pop('granulearn')}, {' to '.join(days)}, on "
            f"{item['system']}, {item['cores']} cores: Python {item['python']}, "
            + ", ".join(f"{name} {version}" for name, version in packages.items())
            + "."
        )
    return found


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
    ranks: Mapping[str, float] | None = None,
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
    scores = scores.astype(float)
    rounded, complete = scores.round(digits), scores.dropna()
    levels = scores.index.nlevels

    def line(heads: list[Any], values: Any, *, is_rank: bool = False) -> str:
        places = 2 if is_rank else digits
        figures = np.round(np.asarray(values, dtype=float), places)
        best = np.unique(figures[np.isfinite(figures)])[
            :: -1 if higher_is_better and not is_rank else 1
        ]
        marks = dict(zip(best.tolist(), (r"\textbf{%s}", r"\underline{%s}"), strict=False))
        texts = [
            marks.get(value, "%s") % f"{value:.{places}f}" if np.isfinite(value) else "--"
            for value in figures.tolist()
        ]
        blank = [""] * (levels - len(heads))
        return _joined([*(_escaped(head) for head in [*heads, *blank]), *texts])

    body: list[str] = []
    averages = []
    for dataset, rows in rounded.groupby(level=0, sort=False):
        body += [r"\midrule"] if levels == 2 and body else []
        for number, (place, values) in enumerate(zip(rows.index, rows.to_numpy(), strict=True)):
            names = [dataset] if levels == 1 else [dataset if number == 0 else "", place[1]]
            body.append(line(names, values))
        averages.append(rows.mean(skipna=False).round(digits))
        if levels == 2 and len(rows) > 1:
            body.append(line(["", "Average"], averages[-1]))
    foot = []
    if len(complete) > 1:
        # Of several conditions the mean of what stands above it, so that a reader finds it again.
        means = complete.mean() if levels == 1 else pd.DataFrame(averages).mean(skipna=False)
        foot.append(line([average], means))
        if ranks is None and scores.shape[1] > 1:
            found = average_ranks(complete, higher_is_better=higher_is_better)
            ranks = dict(zip(scores.columns, found, strict=True))
    if ranks:
        found = np.array([ranks.get(name, np.nan) for name in scores.columns])
        foot.append(line(["Average rank"], found, is_rank=True))
    lines = [*body, *([r"\midrule", *foot] if foot else [])]
    heads = ["Data set", "Condition"][:levels]
    head = _joined([*heads, *map(_escaped, scores.columns)])
    columns = "l" * levels + "r" * scores.shape[1]
    plain = rounded.map(lambda value: f"{value:.{digits}f}").reset_index()
    longest = [max(map(len, map(str, [name, *plain[name]]))) for name in plain]
    width = max(longest[0], len(average)) + sum(longest[1:]) + 3 * len(longest)
    about = [rf"\caption{{{_escaped(caption)}}}"] if caption else []
    about += [rf"\label{{{label}}}"] if label else []
    return "\n".join(_environment(columns, about, head, lines, wide=width > WIDEST_AT_FULL_SIZE))


def _environment(
    columns: str, about: list[str], head: str, lines: list[str], *, wide: bool
) -> list[str]:
    closer = r"\setlength{\tabcolsep}{3pt}"
    if len(lines) <= LONGEST_ON_A_PAGE:
        # A box is made smaller if it is wider than the text, and left alone otherwise.
        fitted = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
        return [
            r"\begin{table}", r"\centering", *about, *([closer, fitted] if wide else []),
            rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *lines,
            r"\bottomrule", r"\end{tabular}" + ("}" if wide else ""), r"\end{table}",
        ]  # fmt: skip
    heading = [r"\toprule", head, r"\midrule"]
    table = [
        rf"\begin{{longtable}}{{{columns}}}",
        *([*about, r"\\"] if about else []), *heading, r"\endfirsthead",
        *heading, r"\endhead", r"\bottomrule", r"\endfoot", *lines, r"\end{longtable}",
    ]  # fmt: skip
    # No box holds what goes over several pages, so it is in small print.
    return [r"{\scriptsize" + closer, *table, "}"] if wide else table


def _escaped(text: Any) -> str:
    return str(text).translate(_ESCAPES)


def _joined(texts: list[str]) -> str:
    return " & ".join(texts) + r" \\"


def write_markdown(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Write scores, ranks and statistics in words as Markdown.

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
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize
    >>> from granulearn.bench import write_markdown
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_markdown(summarize(store), Path(folder, "table.md")).name
    'table.md'
    """
    text = paper_markdown(summary) if "studies" in summary else study_markdown(summary)
    return write_text_atomically(path, text)


def paper_markdown(summary: dict[str, Any]) -> str:
    """Return the verdicts, the reasons, the tests and the claims as Markdown."""
    progress, statistics = summary["progress"], summary["statistics"]
    their_noise, our_noise = (means.iloc[-1] for means in summary["noise_means"])
    missing = ", ".join(
        f"{line['name']} {line['missing']}" for line in progress["studies"] if line["missing"]
    )
    failed = [line for line in progress["studies"] if line["failed"]]
    lines = [
        "# The paper, run again", "", "Made by:", "", "```",
        "GRANULEARN_DATA=DIRECTORY granulearn bench paper --results results/paper.db",
        "granulearn report results/paper.db --markdown docs/results/paper.md", "```", "",
        f"{progress['done']} of {progress['runs']} runs computed, {progress['failed']} failed."
        + (f" **Not run yet: {missing}.**" if missing else ""), "",
    ]  # fmt: skip
    if failed:
        reasons = [f"- {line['name']}: {reasons_in_words(line['reasons'])}" for line in failed]
        lines += ["Why runs failed:", "", *reasons, ""]
    for verdict, sentences in summary["short"].items():
        count = f"{summary['verdicts'][verdict]} of {len(summary['claims'])}"
        lines += [f"**{verdict[0].upper()}{verdict[1:]}** ({count} claims)", ""]
        lines += [*(f"- {sentence}" for sentence in sentences or ["none"]), ""]
    lines += ["## Why we think so", ""]
    for reason in [*(summary["reasons"] or ["Nothing can be said yet."]), ELSEWHERE]:
        lines += [reason, ""]
    means = markdown_table(
        ["method", *(f"mean, {source}" for source in statistics),
         *(f"rank, {source}" for source in statistics), "noise, paper", "noise, this run"],
        [[method, *(shown(result.means[method]) for result in statistics.values()),
          *(shown(result.ranks[method]) for result in statistics.values()),
          shown(their_noise[method]), shown(our_noise[method])]
         for method in summary["methods"]],
    )  # fmt: skip
    tests = markdown_table(
        ["", "sets", "Friedman's chi²", "F_F", "critical difference", "pairs separated"],
        [[source, str(len(found.sets)), shown(found.friedman.statistic),
          shown(found.iman_davenport.statistic), shown(found.critical_difference, 3),
          str(len(found.separated_pairs))] for source, found in statistics.items()],
    )  # fmt: skip
    claims = markdown_table(
        ["claim", "where", "the paper", "this run", "verdict"],
        [[f"{claim.text} {claim.caveat}".rstrip(), claim.source, claim.paper, claim.ours,
          claim.verdict] for claim in summary["claims"]],
        numbers=False,
    )  # fmt: skip
    lines += ["## Means, ranks and tests", "", *means, *tests, printed_statistics(summary), ""]
    lines += ["## Claims, one by one", "", *claims, RULE, "", *paper_machines(summary)]
    return "\n".join(lines) + "\n"


def printed_statistics(summary: dict[str, Any]) -> str:
    """Return how the paper's own statistics differ from those of its table."""
    exact = summary["statistics"]["paper"]
    return (
        "The paper prints a chi² of 66.26 and an F_F of 12.38, which come from its ranks of two "
        f"decimals; its table gives {exact.friedman.statistic:.2f} and "
        f"{exact.iman_davenport.statistic:.2f}."
    )


def paper_machines(summary: dict[str, Any]) -> list[str]:
    """Return the machines of the runs; one of several studies is named once."""
    machines = [
        words for study in summary["studies"].values() for words in machines_in_words(study)
    ]
    return list(dict.fromkeys(machines))
