"""The figures of a summary, drawn by matplotlib once: for a page, and as files for print.

They are drawn in the colours of print; a page replaces each colour by a variable of its style, so
that one figure serves light and dark.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import rcsetup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from granulearn.balls import BallSet
from granulearn.bench.plots import plot_balls, plot_critical_difference
from granulearn.bench.statistics import compare
from granulearn.utils.files import written_atomically

# Each section of a page, and how its figures are called.
SECTIONS = {"ranks": "ranks", "curves": "curve", "layers": "layers", "activations": "activation",
            "surfaces": "surface", "paper": "paper", "balls": "balls"}  # fmt: skip
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
MARKERS = "os^DvPX*<>phd8H|"
# The colours of print, each with its colour on a dark page; those of methods are called series-N.
_PAIRS = [
    "1f5fa8", "6aa9ee", "c0392b", "f0857a", "2a7d4f", "68c592", "7b4fb0", "b894ea",
    "b7770d", "e9b44c", "0f8390", "56c4cf", "b33f8a", "ea8cc6", "4a5568", "b9c2d3",
    "6b7d1e", "b5c95b", "8c4a2f", "d79a7c", "3b4cc0", "98a6ff", "a8a21a", "ded76a",
    "1b9e77", "7be0bf", "d95f6a", "ffb0b6", "5e3c2c", "c7a48f", "7d7f86", "d5d7dc",
]  # fmt: skip
SERIES = [f"#{color}" for color in _PAIRS[::2]]
INK, MUTED, GRID = "#1d2433", "#5c6579", "#d9dde6"
THEME = {
    "ink": (INK, "#e8ebf2"),
    "muted": (MUTED, "#a3acbf"),
    "grid": (GRID, "#3a4254"),
    **{
        f"series-{number}": (color, f"#{dark}")
        for number, (color, dark) in enumerate(zip(SERIES, _PAIRS[1::2], strict=True), 1)
    },
}
# Lines and bars of the same place of a study have the same colour and marker.
_STYLE: dict[str, Any] = {
    "axes.prop_cycle": rcsetup.cycler(color=SERIES),
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
# Without the time of day, so that the same numbers make the same file.
_FORMATS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


@dataclass(frozen=True)
class ReportFigure:
    """A figure with its section and the words below it."""

    section: str
    """One of `SECTIONS`."""
    name: str
    caption: str
    figure: Figure
    wide: bool = True
    """Whether it takes the whole width; others stand two by two."""

    @property
    def svg(self) -> str:
        """The figure as an ``<svg>`` element that takes the colours of the page around it."""
        buffer = io.StringIO()
        with report_style(self.name):
            self.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        text = buffer.getvalue()
        text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
        width, height = self.figure.get_size_inches() * 72
        opening = (
            f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
            f'aria-label="{escape(self.caption, quote=True)}" xmlns="http://www.w3.org/2000/svg" '
            'xmlns:xlink="http://www.w3.org/1999/xlink">'
        )
        text = opening + text[text.index(">") + 1 :]
        # Ids must differ between the figures of a page, and matplotlib counts anew in each.
        text = re.sub(r'<g id="([\w.]+)"', rf'<g id="{self.name}-\1"', text)
        for variable, (color, _) in THEME.items():
            text = text.replace(color, f"var(--{variable})")
        return text


def report_style(salt: str = "granulearn") -> Any:
    """Return a context in which matplotlib draws as the report does; `salt` makes ids."""
    style: list[Any] = ["default", "granulearn.bench.style", {**_STYLE, "svg.hashsalt": salt}]
    return mpl.style.context(style)


def make_figures(summary: dict[str, Any], prefix: str = "") -> list[ReportFigure]:
    """Draw everything that a summary has numbers for, in the order of the page.

    The prefix tells figures of several studies apart.
    """
    figures = []
    with report_style():
        for draw in (_ranks, _curves, _layers, _activations, _surfaces, _paper, _balls):
            section = draw.__name__[1:]
            for number, (figure, caption, wide) in enumerate(draw(summary)):
                alone = section in ("ranks", "paper")
                name = SECTIONS[section] if alone else f"{SECTIONS[section]}-{number}"
                figures.append(ReportFigure(section, prefix + name, caption, figure, wide))
    return figures


def write_figures(
    summary: dict[str, Any], directory: str | os.PathLike, prefix: str = ""
) -> list[Path]:
    """Write every figure of a summary as SVG and as PDF; return the files."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for drawn in make_figures(summary, prefix):
        for ending, metadata in _FORMATS.items():
            path = folder / f"{drawn.name}.{ending}"
            with written_atomically(path) as temporary, report_style(drawn.name):
                drawn.figure.savefig(temporary, format=ending, metadata=metadata)
            written.append(path)
    return written


