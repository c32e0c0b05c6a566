"""From a summary to one self-contained page: no network, no other file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from granulearn.bench.plots.palette import THEME
from granulearn.bench.report.figures import SECTIONS, make_figures, score_label
from granulearn.bench.report.result_tables import (
    GAP_HEADS,
    UNEVEN,
    gaps_in_words,
    means_differ_in_cells,
    score_digits,
)
from granulearn.models.html_pages import render_html
from granulearn.utils.files import write_text_atomically

# With more methods than these, figures and the list of cells show them, no table.
MOST_COLUMNS = 20


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
    >>> from granulearn.bench.report import write_page
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
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
    >>> from granulearn.bench.report import render_page
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study, summarize
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     render_page(summarize(store))[:15]
    '<!DOCTYPE html>'
    """
    figures: dict[str, list] = {section: [] for section in SECTIONS}
    for figure in make_figures(summary):
        figures[figure.section].append(figure)
    return render_html(
        "granulearn.bench.report",
        "page.html",
        {"number": shown_number, "settings": _settings, "words": _words, "seconds": _seconds},
        summary=summary,
        figures=figures,
        ranking=_best_first(summary),
        digits=score_digits(summary),
        score_label=score_label(summary),
        gap_heads=GAP_HEADS,
        gaps=gaps_in_words(summary),
        uneven=UNEVEN if means_differ_in_cells(summary) else "",
        wide_table=len(summary["methods"]) <= MOST_COLUMNS,
        theme=theme_css(),
    )


def _best_first(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of the methods by their mean; those that have none come last."""
    sign = -1 if summary["higher_is_better"] else 1

    def place(line: dict[str, Any]) -> tuple[bool, float, str]:
        mean = line["scores"][summary["score"]]
        return mean is None, sign * (mean or 0.0), line["method"]

    return sorted(summary["ranking"], key=place)


def theme_css() -> str:
    """Return the colours of figures as CSS variables, for light and for dark."""
    light = "".join(f"--{name}:{color};" for name, color, _ in THEME.values())
    dark = "".join(f"--{name}:{color};" for name, _, color in THEME.values())
    return (
        f":root{{{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}}}"
        f"@media print{{:root:not([data-theme=print]){{{light}}}}}"
    )


def shown_number(value: float | None, digits: int = 2) -> str:
    """Return a number with so many decimals; a dash where there is none.

    Parameters
    ----------
    value : float or None
        The number.
    digits : int, default=2
        Decimals.
    """
    return "–" if value is None else f"{value:.{digits}f}"


def _seconds(value: float | None) -> str:
    """Return a time with as many digits as a reader needs."""
    if value is None:
        return "–"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def _settings(parameters: dict[str, Any] | None) -> str:
    """Return parameters as a reader writes them."""
    if not parameters:
        return "–"
    return ", ".join(f"{key} = {_setting(value)}" for key, value in parameters.items())


def _setting(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        shown = [_setting(item) for item in value]
        return f"[{', '.join(shown)}]"
    return value if isinstance(value, str) else json.dumps(value)


def _words(name: str) -> str:
    """Return the name of a score in words."""
    return name.replace("_", " ")
