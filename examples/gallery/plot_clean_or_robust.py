"""
Clean the labels, or learn in spite of them
===========================================

There are three ways to deal with wrong labels: do nothing, clean the table first, or
use a model that expects them. This example does all three in a few lines each.

In the guide: :doc:`/guide/audit` and :doc:`/guide/robust`.
"""

# %%
# Tumours, a fifth of whose training labels is made wrong. Test labels are true, as they
# would have to be in any honest test.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn import LabelAudit, RobustClassifier
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
X, y = load_breast_cancer(return_X_y=True)


def divided(seed):
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    labels, is_wrong = flip_labels(y_train, 0.2, random_state=seed)
    return scaler.transform(X_train), labels, is_wrong, scaler.transform(X_test), y_test


# %%
# The audit rates each label by balls that did not see it. Suspects can be dropped or
# relabelled, which is what `fit_resample` does.

X_train, labels, is_wrong, _, _ = divided(0)
audit = LabelAudit(random_state=0).fit(X_train, labels)
label_quality = [audit.label_quality_[~is_wrong], audit.label_quality_[is_wrong]]
called = audit.is_label_issue_
noise = audit.summary()
print(f"{is_wrong.sum()} wrong, {called.sum()} suspect,", end=" ")
print(f"{np.sum(called & is_wrong)} rightly so")
print(f"estimate: {noise.rate:.0%}, from {noise.low:.0%} to {noise.high:.0%}")

# %%
# Boosted trees on labels as they are, on what the audit leaves, and on labels that it
# replaced; and the robust classifier on labels as they are.

ways = [
    "boosting,\nas it is",
    "boosting,\ndropped",
    "boosting,\nrelabelled",
    "robust,\nas it is",
]
scores = []
for seed in range(2):
    X_train, labels, _, X_test, y_test = divided(seed)
    boosting = HistGradientBoostingClassifier(random_state=seed)
    row = [boosting.fit(X_train, labels).score(X_test, y_test)]
    for action in ("drop", "relabel"):
        cleaned = LabelAudit(action, random_state=seed).fit_resample(X_train, labels)
        row.append(boosting.fit(*cleaned).score(X_test, y_test))
    row.append(
        RobustClassifier(random_state=seed).fit(X_train, labels).score(X_test, y_test)
    )
    scores.append(row)
scores = 100 * np.array(scores)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.hist(label_quality, np.linspace(0, 1, 21), stacked=True, label=["right", "wrong"])
left.set(
    xlabel="label quality in the audit",
    ylabel="labels",
    title="one training part",
)
left.legend(title="the label is", loc="upper center")
right.bar(
    ways, scores.mean(axis=0), color=["C5", "C2", "C2", "C0"], width=0.65, alpha=0.85
)
for column, values in enumerate(scores.T):
    right.plot(np.full(len(values), column), values, "o", color="0.2", markersize=4)
right.set(
    ylabel="test accuracy, %",
    ylim=(scores.min() - 4, 100),
    title="two random splits",
)
right.grid(axis="y")
plt.show()

# %%
# Dots are single splits, bars their means, and the axis does not start at zero.
# Cleaning has a price that the picture does not show: some labels that were right are
# dropped with the wrong ones. Where a person can look at the suspects, that is the
# better way: :doc:`/gallery/audit/plot_review_session`.
