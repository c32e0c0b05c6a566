"""
Calibration under wrong labels
==============================

A model that is calibrated on wrong labels is not calibrated for the true class: it
predicts 75 % where 90 % is right. The robust classifier estimates how many labels are
wrong, cautiously, or is told by ``noise_matrix=``. Its probabilities are those of the
true class then.

In the guide: :doc:`/guide/probabilities`.
"""

# %%
# A fifth of the training labels is flipped, and test labels are true. The noise rate
# is ignored, estimated, as the audit says, and as we know it.

import matplotlib.pyplot as plt
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn import LabelAudit, RobustClassifier, RVFLClassifier
from granulearn.datasets import flip_labels, load

plt.style.use("granulearn.bench.style")
showers = load("magic")
X, X_test, y, y_test = train_test_split(
    showers.X,
    showers.y,
    train_size=600,
    test_size=5000,
    stratify=showers.y,
    random_state=0,
)
scaler = StandardScaler().fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)
labels = flip_labels(y, 0.2, random_state=0).labels

noise = LabelAudit(random_state=0).fit(X, labels).summary()
print(
    f"the audit estimates {noise.rate:.0%} wrong labels ({noise.low:.0%} to",
    end=" ",
)
print(f"{noise.high:.0%}); 20% are")

# %%
# A curve on the diagonal means: of the samples with a predicted probability of 0.8,
# eight in ten are of that class.

models = {
    "RVFL": RVFLClassifier(random_state=0),
    "robust, noise ignored": RobustClassifier(noise_matrix=None, random_state=0),
    "robust": RobustClassifier(random_state=0),
    "robust, noise as audited": RobustClassifier(
        noise_matrix=noise.rate, random_state=0
    ),
    "robust, noise_matrix=0.2": RobustClassifier(noise_matrix=0.2, random_state=0),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), width_ratios=[1.3, 1])
left.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=0)
losses = {}
for (name, model), marker in zip(models.items(), "osD^v", strict=True):
    chance = model.fit(X, labels).predict_proba(X_test)
    is_second = y_test == model.classes_[1]
    share, mean = calibration_curve(
        is_second, chance[:, 1], n_bins=12, strategy="quantile"
    )
    left.plot(mean, share, marker=marker, label=name)
    losses[name] = log_loss(y_test, chance, labels=model.classes_)
left.set(
    xlabel=f"predicted probability of class {model.classes_[1]}",
    ylabel="fraction of this class",
    aspect="equal",
)
left.legend(loc="upper left", fontsize=9)
bars = right.barh(
    list(losses), list(losses.values()), color=[f"C{k}" for k in range(5)]
)
right.bar_label(bars, fmt="%.3f", padding=3)
right.set(xlabel="log-loss against true labels (less is better)")
right.margins(x=0.15)
right.invert_yaxis()
plt.show()

# %%
# A rate is right where mistakes fall evenly, as here. Where one class is mistaken
# more often than another, pass a matrix: the probability of each given label where a
# class is true.
