"""
Explaining one prediction by its balls
======================================

A forest of balls can say why: which balls of training samples a row fell into, which
columns led there, and which training rows are nearest. `explain` does it for one row or
many.

In the guide: :doc:`/guide/robust` and :doc:`/guide/tables`.
"""

# %%
# Tumours with thirty measurements. The model is fitted on three quarters of them; one
# of the others, about which it is not quite sure, is to be explained.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn import RobustClassifier

plt.style.use("granulearn.bench.style")
data = load_breast_cancer(as_frame=True)
X, X_test, y, y_test = train_test_split(
    data.data, data.target_names[data.target], random_state=0
)
scaler = StandardScaler().set_output(transform="pandas").fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)
model = RobustClassifier(random_state=0).fit(X, y)

sureness = model.predict_proba(X_test).max(axis=1)
row = int(np.argmin(np.abs(sureness - 0.8)))
(why,) = model.explain(X_test.iloc[[row]], training=(X, y))
print(why)
print("truth:", y_test[row])

# %%
# The same as a picture. Left: what each member of the model says, and what the model
# makes of it: their mean, scaled by a temperature that makes the probabilities fit
# (``temperature_``). Middle: the balls that contribute most, with what they hold.
# Right: the columns that led to these balls, with this row among the training rows; a
# thin line holds nine in ten of them, a thick one half.

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(12, 3.9), width_ratios=[0.8, 1, 1.4]
)
says = {name: voice.probability for name, voice in why.members.items()} | {
    "model": why.probability
}
bars = left.bar(list(says), list(says.values()), color=["C5", "C5", "C0"], width=0.6)
left.bar_label(bars, fmt="%.2f")
left.set(ylim=(0, 1.05), ylabel=f"probability of {why.label!r}", title="members")

names = [f"tree {ball.tree}" for ball in why.balls]
counts = pd.DataFrame(
    [ball.class_counts for ball in why.balls], columns=why.classes, index=names
)
counts.plot.barh(stacked=True, ax=middle, color=["C0", "C1"], width=0.6)
middle.invert_yaxis()
middle.set(xlabel="training samples", title="balls that speak for it")

columns = list(dict.fromkeys(name for ball in why.balls for name, _ in ball.columns))
for place, name in enumerate(why.classes):
    low, quarter, three_quarters, high = (
        X.loc[y == name, columns].quantile([0.05, 0.25, 0.75, 0.95]).to_numpy()
    )
    heights = np.arange(len(columns)) + 0.17 - 0.34 * place
    right.hlines(heights, low, high, color=f"C{place}", linewidth=1)
    right.hlines(
        heights, quarter, three_quarters, color=f"C{place}", linewidth=5, label=name
    )
right.plot(X_test[columns].iloc[row], np.arange(len(columns)), "kD", label="this row")
right.set_yticks(range(len(columns)), columns)
right.set(xlabel="standard deviations from the mean", title="columns that lead there")
right.set_xlim(right=5)
right.legend(loc="lower right", fontsize=9)
middle.get_legend().remove()
plt.show()

# %%
# Training rows that are nearest to it, with their labels: cases that a person can look
# up. `explain` counts the rows that it was given, from 0 on, so ``iloc`` finds them. At
# the left are their numbers in the whole table: rows were shuffled when a part of them
# was kept for the test.

positions = list(why.nearest)
nearest = X.iloc[positions][columns].round(2)
nearest.insert(0, "position", positions)
nearest.assign(label=y[positions])
