"""From a summary to the figures of its page; each is there only if its numbers are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from granulearn.bench.plots.agreement import plot_agreement
from granulearn.bench.plots.balls import plot_balls
from granulearn.bench.plots.bars import plot_bars
from granulearn.bench.plots.critical_difference import plot_critical_difference
from granulearn.bench.plots.curves import plot_curves
from granulearn.bench.plots.palette import INK, SERIES, for_print, page_style
from granulearn.bench.plots.surface import plot_surface
from granulearn.bench.report.svg import themed_svg
from granulearn.bench.statistics import compare
from granulearn.bench.studies.drawings import balls_of_drawing
from granulearn.utils.files import written_atomically

SECTIONS = ("ranks", "curves", "layers", "activations", "surfaces", "paper", "balls")
NOISE_WORDS = {
    "uniform": "training labels that are wrong (%)",
    "pair": "training labels turned into one other class (%)",
    "boundary": "training labels that are wrong, near the boundary (%)",
    "outliers": "training rows moved far out (%)",
    "rare": "training rows of the smaller class per 100 of the larger one",
    "outliers+uniform": "training rows moved far out, and wrong labels (%)",
    "rare+uniform": "rows of the smaller class per 100 of the larger one, and wrong labels (%)",
    "rare+outliers+uniform": "the same for a rare class, outliers and wrong labels (%)",
}


# The diagram of ranks has colours of its own; on a page they are the page's.
_COLORS_OF_RANKS = {"#333333": INK, "#000000": INK, "#b2182b": SERIES[1]}


@dataclass(frozen=True)
class PageFigure:
    """A figure with its place on the page and the words below it."""

    section: str
    """One of `SECTIONS`."""
    name: str
    caption: str
    svg: str
    wide: bool = True
    """Whether it takes the whole width; others stand two by two."""


@dataclass(frozen=True)
class _Drawn:
    """A figure as it was drawn; from it come those of pages and of files."""

    section: str
    name: str
    caption: str
    figure: Figure
    wide: bool = True
    stand_ins: dict[str, str] = field(default_factory=dict)


def make_figures(summary: dict[str, Any], prefix: str = "") -> list[PageFigure]:
    """Draw everything that a summary has numbers for.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    prefix : str, default=""
        Before every name, where figures of several studies stand on one page.

    Returns
    -------
    list of PageFigure
        In the order of the page.
    """
    return [
        PageFigure(
            drawn.section,
            prefix + drawn.name,
            drawn.caption,
            themed_svg(drawn.figure, prefix + drawn.name, drawn.caption, drawn.stand_ins),
            drawn.wide,
        )
        for drawn in _draw(summary)
    ]


def write_figures(
    summary: dict[str, Any], directory: str | os.PathLike, prefix: str = ""
) -> list[Path]:
    """Write every figure of a summary as SVG and as PDF, in the colours of print.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.
    directory : path
        Where to; made if it is not there.
    prefix : str, default=""
        Before the name of every file.

    Returns
    -------
    list of Path
        The files; the same bytes for the same summary.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with for_print():
        for drawn in _draw(summary):
            for ending, metadata in _FORMATS.items():
                path = folder / f"{prefix}{drawn.name}.{ending}"
                settings: dict[Any, Any] = {"svg.hashsalt": drawn.name, "pdf.fonttype": 42}
                with written_atomically(path) as draft, mpl.rc_context(settings):
                    drawn.figure.savefig(draft, format=ending, metadata=metadata)
                written.append(path)
    return written


# Without the time of day, so that the same numbers make the same file.
_FORMATS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def _draw(summary: dict[str, Any]) -> Iterator[_Drawn]:
    with mpl.rc_context({**mpl.rcParamsDefault, "backend": "agg", **page_style()}):
        yield from _rank_figures(summary)
        yield from _curve_figures(summary)
        yield from _layer_figures(summary)
        yield from _activation_figures(summary)
        yield from _surface_figures(summary)
        yield from _paper_figures(summary)
        yield from _ball_figures(summary)


def score_label(summary: dict[str, Any]) -> str:
    """Return the compared score as a label, with its unit.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` returned.

    Returns
    -------
    str
        For example ``"balanced accuracy (%)"``.
    """
    words = str(summary["score"]).replace("_", " ")
    return f"{words} (%)" if summary["in_percent"] else words


def _rank_figures(summary: dict[str, Any]) -> Iterator[_Drawn]:
    for comparison in summary["comparisons"][:1]:
        result = compare(
            pd.DataFrame(**comparison["table"]),
            alpha=summary["study"]["alpha"],
            higher_is_better=summary["higher_is_better"],
        )
        height = 2.1 + 0.19 * len(result.ranks)
        figure = Figure(figsize=(7.6, height), layout="constrained")
        axes = plot_critical_difference(result, ax=figure.subplots())
        axes.spines["top"].set_visible(True)  # the axis of ranks; other figures have none above
        caption = (
            f"Average ranks over {comparison['n_sets']} {comparison['unit']}, best on the left. "
            "Methods joined by a thick bar cannot be told apart."
        )
        yield _Drawn("ranks", "ranks", caption, figure, stand_ins=_COLORS_OF_RANKS)


