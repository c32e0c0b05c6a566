"""
Memberships on one picture
==========================

A membership says how far a ball is to be trusted, from 0 to 1, and the network weights
its balls by it. Four memberships rate the same balls and trust different ones.

In the guide: :doc:`/guide/memberships`.
"""

# %%
# Two moons, one label in ten wrong. The balls are generated once, and each membership
# rates them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from granulearn import generate_balls
from granulearn.balls import (
    EvidenceMembership,
    FuzzyMembership,
    SDAPMembership,
    UniformMembership,
)
from granulearn.bench import plot_balls
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
X, y = make_moons(500, noise=0.15, random_state=0)
labels, is_wrong = flip_labels(np.array(["upper", "lower"])[y], 0.1, random_state=0)
balls = generate_balls(X, labels, purity=0.9, random_state=0)

schemes = {
    "uniform": UniformMembership(),
    "fuzzy": FuzzyMembership(),
    "sdap": SDAPMembership(),
    "evidence": EvidenceMembership(),
}
ratings = {name: scheme(balls, X, labels) for name, scheme in schemes.items()}

# %%
# The darker a ball, the less it is trusted. ``"fuzzy"`` trusts what is near the mean of
# its class, and the mean of a moon lies outside of the moon: it distrusts both ends of
# each. ``"sdap"`` looks at neighbouring balls too. ``"evidence"`` takes the
# out-of-bag probability of a label in a forest.

figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), sharex=True, sharey=True)
for ax, (name, rating) in zip(axes.flat, ratings.items(), strict=True):
    plot_balls(balls, X, labels, color=rating, guides=ax in axes[:, 1], ax=ax)
    ax.set(xlabel="", ylabel="", title=f'membership="{name}"')
plt.show()

# %%
# Does a membership trust the right balls? A ball is called wrong here if most of its
# samples have a flipped label.

wrong_ball = balls.sample_mean(is_wrong.astype(float)) > 0.5
figure, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True)
for ax, name in zip(axes, ("fuzzy", "sdap", "evidence"), strict=True):
    parts = [ratings[name][~wrong_ball], ratings[name][wrong_ball]]
    shares = [np.full(len(part), 100 / len(part)) for part in parts]
    ax.hist(
        parts,
        np.linspace(0, 1, 11),
        weights=shares,
        label=["right balls", "wrong balls"],
    )
    ax.set(title=name, xlabel="membership")
axes[0].set_ylabel("% of the balls")
axes[0].legend(loc="upper left")
plt.show()
print(f"{wrong_ball.sum()} of {len(balls)} balls are wrong")
