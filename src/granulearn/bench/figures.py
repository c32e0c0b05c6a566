"""Figures: balls, critical differences, and every figure of a report.

``plt.style.use("granulearn.bench.style")`` gives your own figures the look of the gallery.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory
from sklearn.decomposition import PCA

from granulearn._extras import check_installed
from granulearn.balls import BallSet, balls_from_labels, generate_balls
from granulearn.bench.statistics import Comparison
from granulearn.bench.store import Drawing
from granulearn.utils.files import written_atomically

# Each section of a page, and the name of its figures.
SECTIONS = {"ranks": "ranks", "curves": "curve", "layers": "layers", "activations": "activation",
            "surfaces": "surface", "paper": "paper", "balls": "balls"}  # fmt: skip
NOISE_LABELS = {
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
# Lines and bars of the same place of a study have the same colour and marker.
SERIES = [
    "#1f5fa8", "#c0392b", "#2a7d4f", "#7b4fb0", "#b7770d", "#0f8390", "#b33f8a", "#4a5568",
    "#6b7d1e", "#8c4a2f", "#3b4cc0", "#a8a21a", "#1b9e77", "#d95f6a", "#5e3c2c", "#7d7f86",
]  # fmt: skip
INK, MUTED, BAR = "#1d2433", "#5c6579", "#c0392b"
# Without the time of day, so that the same numbers make the same file.
_FORMATS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def plot_balls(
    balls: BallSet,
    X: Any,
    y: Any,
    *,
    color: Any = None,
    guides: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the samples as dots and the balls as circles.

    A circle's centre is the ball's centre, its radius the mean distance of the
    ball's samples to it in the plane that is drawn, its outline the ball's class, in
    the colours of the style in force. Its filling is `color`: the darker, the less
    the ball is to be trusted. A ball of one sample has radius 0 and is drawn as a
    small circle of fixed size.

    Parameters
    ----------
    balls : BallSet
        What `generate_balls` made of X and y.
    X : array-like of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels.
    color : array-like of shape (n_balls,), default=None
        Numbers that fill the circles, such as memberships; purities by default.
    guides : bool, default=True
        Whether to draw the legend and the colour bar; one panel of many is enough.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import generate_balls
    >>> from granulearn.bench import plot_balls
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> ax = plot_balls(generate_balls(X, y, random_state=0), X, y)
    """
    label = "purity" if color is None else "membership"
    values = balls.purities if color is None else np.asarray(color, dtype=float)
    if values.shape != (len(balls),):
        raise ValueError(
            f"color has shape {values.shape}, but there are {len(balls)} balls; "
            "pass one number per ball."
        )
    samples, centers, names = _in_two_dimensions(balls, X)
    ax = plt.subplots(figsize=(7.5, 5.5), layout="constrained")[1] if ax is None else ax
    class_colors = to_rgba_array([f"C{code}" for code in range(len(balls.classes))])
    codes = np.searchsorted(balls.classes, np.asarray(y))
    dots: dict[str, Any] = {"alpha": 0.55, "linewidths": 0, "zorder": 2}
    ax.scatter(samples[:, 0], samples[:, 1], s=6, c=class_colors[codes], **dots)
    edges = class_colors[balls.labels]
    # Samples of dropped balls have the number -1; no mean uses their distance.
    distances = np.linalg.norm(samples - centers[balls.assignment], axis=1)
    radii = balls.sample_mean(distances)
    single = balls.counts == 1
    circles = EllipseCollection(
        2 * radii[~single],
        2 * radii[~single],
        angles=0,
        units="xy",
        offsets=centers[~single],
        offset_transform=ax.transData,
        edgecolors=edges[~single],
        linewidths=1.1,
        alpha=0.6,
        cmap="PuRd_r",
        zorder=1,
    )
    circles.set_array(values[~single])
    circles.set_clim(min(values.min(), 0.5 if label == "purity" else 0.0), 1.0)
    ax.add_collection(circles)
    # Axes make room for the centres only; these corners make room for whole circles.
    ax.update_datalim(np.vstack([centers - radii[:, None], centers + radii[:, None]]))
    ax.autoscale_view()
    faces = circles.to_rgba(values[single], alpha=0.6)
    rim: dict[str, Any] = {"edgecolors": edges[single], "linewidths": 0.7, "zorder": 1}
    ax.scatter(centers[single, 0], centers[single, 1], s=28, facecolors=faces, **rim)
    if guides:
        for color_of_class, value in zip(class_colors, balls.classes, strict=True):
            ax.scatter([], [], s=24, color=color_of_class, label=str(value))
        ax.legend(title="class", frameon=False, loc="best")
        ax.figure.colorbar(circles, ax=ax, label=label, shrink=0.85)
    # Limits that other panels share are theirs too; then the box of the panel gives way.
    shared = (ax.get_shared_x_axes(), ax.get_shared_y_axes())
    is_shared = all(len(group.get_siblings(ax)) > 1 for group in shared)
    ax.set_aspect("equal", adjustable="box" if is_shared else "datalim")
    title = f"{len(balls)} balls of {len(balls.assignment)} samples, {single.sum()} of one sample"
    ax.set(xlabel=names[0], ylabel=names[1], title=title)
    return ax


