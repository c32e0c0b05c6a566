"""Scores as bars in groups: one group per setting, one bar per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from granulearn.bench.plots.palette import INK, series_color, shade


def plot_bars(
    heights: Mapping[str, Sequence[float]],
    errors: Mapping[str, Sequence[float | None]],
    settings: Sequence[str],
    ax: Axes,
    *,
    y_label: str,
) -> Axes:
    """Draw groups of bars with error bars; the axis starts near the lowest bar.

    Parameters
    ----------
    heights : mapping of str to sequence of float
        For each method, one height per setting.
    errors : mapping of str to sequence of float or None
        Half lengths of the error bars.
    settings : sequence of str
        Names of the groups.
    ax : matplotlib Axes
        Where to draw.
    y_label : str
        What the bars show.

    Returns
    -------
    matplotlib Axes
        The same.
    """
    width = 0.8 / max(len(heights), 1)
    places = np.arange(len(settings))
    lowest, highest = np.inf, -np.inf
    for position, (method, values) in enumerate(heights.items()):
        spread = np.array([0.0 if error is None else error for error in errors[method]])
        ax.bar(
            places + (position - (len(heights) - 1) / 2) * width,
            values,
            0.92 * width,
            yerr=spread if spread.any() else None,
            color=series_color(position),
            error_kw={"ecolor": shade(INK), "elinewidth": 0.9, "capsize": 2},
            label=method,
        )
        lowest = min(lowest, float(np.min(np.asarray(values) - spread)))
        highest = max(highest, float(np.max(np.asarray(values) + spread)))
    margin = max(0.15 * (highest - lowest), 0.5)
    ax.set_ylim(lowest - margin, highest + margin)
    ax.set_xticks(places, settings, rotation=35, ha="right", rotation_mode="anchor")
    ax.set_ylabel(y_label)
    ax.grid(axis="y", linewidth=0.7)
    ax.set_axisbelow(True)
    return ax
