"""
Two moons
=========

Two hundred samples, covered with balls of one class each.
"""

from sklearn.datasets import make_moons

from granulearn import generate_balls
from granulearn.plots import plot_balls

X, y = make_moons(200, noise=0.1, random_state=0)
ax = plot_balls(generate_balls(X, y, random_state=0), X, y)
