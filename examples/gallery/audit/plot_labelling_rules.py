"""
Labels by rules: weak supervision
=================================

Nobody has labelled these messages. Five regular expressions name a class where they
match, and abstain elsewhere. They are annotators like any other: their consensus, with
the text as inputs, labels all messages.

In the guide: :doc:`/guide/annotators`.
"""

# %%
# Made-up messages to a help desk. Each has some words of the other topic, so rules err.

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from granulearn import LabelAudit

plt.style.use("granulearn.bench.style")
bill = (
    "refund invoice charged card price amount twice bank payment receipt fee tax "
    "discount cheaper cost debit credit euro total contract"
)
tech = (
    "crash error login screen slow freezes update install button driver cable reset "
    "black window file device restart broken version sound"
)
common = "hello please my the since yesterday order help again today thanks account why"
rng = np.random.default_rng(0)
truth = rng.choice(["bill", "tech"], size=900, p=[0.4, 0.6])
messages = []
for topic in truth:
    own, other = (bill, tech) if topic == "bill" else (tech, bill)
    drawn = [*rng.choice(own.split(), 6), *rng.choice(common.split(), 6)]
    drawn += [*rng.choice(other.split(), rng.integers(5))]
    messages.append(" ".join(rng.permutation(drawn)))
print("\n".join(messages[:3]))

# %%
# Five rules; the name of the group that matches first is the label. A rule should know
# more than one class: where it abstains is not used, so a rule with one label says
# nothing.

rules = [
    r"(?P<bill>refund|invoice)|(?P<tech>crash|error)",
    r"(?P<bill>charged|card)|(?P<tech>login|screen)",
    r"(?P<bill>price|amount)|(?P<tech>slow|freezes)",
    r"(?P<bill>twice|bank)|(?P<tech>update|install)",
    r"(?P<bill>account)|(?P<tech>help)",  # says nothing
]


def label(rule, text):
    """Return the class that a rule names, or None where it abstains."""
    found = re.search(rule, text)
    return found.lastgroup if found else None


annotations = pd.DataFrame(
    {rule: [label(rule, text) for text in messages] for rule in rules}
)
matched = annotations.notna().any(axis=1).to_numpy()
print(f"{matched.mean():.0%} of the messages match a rule")

# %%
# The inputs are the other words of the text, as ten numbers: words of the rules would
# vouch for the rules. Two thirds of the messages are for learning. Nobody has said
# which rules are good; the audit finds out.

in_rules = re.findall(r"[a-z]+(?=[|)])", "".join(rules))
words = TfidfVectorizer(stop_words=in_rules)
numbers = make_pipeline(words, TruncatedSVD(10, random_state=0))
X, learnt, tested = numbers.fit_transform(messages), slice(0, 600), slice(600, None)
W = annotations[learnt]
audit = LabelAudit(n_estimators=50, random_state=0).fit(X[learnt], annotations=W)
print(audit.annotators_[["n_labels", "accuracy", "information"]].round(2).to_string())

# %%
# The consensus also labels what no rule matches. Any classifier can learn from it:
# `training_rows` counts a message for each class by its probability.

t = audit.training_rows()
model = LogisticRegression(max_iter=1000)
model.fit(X[learnt][t.row], t.label, sample_weight=t.weight)

is_right, matched = audit.consensus_ == truth[learnt], matched[learnt]
vote = W.mode(axis=1)[0].to_numpy() == truth[learnt]  # of a tie, the first class
accuracy = {
    "vote of the rules": vote[matched].mean(),
    "consensus": is_right[matched].mean(),
    "classifier, new messages": (model.predict(X[tested]) == truth[tested]).mean(),
}
figure, ax = plt.subplots(figsize=(7, 3.2))
bars = ax.barh(list(accuracy)[::-1], list(accuracy.values())[::-1])
ax.bar_label(bars, fmt="%.2f", padding=3)
ax.set(xlabel="accuracy", xlim=(0.5, 1.05))
plt.show()
