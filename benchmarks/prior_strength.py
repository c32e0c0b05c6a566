"""Ball forests whose balls lean towards the class frequencies, as strongly as is asked.

The forest of the library gives every class of a ball half a sample in advance.
Here trees are grown as there and weighed anew, with a number of samples in
advance that is divided as the classes of the data are.
"""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state

from granulearn.balls import _forest_kernels, _posterior_kernels
from granulearn.balls.forest import (
    BallForest,
    BallTree,
    ForestRule,
    _grow_raw,
    _log_gamma_tables,
    _pack,
    _RawTree,
    forest_rows,
)

# Samples in advance per class.
STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0)


def predictions_by_strength(
    X: np.ndarray, codes: np.ndarray, n_classes: int, new: np.ndarray, seed: int
) -> dict[float, tuple[np.ndarray, np.ndarray]]:
    """Return for each strength the out-of-bag posterior and that of new rows.

    The trees are those of ``BallForestClassifier(random_state=seed)``.
    """
    tree_seed = check_random_state(seed).randint(2**63 - 1, dtype=np.int64)
    rule = ForestRule(seed=int(tree_seed))
    rows = forest_rows(X, codes, n_classes)
    tables = _log_gamma_tables(len(X), n_classes)
    frequencies = np.bincount(rows.codes, minlength=n_classes) / len(rows.codes)
    in_bag = np.zeros((rule.n_trees, len(X)), dtype=bool)
    trees: dict[float, list[BallTree]] = {strength: [] for strength in STRENGTHS}
    for number in range(rule.n_trees):
        drawn = np.empty(max(1, round(rule.max_samples * len(X))), dtype=np.int32)
        key = np.uint64(_forest_kernels.tree_key(np.uint64(rule.seed), number))
        _forest_kernels.draw_rows(key, len(X), drawn)
        in_bag[number, rows.samples[drawn]] = True
        raw = _grow_raw(rows, drawn, tables, key, rule.n_tries)
        for strength in STRENGTHS:
            tree = _weighed(raw, strength * n_classes * frequencies, rule.stop)
            tree.leaf_proba[:] = tree.leaf_proba[:, rows.numbers]
            trees[strength].append(tree)
    forests = {
        strength: BallForest(tuple(grown), rows.shift, rows.scale, n_classes)
        for strength, grown in trees.items()
    }
    return {
        strength: (forest.out_of_bag_posterior(X, in_bag), forest.posterior(new))
        for strength, forest in forests.items()
    }


def _weighed(raw: _RawTree, in_advance: np.ndarray, stop: float) -> BallTree:
    counts = raw.counts + in_advance
    evidences = (
        gammaln(in_advance.sum())
        - gammaln(in_advance).sum()
        + gammaln(counts).sum(axis=1)
        - gammaln(counts.sum(axis=1))
    )
    stops, reach = np.empty(len(counts)), np.empty(len(counts))
    _posterior_kernels.weigh_tree(raw.children, evidences, stop, stops, reach)
    # The kernel adds half a sample per class.
    return _pack(replace(raw, counts=counts - 0.5, evidences=evidences), stops, reach)


def best_strength(out_of_bag: dict[float, np.ndarray], codes: np.ndarray) -> float:
    """Return the strength whose out-of-bag posterior makes the labels most likely."""

    def log_likelihood(strength: float) -> float:
        own = out_of_bag[strength][np.arange(len(codes)), codes]
        return float(np.log(own[~np.isnan(own)]).mean())

    return max(out_of_bag, key=log_likelihood)
