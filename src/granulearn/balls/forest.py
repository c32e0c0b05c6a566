"""Ball forest: a Bayesian average over all coverings of the data by balls of random trees.

Each tree splits a part of the samples, by the nearer of two class means in a few
features or by a single feature, until balls are pure. Instead of a purity
threshold, every ball of a tree is weighed by its evidence, so a ball that only
separates noise counts for nothing. A sample's posterior from the trees that did
not see it says how far its label can be believed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from granulearn.balls.forest_rows import forest_rows
from granulearn.balls.forest_tree import (
    BallTree,
    ForestRule,
    GrownTree,
    evidence_tables,
    grow_one,
    mix_tree,
    rows_of_tree,
)
from granulearn.balls.keyed_tables import KeyedTable
from granulearn.balls.makers import in_threads
from granulearn.balls.narrow_tables import NarrowTable, narrow_table, plain_table
from granulearn.balls.packed_trees import (
    PACKED,
    check_packed,
    most_steps,
    pack_trees,
    unpack_trees,
)
from granulearn.utils.saved import FINITE, Array, Number, Size, require

# Rows of about so many bytes stay in the cache while trees pass; a few rows are not worth a tree.
BYTES_PER_TASK, LEAST_ROWS_PER_TASK = 2**22, 128


@dataclass(frozen=True, eq=False)
class BallForest:
    """Trees, and how inputs are shifted and scaled before they meet them."""

    trees: tuple[BallTree, ...]
    shift: np.ndarray
    scale: float
    n_outputs: int
    """Probabilities that a leaf has: one per class, for each weighing."""
    n_weighings: int = 1

    _saved: ClassVar[dict] = {
        **PACKED,
        "shift": Array("float64", ("inputs",), -FINITE, FINITE),
        "scale": Number(float(np.finfo(float).tiny), FINITE),
        "n_outputs": Size,
        "n_weighings": Size,
    }

    def _saved_state(self) -> dict[str, Any]:
        return vars(self) | pack_trees(self.trees)

    def _check_saved(self) -> None:
        require(self.n_outputs % self.n_weighings == 0, "n_outputs is no multiple of n_weighings")
        check_packed(vars(self), len(self.shift), self.n_weighings)

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

    def posterior(self, X: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return class probabilities of shape (n_rows, n_outputs)."""
        return self._mean_posterior(X, None, n_threads)

    def out_of_bag_posterior(
        self, X: np.ndarray | NarrowTable, in_bag: np.ndarray, n_threads: int = 1
    ) -> np.ndarray:
        """Return class probabilities from the trees that did not see a row; NaN if all did.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features) or NarrowTable
            Inputs.
        in_bag : ndarray of shape (n_trees, n_rows)
            True where a tree saw a row.
        n_threads : int, default=1
            Threads; they change no result.
        """
        return self._mean_posterior(X, in_bag, n_threads)

    def _mean_posterior(self, X, in_bag, n_threads) -> np.ndarray:
        # A task is a stretch of rows, and adds up trees in their order: the sum
        # is the same for any number of threads.
        table = X if isinstance(X, NarrowTable) else plain_table(X)
        lows, highs = (ends * self.scale - self.shift for ends in (table.lows, table.highs))
        is_plain = table.marks == 0
        shift = np.empty(table.plain.shape[1])
        shift[table.places[is_plain]] = self.shift[is_plain]
        total = np.zeros((len(table), self.n_outputs))
        nothing_seen = np.empty(0, dtype=bool)

        def add_up(stretch: slice) -> None:
            from granulearn.balls import _walk_kernels
            from granulearn.balls._compiled import STACK_SIZE

            own = total[stretch]
            # Columns, not rows, side by side: trees look at few of them.
            plain = np.multiply(table.plain[stretch].T, self.scale, order="C", dtype=np.float64)
            plain -= shift[:, None]
            codes = np.ascontiguousarray(table.codes[stretch].T)
            rows, spare = np.empty((2, len(own)), np.uint32)
            products, pending = np.empty(len(own)), np.empty((STACK_SIZE, 3), np.int64)
            for number, tree in enumerate(self.trees):
                seen = nothing_seen if in_bag is None else in_bag[number, stretch]
                _walk_kernels.add_posterior(
                    plain, codes, table.places, table.marks, lows, highs, seen, tree.children,
                    tree.offsets, tree.features, tree.directions, tree.thresholds,
                    tree.leaf_proba, rows, spare, products, pending, own,
                )  # fmt: skip

        bytes_per_row = 8 * (table.plain.shape[1] + self.n_outputs) + table.codes.shape[1]
        step = max(LEAST_ROWS_PER_TASK, BYTES_PER_TASK // bytes_per_row)
        stretches = [slice(i, i + step) for i in range(0, len(table), step)]
        in_threads(add_up, stretches, n_threads)
        return self._shares(total)

    def _shares(self, total: np.ndarray) -> np.ndarray:
        """Return what trees have added up, as shares of its sum."""
        # Not of the number of trees: leaves are rounded.
        sums = total.sum(axis=1, keepdims=True) / self.n_weighings
        return np.divide(total, sums, out=np.full_like(total, np.nan), where=sums > 0)


@dataclass(frozen=True, eq=False)
class GrownForest:
    """A forest, and what growing it says about the samples and the features."""

    forest: BallForest
    """Its leaves predict what each weighing says, side by side."""
    in_bag: np.ndarray
    """(n_trees, n_samples) true where a tree saw a sample."""
    importances: np.ndarray
    """(n_features,) share of the evidence gained by splits on each feature."""
    n_classes: int
    stops: tuple[np.ndarray, ...]
    """(n_weighings, n_nodes) for each tree: probability that a walk stops at a ball."""
    bags: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.uint64))
    """(n_trees, 2) key of each tree's draw and the largest random number that it took, where
    rows are elsewhere and `in_bag` has none; see `row_keys`."""

    def out_of_bag(self, X: np.ndarray | NarrowTable, n_threads: int = 1) -> np.ndarray:
        """Return (n_weighings, n_samples, n_classes) probabilities by trees that saw no such row.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features) or NarrowTable
            The inputs that were grown on; NaN where every tree saw a sample.
        n_threads : int, default=1
            Threads; they change no result.
        """
        side_by_side = self.forest.out_of_bag_posterior(X, self.in_bag, n_threads)
        return side_by_side.reshape(len(X), -1, self.n_classes).transpose(1, 0, 2)

    def mixed(self, shares: Sequence[float] | np.ndarray) -> BallForest:
        """Return the forest whose leaves predict a mean of the weighings.

        Parameters
        ----------
        shares : sequence of float
            Weight of each weighing in the mean; they sum to one.
        """
        trees = tuple(
            mix_tree(tree, np.asarray(shares, float), stops)
            for tree, stops in zip(self.forest.trees, self.stops, strict=True)
        )
        return BallForest(trees, self.forest.shift, self.forest.scale, self.n_classes)


