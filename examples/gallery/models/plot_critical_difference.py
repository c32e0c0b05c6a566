"""
Which differences are real?
===========================

Mean accuracies over data sets rank methods; a critical-difference diagram adds which of
the differences could be chance. First a comparison of our own, then the table of the
paper.

In the guide: :doc:`/guide/studies` and :doc:`/guide/paper`.
"""

# %%
# A table with one row per data set and one column per method is all that `compare`
# needs. Here: five-fold cross-validation on ten small sets that come with a package.

import matplotlib.pyplot as plt
import pandas as pd
from scikit_posthocs import sign_plot
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn import (
    ELMClassifier,
    GBRVFLClassifier,
    GranularBallKNNClassifier,
    RVFLClassifier,
)
from granulearn.bench import (
    compare,
    describe,
    paper_accuracy_table,
    plot_critical_difference,
)
from granulearn.datasets import load

plt.style.use("granulearn.bench.style")
methods = {
    "RVFL": RVFLClassifier(C=0.1, random_state=0),
    "ELM": ELMClassifier(C=0.1, random_state=0),
    "GB-RVFL": GBRVFLClassifier(C=0.1, random_state=0),
    "nearest ball": GranularBallKNNClassifier(random_state=0),
    "nearest five": KNeighborsClassifier(),
    "naive Bayes": GaussianNB(),
    "logistic": LogisticRegression(max_iter=1000),
}
scores = {}
for data_set in [
    "bands",
    "bupa",
    "heart",
    "ionosphere",
    "pima",
    "sonar",
    "vehicle",
    "wdbc",
    "wine",
    "wisconsin",
]:
    data = load(f"keel:balanced/{data_set}")
    X = data.X.to_numpy(float)
    scores[data_set] = {
        name: 100
        * cross_val_score(make_pipeline(StandardScaler(), model), X, data.y).mean()
        for name, model in methods.items()
    }
table = pd.DataFrame(scores).T
table.round(1)

# %%
# Methods that a red bar joins do not differ significantly by Nemenyi's test. Ten sets
# separate only what is far apart: few sets make a long bar.

result = compare(table)
plot_critical_difference(result)
plt.show()

# %%
# The table of the paper has eight models and 37 data sets. Some of them are others
# under a second name: ``haber``, ``haberman`` and ``wpbc`` hold rows that are also in
# the table elsewhere. A set should count once, so they are left out.

paper = paper_accuracy_table()
once = compare(paper.drop(["haber", "haberman", "wpbc"]))
print(f"separated pairs: {len(compare(paper).separated_pairs)} with copies,", end=" ")
print(f"{len(once.separated_pairs)} without")
plot_critical_difference(once)
plt.show()

# %%
# A p-value says whether there is a difference, not whether it matters. With ``rope=1``
# a Bayesian test gives the probability that two models are within one point of
# accuracy.

close = compare(paper[["RVFL", "F-GBRVFL", "SDAP-GBRVFL"]], rope=1.0)
close.pairwise[
    ["first", "second", "p_first_better", "p_equivalent", "p_second_better"]
].round(3)

# %%
# All pairs at once, by Wilcoxon's test after Holm; and everything in words.

sign_plot(once.p_matrix("holm_p"))
plt.show()
print(describe(once))
