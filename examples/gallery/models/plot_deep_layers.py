"""
How many layers?
================

Deep networks of random layers are fitted once and can be read off after every layer:
`staged_predict` shows how many layers are worth having. More is not always better,
least of all under wrong labels.

In the guide: :doc:`/guide/deep`.
"""

# %%
# Two spirals. `DeepRVFLClassifier` puts one ridge on all layers together;
# `EnsembleDeepRVFLClassifier` puts one on each, and averages.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from granulearn import DeepRVFLClassifier, EnsembleDeepRVFLClassifier
from granulearn.datasets import flip_labels, load

plt.style.use("granulearn.bench.style")


def spirals(n_samples, seed):
    data = load("spirals", n_samples=n_samples, random_state=seed)
    return StandardScaler().fit_transform(data.X), data.y


X, y = spirals(600, 0)
across, up = np.meshgrid(np.linspace(-2.2, 2.2, 100), np.linspace(-2.2, 2.2, 100))
places = np.column_stack([across.ravel(), up.ravel()])
deep = DeepRVFLClassifier(n_layers=8, C=10, random_state=0).fit(X, y)
stages = list(deep.staged_decision_function(places))

figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True)
for ax, n_layers in zip(axes, (1, 2, 4, 8), strict=True):
    ax.contourf(
        across,
        up,
        stages[n_layers - 1].reshape(across.shape) > 0,
        cmap="PuOr",
        alpha=0.5,
    )
    ax.scatter(
        *X.T, s=4, c=np.where(y == deep.classes_[0], "#7f3b08", "#2d004b"), linewidths=0
    )
    ax.set(
        title=f"{n_layers} layer{'s' * (n_layers > 1)}",
        xticks=[],
        yticks=[],
        aspect="equal",
    )
plt.show()

# %%
# Test accuracy after each layer, for four training sets, with clean labels and with a
# fifth of them wrong. Bands span all four.

depth = 12
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
for ax, rate in zip(axes, (0.0, 0.2), strict=True):
    for color, kind in (("C0", DeepRVFLClassifier), ("C1", EnsembleDeepRVFLClassifier)):
        scores = []
        for seed in range(4):
            X, y = spirals(600, seed)
            X_test, y_test = spirals(1000, 100 + seed)
            labels = flip_labels(y, rate, random_state=seed).labels
            model = kind(n_layers=depth, C=10, random_state=seed).fit(X, labels)
            scores.append(
                [100 * np.mean(p == y_test) for p in model.staged_predict(X_test)]
            )
        low, middle, high = np.percentile(scores, [0, 50, 100], axis=0)
        layers = np.arange(1, depth + 1)
        ax.plot(layers, middle, marker="o", color=color, label=kind.__name__)
        ax.fill_between(layers, low, high, color=color, alpha=0.15)
    ax.set(title=f"{rate:.0%} of the training labels wrong", xlabel="number of layers")
    ax.grid(axis="y")
axes[0].set_ylabel("test accuracy, %")
axes[1].legend(loc="lower right")
plt.show()
