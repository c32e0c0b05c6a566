"""Two sources of the same numbers: one against the other, with the line of equality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from granulearn.bench.plots.palette import MARKERS, MUTED, series_color, shade


def plot_agreement(
    points: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    methods: Sequence[str],
    ax: Axes,
    *,
    x_label: str,
    y_label: str,
) -> Axes:
    """Draw one point per number; above the line, the second source is higher.

    Parameters
    ----------
    points : mapping
        Method to the numbers of the first and of the second source.
    methods : sequence of str
        All methods of the study: the position decides colour and marker.
    ax : matplotlib Axes
        Where to draw.
    x_label, y_label : str
        What the two sources are.

    Returns
    -------
    matplotlib Axes
        The same.
    """
    every = np.concatenate([np.ravel(pair) for pair in points.values()])
    low, high = every.min() - 2, every.max() + 2
    ax.plot([low, high], [low, high], color=shade(MUTED), linewidth=1, zorder=1)
    for method in methods:
        if method not in points:
            continue
        position = methods.index(method)
        first, second = points[method]
        ax.scatter(
            first,
            second,
            s=24,
            color=series_color(position),
            marker=MARKERS[position % len(MARKERS)],
            alpha=0.85,
            linewidths=0,
            label=method,
            zorder=2,
        )
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(linewidth=0.6)
    ax.set_axisbelow(True)
    return ax
