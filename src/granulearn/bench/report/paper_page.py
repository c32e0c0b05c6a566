"""The paper, run again: one page with a table of contents, and one screen of Markdown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from granulearn.bench.report.figures import SECTIONS, make_figures
from granulearn.bench.report.page import shown_number, theme_css
from granulearn.bench.report.result_tables import (
    machines_in_words,
    markdown_table,
    reasons_in_words,
)
from granulearn.models.html_pages import render_html
from granulearn.utils.files import write_text_atomically

# How verdicts are given, on the page and in Markdown.
RULE = (
    "Each claim is checked by one rule, on the paper's figures and on ours. A difference that the "
    "paper calls significant is found again if Nemenyi's test separates the two here as well, not "
    "found if it separates them the other way round, and cannot be told in between; ranges over "
    "settings must differ by more than the standard error of a mean. The claims about figures S.1 "
    "and S.2 are known to us from a summary of the supplement, not from its text."
)
ELSEWHERE = (
    "The paper also promises robustness to outliers and to class imbalance, of which it has no "
    "table: the study stress tests both (granulearn bench stress)."
)


def write_paper_page(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Render the page of the whole paper and write it, as a whole or not at all.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize_paper` returned.
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
    >>> from granulearn.bench.report import write_paper_page
    >>> from granulearn.bench.studies import PAPER_STUDIES, Store, load_study, summarize_paper
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     for name in PAPER_STUDIES:
    ...         store.save_study(name, load_study(name).model_dump_json())
    ...     write_paper_page(summarize_paper(store), Path(folder, "paper.html")).name
    'paper.html'
    """
    return write_text_atomically(path, render_paper_page(summary))


def render_paper_page(summary: dict[str, Any]) -> str:
    """Render the page of the whole paper.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize_paper` returned.

    Returns
    -------
    str
        HTML that needs no other file; what was not run is named.
    """
    figures: dict[str, list] = {section: [] for section in SECTIONS}
    for name, study in summary["studies"].items():
        for figure in make_figures(study, f"{name}-"):
            # Ranks and balls are those of table 1; the other studies would repeat them.
            if name == "table1" or figure.section not in ("ranks", "balls", "paper"):
                figures[figure.section].append(figure)
    return render_html(
        "granulearn.bench.report",
        "paper.html",
        {"number": shown_number, "reasons": reasons_in_words},
        summary={**summary, "machines": _machines(summary)},
        figures=figures,
        rule=RULE,
        elsewhere=ELSEWHERE,
        printed=_printed(summary),
        theme=theme_css(),
    )


def paper_markdown(summary: dict[str, Any]) -> str:
    """Return what is found again, what is not, and why we think so, in one screen.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize_paper` returned.

    Returns
    -------
    str
        Markdown; every number in it comes from the store.
    """
    progress = summary["progress"]
    lines = [
        "# The paper, run again",
        "",
        "Made by:",
        "",
        "```",
        "GRANULEARN_DATA=DIRECTORY granulearn bench paper --results results/paper.db",
        "granulearn report results/paper.db --markdown docs/results/paper.md",
        "```",
        "",
        *_state(progress),
        *_in_short(summary),
        "## Why we think so",
        "",
        *(line for reason in summary["reasons"] or ["Nothing can be said yet."]
          for line in (reason, "")),
        ELSEWHERE,
        "",
        "## Means, ranks and tests",
        "",
        *_figures_in_short(summary),
        "## Claims, one by one",
        "",
        *markdown_table(
            ["claim", "where", "the paper", "this run", "verdict"],
            [[f"{claim['text']} {claim['caveat']}".rstrip(),
              *(claim[key] for key in ("source", "paper", "ours", "verdict"))]
             for claim in summary["claims"]],
            numbers=False,
        ),
        RULE,
        "",
        *_machines(summary),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _state(progress: dict[str, Any]) -> list[str]:
    said = f"{progress['done']} of {progress['cells']} cells computed, {progress['failed']} failed."
    studies = progress["studies"]
    missing = ", ".join(f"{line['name']} {line['missing']}" for line in studies if line["missing"])
    failed = [
        f"- {line['name']}: {reasons_in_words(line['reasons'])}"
        for line in studies
        if line["failed"]
    ]
    state = f"{said} **Not run yet: {missing}.**" if missing else said
    return [state, "", *(["Why cells failed:", "", *failed, ""] if failed else [])]


def _in_short(summary: dict[str, Any]) -> list[str]:
    lines = []
    for verdict, sentences in summary["short"].items():
        count = f"{summary['verdicts'][verdict]} of {len(summary['claims'])}"
        lines += [f"**{verdict[0].upper()}{verdict[1:]}** ({count} claims)", ""]
        lines += [*(f"- {sentence}" for sentence in sentences or ["none"]), ""]
    return lines


def _figures_in_short(summary: dict[str, Any]) -> list[str]:
    """Return means and ranks of table 1, the means under noise, and the tests."""
    statistics, overall = summary["statistics"], summary["noise_means"][-1]
    heads = ["method", *(f"mean, {item['source']}" for item in statistics)]
    heads += [f"rank, {item['source']}" for item in statistics]
    heads += ["noise, paper", "noise, this run"]
    rows = [
        [
            method,
            *(shown_number(item["means"][method]) for item in statistics),
            *(shown_number(item["ranks"][method]) for item in statistics),
            shown_number(overall["paper"][position]),
            shown_number(overall["ours"][position]),
        ]
        for position, method in enumerate(summary["methods"])
    ]
    tests = [
        [
            item["source"],
            str(item["sets"]),
            shown_number(item["friedman"]),
            shown_number(item["iman_davenport"]),
            shown_number(item["critical_difference"], 3),
            str(len(item["separated"])),
        ]
        for item in statistics
    ]
    test_heads = ["", "sets", "Friedman's chi²", "F_F", "critical difference", "pairs separated"]
    return [*markdown_table(heads, rows), *markdown_table(test_heads, tests), _printed(summary), ""]


def _printed(summary: dict[str, Any]) -> str:
    """Return how the paper's own statistics differ from those of its table."""
    printed, exact = summary["printed"], summary["statistics"][0]
    return (
        f"The paper prints a chi² of {printed['friedman']:.2f} and an F_F of "
        f"{printed['iman_davenport']:.2f}, which come from its ranks of two decimals; its table "
        f"gives {exact['friedman']:.2f} and {exact['iman_davenport']:.2f}."
    )


def _machines(summary: dict[str, Any]) -> list[str]:
    """Return where the cells were computed; a machine of several studies is named once."""
    said = [words for study in summary["studies"].values() for words in machines_in_words(study)]
    return list(dict.fromkeys(said))
