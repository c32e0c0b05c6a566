"""
Your own ball generator
=======================

A ball generator is any function that says which samples belong together;
`balls_from_labels` turns that into balls. Every ball model takes it by ``balls=``.

In the guide: :doc:`/guide/balls`.
"""

# %%
# The idea to try: the cells of a grid. All samples of a square become one ball.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from granulearn import GranularBallKNNClassifier, generate_balls
from granulearn.balls import BallGenerator, balls_from_labels
from granulearn.bench import plot_balls
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")


def grid_cells(samples, width=0.4):
    cells = np.floor(samples.X / width).astype(int)
    numbers = np.unique(cells, axis=0, return_inverse=True)[1]
    return balls_from_labels(samples, numbers.ravel())


X, y = make_moons(500, noise=0.15, random_state=0)
labels = flip_labels(np.array(["upper", "lower"])[y], 0.2, random_state=0).labels

figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), sharex=True, sharey=True)
for ax, generator, name in zip(
    axes, ("two-means", grid_cells), ("two-means", "grid"), strict=True
):
    balls = generate_balls(X, labels, balls=generator, purity=0.9, random_state=0)
    plot_balls(balls, X, labels, guides=ax is axes[1], ax=ax)
    ax.set(xlabel="", ylabel="", title=f"{name}: {len(balls)} balls")
axes[1].legend(loc="lower left")
plt.show()

# %%
# A class makes the width a parameter that can be searched (``balls__width``). It writes
# `_generate`, which gets the samples, a seed and the number of threads. What it returns
# is checked: a sample without a ball, or counts that do not add up, are errors.


class GridBalls(BallGenerator):
    def __init__(self, width=0.4):
        self.width = width

    def _generate(self, samples, seed, n_threads):
        return grid_cells(samples, self.width)


# %%
# How wide should a cell be? Small cells hold one sample and believe every label; large
# ones mix the classes. The classifier takes the class of the nearest ball; a fifth of
# the training labels is wrong, and test labels are true.

widths = np.array([0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2])
generators = [GridBalls(width) for width in widths]
generators += ["two-means", "gbg++"]
scores = np.empty((10, len(generators)))
for seed in range(10):
    X, y = make_moons(2500, noise=0.15, random_state=seed)
    given = flip_labels(y[:500], 0.2, random_state=seed).labels
    for column, generator in enumerate(generators):
        model = GranularBallKNNClassifier(balls=generator, random_state=seed)
        model.fit(X[:500], given)
        scores[seed, column] = 100 * model.score(X[500:], y[500:])

figure, ax = plt.subplots(figsize=(7, 3.8))
mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
ax.errorbar(widths, mean[:-2], error[:-2], marker="o", capsize=2, label="grid")
for column, name, look in ((-2, "two-means", "C1--"), (-1, "gbg++", "C2-.")):
    ax.plot(widths, np.full(len(widths), mean[column]), look, label=name)
ax.set_xscale("log")
ax.set_xticks(widths, widths)
ax.minorticks_off()
ax.set(xlabel="width of a cell", ylabel="test accuracy, %")
ax.grid(axis="y")
ax.legend()
plt.show()
