"""
How many labels are wrong?
==========================

The audit estimates the noise rate, with a range. How good the estimate is, without
verified rows and with a few, depends on where the mistakes are.

In the guide: :doc:`/guide/audit`.
"""

# %%
# Two kinds of mistakes in the same table: labels flipped anywhere, and labels flipped
# where the classes overlap. `LabelAudit` estimates the noise rate of each.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from granulearn import LabelAudit
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
X, truth = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
rates = [0.0, 0.1, 0.2, 0.3]
titles = {"uniform": "mistakes anywhere", "boundary": "mistakes where classes overlap"}


def with_mistakes(kind, rate):
    where = {"X": X} if kind == "boundary" else {}
    return flip_labels(truth, rate, kind, random_state=0, **where).labels


# %%
# Then a person verifies fifty rows that `next_to_review` draws at random. Passed as
# ``verified``, these rows sharpen the estimate, whatever the kind of mistakes.


def audited(labels):
    """Return the estimates before and after fifty rows are verified."""
    audit = LabelAudit(n_estimators=50, random_state=0).fit(X, labels)
    rows = audit.next_to_review(50, random_fraction=1.0)
    rows["label"] = truth[rows.index]
    again = LabelAudit(n_estimators=50, random_state=0).fit(X, labels, verified=rows)
    return audit.summary(), again.summary()


figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for ax, (kind, title) in zip(axes, titles.items(), strict=True):
    estimates = [audited(with_mistakes(kind, rate)) for rate in rates]
    ax.plot([-3, 33], [-3, 33], color="0.6", linewidth=1, zorder=0)
    for which, shift, name in (
        (0, -0.6, "nothing verified"),
        (1, 0.6, "50 rows verified"),
    ):
        noise = [pair[which] for pair in estimates]
        middle = 100 * np.array([one.rate for one in noise])
        low, high = (
            100 * np.array([getattr(one, end) for one in noise])
            for end in ("low", "high")
        )
        error = np.vstack([middle - low, high - middle])
        ax.errorbar(
            100 * np.array(rates) + shift,
            middle,
            error,
            fmt="os"[which],
            capsize=4,
            label=name,
        )
    ax.set(title=title, xlabel="wrong labels, %", xlim=(-3, 33))
    ax.grid(axis="y")
axes[0].set_ylabel("estimate with its range, %")
axes[0].legend(loc="upper left")
plt.show()

# %%
# Without verified rows the estimate is mostly what other tables teach: mistakes cannot
# be told from classes that overlap, so the range begins near zero and is wide.

summary = (
    LabelAudit(n_estimators=50, random_state=0)
    .fit(X, with_mistakes("boundary", 0.2))
    .summary()
)
print(textwrap.fill(summary.message))
