"""The heat map of pairwise p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

from granulearn.bench.statistics import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {
    "holm_p": "Wilcoxon signed-rank test, p-values after Holm",
    "wilcoxon_p": "Wilcoxon signed-rank test, p-values as they are",
    "nemenyi_p": "Nemenyi test, p-values",
}
_SMALLEST = 1e-4


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
    >>> from granulearn.bench.plots import plot_pairwise_p
    >>> from granulearn.bench.statistics import compare, paper_accuracy_table
    >>> ax = plot_pairwise_p(compare(paper_accuracy_table()))
    """
    order = comparison.ranks.sort_values(kind="stable").index
    values = comparison.p_matrix(p_value).loc[order, order].to_numpy()
    if ax is None:
        side = 1.8 + 0.62 * len(order)
        _, ax = plt.subplots(figsize=(side + 0.8, side), layout="constrained")
    # The first row and the last column of the lower triangle would be empty.
    lower = np.ma.masked_where(~np.tri(len(order) - 1, dtype=bool), values[1:, :-1])
    scale = LogNorm(vmin=_SMALLEST, vmax=1, clip=True)
    image = ax.imshow(lower, cmap="Blues_r", norm=scale)
    for (row, column), value in np.ndenumerate(lower):
        if column <= row:
            ax.text(
                column,
                row,
                _short(value),
                ha="center",
                va="center",
                color="white" if value < 0.01 else "black",
                fontweight="bold" if value < comparison.alpha else "normal",
                fontsize="small",
            )
    ax.set_xticks(range(len(order) - 1), [str(name) for name in order[:-1]])
    ax.set_yticks(range(len(order) - 1), [str(name) for name in order[1:]])
    ax.tick_params(axis="x", rotation=45)
    plt.setp(ax.get_xticklabels(), ha="right", rotation_mode="anchor")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(_TITLES[p_value], fontsize="medium")
    ax.figure.colorbar(image, ax=ax, shrink=0.7, label="p")
    return ax


def _short(p_value: float) -> str:
    """Return three decimals without the zero before the point."""
    if p_value < 0.0005:
        return "<.001"
    return f"{p_value:.3f}".removeprefix("0")