def _in_two_dimensions(balls: BallSet, X: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return samples and centres in two dimensions, and what the axes are called."""
    samples = np.asarray(X, dtype=float)
    if samples.shape[1] > 2:
        pca = PCA(2, svd_solver="full").fit(samples)
        share = pca.explained_variance_ratio_
        names = [f"principal component {i + 1} ({share[i]:.0%} of variance)" for i in range(2)]
        return pca.transform(samples), pca.transform(balls.centers.astype(float)), names
    columns = [str(name) for name in getattr(X, "columns", range(samples.shape[1]))]
    picked = [0, samples.shape[1] - 1]  # a single feature is drawn against itself
    names = [f"feature {columns[i]}" if columns[i].isdigit() else columns[i] for i in picked]
    return samples[:, picked], balls.centers[:, picked], names


def plot_critical_difference(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw average ranks on a line, best on the left.

    Models that a red bar joins are not separated by Nemenyi's test. The black
    bar above the line is the critical difference.

    Parameters
    ----------
    comparison : Comparison
        What `granulearn.bench.compare` returned.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure of fitting height by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from granulearn.bench import compare, paper_accuracy_table, plot_critical_difference
    >>> ax = plot_critical_difference(compare(paper_accuracy_table()))
    """
    # Imported here: it brings seaborn and statsmodels along.
    check_installed("scikit_posthocs")
    from scikit_posthocs import critical_difference_diagram

    ranks = comparison.ranks
    if ax is None:
        size = (9, 0.3 * (len(ranks) / 2 + 7))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    drawn = critical_difference_diagram(
        ranks.rename(index=str),
        comparison.p_matrix("nemenyi_p").rename(index=str, columns=str),
        alpha=comparison.alpha,
        ax=ax,
        color_palette=dict.fromkeys(ranks.index.map(str), INK),
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        marker_props={"s": 22},
        elbow_props={"linewidth": 0.9},
        crossbar_props={"color": BAR, "linewidth": 3.5, "solid_capstyle": "round"},
    )
    # Their points come in the order of a set of names, which is another in every process.
    for line in chain.from_iterable(drawn["crossbars"]):
        line.set_xdata(sorted(line.get_xdata()))
    best, length = float(ranks.min()), comparison.critical_difference
    scale: dict[str, Any] = {"color": INK, "linewidth": 1.6, "marker": "|", "markersize": 9}
    ax.plot([best, best + length], [1.8, 1.8], **scale)
    text = f"critical difference {length:.3f} (alpha {comparison.alpha:g})"
    ax.text(best, 2.2, text, ha="left", va="bottom")
    # x in shares of the axes, y in rows: right-aligned on the line of the other text.
    both = blended_transform_factory(ax.transAxes, ax.transData)
    ax.text(1, 2.2, "average rank, 1 is best", ha="right", va="bottom", transform=both)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10]))
    ax.set_ylim(top=3)
    return ax


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
        """The figure as an ``<svg>`` element for a page with several."""
        buffer = io.StringIO()
        with report_style(self.name):
            self.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        _, _, inner = buffer.getvalue().partition("<svg")
        # Matplotlib numbers its groups anew in each figure, and ids of a page must differ; its
        # metadata name other addresses.
        inner = re.sub(
            r'<metadata>.*?</metadata>|(?<=<g) id="[\w.]+"',
            "",
            inner.partition(">")[2],
            flags=re.DOTALL,
        )
        width, height = self.figure.get_size_inches() * 72
        return (
            f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
            f'aria-label="{escape(self.caption, quote=True)}" xmlns="http://www.w3.org/2000/svg" '
            f'xmlns:xlink="http://www.w3.org/1999/xlink">{inner}'
        )


def report_style(salt: str = "granulearn") -> Any:
    """Return a context in which matplotlib draws as the report does; `salt` makes ids."""
    own = {"axes.prop_cycle": plt.cycler(color=SERIES), "svg.hashsalt": salt}
    styles: list[Any] = ["default", "granulearn.bench.style", "granulearn.bench.report", own]
    return mpl.style.context(styles)


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


