"""Draw the diagram of the paper's ranks again: ``make pictures``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from granulearn.bench import compare, paper_accuracy_table, plot_critical_difference

IMAGES = Path(__file__).parent / "images"


def critical_difference_of_the_paper() -> None:
    """Draw the critical-difference diagram of the paper's own accuracies."""
    ax = plot_critical_difference(compare(paper_accuracy_table()))
    ax.figure.savefig(IMAGES / "critical_difference.png", dpi=110)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    critical_difference_of_the_paper()
