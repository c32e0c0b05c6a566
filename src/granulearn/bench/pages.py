"""From a summary to one self-contained page, or to Markdown: no network, no other file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from msgspec import Struct
from msgspec.structs import asdict

from granulearn.bench.figures import SECTIONS, SERIES, make_figures, score_label
from granulearn.bench.methods import as_grids
from granulearn.bench.scores import SINGLE_BALLS
from granulearn.bench.statistics import describe_in_words
from granulearn.bench.tables import MOST_COLUMNS, score_digits, score_frame, table_name, write_csv
from granulearn.utils.files import write_text_atomically
from granulearn.utils.html_pages import render_html


def write_page(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Render a summary and write the page, as a whole or not at all.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.
    path : path
        The HTML file.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize, write_page
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_page(summarize(store), Path(folder, "quick.html")).name
    'quick.html'
    """
    return write_text_atomically(path, render_page(summary))


def render_page(summary: dict[str, Any]) -> str:
    """Render a summary as HTML.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.

    Returns
    -------
    str
        The page; the same for the same summary.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store, expand, load_study, render_page, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     render_page(summarize(store))[:15]
    '<!DOCTYPE html>'
    """
    studies = summary.get("studies", {"": summary})
    figures: dict[str, list] = {section: [] for section in SECTIONS}
    for number, (name, study) in enumerate(studies.items()):
        for figure in make_figures(study, name and f"{name}-"):
            # Ranks and balls are those of the first study; the others would repeat them.
            if number == 0 or figure.section not in ("ranks", "balls", "paper"):
                figures[figure.section].append(figure)
    template = "paper.html" if "studies" in summary else "page.html"
    return _rendered(template, summary, figures=figures, series=SERIES)


def write_markdown(summary: dict[str, Any], path: str | os.PathLike, more: str = "") -> Path:
    """Write scores, ranks and statistics in words as Markdown.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.
    path : path
        The file.
    more : str, default=""
        A sentence to put below the tables of a study.

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
    template = "paper.md" if "studies" in summary else "study.md"
    return write_text_atomically(path, _rendered(template, summary, more=more).strip() + "\n")


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
    return [
        write_csv(summary, Path(directory, f"{name}.csv")),
        write_markdown(summary, Path(directory, f"{name}.md"), more),
    ]


def _rendered(template: str, summary: dict[str, Any], **values: Any) -> str:
    """Fill in a template: HTML or Markdown, of a study or of the whole paper."""
    if "studies" not in summary:
        study = summary["study"]
        values |= {
            # Methods without a mean come last.
            "ranking": summary["ranking"].sort_values(
                summary["score"], ascending=not summary["higher_is_better"], kind="stable"
            ),
            "digits": score_digits(summary),
            "score_label": score_label(summary),
            # A store does not keep the folder of a study's file.
            "study_file": study.name if summary["shipped"] else f"FOLDER/{study.name}.toml",
            "of_directory": summary["table"]["source"].str.startswith("directory").any(),
            "gaps": _gaps(summary),
            "uneven": summary["ranking"]["runs"].nunique() > 1,
            "wide_table": len(summary["methods"]) <= MOST_COLUMNS,
        }
    studies = summary.get("studies", {"": summary}).values()
    machines = [_machine(item) for study in studies for item in study["environments"]]
    return render_html(
        "granulearn.bench",
        template,
        _FILTERS,
        summary=summary,
        machines=list(dict.fromkeys(machines)),
        **values,
    )


def _machine(facts: dict[str, Any]) -> str:
    """Return version, dates, system, cores and packages of a machine as a sentence."""
    days = dict.fromkeys((facts["first"][:10], facts["last"][:10]))
    packages = dict(facts["packages"])
    return (
        f"Measured with granulearn {packages.pop('granulearn', '?')}, {' to '.join(days)}, on "
        f"{facts['system']}, {facts['cores']} cores: Python {facts['python']}, "
        + ", ".join(f"{name} {version}" for name, version in packages.items())
        + "."
    )


def shown(value: float | None, digits: int = 2) -> str:
    """Return a number with this many decimals; a dash for a missing one."""
    return "–" if value is None or pd.isna(value) else f"{value:.{digits}f}"


def _markdown(frame: pd.DataFrame, *, numbers: bool = True) -> str:
    """Return a frame of texts as a table; numbers stand on the right."""
    rule = ["---", *["---:" if numbers else "---"] * (frame.shape[1] - 1)]
    rows = [list(map(str, frame)), rule, *frame.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _gaps(summary: dict[str, Any]) -> pd.DataFrame:
    """Return what is missing: data sets, methods, the number of runs of each, and why."""
    gaps = summary["progress"]["gaps"]
    return pd.DataFrame(
        {
            "data sets": [_some(names, len(summary["datasets"])) for names in gaps["dataset"]],
            "methods": [_some(names, len(summary["methods"])) for names in gaps["method"]],
            "runs of each": gaps["n"].astype(str),
            "why": gaps["reason"].map(_cut),
        },
        dtype=object,
    )


def _some(names: Sequence[str], n_all: int, most: int = 6) -> str:
    """Return names, of many the first few; all of them are named by their number."""
    if len(names) == n_all > 1:
        return f"all {n_all}"
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:159]}…"


def _reasons(reasons: pd.Series) -> str:
    """Return the most common reasons of failures, each with its number."""
    counts = reasons.value_counts()
    named = [f"{_cut(str(reason))} ({count})" for reason, count in counts[:3].items()]
    return "; ".join([*named, *([f"others ({counts[3:].sum()})"] if len(counts) > 3 else [])])


def _methods(summary: dict[str, Any]) -> pd.DataFrame:
    """Return ranks and means as texts, with the paper's means where there are any."""
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
        differences = (both["rerun"] - both["paper"]).map("{:+.2f}".format)
        columns["difference"] = differences.replace("+nan", "–")
    columns["balls"] = ranking["n_balls"].map(lambda value: shown(value, 0))
    if SINGLE_BALLS in ranking:
        columns["of one sample, %"] = ranking[SINGLE_BALLS].map(lambda value: shown(value, 0))
    if ranking["runs"].nunique() > 1:
        columns["runs"] = ranking["runs"].astype(str)
    return pd.DataFrame(columns).rename_axis("method").reset_index()


