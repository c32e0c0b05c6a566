"""Pictures: a table or a BallSet becomes a matplotlib figure; no result is computed here.

``plt.style.use("granulearn.bench.style")`` gives your own figures the look of the gallery.
"""

from granulearn._extras import check_installed

check_installed("matplotlib")

from granulearn.bench.plots.balls import plot_balls
from granulearn.bench.plots.critical_difference import plot_critical_difference
from granulearn.bench.plots.pairwise import plot_pairwise_p

__all__ = ["plot_balls", "plot_critical_difference", "plot_pairwise_p"]
