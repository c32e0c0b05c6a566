"""
Robust against boosting as noise grows
======================================

Boosted trees are hard to beat while labels are right, and follow wrong ones closely.
The robust classifier is made for labels that cannot be trusted. Two real tables show
what that is worth.

In the guide: :doc:`/guide/robust`.
"""

# %%
# 300 training rows, of whose labels a growing share is flipped; 2,000 test rows, whose
# labels stay as they are. Both classifiers are used as they come: nothing is tuned.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn import RobustClassifier
from granulearn.datasets import flip_labels, load

plt.style.use("granulearn.bench.style")
models = {
    "RobustClassifier": RobustClassifier,
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier,
}
rates = np.array([0, 0.2, 0.4])


def accuracies(name):
    """Return one row per noise rate, one column per model."""
    data = load(name)
    X, X_test, y, y_test = train_test_split(
        data.X,
        data.y,
        train_size=300,
        test_size=2000,
        stratify=data.y,
        random_state=0,
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    scores = np.empty((len(rates), len(models)))
    for row, rate in enumerate(rates):
        labels = flip_labels(y, rate, random_state=0).labels
        for column, model in enumerate(models.values()):
            fitted = model(random_state=0).fit(X, labels)
            scores[row, column] = 100 * fitted.score(X_test, y_test)
    return scores


# %%
# One random division of each table, which keeps the example short. Another one gives
# other numbers, the more so the more labels are wrong.

figure, axes = plt.subplots(1, 2, figsize=(10, 4))
for ax, name in zip(axes, ("phoneme", "magic"), strict=True):
    for scores, model, marker in zip(accuracies(name).T, models, "os", strict=True):
        ax.plot(100 * rates, scores, marker=marker, label=model)
    ax.set(title=name, xlabel="wrong training labels, %")
    ax.grid(axis="y")
axes[0].set_ylabel("test accuracy, %")
axes[0].legend(loc="lower left")
plt.show()

# %%
# Two small tables are an illustration. The comparison with LightGBM, CatBoost and
# others over many tables, with tests, is ``granulearn bench rivals``.
