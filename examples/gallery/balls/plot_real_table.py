"""
Balls of a real table
=====================

569 tumours with thirty measurements each, from scikit-learn. How many balls they make
depends on the purity that is asked for, and much more on whether the labels can be
trusted.

In the guide: :doc:`/guide/balls`.
"""

# %%
# Inputs are scaled first: balls are made by distances. One label in ten is flipped.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from granulearn import generate_balls
from granulearn.bench import plot_balls
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
X, y = load_breast_cancer(return_X_y=True)
X, labels = StandardScaler().fit_transform(X), np.array(["malignant", "benign"])[y]
noisy = flip_labels(labels, 0.1, random_state=0).labels

# %%
# At a low purity two balls are enough: one for each kind of tumour. A higher purity
# needs more balls. With wrong labels the rise comes earlier and goes
# higher, and most of the new balls hold one sample: little is left of the summary that
# balls are meant to be.

rows = []
for name, given in {"clean": labels, "one in ten wrong": noisy}.items():
    for purity in (0.7, 0.8, 0.9, 0.95, 0.985):
        balls = generate_balls(X, given, purity=purity, random_state=0)
        of_one = int(np.sum(balls.counts == 1))
        rows.append((name, purity, len(balls), of_one, balls.counts.max()))
table = pd.DataFrame(
    rows, columns=["labels", "purity", "balls", "of one sample", "largest"]
)
table

# %%
# Thirty columns are drawn in the plane of their first two principal components.

balls = generate_balls(X, labels, random_state=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=[1.5, 1])
plot_balls(balls, X, labels, ax=left)
left.set_title(f"clean labels, purity 0.985: {len(balls)} balls")
for (name, part), look in zip(table.groupby("labels"), ("C2o-", "C3s-"), strict=True):
    right.plot(part["purity"], part["balls"], look, label=name)
right.set(xlabel="purity threshold", ylabel="number of balls", ylim=0)
right.grid(axis="y")
right.legend(title="labels")
plt.show()

# %%
# A `BallSet` is also a table: here the largest balls. Each is a group of similar
# patients that can be looked up by ``balls.assignment``.

balls.to_frame().nlargest(5, "count")[["label", "count", "purity", "radius"]].round(3)
