"""Draw samples and their granular balls in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection
from matplotlib.colors import to_rgba_array
from sklearn.decomposition import PCA

from granulearn.balls import BallSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    >>> from granulearn.bench.plots import plot_balls
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> ax = plot_balls(generate_balls(X, y, random_state=0), X, y)
    """
    values, label = _ball_values(balls, color, color_label)
    samples, centers, names = _in_two_dimensions(balls, X, features)
    ax = plt.subplots(figsize=(7.5, 5.5), layout="constrained")[1] if ax is None else ax
    class_colors = to_rgba_array([f"C{code}" for code in range(len(balls.classes))])
    codes = np.searchsorted(balls.classes, np.asarray(y))
    ax.scatter(
        samples[:, 0], samples[:, 1], s=6, c=class_colors[codes], alpha=0.55, linewidths=0, zorder=2
    )
    edges = class_colors[balls.labels]
    radii = _drawn_radii(balls, samples, centers)
    single = balls.counts == 1
    circles = EllipseCollection(
        widths=2 * radii[~single],
        heights=2 * radii[~single],
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
    ax.scatter(
        centers[single, 0],
        centers[single, 1],
        s=28,
        facecolors=circles.to_rgba(values[single], alpha=0.6),
        edgecolors=edges[single],
        linewidths=0.7,
        zorder=1,
    )
    if guides:
        for color_of_class, value in zip(class_colors, balls.classes, strict=True):
            ax.scatter([], [], s=24, color=color_of_class, label=str(value))
        ax.legend(title="class", frameon=False, loc="best")
        ax.figure.colorbar(circles, ax=ax, label=label, shrink=0.85)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    # Limits that other panels share are theirs too; then the box of the panel gives way.
    shared = (ax.get_shared_x_axes(), ax.get_shared_y_axes())
    is_shared = all(len(group.get_siblings(ax)) > 1 for group in shared)
    ax.set_aspect("equal", adjustable="box" if is_shared else "datalim")
    n = len(balls.assignment)
    ax.set_title(f"{len(balls)} balls of {n} samples, {np.sum(single)} of one sample")
    return ax


def _ball_values(balls: BallSet, color: Any, label: str | None) -> tuple[np.ndarray, str]:
    """Return one number per ball and what it is called."""
    if isinstance(color, str):
        if color != "purity":
            raise ValueError(
                f"color={color!r} is not known; use 'purity', or pass one number per ball, "
                "such as the membership_ of a fitted model."
            )
        return balls.purities, label or "purity"
    values = np.asarray(color, dtype=float)
    if values.shape != (len(balls),):
        raise ValueError(
            f"color has shape {values.shape}, but there are {len(balls)} balls; "
            "pass one number per ball."
        )
    return values, label or "membership"


def _drawn_radii(balls: BallSet, samples: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the mean distance of each ball's samples to its centre, as drawn."""
    # Samples of dropped balls have the number -1; no mean uses their distance.
    distances = np.linalg.norm(samples - centers[balls.assignment], axis=1)
    return balls.sample_mean(distances)


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
        picked = [0, samples.shape[1] - 1]  # a single feature is drawn against itself
    else:
        picked = [columns.index(f) if isinstance(f, str) else int(f) for f in features]
    return samples[:, picked], balls.centers[:, picked], [columns[i] for i in picked]
