"""From a summary to one self-contained page: no network, no other file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from granulearn.bench.figures import SECTIONS, THEME, make_figures, score_label
from granulearn.bench.tables import (
    GAP_HEADS,
    MOST_COLUMNS,
    UNEVEN,
    gaps_in_words,
    is_of_the_paper,
    machines_in_words,
    markdown_table,
    means_differ_in_runs,
    reasons_in_words,
    score_digits,
    shown,
    study_markdown,
)
from granulearn.utils.files import write_text_atomically
from granulearn.utils.html_pages import render_html

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


def write_page(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Render a summary and write the page, as a whole or not at all.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
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
        What `granulearn.bench.summarize` returned.

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
    sign = -1 if summary["higher_is_better"] else 1
    means = {line["method"]: line["scores"][summary["score"]] for line in summary["ranking"]}
    return _rendered(
        "page.html",
        [("", summary)],
        summary=summary,
        # Methods without a mean come last.
        ranking=sorted(summary["ranking"], key=lambda line: (
            (mean := means[line["method"]]) is None, sign * (mean or 0.0), line["method"]
        )),
        digits=score_digits(summary),
        score_label=score_label(summary),
        gap_heads=GAP_HEADS,
        gaps=gaps_in_words(summary),
        uneven=UNEVEN if means_differ_in_runs(summary) else "",
        wide_table=len(summary["methods"]) <= MOST_COLUMNS,
    )  # fmt: skip


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
    >>> from granulearn.bench import PAPER_STUDIES, Store, load_study, summarize_paper
    >>> from granulearn.bench import write_paper_page
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     for name in PAPER_STUDIES:
    ...         store.save_study(name, load_study(name).to_json())
    ...     write_paper_page(summarize_paper(store), Path(folder, "paper.html")).name
    'paper.html'
    """
    return write_text_atomically(path, render_paper_page(summary))


def render_paper_page(summary: dict[str, Any]) -> str:
    """Render the page of the whole paper as HTML; what was not run is named."""
    return _rendered(
        "paper.html",
        [(f"{name}-", study) for name, study in summary["studies"].items()],
        summary={**summary, "machines": _machines(summary)},
        rule=RULE,
        elsewhere=ELSEWHERE,
        printed=_printed(summary),
    )


def _rendered(template: str, studies: list[tuple[str, dict[str, Any]]], **values: Any) -> str:
    figures: dict[str, list] = {section: [] for section in SECTIONS}
    for number, (prefix, summary) in enumerate(studies):
        for figure in make_figures(summary, prefix):
            # Ranks and balls are those of the first study; the others would repeat them.
            if number == 0 or figure.section not in ("ranks", "balls", "paper"):
                figures[figure.section].append(figure)
    light = "".join(f"--{name}:{color};" for name, (color, _) in THEME.items())
    dark = "".join(f"--{name}:{color};" for name, (_, color) in THEME.items())
    theme = (
        f":root{{{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}}}"
        f"@media print{{:root:not([data-theme=print]){{{light}}}}}"
    )
    return render_html(
        "granulearn.bench", template, _FILTERS, figures=figures, theme=theme, **values
    )


def _seconds(value: float | None) -> str:
    """Return a time with as many digits as a reader needs."""
    return shown(value, 2 if value is None or 0.1 <= value < 10 else 1 if value >= 10 else 3)


def _settings(parameters: dict[str, Any] | None) -> str:
    """Return parameters the way a reader writes them."""

    def setting(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:g}"
        if isinstance(value, list):
            return f"[{', '.join(map(setting, value))}]"
        return value if isinstance(value, str) else json.dumps(value)

    return (
        ", ".join(f"{key} = {setting(value)}" for key, value in (parameters or {}).items()) or "–"
    )


_FILTERS: dict[str, Any] = {
    "number": shown,
    "settings": _settings,
    "words": lambda name: name.replace("_", " "),
    "seconds": _seconds,
    "reasons": reasons_in_words,
}


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
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize
    >>> from granulearn.bench import write_markdown
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_markdown(summarize(store), Path(folder, "table.md")).name
    'table.md'
    """
    text = paper_markdown(summary) if is_of_the_paper(summary) else study_markdown(summary)
    return write_text_atomically(path, text)


def paper_markdown(summary: dict[str, Any]) -> str:
    """Return what is found again, what is not, and why we think so; numbers are the store's."""
    progress, statistics = summary["progress"], summary["statistics"]
    overall = summary["noise_means"][-1]
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
        said = [f"- {line['name']}: {reasons_in_words(line['reasons'])}" for line in failed]
        lines += ["Why runs failed:", "", *said, ""]
    for verdict, sentences in summary["short"].items():
        count = f"{summary['verdicts'][verdict]} of {len(summary['claims'])}"
        lines += [f"**{verdict[0].upper()}{verdict[1:]}** ({count} claims)", ""]
        lines += [*(f"- {sentence}" for sentence in sentences or ["none"]), ""]
    lines += ["## Why we think so", ""]
    for reason in [*(summary["reasons"] or ["Nothing can be said yet."]), ELSEWHERE]:
        lines += [reason, ""]
    means = markdown_table(
        ["method", *(f"mean, {item['source']}" for item in statistics),
         *(f"rank, {item['source']}" for item in statistics), "noise, paper", "noise, this run"],
        [[method, *(shown(item["means"][method]) for item in statistics),
          *(shown(item["ranks"][method]) for item in statistics),
          shown(overall["paper"][position]), shown(overall["ours"][position])]
         for position, method in enumerate(summary["methods"])],
    )  # fmt: skip
    tests = markdown_table(
        ["", "sets", "Friedman's chi²", "F_F", "critical difference", "pairs separated"],
        [[item["source"], str(item["sets"]), shown(item["friedman"]), shown(item["iman_davenport"]),
          shown(item["critical_difference"], 3), str(len(item["separated"]))]
         for item in statistics],
    )  # fmt: skip
    claims = markdown_table(
        ["claim", "where", "the paper", "this run", "verdict"],
        [[f"{claim['text']} {claim['caveat']}".rstrip(),
          *(claim[key] for key in ("source", "paper", "ours", "verdict"))]
         for claim in summary["claims"]],
        numbers=False,
    )  # fmt: skip
    lines += ["## Means, ranks and tests", "", *means, *tests, _printed(summary), ""]
    lines += ["## Claims, one by one", "", *claims, RULE, "", *_machines(summary)]
    return "\n".join(lines) + "\n"


def _printed(summary: dict[str, Any]) -> str:
    """Return how the paper's own statistics differ from those of its table."""
    printed, exact = summary["printed"], summary["statistics"][0]
    return (
        f"The paper prints a chi² of {printed['friedman']:.2f} and an F_F of "
        f"{printed['iman_davenport']:.2f}, which come from its ranks of two decimals; its table "
        f"gives {exact['friedman']:.2f} and {exact['iman_davenport']:.2f}."
    )


def _machines(summary: dict[str, Any]) -> list[str]:
    """Return where the runs were computed; a machine of several studies is named once."""
    said = [words for study in summary["studies"].values() for words in machines_in_words(study)]
    return list(dict.fromkeys(said))
