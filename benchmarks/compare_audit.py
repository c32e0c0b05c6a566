"""Study `audit`: which score finds wrong labels that were planted.

Labels of every set of the paper's collection, each once, are flipped, and each
method rates them; AUROC and average precision say how well the ratings rank
the flipped ones first. Every result is written at once and kept, so the study
can be stopped and continued:

    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_audit.py out/audit.csv [--repeats 3]
    python benchmarks/compare_audit.py out/audit.csv --report docs/results/audit.md
"""

import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.rank import get_label_quality_scores
from kept_results import run_or_report
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from granulearn.audit import LabelAudit
from granulearn.bench import compare, load_study
from granulearn.datasets import flip_labels, load
from granulearn.preprocess import TablePreprocessor

CONDITIONS = [(kind, rate) for kind in ("uniform", "pair", "boundary") for rate in (0.1, 0.2, 0.3)]
FIELDS = ["dataset", "kind", "rate", "repeat", "method", "auroc", "average_precision", "seconds"]
OURS = "ball forest"
COMMANDS = """\
```
mkdir -p out
GRANULEARN_DATA=DIRECTORY python benchmarks/compare_audit.py out/audit.csv
python benchmarks/compare_audit.py out/audit.csv --report docs/results/audit.md
```
"""


def of_cleanlab(model) -> Callable[[np.ndarray, np.ndarray, int], np.ndarray]:
    """Return cleanlab's self-confidence on five-fold probabilities of a model."""

    def rate_labels(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        proba = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
        return get_label_quality_scores(y, proba)

    return rate_labels


def of_neighbours(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the share of the ten nearest other samples that have the same label."""
    near = NearestNeighbors(n_neighbors=10).fit(X).kneighbors()[1]
    return (y[near] == y[:, None]).mean(axis=1)


def of_balls(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the label quality of the label audit."""
    return LabelAudit(random_state=seed).fit(X, y).label_quality_


# What rates labels: takes X, labels and a seed; returns how far each label is to be trusted.
Methods = dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]]
METHODS: Methods = {
    OURS: of_balls,
    "cleanlab, logistic": of_cleanlab(LogisticRegression(max_iter=2000)),
    "cleanlab, LightGBM": of_cleanlab(LGBMClassifier(n_jobs=1, verbose=-1, deterministic=True)),
    "cleanlab, random forest": of_cleanlab(RandomForestClassifier(100, n_jobs=1)),
    "10 nearest neighbours": of_neighbours,
}


def results(
    name: str, repeat: int, done: set[tuple], methods: Methods, conditions: list
) -> Iterator[dict]:
    """Yield what is missing of one set: a row per condition and method."""
    dataset = load(name, download=False)
    # No label may help to make X: they are changed below.
    X = TablePreprocessor(max_one_hot=None).fit_transform(dataset.X)
    y = np.unique(dataset.y, return_inverse=True)[1]
    for kind, rate in conditions:
        features = {"X": X} if kind == "boundary" else {}
        noisy, wrong = flip_labels(y, rate, kind, repeat, **features)
        for method, rate_labels in methods.items():
            key = (name, kind, rate, repeat, method)
            if key in done:
                continue
            began = time.perf_counter()
            trust = rate_labels(X, noisy, repeat)
            seconds = time.perf_counter() - began
            scores = (
                roc_auc_score(wrong, -trust),
                average_precision_score(wrong, -trust),
                seconds,
            )
            yield dict(zip(FIELDS, (*key, *scores), strict=True))


def run(
    path: Path, repeats: int, methods: Methods = METHODS, conditions: list = CONDITIONS
) -> None:
    """Compute what the file does not have yet."""
    # Small sets first: a study that is stopped early has then seen most of them.
    names = sorted(
        load_study("rivals").datasets, key=lambda name: len(load(name, download=False).y)
    )
    of_balls(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2, 0)  # load kernels
    done: set[tuple] = set()
    if path.exists():
        done = set(pd.read_csv(path)[FIELDS[:5]].itertuples(index=False, name=None))
    with path.open("a", newline="", encoding="utf-8") as file, threadpool_limits(1):
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for repeat in range(repeats):
            for name in names:
                for row in results(name, repeat, done, methods, conditions):
                    writer.writerow(row)
                    file.flush()


def report(
    path: Path,
    methods: Methods = METHODS,
    conditions: list = CONDITIONS,
    commands: str = COMMANDS,
) -> str:
    """Return the tables of a file of results as Markdown."""
    table = pd.read_csv(path)
    complete = table.groupby(["dataset", "kind", "rate", "repeat"])["method"].transform("nunique")
    table = table[complete == len(methods)]
    draws = table.groupby("dataset")["repeat"].nunique()
    fewest, most = draws.min(), draws.max()
    each = f"{most}" if fewest == most else f"{fewest} to {most}"
    each += " draw" if most == 1 else " draws"
    lines = [
        commands,
        f"{len(draws)} sets, {each} of wrong labels each; mean over "
        "sets of the mean over draws. p-values are Wilcoxon's against the best rival, over sets, "
        "corrected by Holm for all pairs. Seconds are of one thread of a busy machine.",
    ]
    for score, title in (("auroc", "AUROC"), ("average_precision", "average precision")):
        lines += ["", f"## {title}", "", _row("noise", *methods, "ahead of the best rival, p")]
        lines.append("|" + "---|" * (len(methods) + 2))
        for kind, rate in conditions:
            part = table[(table["kind"] == kind) & (table["rate"] == rate)]
            per_set = part.pivot_table(score, "dataset", "method")[list(methods)]
            found = compare(per_set)
            rivals = found.means.drop(OURS)
            p_value = found.p_matrix().loc[OURS, rivals.idxmax()]
            ahead = "yes" if found.means[OURS] > rivals.max() else "no"
            cells = [f"{mean:.3f}" for mean in found.means]
            lines.append(_row(f"{kind} {rate:.0%}", *cells, f"{ahead}, {p_value:.2g}"))
    seconds = table.groupby("method")["seconds"].mean()[list(methods)]
    lines += ["", "## Seconds per audit", "", _row(*methods), "|" + "---|" * len(methods)]
    lines.append(_row(*(f"{value:.2f}" for value in seconds)))
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run the study, or write its report."""
    run_or_report(__doc__, __file__, "Finding planted wrong labels", run, report, repeats=3)


if __name__ == "__main__":
    main()
