"""Results as small files to keep beside the code: CSV for machines, Markdown for readers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from granulearn.bench.studies.scores import SINGLE_BALLS
from granulearn.tables.writing import guarded_frame
from granulearn.utils.files import write_text_atomically


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
    >>> from granulearn.bench.report import write_tables
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     [path.name for path in write_tables(summarize(store), folder)]
    ['quick.csv', 'quick.md']
    """
    name = table_name(summary)
    folder = Path(directory)
    scores = guarded_frame(score_frame(summary))
    more = f"Every data set: [{name}.csv]({name}.csv)."
    contents = {
        folder / f"{name}.csv": scores.to_csv(index=False, lineterminator="\n"),
        folder / f"{name}.md": study_markdown(summary, more),
    }
    return [write_text_atomically(path, text) for path, text in contents.items()]


def table_name(summary: dict[str, Any]) -> str:
    """Return the name of a study's table; by another score than the study's own it is another one.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    """
    study = summary["study"]
    same = summary["score"] == study["score"]
    return study["name"] if same else f"{study['name']}-{summary['score']}"


def score_frame(summary: dict[str, Any]) -> pd.DataFrame:
    """Return the compared score of every data set, condition and method.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.

    Returns
    -------
    DataFrame
        One line per data set and condition, one column per method. If the study stands beside
        a table of the paper, one line per source, too: ``rerun``, and ``paper`` where it has a
        figure.
    """
    paper: dict[tuple[str, str], dict[str, float]] = {}
    for point in (summary["paper"] or {"points": []})["points"]:
        place = (point["dataset"], point["condition"])
        paper.setdefault(place, {})[point["method"]] = point["paper"]
    lines = []
    for line in summary["per_set"]:
        names = {"dataset": line["dataset"], "condition": line["condition"]}
        values = dict(zip(summary["methods"], line["values"], strict=True))
        lines.append({**names, "source": "rerun", **values})
        if theirs := paper.get((line["dataset"], line["condition"])):
            lines.append({**names, "source": "paper", **theirs})
    source = ["source"] if _is_beside_the_paper(summary) else []
    columns = ["dataset", "condition", *source, *summary["methods"]]
    return pd.DataFrame(lines, columns=columns).round(score_digits(summary))


def _is_beside_the_paper(summary: dict[str, Any]) -> bool:
    """Return whether the paper has a table of what is compared, run already or not."""
    return bool(summary["study"]["paper"]) and summary["score"] == summary["study"]["score"]


def score_digits(summary: dict[str, Any]) -> int:
    """Return how many decimals the compared score is shown with: losses and times are small.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    """
    return 2 if summary["in_percent"] else 4


def study_markdown(summary: dict[str, Any], more: str = "") -> str:
    """Return a study for readers: scores, ranks and what the statistics say.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    more : str, default=""
        Where to find more, if there is more.

    Returns
    -------
    str
        Markdown.
    """
    study, progress = summary["study"], summary["progress"]
    name = study["name"]
    lines = [
        f"# {name}",
        "",
        study["question"],
        "",
        *(line for note in study["notes"] for line in (note, "")),
        f"{progress['done']} of {progress['cells']} cells computed, "
        f"{len(progress['failed'])} failed. {_commands(summary)}",
        "",
        *_what_is_missing(summary),
        *_methods(summary),
        *_statistics(summary),
        *_conditions(summary),
    ]
    lines += [more, ""] if more else []
    return "\n".join([*lines, *machines_in_words(summary)]) + "\n"


def _commands(summary: dict[str, Any]) -> str:
    """Return how the page is made; for a study of one's own how it is run, wherever it is."""
    study = summary["study"]
    bench = f"{_where_the_data_is(summary)}granulearn bench {study['file']}"
    store = f"results/{study['name']}.db"
    score = "" if summary["score"] == study["score"] else f" --score {summary['score']}"
    report = f"granulearn report {store}{score}"
    if study["shipped"]:
        head = "Made by:"
        lines = [f"{bench} --results {store}", f"{report} --tables docs/results"]
    else:
        head, lines = "To run it again:", [bench, report]
    return "\n".join([head, "", "```", *lines, "```"])


def _where_the_data_is(summary: dict[str, Any]) -> str:
    """Return how to name the directory of data sets, if some came from one."""
    sources = {line["source"] for group in summary["cells"] for line in group["splits"]}
    from_directory = any(source.partition(":")[0] == "directory" for source in sources)
    return "GRANULEARN_DATA=DIRECTORY " if from_directory else ""


def gaps_in_words(summary: dict[str, Any]) -> list[list[str]]:
    """Return what is missing: data sets, methods, cells not run, cells that failed, and why.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    """
    return [
        [
            _some(gap["datasets"], len(summary["datasets"]), "data sets"),
            _some(gap["methods"], len(summary["methods"]), "methods"),
            f"{gap['missing']} of {gap['cells']}",
            f"{gap['failed']} of {gap['cells']}",
            reasons_in_words(gap["reasons"]) or "–",
        ]
        for gap in summary["progress"]["gaps"]
    ]


