"""How much a fit and a prediction cost beyond the arithmetic they cannot avoid.

Prints ratios measured in one run, each side in turn and the best of several
rounds: times alone say little on a busy machine. BLAS runs on one thread (see
``--threads``), because two threads that wait for each other on a busy machine
measure the other processes.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy import linalg
from sklearn.datasets import make_classification
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from granulearn.balls import generate_balls
from granulearn.rvfl import RVFLClassifier, SDAPGBRVFLClassifier

N_HIDDEN = 200


def noisy_table(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
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
    return X, y


def best_times(tasks: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the smallest time of each task, in seconds, run in turn."""
    times = np.empty((rounds, len(tasks)))
    for i in range(rounds):
        for j, task in enumerate(tasks):
            began = time.perf_counter()
            task()
            times[i, j] = time.perf_counter() - began
    return times.min(axis=0).tolist()


def plain_features(X: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """Return [X, 1, relu(X W + b)], straight in NumPy."""
    A = np.empty((len(X), X.shape[1] + 1 + len(biases)))
    A[:, : X.shape[1]] = X
    A[:, X.shape[1]] = 1
    hidden = A[:, X.shape[1] + 1 :]
    np.matmul(X, weights.T, out=hidden)
    hidden += biases
    np.maximum(hidden, 0, out=hidden)
    return A


def plain_ridge(X: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> None:
    """Compute the hidden layer, one A.T @ A and one Cholesky factor: nothing else."""
    A = plain_features(X, weights, biases)
    linalg.cho_factor(A.T @ A + np.eye(A.shape[1]), check_finite=False)


def plain_scores(X: np.ndarray, weights: np.ndarray, biases: np.ndarray, coef: np.ndarray) -> None:
    """Compute the matrix products and the activation of a prediction: nothing else."""
    hidden = X @ weights.T
    hidden += biases
    np.maximum(hidden, 0, out=hidden)
    d = X.shape[1]
    scores = hidden @ coef[d + 1 :]
    scores += X @ coef[:d]
    scores += coef[d]


def line(what: str, ours: float, limit: float, **parts: float) -> None:
    """Print one row of the table."""
    plain = sum(parts.values())
    pieces = ", ".join(f"{name} {seconds:.3f}" for name, seconds in parts.items())
    print(f"| {what:26} | {ours:7.3f} | {plain:7.3f} | {ours / plain:5.2f} | {limit} | {pieces} |")


def rvfl(X: np.ndarray, y: np.ndarray, rounds: int) -> None:
    """Print fit and predict of RVFL against plain NumPy."""
    model = RVFLClassifier(n_hidden=N_HIDDEN, random_state=0).fit(X, y)
    drawn = model.features_.weights, model.features_.biases
    fit, ridge, predict, scores = best_times(
        [
            lambda: RVFLClassifier(n_hidden=N_HIDDEN, random_state=0).fit(X, y),
            lambda: plain_ridge(X, *drawn),
            lambda: model.predict(X),
            lambda: plain_scores(X, *drawn, model.coef_),
        ],
        rounds,
    )
    line("RVFL fit", fit, 1.5, hidden_gram_cholesky=ridge)
    line("RVFL predict", predict, 1.3, products_activation=scores)


def sdap(X: np.ndarray, y: np.ndarray, rounds: int) -> None:
    """Print the fit of SDAP-GBRVFL against its three heavy parts."""
    settings = {"n_hidden": N_HIDDEN, "random_state": 0, "n_jobs": -1}
    model = SDAPGBRVFLClassifier(**settings).fit(X, y)
    centers = model.balls_.centers
    drawn = model.features_.weights, model.features_.biases
    fit, balls, neighbours, ridge = best_times(
        [
            lambda: SDAPGBRVFLClassifier(**settings).fit(X, y),
            lambda: generate_balls(X, y, purity=0.985, random_state=0, n_jobs=-1),
            lambda: NearestNeighbors(n_neighbors=4).fit(centers).kneighbors(centers),
            lambda: plain_ridge(centers, *drawn),
        ],
        rounds,
    )
    line("SDAP-GBRVFL fit", fit, 1.5, balls=balls, neighbours=neighbours, ridge=ridge)
    print(f"\n{len(centers):,} balls of {len(X):,} samples")


def memory(n_samples: int, n_hidden: int) -> None:
    """Print the peak memory of fit and predict when n x h would exceed a gigabyte."""
    X, y = noisy_table(n_samples)
    tracemalloc.start()
    RVFLClassifier(n_hidden=n_hidden, random_state=0).fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    hidden_layer = n_samples * n_hidden * 8
    print(
        f"\nRVFL, {n_samples:,} x {n_hidden} hidden nodes: the hidden layer would take "
        f"{hidden_layer / 2**20:,.0f} MB, the peak of fit and predict is {peak / 2**20:,.0f} MB"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1, help="of BLAS")
    arguments = parser.parse_args()
    X, y = noisy_table(arguments.rows)
    print(
        f"\n## {arguments.rows:,} x 20, {N_HIDDEN} hidden nodes, in seconds, "
        f"BLAS threads: {arguments.threads}"
    )
    print("| what | ours | plain | ratio | at most | plain parts |")
    print("|------|------|-------|-------|---------|-------------|")
    with threadpool_limits(arguments.threads, user_api="blas"):
        rvfl(X, y, arguments.rounds)
        sdap(X, y, max(1, arguments.rounds // 5))
    memory(400_000, 400)


if __name__ == "__main__":
    main()
