"""
Wrong numbers in place of wrong labels
======================================

Where the target is a number, `audit_labels(..., task="regression")` lists the values
that do not fit their rows: a slipped point, two digits swapped, another unit. The scale
on which they are audited decides what is found.

In the guide: :doc:`/guide/tables` and :doc:`/guide/regression`.
"""

# %%
# How a disease went on in 442 patients. In twenty of them the point slips by one digit,
# up or down.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from granulearn import audit_labels

plt.style.use("granulearn.bench.style")
X, truth = load_diabetes(return_X_y=True)
slipped = np.random.default_rng(0).choice(len(truth), 20, replace=False)
given = truth.copy()
given[slipped[:10]] *= 10
given[slipped[10:]] /= 10
audit = audit_labels(X, given, task="regression", random_state=0)
audit.head()

# %%
# ``low`` and ``high`` are where about 95 % of right values would lie; the table is
# sorted by ``error_probability``. The sum of these is the expected number of wrong
# values, and so many are flagged. The audit also tells how much of the target the
# inputs explain: if that is little, few errors can be found.

print(audit.attrs["message"])
print(f"R squared without the row: {audit.attrs['explained']:.2f}")

# %%
# A value that is ten times too large stands out. One that is ten times too small is
# only a little below others: on this scale nobody could tell. A slipped point
# multiplies, so it is the logarithm that should be audited: slips of both kinds are
# found then, with some right values that are small for their rows.

is_slipped = np.isin(np.arange(len(given)), slipped)
audits = {
    "audit of the values": (audit, lambda expected: expected),
    "audit of their logarithms": (
        audit_labels(X, np.log(given), task="regression", random_state=0),
        np.exp,
    ),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
for ax, (title, (table, back)) in zip(axes, audits.items(), strict=True):
    expected = back(table["predicted_label"].sort_index().to_numpy())
    flagged = table["is_label_issue"].sort_index().to_numpy()
    ax.plot(
        expected[~is_slipped], given[~is_slipped], ".", color="C5", label="as it came"
    )
    ax.plot(expected[is_slipped], given[is_slipped], "s", color="C1", label="slipped")
    ring = {"color": "none", "markeredgecolor": "0.2", "markersize": 11}
    ax.plot(expected[flagged], given[flagged], "o", label="flagged", **ring)
    found, false = np.sum(flagged & is_slipped), np.sum(flagged & ~is_slipped)
    ax.set(title=f"{title}: {found} of 20, {false} too many", xlabel="expected value")
axes[0].set_yscale("log")
axes[0].set_ylabel("given value")
axes[0].legend(loc="lower right")
plt.show()
