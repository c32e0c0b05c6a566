"""How much faster PathSearchCV is than GridSearchCV on the paper's grid, and what models cost.

Prints ratios of processor time, measured in one run on one thread: times alone
say little on a busy machine.
"""

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from granulearn import rvfl
from granulearn.datasets import DatasetUnavailableError, list_datasets, load
from granulearn.model_selection import PathSearchCV, paper_grid
from granulearn.rvfl import RVFLClassifier

N_FOLDS = 5
COMPLEX_ACTIVATIONS = ["acos", "asin", "asinh"]
PAPER_MODELS = ["ELM", "GBRVFL", "GEGBRVFL", "CRVFL", "ACRVFL", "FGBRVFL", "SDAPGBRVFL"]


# Sizes of the sets, for one that is made up where a set is not there.
SIZES = {
    "credit_approval": (690, 15),
    "hill_valley": (1212, 100),
    "ecoli-0-1-4-6_vs_5": (280, 6),  # balls of one class alone are left of some folds
}


def scaled(name: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Return a scaled set, or one of its size when it is not there; and how to call it."""
    called = name
    try:
        data = load(name, download=False)
        X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    except DatasetUnavailableError:
        if name not in SIZES:
            raise
        called = f"made up in place of {name} (set GRANULEARN_DATA for the real one)"
        X, y = make_classification(*SIZES[name], n_informative=8, flip_y=0.2, random_state=0)
    return f"{called}, {X.shape[0]} x {X.shape[1]}", StandardScaler().fit_transform(X), y


def sets_of(names: list[str]) -> list[str]:
    """Return the names of sets; a collection stands for those of its sets that are there."""
    known = list_datasets()
    here = known[known["here"] != ""]
    sets = []
    for name in names:
        sets += list(here.index[here["collections"] == name]) or [name]
    return sets


def grid_of(classifier: type) -> dict[str, list]:
    """Return the paper's grid; complex networks have activations of their own."""
    complex_ones = (rvfl.CRVFLClassifier, rvfl.ACRVFLClassifier)
    return paper_grid() | (
        {"activation": COMPLEX_ACTIVATIONS} if issubclass(classifier, complex_ones) else {}
    )


def processor_time(task: Callable[[], object]) -> float:
    """Return the seconds that this process worked on a task."""
    began = time.process_time()
    task()
    return time.process_time() - began


def search_time(classifier: type, grid: dict, X, y, repeats: int) -> tuple[float, PathSearchCV]:
    """Return the smallest time of several searches, and the search."""
    search = PathSearchCV(classifier(random_state=0), grid, cv=N_FOLDS, refit=False)
    return min(processor_time(lambda: search.fit(X, y)) for _ in range(repeats)), search


def baseline(classifier: type, grid: dict, X, y, sample: int | None) -> tuple[float, GridSearchCV]:
    """Return the time of GridSearchCV, extrapolated when only a sample is fitted."""
    candidates = list(ParameterGrid(grid))
    chosen = candidates
    if sample is not None and sample < len(candidates):
        order = np.random.default_rng(0).permutation(len(candidates))
        chosen = [candidates[at] for at in sorted(order[:sample])]
    as_grids = [{name: [value] for name, value in one.items()} for one in chosen]
    search = GridSearchCV(classifier(random_state=0), as_grids, cv=N_FOLDS, refit=False)
    seconds = processor_time(lambda: search.fit(X, y))
    return seconds * len(candidates) / len(chosen), search


def largest_difference(ours: PathSearchCV, theirs: GridSearchCV) -> float:
    """Return the largest difference of a score of a candidate on a fold."""
    place = {str(parameters): at for at, parameters in enumerate(ours.cv_results_["params"])}
    rows = [place[str(parameters)] for parameters in theirs.cv_results_["params"]]
    names = [f"split{at}_test_score" for at in range(N_FOLDS)]
    return max(
        float(np.abs(ours.cv_results_[name][rows] - theirs.cv_results_[name]).max())
        for name in names
    )


def against_grid_search(
    title: str, grids: dict[type, dict], X, y, sample: int | None, repeats: int
) -> None:
    """Print how many times faster grids are searched."""
    fitted = "all candidates" if sample is None else f"{sample} candidates, extrapolated to all"
    print(f"\n## {title}; GridSearchCV fits {fitted}")
    print(
        "| model | fits | GridSearchCV (s) | PathSearchCV (s) | times faster | largest difference |"
    )
    print("|---|---|---|---|---|---|")
    for model, grid in grids.items():
        seconds, ours = search_time(model, grid, X, y, repeats)
        slow_seconds, theirs = baseline(model, grid, X, y, sample)
        print(
            f"| {model.__name__} | {N_FOLDS * len(ParameterGrid(grid)):,} "
            f"| {slow_seconds:.1f} | {seconds:.2f} | {slow_seconds / seconds:.0f} "
            f"| {largest_difference(ours, theirs):.1g} |",
            flush=True,
        )


def against_rvfl(sets: list[str], models: list[str], repeats: int) -> None:
    """Print what the whole grids of the paper's other models cost, in searches of RVFL."""
    classifiers = {name: getattr(rvfl, f"{name}Classifier") for name in models}
    settings = [
        f"{len(ParameterGrid(grid_of(classifier))):,} for {name}"
        for name, classifier in classifiers.items()
    ]
    print("\n## Whole grids of the paper's models, in times of RVFL's search")
    print(f"Settings: {', '.join(settings)}\n")
    print(f"| set | RVFL (s) | {' | '.join(models)} |")
    print("|---" * (2 + len(models)) + "|")
    for name in sets:
        called, X, y = scaled(name)
        seconds, ratios = times_rvfl(classifiers, X, y, repeats)
        each = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"| {called} | {seconds:.2f} | {each} |", flush=True)


