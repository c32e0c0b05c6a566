"""
Four ways to make balls
=======================

Balls are made by two means or by one of three other published ways; ``balls=`` of
every ball model chooses. The makers agree where classes are apart, and differ in
what becomes of a wrong label.

In the guide: :doc:`/guide/balls`.
"""

# %%
# One label in ten is wrong. Each maker covers the same samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from granulearn import generate_balls
from granulearn.bench import plot_balls
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
X, y = make_moons(500, noise=0.15, random_state=0)
labels, is_wrong = flip_labels(np.array(["upper", "lower"])[y], 0.1, random_state=0)
made = {
    name: generate_balls(X, labels, balls=name, purity=0.9, random_state=0)
    for name in ("two-means", "k-division", "gbg++", "rd-gbg")
}

# %%
# A ball of one sample keeps its wrong label. In a larger ball of another class it is
# outvoted: whoever learns from the balls never sees it. The last figure counts both.

figure, axes = plt.subplots(2, 2, figsize=(8, 6), sharex=True, sharey=True)
for ax, (name, balls) in zip(axes.flat, made.items(), strict=False):
    plot_balls(balls, X, labels, guides=False, ax=ax)
    ax.set(xlabel="", ylabel="", title=f"{name}: {len(balls)} balls")

alone, outvoted = [], []
for balls in made.values():
    own = balls.assignment[is_wrong]
    alone.append(100 * np.mean(balls.counts[own] == 1))
    outvoted.append(100 * np.mean(balls.classes[balls.labels[own]] != labels[is_wrong]))

figure, ax = plt.subplots(figsize=(6, 3))
rows = np.arange(len(made))
ax.barh(rows - 0.2, alone, 0.36, color="C3", label="alone in a ball")
ax.barh(rows + 0.2, outvoted, 0.36, color="C2", label="outvoted")
ax.set_yticks(rows, made)
ax.invert_yaxis()
ax.set(xlabel="% of the wrong labels", xlim=(0, 100))
ax.legend(loc="upper center", bbox_to_anchor=(0.4, 1.2), ncols=2)
plt.show()