def score_label(summary: dict[str, Any]) -> str:
    """Return the compared score as a label with its unit, such as ``"balanced accuracy (%)"``."""
    words = str(summary["score"]).replace("_", " ")
    return f"{words} (%)" if summary["in_percent"] else words


_Drawn = Iterator[tuple[Figure, str, bool]]


def _new(width: float, height: float, title: str = "") -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left")
    return figure, axes


def _ranks(summary: dict[str, Any]) -> _Drawn:
    for comparison in summary["comparisons"][:1]:
        result = compare(
            pd.DataFrame(**comparison["table"]),
            alpha=summary["study"]["alpha"],
            higher_is_better=summary["higher_is_better"],
        )
        figure, axes = _new(7.6, 2.1 + 0.19 * len(result.ranks))
        plot_critical_difference(result, ax=axes)
        axes.spines["top"].set_visible(True)  # the axis of ranks; other figures have none above
        caption = (
            f"Average ranks over {comparison['n_sets']} {comparison['unit']}, best on the left. "
            "Methods joined by a thick bar cannot be told apart."
        )
        yield figure, caption, True


def _curves(summary: dict[str, Any]) -> _Drawn:
    for curve in summary["curves"]:
        is_mean = curve["dataset"].startswith("mean of")
        figure, axes = _new(*((7.2, 4.4) if is_mean else (4.8, 3.6)), curve["dataset"])
        words = NOISE_WORDS[curve["kind"]]
        plot_lines(axes, curve["lines"], summary["methods"], 100, 0.3)
        axes.set(xlabel=words, ylabel=score_label(summary))
        caption = f"{curve['dataset']}: {score_label(summary)} by {words}."
        if is_mean:
            figure.legend(loc="outside lower center", ncols=4)
            caption += " Bars: standard error over repeated splits, if there are any."
        yield figure, caption, is_mean


def _layers(summary: dict[str, Any]) -> _Drawn:
    for item in summary["layers"]:
        title = f"{item['condition']}, {item['dataset']}"
        figure, axes = _new(7.2, 4.4, title)
        plot_lines(axes, item["lines"], list(item["lines"]), 1, 0.06)
        axes.set(xlabel="layers", ylabel=score_label(summary))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(loc="outside lower center", ncols=4)
        caption = (
            f"{title}: {score_label(summary)} by number of layers. "
            "Bars: standard error over repeated splits, if there are any."
        )
        yield figure, caption, True


def plot_lines(
    axes: Axes, lines: Mapping[str, Any], methods: Sequence[str], scale: float, apart: float
) -> None:
    """Draw one line with error bars per method, moved apart so that bars do not hide each other."""
    for position, method in enumerate(methods):
        if method in lines:
            line = lines[method]
            errors = np.array(line["errors"], dtype=float)
            axes.errorbar(
                scale * np.asarray(line["at"]) + apart * (position - (len(methods) - 1) / 2),
                line["means"],
                yerr=None if np.isnan(errors).all() else np.nan_to_num(errors),
                **_look(position),
                elinewidth=0.9,
                capsize=2,
                label=method,
            )
    axes.grid(axis="y")


def _look(position: int) -> dict[str, Any]:
    """Return colour and marker of the method at a position of the study."""
    return {"color": SERIES[position % len(SERIES)], "marker": MARKERS[position % len(MARKERS)]}


def _activations(summary: dict[str, Any]) -> _Drawn:
    for dataset in dict.fromkeys(item["dataset"] for item in summary["activations"]):
        own = [item for item in summary["activations"] if item["dataset"] == dataset]
        points = {
            item["method"]: {
                point["at"][0]: (point["mean"], point["error"]) for point in item["points"]
            }
            for item in own
        }
        figure, axes = _new(7.2, 3.8, dataset)
        table = pd.DataFrame(
            {m: {at: p[0] for at, p in found.items()} for m, found in points.items()}
        )
        spread = pd.DataFrame(
            {m: {at: p[1] for at, p in found.items()} for m, found in points.items()}
        )
        plot_bars(axes, table.astype(float), spread.astype(float))
        axes.set_ylabel(score_label(summary))
        figure.legend(loc="outside lower center", ncols=4)
        caption = (
            f"{dataset}: {score_label(summary)} by activation. Bars: standard error over splits. "
            "The axis does not start at 0."
        )
        yield figure, caption, True


def plot_bars(axes: Axes, heights: pd.DataFrame, errors: pd.DataFrame) -> None:
    """Draw a group of bars per row, a bar per column; the axis starts near the lowest bar."""
    spread = errors.fillna(0.0)
    looks: dict[str, Any] = {"ecolor": INK, "error_kw": {"elinewidth": 0.9}, "capsize": 2}
    bars: dict[str, Any] = {"yerr": spread.to_numpy().T, **looks} if spread.to_numpy().any() else {}
    colors: Any = SERIES[: heights.shape[1]]
    heights.plot.bar(ax=axes, width=0.8, legend=False, color=colors, **bars)
    lowest, highest = (heights - spread).min().min(), (heights + spread).max().max()
    margin = max(0.15 * (highest - lowest), 0.5)
    axes.set_ylim(lowest - margin, highest + margin)
    axes.set_xticks(
        axes.get_xticks(), heights.index, rotation=35, ha="right", rotation_mode="anchor"
    )
    axes.grid(axis="y")


