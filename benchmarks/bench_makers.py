"""How long each ball maker takes, and what balls it makes, on noisy labels.

    python benchmarks/bench_makers.py > docs/results/makers_time.md

Prints ratios to two-means measured in one run: times alone say little on a busy machine.
"""

import argparse

import numpy as np
from bench_balls import best_time
from sklearn.datasets import make_classification

from granulearn.balls import generate_balls
from granulearn.balls.generators import generator_names

BASELINE = "two-means"
# The time of this one grows with the square of the rows where there are many features.
SLOW = {"rd-gbg": 100_000}


def noisy_classes(n_samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 20 features, three classes with a fifth of the labels wrong, and the true ones."""
    X, truth = make_classification(
        n_samples,
        20,
        n_informative=10,
        n_redundant=2,
        n_classes=3,
        n_clusters_per_class=4,
        class_sep=1.5,
        flip_y=0,
        random_state=0,
    )
    rng = np.random.RandomState(1)
    wrong = rng.choice(n_samples, n_samples // 5, replace=False)
    y = truth.copy()
    y[wrong] = (y[wrong] + rng.randint(1, 3, size=len(wrong))) % 3
    return X, y, truth


def print_table(n_samples: int, n_jobs: int) -> None:
    """Print one row per maker for one number of samples."""
    X, y, truth = noisy_classes(n_samples)
    repeats = 5 if n_samples <= 10_000 else 1
    print(f"\n## {n_samples:,} x 20, three classes, 20 % wrong labels, n_jobs={n_jobs}")
    print("\n| maker | balls | of one sample | samples with the true label | time / two-means |")
    print("|---|---|---|---|---|")
    seconds = {}
    for name in [BASELINE, *(name for name in generator_names() if name != BASELINE)]:
        if n_samples > SLOW.get(name, n_samples):
            continue
        made = []
        seconds[name] = best_time(
            lambda name=name, made=made: made.append(
                generate_balls(X, y, balls=name, random_state=0, n_jobs=n_jobs)
            ),
            repeats,
        )
        balls = made[-1]
        right = np.mean(balls.labels[balls.assignment] == truth)
        print(
            f"| {name} | {len(balls):,} | {100 * np.mean(balls.counts == 1):.0f} % "
            f"| {100 * right:.1f} % | {seconds[name] / seconds[BASELINE]:.1f} |",
            flush=True,
        )


def main() -> None:
    """Make balls of ever more samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    X, y, _ = noisy_classes(20_000)
    for name in generator_names():  # load the kernels
        generate_balls(X[:1000], y[:1000], balls=name, n_jobs=1)
    generate_balls(X, y, n_jobs=1)  # those of large sets too
    print("# Ball makers: how many balls, how long")
    print("\nMade by `python benchmarks/bench_makers.py`. Times are ratios, in one run.")
    for n_samples in arguments.rows:
        print_table(n_samples, arguments.jobs)


if __name__ == "__main__":
    main()