def _curve_figures(summary: dict[str, Any]) -> Iterator[_Drawn]:
    for number, curve in enumerate(summary["curves"]):
        is_mean = curve["dataset"].startswith("mean of")
        figure = Figure(figsize=(7.2, 4.4) if is_mean else (4.8, 3.6), layout="constrained")
        axes = figure.subplots()
        lines = {
            method: {**line, "at": [100 * rate for rate in line["rates"]]}
            for method, line in curve["lines"].items()
        }
        plot_curves(
            lines,
            summary["methods"],
            axes,
            x_label=NOISE_WORDS[curve["kind"]],
            y_label=score_label(summary),
        )
        axes.set_title(curve["dataset"], loc="left")
        caption = f"{curve['dataset']}: {score_label(summary)} by {NOISE_WORDS[curve['kind']]}."
        if is_mean:
            figure.legend(loc="outside lower center", ncols=4)
            caption += " Bars: standard error over repeated splits, if there are any."
        yield _Drawn("curves", f"curve-{number}", caption, figure, is_mean)


def _layer_figures(summary: dict[str, Any]) -> Iterator[_Drawn]:
    for number, item in enumerate(summary["layers"]):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.subplots()
        plot_curves(
            item["lines"],
            list(item["lines"]),
            axes,
            x_label="layers",
            y_label=score_label(summary),
            apart=0.06,
        )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(f"{item['condition']}, {item['dataset']}", loc="left")
        figure.legend(loc="outside lower center", ncols=4)
        caption = (
            f"{item['condition']}, {item['dataset']}: {score_label(summary)} by number of layers. "
            "Bars: standard error over repeated splits, if there are any."
        )
        yield _Drawn("layers", f"layers-{number}", caption, figure)


def _activation_figures(summary: dict[str, Any]) -> Iterator[_Drawn]:
    for number, dataset in enumerate(_datasets_of(summary["activations"])):
        own = [item for item in summary["activations"] if item["dataset"] == dataset]
        settings = list(dict.fromkeys(point["at"][0] for item in own for point in item["points"]))
        heights, errors = {}, {}
        for item in own:
            found = {point["at"][0]: point for point in item["points"]}
            heights[item["method"]] = [
                found[setting]["mean"] if setting in found else np.nan for setting in settings
            ]
            errors[item["method"]] = [
                found[setting]["error"] if setting in found else None for setting in settings
            ]
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        axes = figure.subplots()
        plot_bars(heights, errors, settings, axes, y_label=score_label(summary))
        axes.set_title(dataset, loc="left")
        figure.legend(loc="outside lower center", ncols=4)
        caption = (
            f"{dataset}: {score_label(summary)} by activation. Bars: standard error over splits. "
            "The axis does not start at 0."
        )
        yield _Drawn("activations", f"activation-{number}", caption, figure)


def _surface_figures(summary: dict[str, Any]) -> Iterator[_Drawn]:
    for number, item in enumerate(summary["surfaces"]):
        penalties = sorted({point["at"][0] for point in item["points"]})
        widths = sorted({point["at"][1] for point in item["points"]})
        values = np.full((len(widths), len(penalties)), np.nan)
        for point in item["points"]:
            if point["mean"] is not None:
                place = widths.index(point["at"][1]), penalties.index(point["at"][0])
                values[place] = point["mean"]
        figure = Figure(figsize=(5.6, 4.4), layout="constrained")
        axes = figure.subplots()
        plot_surface(
            values,
            [str(width) for width in widths],
            [f"{penalty:.0e}".replace("e+0", "e").replace("e-0", "e-") for penalty in penalties],
            axes,
            row_label="hidden nodes",
            column_label="C",
            color_label=score_label(summary),
        )
        axes.set_title(f"{item['method']} on {item['dataset']}", loc="left")
        caption = f"{item['method']} on {item['dataset']}: {score_label(summary)} by C and width."
        yield _Drawn("surfaces", f"surface-{number}", caption, figure, False)


def _paper_figures(summary: dict[str, Any]) -> Iterator[_Drawn]:
    if not (summary["paper"] and summary["paper"]["points"]):
        return
    points: dict[str, tuple[list[float], list[float]]] = {}
    for point in summary["paper"]["points"]:
        first, second = points.setdefault(point["method"], ([], []))
        first.append(point["paper"])
        second.append(point["rerun"])
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.subplots()
    plot_agreement(
        points,
        summary["methods"],
        axes,
        x_label="accuracy in the paper (%)",
        y_label="accuracy in this run (%)",
    )
    figure.legend(loc="outside right upper")
    caption = (
        "Each point is one method on one data set. On the line, both agree; above it, this run "
        "is more accurate than the paper."
    )
    yield _Drawn("paper", "paper", caption, figure)


def _ball_figures(summary: dict[str, Any]) -> Iterator[_Drawn]:
    for number, drawing in enumerate(summary["drawings"]):
        balls, points, labels = balls_of_drawing(drawing)
        figure = Figure(figsize=(5.6, 4.6), layout="constrained")
        axes = figure.subplots()
        plot_balls(balls, points, labels, ax=axes)
        axes_and_shares = zip((axes.xaxis, axes.yaxis), drawing["shares"], strict=True)
        for component, (axis, share) in enumerate(axes_and_shares, start=1):
            axis.set_label_text(f"principal component {component} ({share:.0%} of variance)")
        axes.set_title(f"{drawing['dataset']}: {axes.get_title()}", loc="center", fontsize=9.5)
        caption = (
            f"{drawing['dataset']}, training part, {drawing['condition']}: dots are samples, "
            "circles are balls, colours are classes."
        )
        yield _Drawn("balls", f"balls-{number}", caption, figure, False)


def _datasets_of(items: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(item["dataset"] for item in items))
