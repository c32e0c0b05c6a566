"""
Several annotators, and the inputs as one more witness
======================================================

Five simulated people label the same rows; some of them are careless. A vote counts all
of them alike. `LabelAudit` estimates how good each of them is, and what the inputs say.

In the guide: :doc:`/guide/annotators`.
"""

# %%
# The breast cancer data. Each of five annotators gives the true class with a
# probability of their own, and else the other one. "eve" guesses.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from granulearn import LabelAudit

plt.style.use("granulearn.bench.style")
X, truth = load_breast_cancer(return_X_y=True, as_frame=True)
truth = truth.to_numpy()
accuracies = pd.Series({"ann": 0.9, "bob": 0.8, "cy": 0.7, "dan": 0.6, "eve": 0.5})


def asked(per_row, seed=0):
    """Return one column per annotator, with labels of some of them in each row."""
    rng = np.random.default_rng(seed)
    right = rng.random((len(truth), 5)) < accuracies.to_numpy()
    given = np.where(right, truth[:, None], 1 - truth[:, None])
    is_asked = rng.random((len(truth), 5)).argsort(axis=1) < per_row
    return pd.DataFrame(given, columns=accuracies.index).where(is_asked)


# %%
# The consensus with two labels per row, and what it says of the annotators.

W = asked(2)
audit = LabelAudit(n_estimators=50, random_state=0).fit(X, annotations=W)
print(f"accuracy of the consensus: {(audit.consensus_ == truth).mean():.3f}")
print(audit.annotators_.round(2).to_string())

# %%
# Estimated accuracies with their 95 % ranges, beside the true ones, which the audit
# does not know. On the right, the accuracy of three kinds of consensus by the number of
# labels per row. With one label per row, only the inputs tell good annotators from bad.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
table, at = audit.annotators_, np.arange(5)
errors = [
    table["accuracy"] - table["accuracy_low"],
    table["accuracy_high"] - table["accuracy"],
]
left.errorbar(at, table["accuracy"], errors, fmt="o", capsize=4, label="estimated")
left.plot(at, accuracies[table.index], "x", color="0.2", markersize=9, label="true")
left.set(
    xticks=at, xticklabels=table.index, ylabel="accuracy", title="two labels per row"
)
left.legend()

found = {"majority vote": [], "labels alone": [], "labels and inputs": []}
for per_row in (1, 2, 3, 4):
    W = asked(per_row)
    share = W.mean(axis=1).to_numpy()
    draws = np.random.default_rng(0).integers(2, size=len(share))
    vote = np.where(share == 0.5, draws, share > 0.5)
    with warnings.catch_warnings():  # without inputs, one label per row tells nothing
        warnings.simplefilter("ignore", UserWarning)
        audits = [
            LabelAudit(n_estimators=50, random_state=0).fit(inputs, annotations=W)
            for inputs in (None, X)
        ]
    consensus = [vote, *(one.consensus_ for one in audits)]
    for name, labels in zip(found, consensus, strict=True):
        found[name].append((labels == truth).mean())
for name, values in found.items():
    right.plot([1, 2, 3, 4], values, "o-", label=name)
right.set(
    xlabel="labels per row", ylabel="accuracy", xticks=[1, 2, 3, 4], title="consensus"
)
right.legend(loc="lower right")
plt.show()

# %%
# Rows where one more label by a typical annotator helps most:

print(audit.next_to_label(5).round(2).to_string())
