"""
Balls under noise
=================

A granular ball gathers similar samples of nearly one class. Wrong labels break balls
apart: to stay pure, a ball must be split around them. So the number of balls says
something about labels.

In the guide: :doc:`/guide/balls`.
"""

# %%
# Two moons, and the same two moons with more and more labels flipped. `flip_labels`
# also returns which labels it changed; here only the new labels are needed.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from granulearn import generate_balls
from granulearn.bench import plot_balls
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
X, y = make_moons(500, noise=0.15, random_state=0)
truth = np.array(["upper", "lower"])[y]

# %%
# The same purity is asked for in all three pictures: nine of ten samples of a ball, or
# more, must have its class. Small rings are balls of one sample.

figure, axes = plt.subplots(1, 3, figsize=(11, 2.9), sharex=True, sharey=True)
for ax, rate in zip(axes, (0.0, 0.1, 0.3), strict=True):
    labels = flip_labels(truth, rate, random_state=0).labels
    balls = generate_balls(X, labels, purity=0.9, random_state=0)
    plot_balls(balls, X, labels, guides=ax is axes[-1], ax=ax)
    alone = np.sum(balls.counts == 1)
    ax.set(
        xlabel="",
        ylabel="",
        title=f"{rate:.0%} wrong: {len(balls)} balls, {alone} of one",
    )
axes[-1].legend(loc="lower left")
plt.show()

# %%
# How the number grows depends on how balls are made. ``"two-means"`` splits until every
# ball is pure. ``"gbg++"`` cuts balls out of the middle of a class and gives the
# samples that are left over, many wrong labels among them, to the nearest ball.

rates = np.linspace(0, 0.4, 9)
figure, ax = plt.subplots(figsize=(6.5, 3.6))
for generator, marker in (("two-means", "o"), ("gbg++", "s")):
    numbers = []
    for rate in rates:
        labels = flip_labels(truth, rate, random_state=0).labels
        balls = generate_balls(X, labels, balls=generator, purity=0.9, random_state=0)
        numbers.append(len(balls))
    ax.plot(100 * rates, numbers, marker=marker, label=f'balls="{generator}"')
ax.plot(
    100 * rates,
    len(X) * rates,
    color="0.5",
    linestyle=":",
    label="number of wrong labels",
)
ax.set(xlabel="wrong labels, %", ylabel="number of balls", ylim=0)
ax.grid(axis="y")
ax.legend()
plt.show()
