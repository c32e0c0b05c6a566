"""Ball forest: a Bayesian average over all coverings of the data by balls of random trees.

Each tree splits a part of the samples, by the nearer of two class means in a few
features or by a single feature, until balls are pure. Instead of a purity
threshold, every ball of a tree is weighed by its evidence, so a ball that only
separates noise counts for nothing. The out-of-bag probability of a given label is
its label quality.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from granulearn.balls.ball_set import power_of_two_scale
from granulearn.forest._posterior import add_leaves
from granulearn.forest.packed_trees import (
    PACKED,
    check_packed,
    most_steps,
    pack_trees,
    unpack_trees,
)
from granulearn.forest.tree import (
    BallTree,
    ForestSettings,
    Prior,
    TrainingRows,
    evidence_table,
    grow_one,
    mix_tree,
)
from granulearn.utils.saved import FINITE, Array, Number, Size, require
from granulearn.utils.threads import in_threads

# Rows of about this size stay in the cache while trees pass; a task has at least some rows.
BYTES_PER_TASK, LEAST_ROWS_PER_TASK = 2**22, 128

# Rules that depend on the number of rows, all in `settings_for`. A tree of so many rows knows the
# classes well; more of them cost time and memory alone.
MAX_TREE_ROWS = 50_000
MAX_TREE_VALUES, LEAST_TREE_ROWS = 10_000_000, 1_000
TREE_SHARE = 0.632
MAX_TREES, MIN_TREES = 100, 20
# Number of rows that all trees together see; two classes need fewer.
ROWS_OF_ALL_TREES, ROWS_OF_ALL_TREES_OF_TWO_CLASSES = 150_000, 100_000
# A ball of two classes and at most this number of rows is spared if no candidate gains evidence.
MAX_SPARED = 256
ROWS_SEEN_BY_ALL = 0.02  # expected
# The cautious ones hold out against wrong labels, the last one follows clean labels closely.
PRIORS = (Prior(0.5, 0.8), Prior(0.5, 0.98), Prior(0.1, 0.9), Prior(0.1, 0.5), Prior(0.005, 0.05))


@dataclass(frozen=True, eq=False)
class BallForest:
    """Trees, and how inputs are shifted and scaled before they meet them."""

    trees: tuple[BallTree, ...]
    shift: np.ndarray
    scale: float
    n_outputs: int
    """Probabilities that a leaf has: one per class, for each prior."""
    n_priors: int = 1

    _saved: ClassVar[dict] = {
        **PACKED,
        "shift": Array("float64", ("inputs",), -FINITE, FINITE),
        "scale": Number(float(np.finfo(float).tiny), FINITE),
        "n_outputs": Size,
        "n_priors": Size,
    }

    def _saved_state(self) -> dict[str, Any]:
        return vars(self) | pack_trees(self.trees)

    def _check_saved(self) -> None:
        require(self.n_outputs % self.n_priors == 0, "n_outputs is no multiple of n_priors")
        check_packed(vars(self), len(self.shift), self.n_priors)

    def _after_load(self) -> None:
        vars(self)["trees"] = unpack_trees(vars(self))
        for name in PACKED:
            del vars(self)[name]

    def _n_steps_of_a_row(self) -> int:
        """Return how many steps a row takes at most, on its ways down all trees."""
        return most_steps(pack_trees(self.trees))

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Return inputs shifted and scaled, as the trees need them."""
        return (np.asarray(X, dtype=np.float64) * self.scale) - self.shift

    def posterior(
        self, X: np.ndarray, n_threads: int = 1, in_bag: np.ndarray | None = None
    ) -> np.ndarray:
        """Return class probabilities of shape (n_rows, n_outputs).

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Inputs.
        n_threads : int, default=1
            Threads; they change no result.
        in_bag : ndarray of shape (n_trees, n_rows), default=None
            True where a tree saw a row, and does not count. NaN if all did.
        """
        total = np.zeros((len(X), self.n_outputs))

        # A task is a block of rows, and adds up trees in their order.
        def add_up(block: slice) -> None:
            columns = np.ascontiguousarray(self.rows(X[block]).T)
            for number, tree in enumerate(self.trees):
                seen = None if in_bag is None else in_bag[number, block]
                add_leaves(tree.leaves(columns, seen), tree.leaf_proba, total[block])

        step = max(LEAST_ROWS_PER_TASK, BYTES_PER_TASK // (8 * (X.shape[1] + self.n_outputs)))
        in_threads(add_up, [slice(i, i + step) for i in range(0, len(X), step)], n_threads)
        # Not divided by the number of trees: leaves are rounded.
        sums = total.sum(axis=1, keepdims=True) / self.n_priors
        return np.divide(total, sums, out=np.full_like(total, np.nan), where=sums > 0)


@dataclass(frozen=True, eq=False)
class GrownForest:
    """A forest, with the samples that each tree saw and the importances of features."""

    forest: BallForest
    """Its leaves hold the prediction under each prior, side by side."""
    in_bag: np.ndarray
    """(n_trees, n_samples) true where a tree saw a sample."""
    importances: np.ndarray
    """(n_features,) share of the evidence gained by splits on each feature."""
    stops: tuple[np.ndarray, ...]
    """(n_priors, n_nodes) for each tree: probability that a walk stops at a ball."""

    def out_of_bag(self, X: np.ndarray, rows: np.ndarray | None = None, n_threads: int = 1):
        """Return (n_priors, n_rows, n_classes) probabilities by trees that did not see a row.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The inputs that were grown on.
        rows : ndarray of int, default=None
            Positions to predict; None means all.
        n_threads : int, default=1
            Threads; they change no result.
        """
        X, in_bag = (X, self.in_bag) if rows is None else (X[rows], self.in_bag[:, rows])
        side_by_side = self.forest.posterior(X, n_threads, in_bag)
        shape = len(X), self.forest.n_priors, self.forest.n_outputs // self.forest.n_priors
        return side_by_side.reshape(shape).transpose(1, 0, 2)

    def mixed(self, weights: Sequence[float] | np.ndarray) -> BallForest:
        """Return the forest whose leaves predict a weighted mean over the priors.

        Parameters
        ----------
        weights : sequence of float
            Weight of each prior; they sum to one.
        """
        trees = tuple(
            mix_tree(tree, np.asarray(weights, float), stops)
            for tree, stops in zip(self.forest.trees, self.stops, strict=True)
        )
        n_classes = self.forest.n_outputs // self.forest.n_priors
        return BallForest(trees, self.forest.shift, self.forest.scale, n_classes)


def grow_forest(
    X: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    settings: ForestSettings,
    *,
    sample_weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    n_threads: int = 1,
) -> GrownForest:
    """Grow the trees of a forest.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite inputs.
    codes : ndarray of shape (n_samples,)
        Class of each sample, below `n_classes`.
    n_classes : int
        Number of classes.
    settings : ForestSettings
        Settings and seed.
    sample_weight : ndarray of shape (n_samples,), default=None
        A sample of weight w counts as w samples that a tree sees together; zero leaves it out.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample: a tree sees all of a group or none.
    n_threads : int, default=1
        Threads; they change no result.

    Returns
    -------
    GrownForest
    """
    known = np.arange(len(X))
    weights = np.empty(0)
    if sample_weight is not None:
        known = np.flatnonzero(sample_weight > 0)
        weights = sample_weight[known]
        weights = weights if (weights != 1).any() else np.empty(0)
    if groups is not None:
        groups = np.unique(groups[known], return_inverse=True)[1]
    scale = power_of_two_scale(X)
    rows = np.multiply(X[known], scale, dtype=np.float64)
    shift = rows.mean(axis=0)
    rows -= shift
    data = TrainingRows(rows, codes[known], weights, groups, n_classes)
    n_rows = len(known) if groups is not None else max(1, round(settings.max_samples * len(known)))
    table = evidence_table(n_rows, n_classes, settings.split_alpha)
    grown = in_threads(
        lambda number: grow_one(data, table, settings, number),
        range(settings.n_estimators),
        n_threads,
    )
    in_bag = np.zeros((settings.n_estimators, len(X)), dtype=bool)
    importances = np.zeros(X.shape[1])
    for seen, one in zip(in_bag, grown, strict=True):
        seen[known[one.drawn]] = True
        importances += one.gains
    if importances.any():
        importances /= importances.sum()
    n_priors, trees = len(settings.priors), tuple(one.tree for one in grown)
    forest = BallForest(trees, shift, scale, n_classes * n_priors, n_priors)
    return GrownForest(forest, in_bag, importances, tuple(one.stops for one in grown))


def settings_for(
    n_rows: int,
    n_features: int,
    n_classes: int,
    *,
    n_estimators: int | None = None,
    max_samples: float = TREE_SHARE,
    n_candidates: int = 8,
    splitter: str = "best",
    priors: tuple[Prior, ...] = PRIORS,
    seed: int = 0,
) -> ForestSettings:
    """Return the settings of a forest for a size of table.

    Parameters
    ----------
    n_rows, n_features, n_classes : int
        Size of the table; of many features, a tree sees fewer rows.
    n_estimators : int or None, default=None
        Number of trees; None means 100, and fewer of many rows.
    max_samples : float, default=0.632
        Share of the rows that a tree sees, at most 50,000 rows and 10,000,000 values.
    n_candidates : int, default=8
        Single features to try for each ball, and a quarter as many directions between
        class means; with ``splitter="means"``, directions alone.
    splitter : {"best", "means"}, default="best"
        Whether candidates have eight thresholds, or the middle between two means alone.
    priors : tuple of Prior
        Under which the balls are weighed.
    seed : int, default=0
        Of the random numbers.
    """
    most = min(MAX_TREE_ROWS, max(MAX_TREE_VALUES // n_features, LEAST_TREE_ROWS))
    share = min(max_samples, most / max(n_rows, 1))
    if n_estimators is None:
        two = n_classes <= 2
        all_rows = ROWS_OF_ALL_TREES_OF_TWO_CLASSES if two else ROWS_OF_ALL_TREES
        # So many that hardly ever a row is seen by all, and then nothing could rate its label.
        needed = math.log(ROWS_SEEN_BY_ALL / n_rows) / math.log(share) if share < 1 else 0
        wanted = max(all_rows / max(share * n_rows, 1), needed, MIN_TREES)
        n_estimators = min(math.ceil(wanted), MAX_TREES)
    if splitter == "means":
        return ForestSettings(n_estimators, share, n_candidates, priors=priors, seed=seed)
    return ForestSettings(
        n_estimators,
        share,
        n_directions=max(1, n_candidates // 4),
        n_axes=n_candidates,
        n_thresholds=8,
        split_alpha=0.1,
        max_spared=MAX_SPARED if n_classes <= 2 else 0,
        priors=priors,
        seed=seed,
    )


def label_quality(
    oob_proba: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Return each sample's out-of-bag probability of its own label.

    It is NaN where it cannot be known: every tree saw the sample, or no other
    sample of positive weight has its class, so that trees that did not see it do
    not know the class. A warning counts such samples.
    """
    counts = np.ones(len(codes)) if sample_weight is None else (sample_weight > 0).astype(float)
    others = np.bincount(codes, counts)[codes] - counts
    quality = oob_proba[np.arange(len(codes)), codes]
    quality[others == 0] = np.nan
    n_unknown, n_alone = np.isnan(quality).sum(), (others == 0).sum()
    reasons = []
    if n_alone:
        reasons.append(f"the only sample of its class: {n_alone} (misspelt? else add samples)")
    if n_unknown > n_alone:
        reasons.append(f"seen by every tree: {n_unknown - n_alone} (add trees)")
    if reasons:
        warnings.warn(
            f"the label quality of {n_unknown} of {len(codes)} labels is unknown (NaN); "
            f"{'; '.join(reasons)}.",
            UserWarning,
            stacklevel=2,
        )
    return quality
