"""
A review session, simulated
===========================

`Review` leads a person through the doubtful labels of a table: it shows a row, takes a
decision, and learns from it. Here a loop plays the person, who knows the truth. The
page of ``granulearn review`` drives the same object.

In the guide: :doc:`/guide/review`.
"""

# %%
# Tumours, 45 of whose diagnoses are wrong. A frame is reviewed in memory; for a file,
# decisions would be written to a file beside it, line by line.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from granulearn import Review
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
data = load_breast_cancer(as_frame=True)
truth = data.target_names[data.target]
given, is_wrong = flip_labels(truth, 45 / len(truth), random_state=1)
table = data.data.iloc[:, :12].assign(diagnosis=given)
review = Review(table, "diagnosis", who="ann", random_state=0, n_jobs=1)
print(review, "in classes", review.classes)

# %%
# A card says which label is doubted and which would fit better. Rows count from 1, as
# in a file.

card = review.next()
print(f"row {card.row}: given {card.given_label}, rather {card.second_class}")
print("truth:", truth[card.row - 1])

# %%
# Thirty rows at random tell how many labels are wrong in all, and then fifty, the most
# doubtful first, find them. After every 25 decisions the audit learns from what was
# said.


def decide(order):
    """Look at the next row, and say what is true of it."""
    card = review.next(order)
    right = truth[card.row - 1]
    if right == card.given_label:
        review.decide(card, "keep")
    else:
        review.decide(card, "change", label=right)
    return review.summary()


summaries = [review.summary()]
summaries += [decide("random") for _ in range(30)]
summaries += [decide("worst") for _ in range(50)]
print(summaries[-1].counts)
print(textwrap.fill(summaries[-1].audit.message))

# %%
# Left, what was found. Right, the share of wrong labels as the audit saw it at the
# time, with its interval. The interval is wide while few rows stand for all others. The
# grey bar is where the order changes.

decided = np.arange(len(summaries))
found = [sum(summary.found[-1:]) for summary in summaries]
rates, lows, highs = (
    100 * np.array([getattr(summary.audit, name) for summary in summaries])
    for name in ("rate", "low", "high")
)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
left.plot(decided, found, label="found")
left.plot(
    decided, decided * is_wrong.mean(), "--", color="0.5", label="expected at random"
)
left.axhline(is_wrong.sum(), color="0.7", linewidth=1)
left.text(0, is_wrong.sum() - 2.5, f"{is_wrong.sum()} are wrong")
left.set(xlabel="rows decided on", ylabel="wrong labels found", ylim=0)
left.legend(loc="center left")
right.plot(decided, rates, color="C2", label="estimate")
right.fill_between(
    decided, lows, highs, color="C2", alpha=0.2, label="from low to high"
)
right.axhline(100 * is_wrong.mean(), color="0.4", linewidth=1, label="truth")
right.set(xlabel="rows decided on", ylabel="wrong labels, %", ylim=0)
right.legend()
for ax in (left, right):
    ax.axvline(30, color="0.85", zorder=0)
plt.show()

# %%
# What comes of it: the table with the labels that were changed. The one that was passed
# is not.

corrected = review.corrected()["diagnosis"].to_numpy()
print(f"wrong before: {np.sum(given != truth)}, after: {np.sum(corrected != truth)}")