def _conditions(summary: dict[str, Any]) -> pd.DataFrame:
    """Return the mean over data sets by condition as texts: ours, and the paper's below it.

    A method that lacks one of the sets has none: it would be a mean over other sets.
    """
    frame, digits = score_frame(summary), score_digits(summary)
    by = [name for name in ("condition", "source") if name in frame]
    grouped = frame.groupby(by, sort=False)[summary["methods"]]
    means = grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))
    return means.map(lambda value: shown(value, digits)).reset_index()


def _seconds(value: float | None) -> str:
    """Return a time with as many digits as a reader needs."""
    return shown(value, 3 if value is not None and value < 0.1 else 1 if (value or 0) >= 10 else 2)


def _settings(parameters: dict[str, Any] | Struct | None) -> str:
    """Return parameters the way a reader writes them."""
    given = asdict(parameters) if isinstance(parameters, Struct) else parameters or {}

    def setting(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:g}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(setting, value))}]"
        return value if isinstance(value, str) else json.dumps(value)

    lines = [f"{key} = {setting(value)}" for key, value in given.items() if value is not None]
    return ", ".join(lines) or "–"


def _anchor(place: tuple[str, str, str]) -> str:
    """Return the name of a place on a page: letters, digits and hyphens only."""
    text = "--".join(place)
    return "run-" + "".join(c if c.isalnum() and c.isascii() else f"-{ord(c):x}-" for c in text)


def _lines(tables: tuple[pd.DataFrame, pd.DataFrame]) -> Iterator[tuple[Any, list[tuple]]]:
    """Yield the lines of the paper's table and ours: pairs of figures, and whether ours is best."""
    theirs, ours = tables
    for place, paper, own in zip(ours.index, theirs.to_numpy(), ours.to_numpy(), strict=True):
        yield place, list(zip(own, paper, own == own.max(), strict=True))


_FILTERS: dict[str, Any] = {
    "number": shown,
    "settings": _settings,
    "words": lambda name: name.replace("_", " "),
    "seconds": _seconds,
    "reasons": _reasons,
    "anchor": _anchor,
    "grids": as_grids,
    "lines": _lines,
    "in_words": lambda comparison: describe_in_words(comparison["result"]),
    "markdown": _markdown,
    "methods_table": _methods,
    "conditions_table": _conditions,
    "begun": lambda text: text[:1].upper() + text[1:],
}
