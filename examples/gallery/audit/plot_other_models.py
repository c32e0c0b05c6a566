"""
The audit with the probabilities of another model
=================================================

Any classifier can rate the labels: the audit takes its out-of-sample class
probabilities, and turns them into the same verdicts, counts and forecasts as those of
its own forest.

In the guide: :doc:`/guide/audit`.
"""

# %%
# The breast cancer data, with one label in twenty flipped.

from importlib import import_module
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn import audit_labels, out_of_sample_proba
from granulearn.datasets import flip_labels

plt.style.use("granulearn.bench.style")
X, truth = load_breast_cancer(return_X_y=True, as_frame=True)
given, wrong = flip_labels(truth.to_numpy(), 0.05, random_state=0)

# %%
# Three models: a pipeline of scikit-learn, LightGBM and CatBoost. What is not
# installed is left out.

models = {"pipeline": make_pipeline(StandardScaler(), LogisticRegression(C=0.1))}
boosters = {
    "lightgbm": ("LGBMClassifier", {"n_estimators": 50, "verbose": -1, "n_jobs": 1}),
    "catboost": (
        "CatBoostClassifier",
        {"n_estimators": 100, "verbose": 0, "allow_writing_files": False},
    ),
}
for package, (name, settings) in boosters.items():
    if find_spec(package) is None:
        print(f"{name} is skipped: {package} is not installed.")
    else:
        models[name] = getattr(import_module(package), name)(**settings)

# %%
# `out_of_sample_proba` fits a model once for each of five stratified folds and predicts
# the rows left out. With ``groups``, all rows of a patient are in one fold. The columns
# of the frame are named by the classes, and the audit goes by these names.

tables = {"ball forest of the audit": audit_labels(X, given, random_state=0)}
for name, model in models.items():
    tables[name] = audit_labels(X, given, proba=out_of_sample_proba(model, X, given))
for name, table in tables.items():
    print(f"{name}: {table.attrs['message']}")

# %%
# All of them put wrong labels first. Where the inputs are not at hand, as for
# probabilities from a file, ``audit_labels(None, given, proba=proba)`` gives the same
# numbers.

figure, ax = plt.subplots(figsize=(7, 4.2))
for name, table in tables.items():
    found = np.cumsum(wrong[table.index[:80]])
    ax.plot(np.arange(1, 81), found, label=name)
ax.axhline(wrong.sum(), color="0.6", linewidth=1)
ax.set(xlabel="labels verified, worst first", ylabel="wrong labels found")
ax.legend(loc="lower right")
plt.show()
