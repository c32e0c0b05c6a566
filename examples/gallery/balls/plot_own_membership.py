"""
A membership of your own
========================

A membership is any function of a `BallSet` that returns one number from 0 to 1 per
ball. As a class it gets parameters, and a search can choose them.

In the guide: :doc:`/guide/memberships`.
"""

# %%
# The idea to try: a ball of one sample may be a slip, a ball of fifty cannot be. So
# trust grows with the number of samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn import GBRVFLClassifier, generate_balls
from granulearn.balls import Membership
from granulearn.bench import plot_balls
from granulearn.datasets import flip_labels, load

plt.style.use("granulearn.bench.style")


def by_size(balls):
    return balls.counts / (balls.counts + 5)


X, y = make_moons(500, noise=0.15, random_state=0)
labels = flip_labels(np.array(["upper", "lower"])[y], 0.1, random_state=0).labels
model = GBRVFLClassifier(membership=by_size, purity=0.9, random_state=0).fit(X, labels)

figure, ax = plt.subplots(figsize=(8, 4))
plot_balls(model.balls_, X, labels, color=model.membership_, ax=ax)
ax.set_title("large balls are trusted, balls of one sample hardly")
plt.show()

# %%
# The 5 is a guess. A subclass of `Membership` makes it a parameter: `__init__` stores
# it, and `_rate` gets the balls, and the samples that they were made of. What comes out
# is checked: a number outside of 0 and 1 is an error that says where.


class SizeMembership(Membership):
    def __init__(self, half=5.0):
        self.half = half

    def _rate(self, balls, X, y):
        return balls.counts / (balls.counts + self.half)


balls = generate_balls(X, labels, random_state=0)
print(SizeMembership(half=1)(balls)[:5].round(2))

# %%
# Is the idea any good? A real table, of showers that a telescope has seen, six times
# divided into 800 training rows and 2,000 test rows. Training labels are clean, or
# wrong in parts; test labels are as they came. At 0 all balls count the same.

showers = load("magic")
halves, rates = [0, 1, 2, 5, 10, 20, 50], [0.0, 0.2, 0.4]
scores = np.empty((len(rates), 6, len(halves)))
for seed in range(6):
    X, X_test, y, y_test = train_test_split(
        showers.X, showers.y, train_size=800, test_size=2000, random_state=seed
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    for row, rate in enumerate(rates):
        given = flip_labels(y, rate, random_state=seed).labels
        for column, half in enumerate(halves):
            model = GBRVFLClassifier(membership=SizeMembership(half), random_state=seed)
            scores[row, seed, column] = 100 * model.fit(X, given).score(X_test, y_test)

means = scores.mean(axis=1)
errors = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
figure, ax = plt.subplots(figsize=(7, 4))
for row, rate in enumerate(rates):
    ax.errorbar(
        halves,
        means[row],
        errors[row],
        marker="os^"[row],
        capsize=2,
        label=f"{rate:.0%}",
    )
    best = means[row].argmax()
    ax.plot(
        halves[best],
        means[row, best],
        "o",
        color="none",
        markeredgecolor="0.2",
        markersize=13,
    )
ax.set_xscale("symlog", linthresh=1)
ax.set_xticks(halves, halves)
ax.minorticks_off()
ax.set(
    xlabel="half: samples at which a ball is half trusted", ylabel="test accuracy, %"
)
ax.grid(axis="y")
ax.legend(title="training labels wrong", ncols=3)
plt.show()

# %%
# Bars are one standard error, rings mark the best of each line. On this table the more
# labels are wrong, the less a small ball should be trusted. On another one it may be
# otherwise: with ``load("ring")`` and clean labels, trust by size costs accuracy. So
# let a search choose; it knows the parameter as ``membership__half``:
#
# .. code-block:: python
#
#     PathSearchCV(
#         GBRVFLClassifier(membership=SizeMembership()),
#         {"membership__half": [0, 1, 5, 20], "C": [0.01, 1, 100]},
#     )
