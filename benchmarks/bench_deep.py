"""What ten layers cost beside one: time as ratios measured in one run, and peak memory.

A further layer cannot cost what the first one does: its nodes read the nodes
before it and the inputs, where those of the first layer read the inputs only.
So the table states, beside the measured ratio, that of the multiplications
that a fit cannot avoid: those of the features and of the Gram matrices.
"""

import argparse
import tracemalloc

from bench_classifiers import N_HIDDEN, best_times, noisy_table
from threadpoolctl import threadpool_limits

from granulearn.rvfl import DeepRVFLClassifier, EnsembleDeepRVFLClassifier, RVFLClassifier

N_LAYERS = 10
N_FEATURES = 20


def multiplications(n_layers: int, *, one_ridge: bool) -> int:
    """Return how many a row costs: of the features, and of the triangles of Gram matrices."""
    linked = N_FEATURES + 1
    read = N_HIDDEN if one_ridge else N_HIDDEN + N_FEATURES
    features = N_HIDDEN * (N_FEATURES + (n_layers - 1) * read)
    if one_ridge:
        return features + (linked + n_layers * N_HIDDEN) ** 2 // 2
    return features + n_layers * (linked + N_HIDDEN) ** 2 // 2


def line(what: str, seconds: float, one_layer: float, counted: float, limit: str) -> None:
    """Print one row of the table."""
    print(
        f"| {what:32} | {seconds:7.2f} | {seconds / one_layer:6.1f} | {counted:6.1f} | {limit:>7} |"
    )


def times(n_rows: int, rounds: int, threads: int) -> None:
    """Print the times of fits."""
    X, y = noisy_table(n_rows)
    network = {"n_hidden": N_HIDDEN, "random_state": 0}
    with threadpool_limits(threads, user_api="blas"):
        one, ensemble, deep = best_times(
            [
                lambda: RVFLClassifier(**network).fit(X, y),
                lambda: EnsembleDeepRVFLClassifier(N_LAYERS, **network).fit(X, y),
                lambda: DeepRVFLClassifier(N_LAYERS, **network).fit(X, y),
            ],
            rounds,
        )
    print(f"\n## Fit of {N_LAYERS} layers of {N_HIDDEN} nodes, {n_rows:,} x {N_FEATURES}")
    print("| what | seconds | to one layer | by count | at most |")
    print("|------|---------|--------------|----------|---------|")
    counted = multiplications(1, one_ridge=False)
    line("one layer (RVFL)", one, one, 1.0, "")
    line(
        "one ridge per layer (edRVFL)",
        ensemble,
        one,
        multiplications(N_LAYERS, one_ridge=False) / counted,
        "12",
    )
    line(
        "one ridge on all layers (dRVFL)",
        deep,
        one,
        multiplications(N_LAYERS, one_ridge=True) / counted,
        "",
    )


def memory(n_rows: int) -> None:
    """Print the peak memory of fit and predict beside that of all hidden layers."""
    X, y = noisy_table(n_rows)
    for classifier in (EnsembleDeepRVFLClassifier, DeepRVFLClassifier):
        tracemalloc.start()
        classifier(N_LAYERS, n_hidden=N_HIDDEN, random_state=0).fit(X, y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        layers = n_rows * N_HIDDEN * N_LAYERS * 8
        print(
            f"\n{classifier.__name__}, {n_rows:,} rows: all hidden layers would take "
            f"{layers / 2**20:,.0f} MB, the peak of fit and predict is {peak / 2**20:,.0f} MB"
        )


def main() -> None:
    """Print the table and the memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of BLAS")
    arguments = parser.parse_args()
    times(arguments.rows, arguments.rounds, arguments.threads)
    memory(arguments.rows)


if __name__ == "__main__":
    main()
