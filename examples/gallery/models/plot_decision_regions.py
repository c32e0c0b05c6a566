"""
Decision regions of the eight methods
=====================================

The eight networks of the paper, as they come, on the same two moons. Each is shown
twice: above, with clean training labels; below, with three in ten wrong. The colour is
the probability.

In the guide: :doc:`/guide/networks`.
"""

# %%
# The first four learn from samples, the others from granular balls. All have the
# interface of scikit-learn.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import granulearn
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
methods = {
    "RVFL": granulearn.RVFLClassifier,
    "ELM": granulearn.ELMClassifier,
    "CRVFL": granulearn.CRVFLClassifier,
    "ACRVFL": granulearn.ACRVFLClassifier,
    "GB-RVFL": granulearn.GBRVFLClassifier,
    "GE-GB-RVFL": granulearn.GEGBRVFLClassifier,
    "F-GBRVFL": granulearn.FGBRVFLClassifier,
    "SDAP-GBRVFL": granulearn.SDAPGBRVFLClassifier,
}
X, y = make_moons(400, noise=0.2, random_state=0)
X_test, y_test = make_moons(4000, noise=0.2, random_state=1)
noisy = flip_labels(y, 0.3, random_state=0).labels

# %%
# One panel per method. The number is the share of 4,000 new samples, with true labels,
# whose class is predicted.

across, up = np.meshgrid(np.linspace(-1.7, 2.7, 120), np.linspace(-1.2, 1.7, 90))
places = np.column_stack([across.ravel(), up.ravel()])


def draw(ax, name, labels):
    model = methods[name](random_state=0).fit(X, labels)
    share = model.predict_proba(places)[:, 1].reshape(across.shape)
    ax.contourf(across, up, share, levels=np.linspace(0, 1, 11), cmap="PuOr", alpha=0.8)
    ax.contour(across, up, share, levels=[0.5], colors="0.2", linewidths=1)
    colors = np.array(["#7f3b08", "#2d004b"])[labels]
    ax.scatter(*X.T, s=5, c=colors, linewidths=0)
    ax.set_title(f"{name}: {model.score(X_test, y_test):.1%}", fontsize=10)
    ax.set(xticks=[], yticks=[])


figure, axes = plt.subplots(4, 4, figsize=(11, 9), sharex=True, sharey=True)
for column, name in enumerate(methods):
    row, column = divmod(column, 4)
    draw(axes[2 * row, column], name, y)
    draw(axes[2 * row + 1, column], name, noisy)
for row, text in enumerate(["clean", "30 % wrong", "clean", "30 % wrong"]):
    axes[row, 0].set_ylabel(text)
plt.show()

# %%
# One data set and one seed say how the methods behave, not which is better: differences
# of a few points come and go with the seed. Nothing was tuned here. What tuning does,
# and how methods are compared over many data sets, is shown in other examples.