def times_rvfl(classifiers: dict[str, type], X, y, repeats: int) -> tuple[float, list[float]]:
    """Return the seconds of RVFL's search, and those of others as multiples of it."""
    models = {"RVFL": RVFLClassifier} | classifiers
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(repeats):  # by turns, so that a busy moment hits all
        for name, classifier in models.items():
            times[name].append(search_time(classifier, grid_of(classifier), X, y, 1)[0])
    rvfl = min(times["RVFL"])
    return rvfl, [min(times[name]) / rvfl for name in classifiers]


def regressor_grids() -> dict[type, dict]:
    """Return the paper's widths, or ten numbers of layers, by its penalties."""
    widths = {"C": paper_grid()["C"], "n_hidden": paper_grid()["n_hidden"]}
    layers = {"C": paper_grid()["C"], "n_layers": list(range(1, 11)), "n_hidden": [30]}
    return {
        rvfl.RVFLRegressor: widths,
        rvfl.ELMRegressor: widths,
        rvfl.EnsembleDeepRVFLRegressor: layers,
        rvfl.DeepRVFLRegressor: layers,
    }


def all_widths(classifiers: list[type], X, y, repeats: int) -> None:
    """Print what 201 widths cost in place of 11."""
    print("\n## All widths 3, 4, ..., 203 in place of 3, 23, ..., 203")
    print("| classifier | 11 widths (s) | 201 widths (s) | ratio |")
    print("|---|---|---|---|")
    for classifier in classifiers:
        grid = grid_of(classifier)
        every = {**grid, "n_hidden": list(range(3, 204))}
        few, many = [], []
        for _ in range(repeats):  # by turns, so that a busy moment hits both
            few.append(search_time(classifier, grid, X, y, 1)[0])
            many.append(search_time(classifier, every, X, y, 1)[0])
        ratio = min(many) / min(few)
        print(f"| {classifier.__name__} | {min(few):.2f} | {min(many):.2f} | {ratio:.2f} |")


def main() -> None:
    """Run all, or the part that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="fit so many candidates by GridSearchCV only")
    parser.add_argument("--repeats", type=int, default=5, help="searches by PathSearchCV")
    parser.add_argument(
        "--classifiers",
        nargs="+",
        default=["RVFLClassifier", "SDAPGBRVFLClassifier", "GEGBRVFLClassifier"],
    )
    parser.add_argument("--models-only", action="store_true", help="the paper's models only")
    parser.add_argument("--models", nargs="+", default=PAPER_MODELS, help="which of them")
    parser.add_argument(
        "--sets",
        nargs="+",
        default=list(SIZES),
        help="on which sets, by names of sets or of a collection; the first is searched by "
        "GridSearchCV, too",
    )
    arguments = parser.parse_args()
    classifiers = [getattr(rvfl, name) for name in arguments.classifiers]
    sets = sets_of(arguments.sets)
    print(f"# {N_FOLDS} folds, one thread of {os.cpu_count()}")
    with threadpool_limits(1):
        against_rvfl(sets, arguments.models, arguments.repeats)
        if arguments.models_only:
            return
        called, X, y = scaled(sets[0])
        for classifier in classifiers:  # load what is loaded once
            PathSearchCV(classifier(random_state=0), {"C": [1.0]}, cv=2).fit(X, y)
        grids = {classifier: grid_of(classifier) for classifier in classifiers}
        title = f"The paper's grid: {called}"
        against_grid_search(title, grids, X, y, arguments.sample, arguments.repeats)
        all_widths(classifiers, X, y, arguments.repeats)
        X, y = make_friedman1(1000, 10, noise=1.0, random_state=0)
        X = StandardScaler().fit_transform(X)
        title = "Regressors, 1,000 x 10, by R squared"
        against_grid_search(title, regressor_grids(), X, y, arguments.sample, arguments.repeats)


if __name__ == "__main__":
    main()
