"""How much faster PathSearchCV is than GridSearchCV on the paper's grid."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn import rvfl
from granulearn.datasets import load
from granulearn.model_selection import PathSearchCV, paper_grid

ABOUT = """\
The paper's grid by five-fold cross-validation, without a refit, in processor time on one thread:
the least of three searches by `PathSearchCV` over `GridSearchCV`, which fits a sample of the
candidates and is extrapolated to all. Regressors search on 1,000 x 10 made-up rows by R squared.
The largest difference is of a score of a candidate on a fold."""
N_FOLDS = 5
SETS = ("credit_approval", "hill_valley", "ecoli-0-1-4-6_vs_5")
CLASSIFIERS = ("RVFL", "ELM", "GBRVFL", "GEGBRVFL", "CRVFL", "ACRVFL", "FGBRVFL", "SDAPGBRVFL")
REGRESSORS = ("RVFL", "ELM", "EnsembleDeepRVFL", "DeepRVFL")


def problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return scaled inputs and the target."""
    if name == "friedman1":
        X, y = make_friedman1(1000, 10, noise=1.0, random_state=0)
    else:
        data = load(name)
        X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    return StandardScaler().fit_transform(X), y


def grid_of(model: type) -> dict[str, list]:
    """Return the paper's grid, or what a model has in its place."""
    grid = paper_grid()
    if issubclass(model, (rvfl.CRVFLClassifier, rvfl.ACRVFLClassifier)):
        return grid | {"activation": ["acos", "asin", "asinh"]}
    if model.__name__.endswith("Classifier"):
        return grid
    if "Deep" in model.__name__:
        return {"C": grid["C"], "n_layers": list(range(1, 11)), "n_hidden": [30]}
    return {"C": grid["C"], "n_hidden": grid["n_hidden"]}


def seconds(task: Callable[[], object]) -> float:
    """Return the processor time of a task."""
    began = time.process_time()
    task()
    return time.process_time() - began


def compare_searches(model_name: str, set_name: str, n_sampled: int) -> Row:
    """Return how much faster the search is, and how far its scores are from GridSearchCV's."""
    model, (X, y) = getattr(rvfl, model_name), problem(set_name)
    grid = grid_of(model)
    candidates = list(ParameterGrid(grid))
    order = np.random.default_rng(0).permutation(len(candidates))[:n_sampled]
    sampled = [candidates[at] for at in sorted(order)]
    ours = PathSearchCV(model(random_state=0), grid, cv=N_FOLDS, refit=False)
    path_seconds = min(seconds(lambda: ours.fit(X, y)) for _ in range(3))
    grids = [{name: [value] for name, value in one.items()} for one in sampled]
    theirs = GridSearchCV(model(random_state=0), grids, cv=N_FOLDS, refit=False)
    grid_seconds = seconds(lambda: theirs.fit(X, y)) * len(candidates) / len(sampled)
    at = {str(parameters): row for row, parameters in enumerate(ours.cv_results_["params"])}
    rows = [at[str(parameters)] for parameters in theirs.cv_results_["params"]]
    scores = [f"split{fold}_test_score" for fold in range(N_FOLDS)]
    return {
        "fits": N_FOLDS * len(candidates),
        "GridSearchCV, s": grid_seconds,
        "PathSearchCV, s": path_seconds,
        "times faster": grid_seconds / path_seconds,
        "largest difference": max(
            np.abs(ours.cv_results_[name][rows] - theirs.cv_results_[name]).max() for name in scores
        ),
    }


def tasks(quick: bool) -> Iterator[Task]:
    """Yield classifiers on three sets, and regressors on one."""
    wanted = [(f"{name}Classifier", one) for one in SETS for name in CLASSIFIERS]
    wanted += [(f"{name}Regressor", "friedman1") for name in REGRESSORS]
    if quick:
        wanted = [("RVFLClassifier", SETS[2]), ("RVFLRegressor", "friedman1")]
    for model, name in wanted:
        key = {"model": model, "set": name}
        yield key, partial(compare_searches, model, name, 5 if quick else 60)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield one table per set."""
    found["largest difference"] = found["largest difference"].map("{:.1g}".format)
    found["times faster"] = found["times faster"].map("{:.0f}".format)
    for name, part in found.groupby("set", sort=False):
        yield f"## {name}"
        yield markdown(part.drop(columns="set").set_index("model"), 2)


BENCHMARKS = {"path-search": Benchmark("PathSearchCV beside GridSearchCV", ABOUT, tasks, tables)}
