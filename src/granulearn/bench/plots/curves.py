"""A score against a number, such as the strength of noise: one line per method, with error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from granulearn.bench.plots.palette import MARKERS, series_color


def plot_curves(
    lines: Mapping[str, Mapping[str, Any]],
    methods: Sequence[str],
    ax: Axes,
    *,
    x_label: str,
    y_label: str,
    apart: float = 0.3,
) -> Axes:
    """Draw one line per method.

    Parameters
    ----------
    lines : mapping
        Method to ``at``, ``means`` and ``errors`` (None for none).
    methods : sequence of str
        All methods of the study: the position decides colour and marker.
    ax : matplotlib Axes
        Where to draw.
    x_label, y_label : str
        What the axes show.
    apart : float, default=0.3
        How far lines are moved apart, so that bars at the same place do not hide
        each other.

    Returns
    -------
    matplotlib Axes
        The same.
    """
    shown = [method for method in methods if method in lines]
    for method in shown:
        line, position = lines[method], methods.index(method)
        errors = np.array([np.nan if error is None else error for error in line["errors"]])
        nudge = apart * (position - (len(methods) - 1) / 2)
        ax.errorbar(
            np.asarray(line["at"]) + nudge,
            line["means"],
            yerr=None if np.isnan(errors).all() else np.nan_to_num(errors),
            color=series_color(position),
            marker=MARKERS[position % len(MARKERS)],
            markersize=4.5,
            linewidth=1.4,
            elinewidth=0.9,
            capsize=2,
            label=method,
        )
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(axis="y", linewidth=0.7)
    ax.set_axisbelow(True)
    return ax