def grow_forest(
    X: np.ndarray | NarrowTable,
    codes: np.ndarray,
    n_classes: int,
    rule: ForestRule,
    *,
    sample_weight: np.ndarray | None = None,
    class_factor: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    keyed: KeyedTable | None = None,
    n_threads: int = 1,
) -> GrownForest:
    """Grow the trees of a forest.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or NarrowTable
        Checked inputs.
    codes : ndarray of shape (n_samples,)
        Class of each sample, below `n_classes`.
    n_classes : int
        Number of classes.
    rule : ForestRule
        Settings and seed.
    sample_weight : ndarray of shape (n_samples,), default=None
        A sample of weight w counts as round(w) samples, at least one, that
        share the weight; zero leaves it out.
    class_factor : ndarray of shape (n_classes,), default=None
        Factor on the weight of each class's samples.
    groups : ndarray of shape (n_samples,), default=None
        Number of each sample's group, from zero: a tree sees all of a group or none.
    keyed : KeyedTable, default=None
        Keys of the samples by which trees draw, as from a large table in blocks; None means
        that the samples are sorted, and drawn by their places. It does not go with groups.
    n_threads : int, default=1
        Threads; they change no result.

    Returns
    -------
    GrownForest
    """
    table = narrow_table(X)
    rows = forest_rows(table, codes, n_classes, sample_weight, class_factor, groups, keyed)
    n_rows = len(rows.samples)
    tables = evidence_tables(
        rule, n_rows if groups is not None else rows_of_tree(rule, n_rows), n_classes
    )
    grown = in_threads(
        lambda number: grow_one(rows, tables, rule, number), range(rule.n_trees), n_threads
    )
    in_bag = np.zeros((rule.n_trees, len(table)), dtype=bool)
    for number, one in enumerate(grown):
        in_bag[number, rows.samples[one.drawn]] = True
    return forest_of_trees(grown, rows.shift, rows.scale, in_bag, n_classes)


def forest_of_trees(
    grown: Sequence[GrownTree], shift: np.ndarray, scale: float, in_bag: np.ndarray, n_classes: int
) -> GrownForest:
    """Return the forest of trees that were grown one by one.

    Parameters
    ----------
    grown : sequence of GrownTree
        At least one.
    shift, scale : ndarray of shape (n_features,), float
        How inputs are shifted and scaled.
    in_bag : ndarray of shape (n_trees, n_samples)
        True where a tree saw a sample.
    n_classes : int
        Number of classes.
    """
    importances = np.zeros(len(shift))
    for one in grown:
        importances += one.gains
    if importances.any():
        importances /= importances.sum()
    n_weighings, trees = len(grown[0].stops), tuple(one.tree for one in grown)
    forest = BallForest(trees, shift, scale, n_classes * n_weighings, n_weighings)
    stops = tuple(one.stops for one in grown)
    return GrownForest(forest, in_bag, importances, n_classes, stops)


def label_reliability(
    oob_posterior: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Return each sample's out-of-bag probability of its own label.

    It is NaN where it cannot be known: every tree saw the sample, or no other
    sample of positive weight has its class, so that trees that did not see it do
    not know the class. A warning counts such samples.
    """
    counts = np.ones(len(codes)) if sample_weight is None else (sample_weight > 0).astype(float)
    others = np.bincount(codes, counts)[codes] - counts
    reliability = oob_posterior[np.arange(len(codes)), codes]
    reliability[others == 0] = np.nan
    n_unknown, n_alone = np.isnan(reliability).sum(), (others == 0).sum()
    reasons = []
    if n_alone:
        reasons.append(f"the only sample of its class: {n_alone} (misspelt? else add samples)")
    if n_unknown > n_alone:
        n_seen = n_unknown - n_alone
        reasons.append(
            f"seen by every tree: {n_seen} (add trees; of samples that count several times, "
            "lower the weights)"
        )
    if reasons:
        warnings.warn(
            f"the reliability of {n_unknown} of {len(codes)} labels is unknown (NaN); "
            f"{'; '.join(reasons)}.",
            UserWarning,
            stacklevel=2,
        )
    return reliability
