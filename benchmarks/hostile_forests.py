"""How long 10,000 rows take down forests that take as many steps as a model file may have.

    python benchmarks/hostile_forests.py

Each forest is one that a hostile file could hold: chains of splits of one column or of many, in few
trees or in as many as may be, that send all rows to their ends or lose a few at every split,
and leaves of many classes. The time is that of the processor, one thread, the least of three. Then
come trees that fan out into a chain for every row, where each row has steps of its own and no
company: their time is one of bytes. Last come forests of training data that make it long, with as
many trees as `fit` chooses: how many steps they take. The exit code is 1 if a hostile forest takes
more than 5 seconds, or a trained one more steps than may be.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

from granulearn.forest import BallForestClassifier
from granulearn.forest.forest import BallForest
from granulearn.forest.tree import BallTree
from granulearn.models.archives import MOST_STEPS, MOST_TREES
from granulearn.models.loaded_model import MAX_ROWS_PER_PIECE

N_ROWS, SECONDS, N_TIMES = 10_000, 5, 3


def chain(depth: int, width: int, n_columns: int, n_classes: int, threshold: float) -> BallTree:
    """Return a tree whose every split has a leaf at its right."""
    children = np.full(2 * depth + 1, -1, np.int32)
    splits = [0, *range(1, 2 * depth - 2, 2)]
    children[splits] = range(1, 2 * depth, 2)
    is_leaf = children < 0
    children[is_leaf] = -1 - np.arange(depth + 1)
    offsets = np.concatenate([[0], np.cumsum(np.where(is_leaf, 0, width))]).astype(np.int32)
    rng = np.random.default_rng(depth)
    features = rng.integers(n_columns, size=offsets[-1]).astype(np.int32)
    thresholds = np.where(is_leaf, 0.0, threshold)
    leaves = np.full((depth + 1, n_classes), 1 / n_classes, np.float32)
    return BallTree(children, offsets, features, np.ones(len(features)), thresholds, leaves)


def forest(n_columns: int, n_classes: int, n_trees: int, width: int, threshold: float = 1e9):
    """Return a forest of equal chains, as deep as may be."""
    deep = [_steps([chain(depth, width, n_columns, n_classes, threshold)]) for depth in (1, 2)]
    depth = max(1, 1 + (MOST_STEPS // n_trees - deep[0]) // (deep[1] - deep[0]))
    tree = chain(depth, width, n_columns, n_classes, threshold)
    return BallForest((tree,) * n_trees, np.zeros(n_columns), 1.0, n_classes)


def _steps(trees: list[BallTree]) -> int:
    n_classes = trees[0].leaf_proba.shape[1]
    return BallForest(tuple(trees), np.zeros(1), 1.0, n_classes)._n_steps_of_a_row()


def forests() -> Iterator[tuple[str, BallForest]]:
    """Yield forests with what they are."""
    yield "1 tree, 1 of 10 columns", forest(10, 2, 1, 1)
    yield "1 tree, 1 of 1,000 columns", forest(1000, 2, 1, 1)
    yield "1 tree, 2 of 100 columns", forest(100, 2, 1, 2)
    yield "1 tree, 5 of 100 columns", forest(100, 2, 1, 5)
    yield "1 tree, 32 of 1,000 columns", forest(1000, 2, 1, 32)
    yield "100 trees, 1 column, losing rows", forest(10, 2, 100, 1, 0.9999)
    yield "1,000 trees, 1 column, losing rows", forest(10, 2, 1000, 1, 0.998)
    yield f"{MOST_TREES:,} trees, 1 column", forest(10, 2, MOST_TREES, 1)
    yield f"{MOST_TREES:,} trees, 32 columns", forest(100, 2, MOST_TREES, 32)
    yield f"{MOST_TREES:,} trees of 180 classes", forest(10, 180, MOST_TREES, 1, 0.5)
    yield "100 trees of 9,900 classes", forest(10, 9900, 100, 1, 0.5)


def fan(n_chains: int, length: int, width: int, n_columns: int) -> BallForest:
    """Return a forest of one tree, which parts rows into many chains of equal length.

    The nodes of all chains that are equally deep stand side by side, so that a chain is scattered
    over all memory.
    """
    n_top = n_chains - 1
    n_nodes = 2 * n_top + 1 + 2 * length * n_chains
    children, thresholds = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes)
    lows, highs = np.zeros(n_top + n_chains), np.ones(n_top + n_chains)
    for node in range(n_top):
        left, middle = 2 * node + 1, (lows[node] + highs[node]) / 2
        children[node], thresholds[node] = left, middle
        lows[left : left + 2] = lows[node], middle
        highs[left : left + 2] = middle, highs[node]
    ends, free = np.arange(n_top, n_top + n_chains), n_top + n_chains
    for _ in range(length):
        children[ends], thresholds[ends] = free + 2 * np.arange(n_chains), 1e9
        ends, free = children[ends], free + 2 * n_chains
    is_leaf = children < 0
    children[is_leaf] = -1 - np.arange(is_leaf.sum())
    widths = np.where(is_leaf, 0, width)
    widths[:n_top] = 1
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int32)
    features = np.random.default_rng(0).integers(n_columns, size=offsets[-1]).astype(np.int32)
    features[:n_top] = 0
    leaves = np.full((is_leaf.sum(), 2), 0.5, np.float32)
    directions = np.ones(len(features))
    tree = BallTree(children, offsets, features, directions, thresholds, leaves)
    tree._check_loaded()
    return BallForest((tree,), np.zeros(n_columns), 1.0, 2)


def fans() -> Iterator[tuple[str, BallForest]]:
    """Yield trees of many chains with what they are."""
    yield "4,096 chains, 1 of 10 columns", fan(4096, 2000, 1, 10)
    yield "4,096 chains, 1 of 1,000 columns", fan(4096, 2000, 1, 1000)
    yield "4,096 chains, 8 of 1,000 columns", fan(4096, 1000, 8, 1000)


def n_bytes(forest: BallForest) -> int:
    """Return how large the arrays of all trees are."""
    return sum(array.nbytes for tree in forest.trees for array in vars(tree).values())


def trained() -> Iterator[tuple[str, BallForest]]:
    """Yield forests that were fitted to data with long ways down, with what the data are."""
    rng = np.random.default_rng(0)
    for n_categories, n_rows in ((3000, 6000), (6000, 9000)):
        code = np.arange(n_rows) % n_categories
        y = rng.integers(0, 2, n_categories)[code]
        model = BallForestClassifier(random_state=0).fit(np.eye(n_categories)[code], y)
        yield f"{n_categories:,} categories, two classes", model.forest_
    code = np.arange(12_000) % 1000
    model = BallForestClassifier(random_state=0).fit(np.eye(1000)[code], code)
    yield "1,000 categories, each a class", model.forest_
    X, y = rng.normal(size=(60_000, 20)), rng.integers(0, 2, 60_000)
    yield "60,000 rows of noise", BallForestClassifier(random_state=0).fit(X, y).forest_


def seconds(forest: BallForest, n_together: int) -> float:
    """Return the least processor time of predicting all rows, some of them together."""
    X, least = np.random.default_rng(0).random((N_ROWS, len(forest.shift))), np.inf
    forest.posterior(X[:10])
    for _ in range(N_TIMES):
        began = time.process_time()
        for begin in range(0, N_ROWS, n_together):
            forest.posterior(X[begin : begin + n_together])
        least = min(least, time.process_time() - began)
    return least


def main() -> int:
    """Time all forests; return the exit code."""
    slowest = 0.0
    print(f"| forest | steps of a row | seconds of {N_ROWS:,} rows |\n|---|---|---|")
    for name, each in forests():
        # Many classes are predicted for some thousand rows at a time.
        least = seconds(each, 2000)
        slowest = max(slowest, least)
        print(f"| {name} | {each._n_steps_of_a_row():,} | {least:.2f} |", flush=True)
    print(f"\nslowest: {slowest:.2f} s of processor time")
    print(f"\n| tree | gigabytes | seconds of {N_ROWS:,} rows | per gigabyte |\n|---|---|---|---|")
    for name, each in fans():
        least, size = seconds(each, MAX_ROWS_PER_PIECE), n_bytes(each) / 1e9
        print(f"| {name} | {size:.2f} | {least:.2f} | {least / size:.1f} |", flush=True)
    print("\n| trained on | trees | steps of a row |\n|---|---|---|")
    most = 0
    for name, each in trained():
        most = max(most, each._n_steps_of_a_row())
        print(f"| {name} | {len(each.trees)} | {each._n_steps_of_a_row():,} |", flush=True)
    return int(slowest > SECONDS or most > MOST_STEPS)


if __name__ == "__main__":
    sys.exit(main())
