"""
Audit of a table with planted errors
====================================

The audit rates every label of a table by balls that did not see it. Here sixty labels
of a real table are made wrong on purpose, so that the audit can be checked.

In the guide: :doc:`/guide/audit`.
"""

# %%
# Applications for credit cards: numbers and categories, as they come. `audit_labels`
# takes the frame as it is, and the name of the column of labels.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from granulearn import audit_labels
from granulearn.datasets import flip_labels, load

plt.style.use("granulearn.bench.style")
credit = load("crx")
labels, planted = flip_labels(credit.y, 60 / len(credit.y), random_state=0)
table = credit.X.assign(approved=labels)
audit = audit_labels(table, "approved", random_state=0)
audit.head()

# %%
# Worst first. How good is that order? Count the planted errors among the
# first rows, against rows at random. Then, by verdict: how many
# labels have it, and how many of these were planted.

is_planted = pd.Series(planted, index=table.index)[audit.index].to_numpy()
reviewed = np.arange(len(audit) + 1)
found = np.append(0, np.cumsum(is_planted))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=[1.4, 1])
left.plot(reviewed, found, label="worst first")
left.plot(reviewed, reviewed * planted.mean(), "--", color="0.5", label="at random")
n_wrong = int(audit["is_label_issue"].sum())
left.axvline(n_wrong, color="C3", linewidth=1)
left.text(n_wrong + 6, 2, f"{n_wrong} labels are\nsuspect", color="C3")
left.set(
    xlabel="rows reviewed", ylabel="planted errors found", xlim=(0, 400), ylim=(0, 62)
)
left.legend(loc="lower right")

verdicts = [
    v for v in ("wrong", "suspect", "outlier", "fine") if (audit["verdict"] == v).any()
]
planted_of = [is_planted[audit["verdict"] == verdict].sum() for verdict in verdicts]
others_of = [(~is_planted[audit["verdict"] == verdict]).sum() for verdict in verdicts]
right.barh(verdicts, planted_of, color="C1", label="planted")
right.barh(verdicts, others_of, left=planted_of, color="C5", label="as they came")
for verdict, n_planted, n_others in zip(verdicts, planted_of, others_of, strict=True):
    n_all = n_planted + n_others
    right.text(n_all + 6, verdict, f"{n_planted} of {n_all}", va="center")
right.set(xlabel="labels", title="verdicts")
right.margins(x=0.22)
right.invert_yaxis()
right.legend(loc="upper right")
plt.show()

# %%
# Not every suspect was planted: other labels of this table may be wrong too,
# and some applications look like those of the other class. Only a person who knows the
# cases can tell. The audit also estimates the noise rate, with a range:

noise = audit.attrs
low, high = noise["noise_low"], noise["noise_high"]
print(f"{noise['noise_rate']:.1%} wrong, between {low:.1%} and {high:.1%}")
print(f"planted: {planted.mean():.1%}")
print(textwrap.fill(noise["message"]))