def _surfaces(summary: dict[str, Any]) -> _Drawn:
    for item in summary["surfaces"]:
        lines = [(*point["at"], point["mean"]) for point in item["points"]]
        table = pd.DataFrame(lines, columns=["C", "width", "mean"])
        table = table.pivot(index="width", columns="C", values="mean").astype(float)
        table.columns = [f"{c:.0e}".replace("e+0", "e").replace("e-0", "e-") for c in table.columns]
        title = f"{item['method']} on {item['dataset']}"
        figure, axes = _new(5.6, 4.4, title)
        plot_surface(axes, table, score_label(summary))
        axes.set(xlabel="C", ylabel="hidden nodes")
        yield figure, f"{title}: {score_label(summary)} by C and width.", False


def plot_surface(axes: Axes, table: pd.DataFrame, label: str) -> None:
    """Draw a table of numbers as coloured squares; missing ones are left blank."""
    mesh = axes.pcolormesh(np.ma.masked_invalid(table.to_numpy()), cmap="cividis")
    middle = (table.min().min() + table.max().max()) / 2
    for (i, j), value in np.ndenumerate(table.to_numpy()):
        if np.isfinite(value):
            # The text stands on a fill that no theme changes, so it is black or white.
            color = "white" if value < middle else "black"
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "color": color}
            axes.text(j + 0.5, i + 0.5, f"{value:.0f}", **look)
    axes.set_xticks(np.arange(table.shape[1]) + 0.5, table.columns)
    axes.set_yticks(np.arange(table.shape[0]) + 0.5, table.index)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(mesh, ax=axes, shrink=0.9, label=label).outline.set_visible(False)


def _paper(summary: dict[str, Any]) -> _Drawn:
    if not (summary["paper"] and summary["paper"]["points"]):
        return
    points = pd.DataFrame(summary["paper"]["points"])
    figure, axes = _new(7.2, 5.4)
    figures = points[["paper", "rerun"]].to_numpy()
    ends = figures.min() - 2, figures.max() + 2
    axes.plot(ends, ends, color=MUTED, linewidth=1, zorder=1)
    for method, own in points.groupby("method", sort=False):
        look = _look(summary["methods"].index(method))
        dots: dict[str, Any] = {
            "s": 24,
            "alpha": 0.85,
            "linewidths": 0,
            "zorder": 2,
            "label": method,
        }
        axes.scatter(own["paper"], own["rerun"], **look, **dots)
    axes.set(xlim=ends, ylim=ends, aspect="equal")
    axes.set(xlabel="accuracy in the paper (%)", ylabel="accuracy in this run (%)")
    axes.grid()
    figure.legend(loc="outside right upper")
    caption = (
        "Each point is one method on one data set. On the line, both agree; above it, this run "
        "is more accurate than the paper."
    )
    yield figure, caption, True


def _balls(summary: dict[str, Any]) -> _Drawn:
    for drawing in summary["drawings"]:
        balls, points, labels = balls_of_drawing(drawing)
        figure, axes = _new(5.6, 4.6)
        plot_balls(balls, points, labels, ax=axes)
        for component, share in enumerate(drawing["shares"]):
            axis = (axes.xaxis, axes.yaxis)[component]
            axis.set_label_text(f"principal component {component + 1} ({share:.0%} of variance)")
        axes.set_title(f"{drawing['dataset']}: {axes.get_title('left')}", loc="left", fontsize=9.5)
        caption = (
            f"{drawing['dataset']}, training part, {drawing['condition']}: dots are samples, "
            "circles are balls, colours are classes."
        )
        yield figure, caption, False


def balls_of_drawing(drawing: dict[str, Any]) -> tuple[BallSet, np.ndarray, np.ndarray]:
    """Rebuild the balls of a drawing in its plane; return them, points and labels."""
    points, assignment = np.asarray(drawing["points"]), np.asarray(drawing["assignment"])
    classes, codes = np.unique(drawing["labels"], return_inverse=True)
    class_counts = pd.crosstab(assignment, codes).to_numpy()
    counts = class_counts.sum(axis=1)
    centers = pd.DataFrame(points).groupby(assignment).mean().to_numpy()
    distances = np.linalg.norm(points - centers[assignment], axis=1)
    balls = BallSet(
        centers=centers,
        radii=np.bincount(assignment, distances) / counts,
        labels=class_counts.argmax(axis=1),
        purities=class_counts.max(axis=1) / counts,
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=classes,
    )
    return balls, points, classes[codes]
