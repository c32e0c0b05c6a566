"""
Imbalance: what class weights change
====================================

When one class becomes rare, a classifier gives it up to be right more often.
``class_weight="balanced"`` moves the boundary back. It does not make the model know
more: the order of the samples stays nearly as it was.

In the guide: :doc:`/guide/imbalance`.
"""

# %%
# A real table of two kinds of sounds. `make_imbalanced` thins the rare kind in the
# training part only; the test part stays as it is, and its recall is counted for each
# class.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn import GBRVFLClassifier, RVFLClassifier
from granulearn.datasets import load, make_imbalanced

plt.style.use("granulearn.bench.style")
sounds = load("phoneme")
classes, counts = np.unique(sounds.y, return_counts=True)
rare, common = classes[counts.argsort()]
ratios = np.array([0.4, 0.2, 0.1, 0.05, 0.025])

# %%
# A ball model needs a purity above the share of the common class: otherwise one ball of
# all samples is pure enough, the rare class is outvoted in it, and a warning says so.
#
# Recall of the rare class, recall of the common one, and the area under the ROC curve,
# which only looks at the order of the samples.


def measure(model, ratio, seed):
    X, X_test, y, y_test = train_test_split(
        sounds.X, sounds.y, train_size=1500, stratify=sounds.y, random_state=seed
    )
    X, y, _ = make_imbalanced(X, y, ratio, random_state=seed)
    scaler = StandardScaler().fit(X)
    model.set_params(random_state=seed).fit(scaler.transform(X), y)
    predicted = model.predict(scaler.transform(X_test))
    chance = model.predict_proba(scaler.transform(X_test))[
        :, list(model.classes_).index(rare)
    ]
    recalls = [
        recall_score(y_test, predicted, pos_label=name) for name in (rare, common)
    ]
    return [*recalls, roc_auc_score(y_test == rare, chance)]


figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True)
models = {
    "RVFL": RVFLClassifier(C=100),
    "GB-RVFL": GBRVFLClassifier(C=100, purity=0.99),
}
for color, (kind, model) in zip(("C0", "C1"), models.items(), strict=True):
    for line, weight in (("-", None), ("--", "balanced")):
        model.set_params(class_weight=weight)
        scores = np.array(
            [[measure(model, r, seed) for r in ratios] for seed in range(2)]
        )
        name = f"{kind}, class_weight={weight!r}"
        for part, ax in enumerate(axes):
            mean = 100 * scores[:, :, part].mean(axis=0)
            ax.plot(ratios, mean, line, color=color, marker="o", label=name)
for ax, title in zip(
    axes, ("recall, rare class", "recall, common class", "ROC AUC"), strict=True
):
    ax.set_xscale("log")
    ax.set_xticks(ratios, [f"1:{1 / ratio:g}" for ratio in ratios])
    ax.minorticks_off()
    ax.invert_xaxis()
    ax.set(title=title, xlabel="rare : common in training")
    ax.grid(axis="y")
axes[0].set(ylabel="%, mean of two splits", ylim=(0, 102))
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()

# %%
# What is gained for the rare class is paid for by the common one. Which is the better
# bargain depends on what a mistake costs, and no library can know that.
