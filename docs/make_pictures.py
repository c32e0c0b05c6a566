"""Draw the pictures of the README again: ``make pictures``."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_moons

from granulearn import generate_balls

mpl.use("Agg")
import matplotlib.pyplot as plt

from granulearn.plots import plot_balls, plot_critical_difference
from granulearn.statistics import compare, paper_accuracy_table

IMAGES = Path(__file__).parent / "images"


def balls_of_two_moons() -> None:
    """Draw balls of clean labels beside balls of labels of which a tenth is flipped."""
    X, y = make_moons(500, noise=0.15, random_state=0)
    flipped = np.random.RandomState(0).choice(500, 50, replace=False)
    noisy = y.copy()
    noisy[flipped] = 1 - noisy[flipped]
    names = np.array(["upper", "lower"])
    figure, axes = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained")
    for ax, labels, title in zip(
        axes, (y, noisy), ("clean labels", "one label in ten is wrong"), strict=True
    ):
        balls = generate_balls(X, names[labels], purity=0.9, random_state=0)
        plot_balls(balls, X, names[labels], ax=ax)
        ax.set_title(f"{title}: {len(balls)} balls, {np.sum(balls.counts == 1)} of one sample")
    figure.savefig(IMAGES / "balls.png", dpi=110)


def critical_difference_of_the_paper() -> None:
    """Draw the critical-difference diagram of the paper's own accuracies."""
    ax = plot_critical_difference(compare(paper_accuracy_table()))
    ax.figure.savefig(IMAGES / "critical_difference.png", dpi=110)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    balls_of_two_moons()
    critical_difference_of_the_paper()
