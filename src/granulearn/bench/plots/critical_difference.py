"""The critical-difference diagram: average ranks, and who cannot be told apart."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory

from granulearn._extras import check_installed
from granulearn.bench.statistics import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK = "0.2"
_BAR = "#b2182b"
_ROW_INCHES = 0.3


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
    >>> from granulearn.bench.plots import plot_critical_difference
    >>> from granulearn.bench.statistics import compare, paper_accuracy_table
    >>> ax = plot_critical_difference(compare(paper_accuracy_table()))
    """
    # Imported when used: it brings seaborn and statsmodels along.
    check_installed("scikit_posthocs")
    from scikit_posthocs import critical_difference_diagram

    ranks = comparison.ranks
    if ax is None:
        height = _ROW_INCHES * (len(ranks) / 2 + 7)
        _, ax = plt.subplots(figsize=(9, height), layout="constrained")
    drawn = critical_difference_diagram(
        ranks.rename(index=str),
        comparison.p_matrix("nemenyi_p").rename(index=str, columns=str),
        alpha=comparison.alpha,
        ax=ax,
        color_palette=dict.fromkeys(ranks.index.map(str), _INK),
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        marker_props={"s": 22},
        elbow_props={"linewidth": 0.9},
        crossbar_props={"color": _BAR, "linewidth": 3.5, "solid_capstyle": "round"},
    )
    # Their points come in the order of a set of names, which is another in every process.
    for line in chain.from_iterable(drawn["crossbars"]):
        line.set_xdata(sorted(line.get_xdata()))
    _draw_scale(comparison, ax)
    return ax


def _draw_scale(comparison: Comparison, ax: Axes) -> None:
    """Draw the length of the critical difference above the rank axis."""
    best = float(comparison.ranks.min())
    end = best + comparison.critical_difference
    ax.plot([best, end], [1.8, 1.8], color="black", linewidth=1.6, marker="|", markersize=9)
    text = f"critical difference {comparison.critical_difference:.3f} (alpha {comparison.alpha:g})"
    ax.text(best, 2.2, text, ha="left", va="bottom")
    # x in shares of the axes, y in rows: right-aligned on the line of the other text.
    ax.text(
        1,
        2.2,
        "average rank, 1 is best",
        ha="right",
        va="bottom",
        transform=blended_transform_factory(ax.transAxes, ax.transData),
    )
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10]))
    ax.set_ylim(top=3)