def write_figures(summary: dict[str, Any], directory: str | os.PathLike) -> list[Path]:
    """Write every figure as SVG and PDF; those of several studies with the study's name.

    Parameters
    ----------
    summary : dict
        What `granulearn.bench.summarize` or `summarize_paper` returned.
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
    >>> from granulearn.bench import Store, expand, load_study, run_study, summarize, write_figures
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     _ = run_study(study, expand(study)[:0], store)
    ...     write_figures(summarize(store), folder)
    []
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    figures = make_figures(summary) if "studies" not in summary else [
        figure for name, study in summary["studies"].items()
        for figure in make_figures(study, f"{name}-")
    ]  # fmt: skip
    written = []
    for drawn in figures:
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
        result = comparison["result"]
        figure, axes = _new(7.6, 2.1 + 0.19 * len(result.ranks))
        plot_critical_difference(result, ax=axes)
        axes.spines["top"].set_visible(True)  # the axis of ranks; other figures have none above
        caption = (
            f"Average ranks over {len(result.sets)} data sets, best on the left. "
            "Methods joined by a thick bar do not differ significantly."
        )
        yield figure, caption, True


def _curves(summary: dict[str, Any]) -> _Drawn:
    for (kind, dataset), points in summary["curves"].items():
        points = points.assign(at=100 * points["at"])
        axis, is_mean = NOISE_LABELS[kind], dataset.startswith("mean of")
        yield _curve(summary, points, dataset, axis, axis, summary["methods"], is_mean)


def _layers(summary: dict[str, Any]) -> _Drawn:
    for (condition, dataset), points in summary["layers"].items():
        title, methods = f"{condition}, {dataset}", list(points["method"].unique())
        yield _curve(summary, points, title, "layers", "number of layers", methods, True)


def _curve(
    summary: dict[str, Any], points: pd.DataFrame, title: str, axis: str, words: str,
    methods: list[str], is_mean: bool,
) -> tuple[Figure, str, bool]:  # fmt: skip
    figure, axes = _new(*((7.2, 4.4) if is_mean else (4.8, 3.6)), title)
    plot_lines(axes, points, methods)
    axes.set(xlabel=axis, ylabel=score_label(summary))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    caption = f"{title}: {score_label(summary)} by {words}."
    if is_mean:
        figure.legend(loc="outside lower center", ncols=4)
        caption += " Bars: standard error over repeated splits, if there are any."
    return figure, caption, is_mean


def plot_lines(axes: Axes, points: pd.DataFrame, methods: Sequence[str]) -> None:
    """Draw one line with error bars per method, moved apart so that bars do not hide each other.

    The columns of the points are ``method``, ``at``, ``mean`` and ``error``.
    """
    apart = 0.007 * np.ptp(points["at"])
    for position, method in enumerate(methods):
        line = points[points["method"] == method].sort_values("at", kind="stable")
        if line.empty:
            continue
        axes.errorbar(
            line["at"] + apart * (position - (len(methods) - 1) / 2),
            line["mean"],
            yerr=None if line["error"].isna().all() else line["error"].fillna(0),
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
    for dataset, points in summary["activations"].groupby("dataset", sort=False):
        if points["mean"].isna().all():
            continue
        figure, axes = _new(7.2, 3.8, str(dataset))
        table = points.set_index(["activation", "method"])[["mean", "error"]].unstack()
        table = table.reindex(points["activation"].unique())
        columns = points["method"].unique()
        plot_bars(axes, table["mean"][columns], table["error"][columns])
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
    axes.set_xlabel("")
    axes.set_xticks(
        axes.get_xticks(), heights.index, rotation=35, ha="right", rotation_mode="anchor"
    )
    axes.grid(axis="y")


def _surfaces(summary: dict[str, Any]) -> _Drawn:
    for (method, dataset), points in summary["surfaces"].groupby(["method", "dataset"], sort=False):
        table = points.pivot(index="n_hidden", columns="C", values="mean")
        table.columns = [f"{c:.0e}".replace("e+0", "e").replace("e-0", "e-") for c in table.columns]
        title = f"{method} on {dataset}"
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
    if summary["paper"] is None or summary["paper"]["points"].empty:
        return
    points = summary["paper"]["points"]
    figure, axes = _new(7.2, 5.4)
    figures = points[["paper", "rerun"]].to_numpy()
    ends = figures.min() - 2, figures.max() + 2
    axes.plot(ends, ends, color=MUTED, linewidth=1, zorder=1)
    dots: dict[str, Any] = {"s": 24, "alpha": 0.85, "linewidths": 0, "zorder": 2}
    for method, own in points.groupby("method", sort=False):
        look = _look(summary["methods"].index(method))
        axes.scatter(own["paper"], own["rerun"], **look, **dots, label=method)
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
        for component, share in enumerate(drawing.shares):
            axis = (axes.xaxis, axes.yaxis)[component]
            axis.set_label_text(f"principal component {component + 1} ({share:.0%} of variance)")
        axes.set_title(f"{drawing.dataset}: {axes.get_title('left')}", loc="left", fontsize=9.5)
        caption = (
            f"{drawing.dataset}, training part, {drawing.condition}: dots are samples, "
            "circles are balls, colours are classes."
        )
        yield figure, caption, False


def balls_of_drawing(drawing: Drawing) -> tuple[BallSet, np.ndarray, np.ndarray]:
    """Rebuild the balls of a drawing in its plane; return them, points and labels."""
    points, labels = np.asarray(drawing.points), np.asarray(drawing.labels)
    balls = generate_balls(
        points, labels, balls=lambda samples: balls_from_labels(samples, drawing.assignment)
    )
    return balls, points, labels
