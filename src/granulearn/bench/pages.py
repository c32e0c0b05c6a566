"""From a summary to one self-contained page: no network, no other file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from msgspec import Struct
from msgspec.structs import asdict

from granulearn.bench.figures import SECTIONS, SERIES, make_figures, score_label
from granulearn.bench.methods import as_grids
from granulearn.bench.statistics import describe_in_words
from granulearn.bench.tables import (
    ELSEWHERE,
    GAP_HEADS,
    MOST_COLUMNS,
    RULE,
    UNEVEN,
    gaps_in_words,
    means_differ_in_runs,
    paper_machines,
    printed_statistics,
    reasons_in_words,
    score_digits,
    shown,
    study_file,
)
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
    if "studies" in summary:
        return _paper_page(summary)
    return _rendered(
        "page.html",
        [("", summary)],
        summary=summary,
        # Methods without a mean come last.
        ranking=summary["ranking"].sort_values(
            summary["score"], ascending=not summary["higher_is_better"], kind="stable"
        ),
        digits=score_digits(summary),
        score_label=score_label(summary),
        study_file=study_file(summary),
        gap_heads=GAP_HEADS,
        gaps=gaps_in_words(summary),
        uneven=UNEVEN if means_differ_in_runs(summary) else "",
        wide_table=len(summary["methods"]) <= MOST_COLUMNS,
    )


def _paper_page(summary: dict[str, Any]) -> str:
    return _rendered(
        "paper.html",
        [(f"{name}-", study) for name, study in summary["studies"].items()],
        summary=summary,
        machines=paper_machines(summary),
        rule=RULE,
        elsewhere=ELSEWHERE,
        printed=printed_statistics(summary),
    )


def _rendered(template: str, studies: list[tuple[str, dict[str, Any]]], **values: Any) -> str:
    figures: dict[str, list] = {section: [] for section in SECTIONS}
    for number, (prefix, summary) in enumerate(studies):
        for figure in make_figures(summary, prefix):
            # Ranks and balls are those of the first study; the others would repeat them.
            if number == 0 or figure.section not in ("ranks", "balls", "paper"):
                figures[figure.section].append(figure)
    return render_html(
        "granulearn.bench", template, _FILTERS, figures=figures, series=SERIES, **values
    )


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
    "reasons": reasons_in_words,
    "anchor": _anchor,
    "grids": as_grids,
    "lines": _lines,
    "in_words": lambda comparison: describe_in_words(comparison["result"], comparison["unit"]),
}