GAP_HEADS = ["data sets", "methods", "not run yet, of each", "failed, of each", "why"]


def reasons_in_words(reasons: list[dict[str, Any]]) -> str:
    """Return why cells failed, each reason once.

    Parameters
    ----------
    reasons : list of dict
        What `granulearn.bench.studies.details.common_reasons` returned.
    """
    return "; ".join(
        f"{_cut(line['reason'])} ({line['cells']})"
        if line["reason"]
        else f"others ({line['cells']})"
        for line in reasons
    )


def _some(names: list[str], n_all: int, words: str, most: int = 6) -> str:
    """Return names, of many the first few; all of them are named by their number."""
    if len(names) == n_all > 1:
        return f"all {n_all} {words}"
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _cut(text: str, longest: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _what_is_missing(summary: dict[str, Any]) -> list[str]:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in gaps_in_words(summary)]
    if not rows:
        return []
    return ["## What is missing", "", *markdown_table(GAP_HEADS, rows, numbers=False)]


def means_differ_in_cells(summary: dict[str, Any]) -> bool:
    """Return whether methods have different numbers of cells, so that these stand beside means.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    """
    return len({line["cells"] for line in summary["ranking"]}) > 1


def _methods(summary: dict[str, Any]) -> list[str]:
    """Return ranks and means, with the paper's means where there are any."""
    paper = {line["method"]: line for line in (summary["paper"] or {"means": []})["means"]}
    main = summary["comparisons"][0] if summary["comparisons"] else None
    score = summary["score"].replace("_", " ")
    heads = ["method", f"mean {score}"]
    heads += ["average rank"] if main else []
    heads += ["paper", "same cells, rerun", "difference"] if paper else []
    # No times: they depend on the machine and what else it does; the page has them.
    heads += ["balls"]
    single = SINGLE_BALLS in summary["scores"]
    heads += ["of one sample, %"] if single else []
    uneven = means_differ_in_cells(summary)
    heads += ["cells"] if uneven else []
    rows = []
    for line in summary["ranking"]:
        method = line["method"]
        row = [method, _shown(line["scores"][summary["score"]], score_digits(summary))]
        row += [_shown(main["ranks"].get(method))] if main else []
        if paper:
            found = paper.get(method)
            row += (
                [_shown(found["paper"]), _shown(found["rerun"]),
                 f"{found['rerun'] - found['paper']:+.2f}"]
                if found else ["–"] * 3
            )  # fmt: skip
        row += [_shown(line["n_balls"], 0)]
        row += [_shown(line["scores"][SINGLE_BALLS], 0)] if single else []
        rows.append([*row, str(line["cells"])] if uneven else row)
    table = markdown_table(heads, rows)
    return [*table, UNEVEN, ""] if uneven else table


UNEVEN = (
    "Means are over the cells that a method has: where the numbers of cells differ, they are means "
    "over different cells. Ranks are over what all methods have."
)


def _statistics(summary: dict[str, Any]) -> list[str]:
    lines = []
    for position, comparison in enumerate(summary["comparisons"]):
        # The first is given in full, the others by who leads and what can be told apart.
        words = comparison["words"] if position == 0 else comparison["words"][::2][:2]
        lines += [f"**{comparison['title'][0].upper()}{comparison['title'][1:]}.** "
                  + " ".join(words), ""]  # fmt: skip
    return lines


def _conditions(summary: dict[str, Any]) -> list[str]:
    """Return the mean over data sets by condition: ours, and the paper's below it.

    A method that lacks one of the sets has none: it would be a mean over other sets.
    """
    if len(summary["conditions"]) < 2 or not summary["per_set"]:
        return []
    frame = score_frame(summary)
    by = [name for name in ("condition", "source") if name in frame]
    grouped = frame.groupby(by, sort=False)[summary["methods"]]
    means = grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))
    rows = [
        [*place, *(_shown(value, score_digits(summary)) for value in values)]
        for place, values in zip(means.index.to_frame().to_numpy(), means.to_numpy(), strict=True)
    ]
    return markdown_table([*by, *summary["methods"]], rows)


def machines_in_words(summary: dict[str, Any]) -> list[str]:
    """Return with what the cells of a study were computed, one sentence per machine.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    """
    return [
        f"Made with Python {item['python']} on {item['system']}, {item['cores']} cores: "
        + ", ".join(f"{name} {found}" for name, found in item["packages"].items())
        + "."
        for item in summary["environments"]
    ]


def markdown_table(heads: list[str], rows: list[list[str]], *, numbers: bool = True) -> list[str]:
    """Return the lines of a table in Markdown, and an empty one.

    Parameters
    ----------
    heads : list of str
        Of the columns.
    rows : list of list of str
        The cells.
    numbers : bool, default=True
        Whether all columns but the first stand on the right.
    """
    rule = ["---", *["---:" if numbers else "---"] * (len(heads) - 1)]
    return [*(f"| {' | '.join(row)} |" for row in [heads, rule, *rows]), ""]


def _shown(value: float | None, digits: int = 2) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.{digits}f}"
