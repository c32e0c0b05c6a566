"""A score over two settings as a heat map with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes


def plot_surface(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    ax: Axes,
    *,
    row_label: str,
    column_label: str,
    color_label: str,
) -> Axes:
    """Draw a table of numbers as coloured squares.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        NaN is left blank.
    rows, columns : sequence of str
        Names of the settings.
    ax : matplotlib Axes
        Where to draw.
    row_label, column_label, color_label : str
        What is on the axes, and what the colour shows.

    Returns
    -------
    matplotlib Axes
        The same.
    """
    mesh = ax.pcolormesh(np.ma.masked_invalid(values), cmap="cividis", edgecolors="none")
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            # The text stands on a fill that no theme changes, so it is black or white.
            ax.text(
                j + 0.5,
                i + 0.5,
                f"{value:.0f}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if value < middle else "black",
            )
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.tick_params(length=0)
    ax.set_xlabel(column_label)
    ax.set_ylabel(row_label)
    for side in ax.spines.values():
        side.set_visible(False)
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.9)
    bar.set_label(color_label)
    bar.outline.set_visible(False)
    return ax
