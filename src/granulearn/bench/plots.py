"""Pictures: a table or a BallSet becomes a matplotlib figure; no result is computed here.

``plt.style.use("granulearn.bench.style")`` gives your own figures the look of the gallery.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection
from matplotlib.colors import LogNorm, to_rgba_array
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory
from sklearn.decomposition import PCA

from granulearn._extras import check_installed
from granulearn.balls import BallSet
from granulearn.bench.statistics import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, BAR = "#1d2433", "#c0392b"
_TITLES = {
    "holm_p": "Wilcoxon signed-rank test, p-values after Holm",
    "wilcoxon_p": "Wilcoxon signed-rank test, p-values as they are",
    "nemenyi_p": "Nemenyi test, p-values",
}


def plot_balls(
    balls: BallSet,
    X: Any,
    y: Any,
    *,
    features: Sequence[int] | Sequence[str] | None = None,
    color: Any = "purity",
    color_label: str | None = None,
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
    features : two column numbers or names, default=None
        What to draw against what. None takes both columns of two, and the first
        two principal components of more.
    color : {"purity"} or array-like of shape (n_balls,), default="purity"
        What fills the circles: purities, or numbers such as memberships.
    color_label : str, default=None
        What the colour bar is called; "membership" where `color` holds numbers.
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
    if isinstance(color, str) and color != "purity":
        raise ValueError(
            f"color={color!r} is not known; use 'purity', or pass one number per ball, "
            "such as the membership_ of a fitted model."
        )
    label = color_label or ("purity" if isinstance(color, str) else "membership")
    values = balls.purities if isinstance(color, str) else np.asarray(color, dtype=float)
    if values.shape != (len(balls),):
        raise ValueError(
            f"color has shape {values.shape}, but there are {len(balls)} balls; "
            "pass one number per ball."
        )
    samples, centers, names = _in_two_dimensions(balls, X, features)
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


def _in_two_dimensions(
    balls: BallSet, X: Any, features: Sequence[int] | Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return samples and centres in two dimensions, and what the axes are called."""
    columns = [str(name) for name in getattr(X, "columns", range(balls.centers.shape[1]))]
    columns = [f"feature {name}" if name.isdigit() else name for name in columns]
    samples = np.asarray(X, dtype=float)
    if features is None and samples.shape[1] > 2:
        pca = PCA(2, svd_solver="full").fit(samples)
        share = pca.explained_variance_ratio_
        names = [f"principal component {i + 1} ({share[i]:.0%} of variance)" for i in range(2)]
        return pca.transform(samples), pca.transform(balls.centers.astype(float)), names
    if features is None:
        features = [0, samples.shape[1] - 1]  # a single feature is drawn against itself
    picked = [columns.index(f) if isinstance(f, str) else int(f) for f in features]
    return samples[:, picked], balls.centers[:, picked], [columns[i] for i in picked]


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
    # Imported when used: it brings seaborn and statsmodels along.
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


def plot_pairwise_p(
    comparison: Comparison,
    p_value: Literal["holm_p", "wilcoxon_p", "nemenyi_p"] = "holm_p",
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the p-value of every pair of models; the darker, the clearer the difference.

    Models stand from best to worst average rank; values below the comparison's
    alpha are bold.

    Parameters
    ----------
    comparison : Comparison
        What `granulearn.bench.compare` returned.
    p_value : {"holm_p", "wilcoxon_p", "nemenyi_p"}, default="holm_p"
        Which p-value.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure of fitting size by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from granulearn.bench import compare, paper_accuracy_table, plot_pairwise_p
    >>> ax = plot_pairwise_p(compare(paper_accuracy_table()))
    """
    order = comparison.best_first
    values = comparison.p_matrix(p_value).loc[order, order].to_numpy()
    if ax is None:
        side = 1.8 + 0.62 * len(order)
        _, ax = plt.subplots(figsize=(side + 0.8, side), layout="constrained")
    # The first row and the last column of the lower triangle would be empty.
    lower = np.ma.masked_where(~np.tri(len(order) - 1, dtype=bool), values[1:, :-1])
    image = ax.imshow(lower, cmap="Blues_r", norm=LogNorm(vmin=1e-4, vmax=1, clip=True))
    for (row, column), value in np.ndenumerate(lower):
        if column <= row:
            shown = "<.001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")
            color = "white" if value < 0.01 else "black"
            weight = "bold" if value < comparison.alpha else "normal"
            look: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "fontsize": "small",
                "fontweight": weight,
            }
            ax.text(column, row, shown, color=color, **look)
    ax.set_xticks(range(len(order) - 1), [str(name) for name in order[:-1]])
    ax.set_yticks(range(len(order) - 1), [str(name) for name in order[1:]])
    plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(_TITLES[p_value], fontsize="medium")
    ax.figure.colorbar(image, ax=ax, shrink=0.7, label="p")
    return ax
