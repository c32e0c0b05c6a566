"""How fast the ball forest and the label audit are: against their everyday rivals.

Prints ratios measured in one run: times alone say little on a busy machine.
Times of one thread are of the processor, so that other programs change them
less; those of several threads are of the clock, and want an idle machine.
"""

import argparse
import gc
import os
import time
from collections.abc import Callable

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

from granulearn.audit import LabelAudit
from granulearn.forest import BallForestClassifier


def noisy_table(n_samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 20 features, two classes with a tenth of the labels flipped, and which."""
    X, y = make_classification(
        n_samples,
        20,
        n_informative=10,
        n_redundant=2,
        n_clusters_per_class=4,
        class_sep=1.5,
        flip_y=0,
        random_state=0,
    )
    wrong = np.zeros(n_samples, dtype=bool)
    flipped = np.random.RandomState(1).choice(n_samples, n_samples // 10, replace=False)
    wrong[flipped] = True
    return X, np.where(wrong, 1 - y, y), wrong


def best_times(
    tasks: list[Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Return the smallest time of each task, in seconds, run in turn."""
    times = np.empty((rounds, len(tasks)))
    for i in range(rounds):
        for j, task in enumerate(tasks):
            gc.collect()
            began = clock()
            task()
            times[i, j] = clock() - began
    return times.min(axis=0).tolist()


def ball_forest_bytes(model: BallForestClassifier) -> int:
    """Return the memory of the trees, of what they saw, and of the ratings."""
    trees = sum(array.nbytes for tree in model.forest_.trees for array in vars(tree).values())
    return trees + model.in_bag_.nbytes + model.oob_proba_.nbytes + model.label_quality_.nbytes


def random_forest_bytes(model: RandomForestClassifier) -> int:
    """Return the memory of the nodes and values of the trees."""
    trees = [tree.tree_ for tree in model.estimators_]
    return sum(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes for tree in trees)


def against_random_forest(n_samples: int, rounds: int) -> None:
    """Print time and memory of 100 trees against scikit-learn's, with as many threads."""
    X, y, _ = noisy_table(n_samples)
    print(f"\n## {n_samples:,} x 20, 100 trees: scikit-learn's random forest = 1")
    for n_threads in sorted({1, os.cpu_count() or 1}):
        ball = BallForestClassifier(100, random_state=0, n_jobs=n_threads)
        random = RandomForestClassifier(100, random_state=0, n_jobs=n_threads)
        clock = time.process_time if n_threads == 1 else time.perf_counter
        ball_time, random_time = best_times(
            [lambda ball=ball: ball.fit(X, y), lambda random=random: random.fit(X, y)],
            rounds,
            clock,
        )
        print(
            f"times faster to fit, threads: {n_threads} (out-of-bag ratings included): "
            f"{random_time / ball_time:.1f}"
        )
    memory = ball_forest_bytes(ball) / random_forest_bytes(random)
    print(f"memory of the fitted model: {memory:.2f}")


def growth(sizes: list[int]) -> None:
    """Print how the time of a fit grows per tenfold rows."""
    print("\n## growth: time of 20 trees over that of a tenth of the rows")
    previous = None
    for n_samples in sizes:
        X, y, _ = noisy_table(n_samples)
        model = BallForestClassifier(20, random_state=0, n_jobs=1)
        (seconds,) = best_times([lambda model=model, X=X, y=y: model.fit(X, y)], 5)
        print(f"{n_samples:,}: {seconds / previous:.1f}" if previous else f"{n_samples:,}: 1")
        previous = seconds


def against_cleanlab(n_samples: int, rounds: int) -> None:
    """Print the time of an audit against cleanlab with five-fold LightGBM, one thread each."""
    X, y, wrong = noisy_table(n_samples)
    found: dict[str, np.ndarray] = {}

    def ours() -> None:
        found["ours"] = LabelAudit(random_state=0, n_jobs=1).fit(X, y).label_quality_

    def theirs() -> None:
        model = LGBMClassifier(n_jobs=1, verbose=-1)
        proba = cross_val_predict(model, X, y, cv=5, method="predict_proba")
        find_label_issues(y, proba)
        found["theirs"] = get_label_quality_scores(y, proba)

    our_time, their_time = best_times([ours, theirs], rounds)
    print(f"\n## audit of {n_samples:,} x 20: cleanlab with 5-fold LightGBM = 1")
    print(f"times faster: {their_time / our_time:.1f}")
    scores = {name: roc_auc_score(wrong, -trust) for name, trust in found.items()}
    print(f"AUROC of planted labels: ours {scores['ours']:.4f}, theirs {scores['theirs']:.4f}")


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    X, y, _ = noisy_table(500)
    BallForestClassifier(2, max_samples=0.5, random_state=0).fit(X, y)  # load the kernels
    against_cleanlab(arguments.rows, arguments.rounds)
    against_random_forest(arguments.rows, 1)
    growth([arguments.rows // 100, arguments.rows // 10, arguments.rows])


if __name__ == "__main__":
    main()
