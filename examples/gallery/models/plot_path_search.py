"""
Path search against grid search
===============================

`PathSearchCV` has the interface and the results of scikit-learn's `GridSearchCV`. It
factors a matrix once where a grid search fits every candidate anew.

In the guide: :doc:`/guide/tuning`.
"""

# %%
# The same grid for both: penalties, widths and activations of a random vector network,
# scored by five-fold cross-validation.

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn import PathSearchCV, RVFLClassifier

plt.style.use("granulearn.bench.style")
X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), RVFLClassifier(random_state=0))
grid = {
    "rvflclassifier__C": [10.0**power for power in range(-5, 6)],
    "rvflclassifier__n_hidden": [3, 23, 63, 103],
    "rvflclassifier__activation": ["relu", "sigmoid"],
}

seconds, searches = {}, {}
for search in (GridSearchCV(model, grid), PathSearchCV(model, grid)):
    start = process_time()
    search.fit(X, y)
    seconds[type(search).__name__] = process_time() - start
    searches[type(search).__name__] = search

by_grid, by_path = (
    search.cv_results_["mean_test_score"] for search in searches.values()
)
difference = np.abs(by_grid - by_path).max()
print(f"{len(by_path)} candidates, largest difference of a score {difference:.1g}")
print("both choose", searches["PathSearchCV"].best_params_)

# %%
# Left, the scores of all candidates by one search against those by the other. Middle,
# the processor time that they took on the machine that built this page. Right, what was
# searched for: the accuracy over penalty and width for one activation.

table = pd.DataFrame(searches["PathSearchCV"].cv_results_)
table.columns = table.columns.str.removeprefix("param_rvflclassifier__")
relu = table[table["activation"] == "relu"]
surface = relu.pivot(index="n_hidden", columns="C", values="mean_test_score")

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(11, 3.6), width_ratios=[1, 0.8, 1.5]
)
left.plot(100 * by_grid, 100 * by_path, "o", markersize=4, alpha=0.5)
left.axline((95, 95), slope=1, color="0.6", linewidth=1, zorder=0)
left.set(xlabel="GridSearchCV: accuracy, %", ylabel="PathSearchCV: accuracy, %")
bars = middle.bar(list(seconds), list(seconds.values()), color=["C1", "C0"], width=0.6)
middle.bar_label(bars, fmt="%.2f s")
middle.set(ylabel="processor time, s", title=f"{len(table)} candidates, 5 folds")
mesh = right.pcolormesh(100 * surface.to_numpy())
right.set_xticks(np.arange(11) + 0.5, range(-5, 6))
right.set_yticks(np.arange(4) + 0.5, surface.index)
right.set(xlabel="log10 of C", ylabel="n_hidden", title="activation relu")
figure.colorbar(mesh, label="accuracy, %")
plt.show()
