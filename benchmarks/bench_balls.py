"""How fast balls are made: against one k-means call per split, and against memory.

Prints ratios measured in one run: times alone say little on a busy machine.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from joblib import effective_n_jobs
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from granulearn import generate_balls

PURITY = 0.985


def noisy_table(n_samples: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Return 20 features and two classes, with a tenth of the labels flipped."""
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
    flipped = np.random.RandomState(1).choice(n_samples, n_samples // 10, replace=False)
    y[flipped] = 1 - y[flipped]
    return np.ascontiguousarray(X, dtype=dtype), y


def one_kmeans_call_per_split(X: np.ndarray, y: np.ndarray) -> tuple[int, float]:
    """Make balls as published scripts do; return their number and the weighted purity."""
    pending, n_balls, n_right = [np.arange(len(X))], 0, 0
    while pending:
        rows = pending.pop()
        top = np.bincount(y[rows]).max()
        if top / len(rows) < PURITY and len(np.unique(X[rows], axis=0)) > 1:
            side = KMeans(2, n_init=1, random_state=0).fit(X[rows]).labels_ == 1
            pending += [rows[~side], rows[side]]
        else:
            n_balls += 1
            n_right += top
    return n_balls, n_right / len(X)


def best_time(task: Callable[[], object], repeats: int) -> float:
    """Return the smallest of several times of a task, in seconds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        times.append(time.perf_counter() - began)
    return min(times)


def against_kmeans_calls() -> None:
    """Print the ratio to one k-means call per split, on one thread and on all."""
    X, y = noisy_table(10_000)
    with threadpool_limits(1):
        began = time.perf_counter()
        n_baseline, purity_baseline = one_kmeans_call_per_split(X, y)
        baseline = time.perf_counter() - began
    print("\n## 10,000 x 20, one KMeans(2, n_init=1) call per split = 1")
    print(f"| {'':28} | balls | weighted purity | times faster |")
    print(f"|{'-' * 30}|-------|-----------------|--------------|")
    print(f"| {'one k-means call per split':28} | {n_baseline:5} | {purity_baseline:15.4f} |  |")
    for init in ("k-means++", "class-means"):
        for n_jobs in (1, -1):
            task = lambda init=init, n_jobs=n_jobs: generate_balls(  # noqa: E731
                X, y, purity=PURITY, init=init, random_state=0, n_jobs=n_jobs
            )
            balls = task()
            purity = np.average(balls.purities, weights=balls.counts)
            ratio = baseline / best_time(task, 10)
            name = f"{init}, n_jobs={n_jobs}"
            print(f"| {name:28} | {len(balls):5} | {purity:15.4f} | {ratio:12.0f} |")


def time_of_one_copy(X: np.ndarray) -> float:
    """Return the time of one warm pass that copies X into an existing buffer."""
    buffer = np.empty_like(X)
    return best_time(lambda: np.copyto(buffer, X), 10)


def against_memory(sizes: list[int], dtype: str) -> None:
    """Print the time in copies of X per level, the growth and the memory used."""
    print(f"\n## {dtype}: time in copies of X, growth, peak extra memory")
    print("| rows | threads | balls | copies | time / previous | memory / X |")
    print("|------|---------|-------|--------|-----------------|------------|")
    for n_jobs in (1, -1):
        previous = None
        for n in sizes:
            X, y = noisy_table(n, dtype)
            seconds = best_time(lambda: generate_balls(X, y, random_state=0, n_jobs=n_jobs), 3)  # noqa: B023
            copy = time_of_one_copy(X)
            n_balls = len(generate_balls(X, y, random_state=0, n_jobs=n_jobs))
            tracemalloc.start()
            generate_balls(X, y, random_state=0, n_jobs=n_jobs)
            extra = tracemalloc.get_traced_memory()[1] / X.nbytes
            tracemalloc.stop()
            growth = f"{seconds / previous:.1f}" if previous else ""
            previous = seconds
            print(
                f"| {n:,} | {effective_n_jobs(n_jobs)} | {n_balls:,} | {seconds / copy:.0f} "
                f"| {growth} | {extra:.2f} |"
            )


def main() -> None:
    """Run all, or the part that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip-baseline", action="store_true", help="leave the slow way out")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    arguments = parser.parse_args()
    generate_balls(*noisy_table(1000), n_jobs=1)  # load the kernels
    generate_balls(*noisy_table(20_000, "float32"), n_jobs=1)
    generate_balls(*noisy_table(20_000), n_jobs=1)
    if not arguments.skip_baseline:
        against_kmeans_calls()
    for dtype in ("float64", "float32"):
        against_memory(arguments.rows, dtype)


if __name__ == "__main__":
    main()
