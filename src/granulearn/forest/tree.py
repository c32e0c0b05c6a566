"""One tree of a ball forest: how it is grown, weighed and packed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from granulearn.forest._posterior import (
    add_to_children,
    average_coverings,
    find_leaves,
    join_equal_leaves,
)
from granulearn.forest._splitter import TreeGrower

# The walk of a sample ends where it would go on with a smaller probability.
NEGLIGIBLE = 1e-12
# Leaves side by side whose probabilities differ by less become one.
EQUAL = 1e-7


@dataclass(frozen=True)
class Prior:
    """How the balls of a tree are weighed against the balls inside them."""

    alpha: float = 0.5
    """Dirichlet weight of each class."""
    stop: float = 0.8
    """Prior probability that a ball is not split."""


@dataclass(frozen=True)
class ForestSettings:
    """Settings that decide a forest, apart from the data."""

    n_estimators: int = 100
    max_samples: float = 0.632
    """Share of the rows that a tree sees."""
    n_directions: int = 8
    """Directions between class means to try for each ball."""
    n_axes: int = 0
    """Single features to try for each ball."""
    n_thresholds: int = 1
    """Thresholds to try for each, at most eight; the first of a direction is the middle."""
    split_alpha: float = 0.5
    """Dirichlet weight of the evidence that chooses a split."""
    priors: tuple[Prior, ...] = (Prior(),)
    """Each weighs the balls of the same trees."""
    max_spared: int = 0
    """A ball of at most this number of rows is not split where no candidate gains evidence."""
    seed: int = 0


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows that trees are grown on."""

    rows: np.ndarray
    """(n, d) inputs, shifted and scaled."""
    codes: np.ndarray
    """(n,) class of each row."""
    weights: np.ndarray
    """(n,) weight of each row; empty where all are one."""
    groups: np.ndarray | None
    """(n,) group of each row, from zero: a tree sees all of a group or none."""
    n_classes: int


class EvidenceTable(NamedTuple):
    """The summands of the logarithm of an evidence."""

    alpha: float
    """Dirichlet weight of each class."""
    of_class: np.ndarray
    """log gamma(n + alpha) - log gamma(alpha) for whole n, the count of a class."""
    of_ball: np.ndarray
    """The same with K alpha, for the count of a ball."""


def evidence_table(n_rows: int, n_classes: int, alpha: float) -> EvidenceTable:
    """Return the table for balls of at most `n_rows` rows."""
    whole, of_all = np.arange(n_rows + 1), alpha * n_classes
    return EvidenceTable(
        alpha,
        gammaln(whole + alpha) - gammaln(alpha),
        gammaln(whole + of_all) - gammaln(of_all),
    )


def log_evidences(counts: np.ndarray, alpha: float) -> np.ndarray:
    """Return the logarithm of the evidence of each ball: a Dirichlet-multinomial.

    Parameters
    ----------
    counts : ndarray of shape (n_balls, n_classes)
        Weight of each class in each ball.
    alpha : float
        Dirichlet weight of each class.
    """
    of_all = alpha * counts.shape[1]
    of_classes = (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)
    return of_classes - (gammaln(counts.sum(axis=1) + of_all) - gammaln(of_all))


@dataclass(frozen=True, eq=False)
class BallTree:
    """One tree, as parallel arrays over its nodes; the first node is the first ball."""

    children: np.ndarray
    """The left child, which the right one follows; at a leaf, minus one minus its number."""
    offsets: np.ndarray
    """Where the features of each node begin in `features`, and where the last ones end."""
    features: np.ndarray
    """Features of the splits, node by node."""
    directions: np.ndarray
    """Difference of the two class means in each of `features`; one for a single feature."""
    thresholds: np.ndarray
    """A row goes right when its dot product with the direction exceeds the node's threshold.

    A leaf has zero if its ball never was split; else, with what is below it left out, the
    probability that a walk stopped there.
    """
    leaf_proba: np.ndarray
    """(n_leaves, K) posterior of a row that ends in the leaf, over its whole path."""

    def leaves(self, columns: np.ndarray, seen: np.ndarray | None = None) -> np.ndarray:
        """Return the number of the leaf of each row; -1 for a row that the tree saw.

        Parameters
        ----------
        columns : ndarray of shape (n_features, n_rows)
            Rows, shifted and scaled, as columns side by side.
        seen : ndarray of bool of shape (n_rows,), default=None
            The rows that the tree saw; None means none.
        """
        return find_leaves(
            columns, seen, self.children, self.offsets, self.features,
            self.directions, self.thresholds,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree, the rows that it saw, and the evidence that each feature gained."""

    tree: BallTree
    drawn: np.ndarray
    gains: np.ndarray
    stops: np.ndarray
    """(n_priors, n_nodes) probability that a walk stops at a ball, once it is there."""


@dataclass(frozen=True, eq=False)
class _RawTree:
    """A tree as it was grown: features of a node begin anywhere, every ball has counts.

    The left child of a leaf is 0.
    """

    children: np.ndarray
    begins: np.ndarray
    widths: np.ndarray
    features: np.ndarray
    directions: np.ndarray
    thresholds: np.ndarray
    counts: np.ndarray


def grow_one(
    data: TrainingRows, table: EvidenceTable, settings: ForestSettings, number: int
) -> GrownTree:
    """Draw a part of the rows, grow a tree on it, weigh its balls, pack it."""
    rng = np.random.default_rng([settings.seed, number])
    drawn = draw_rows(len(data.rows), settings.max_samples, data.groups, rng)
    key = rng.integers(2**63, dtype=np.uint64)
    raw = _grow_raw(data, drawn, table, key, settings)
    evidences = {
        alpha: log_evidences(raw.counts, alpha) for alpha in {p.alpha for p in settings.priors}
    }
    stops, reach = np.swapaxes(
        [
            average_coverings(raw.children, evidences[prior.alpha], prior.stop)[1:]
            for prior in settings.priors
        ],
        0, 1,
    )  # fmt: skip
    gains = _gains(
        raw, data.rows.shape[1], evidences[settings.priors[0].alpha], reach[0] * (1 - stops[0])
    )
    # A walk that comes to a ball comes to all balls around it.
    kept = reach.max(axis=0) > NEGLIGIBLE
    # What is left out below a leaf is hardly ever reached: the walk stopped there.
    tree = _pack(raw, kept, (raw.children > 0).astype(float))
    counts, is_leaf = raw.counts[kept], tree.children < 0
    leaf_proba = []
    for prior, own_stops, own_reach in zip(
        settings.priors, stops[:, kept], reach[:, kept], strict=True
    ):
        # Every walk that comes to a leaf stops there.
        stopping = own_reach * np.where(is_leaf, 1.0, own_stops)
        smoothed = counts + prior.alpha
        posterior = stopping[:, None] * smoothed / smoothed.sum(axis=1, keepdims=True)
        add_to_children(tree.children, posterior)
        leaf_proba.append(posterior[is_leaf])
    tree = replace(tree, leaf_proba=np.hstack(leaf_proba).astype(np.float32))
    return GrownTree(tree, drawn, gains, stops[:, kept].astype(np.float32))


def draw_rows(
    n_rows: int, fraction: float, groups: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """Return the rows that a tree sees, without replacement; of a group all or none.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    fraction : float
        Fraction of the rows to draw; groups are drawn to come nearest to it.
    groups : ndarray of shape (n_rows,) or None
        Group of each row, from zero.
    rng : Generator
        Source of random numbers.
    """
    n_wanted = max(1, round(fraction * n_rows))
    if groups is None:
        drawn = rng.choice(n_rows, n_wanted, replace=False, shuffle=False)
        return np.sort(drawn).astype(np.int32)
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    # One group at least is seen, and one is not.
    seen = np.cumsum(sizes[order])[:-1]
    n_groups = 1 + int(np.abs(seen - n_wanted).argmin()) if len(seen) else 1
    is_seen = np.zeros(len(sizes), dtype=bool)
    is_seen[order[:n_groups]] = True
    return np.flatnonzero(is_seen[groups]).astype(np.int32)


def mix_tree(tree: BallTree, weights: np.ndarray, stops: np.ndarray) -> BallTree:
    """Return a tree whose leaves predict the weighted mean of the priors, without equal ones.

    Parameters
    ----------
    tree : BallTree
        Its leaves hold the prediction under each prior, side by side.
    weights : ndarray of shape (n_priors,)
        Weight of each prior.
    stops : ndarray of shape (n_priors, n_nodes)
        Probability that a walk stops at a ball, once it is there.
    """
    is_leaf = tree.children < 0
    proba = np.zeros((len(tree.children), tree.leaf_proba.shape[1] // len(weights)))
    each = tree.leaf_proba.reshape(len(tree.leaf_proba), len(weights), -1)
    proba[is_leaf] = np.einsum("w,lwk->lk", weights, each)
    stopped = np.where(is_leaf, tree.thresholds, weights @ stops)
    is_leaf = join_equal_leaves(tree.children, proba, EQUAL)
    kept, lefts = np.zeros(len(is_leaf), bool), tree.children[~is_leaf]
    kept[0] = kept[lefts] = kept[lefts + 1] = True
    raw = _RawTree(
        np.where(is_leaf, 0, tree.children), tree.offsets[:-1], np.diff(tree.offsets),
        tree.features, tree.directions, tree.thresholds, proba,
    )  # fmt: skip
    packed = _pack(raw, kept, stopped)
    return replace(packed, leaf_proba=proba[kept][packed.children < 0].astype(np.float32))


def _grow_raw(
    data: TrainingRows, drawn: np.ndarray, table: EvidenceTable, key, settings: ForestSettings
) -> _RawTree:
    # The tree's rows as columns side by side: a tree of few rows stays near the processor.
    columns = np.ascontiguousarray(data.rows[drawn].T)
    weights = data.weights[drawn] if len(data.weights) else data.weights
    grower = TreeGrower(
        columns, data.codes[drawn], weights, data.n_classes, n_directions=settings.n_directions,
        n_axes=settings.n_axes, n_thresholds=settings.n_thresholds,
        max_spared=settings.max_spared, **table._asdict(),
    )  # fmt: skip
    return _RawTree(*grower.grow(key))


def _gains(
    raw: _RawTree, n_features: int, evidences: np.ndarray, splits_here: np.ndarray
) -> np.ndarray:
    """Return the evidence gained by splits on each feature, weighted by their probability.

    The features of a split share the gain by their part in the squared direction.
    """
    splits = np.flatnonzero(raw.children)
    lefts, widths = raw.children[splits], raw.widths[splits]
    gains = evidences[lefts] + evidences[lefts + 1] - evidences[splits]
    gains = np.maximum(gains, 0.0) * splits_here[splits]
    used = _ranges(raw.begins[splits], widths)
    squares, split = raw.directions[used] ** 2, np.repeat(np.arange(len(splits)), widths)
    totals = np.bincount(split, squares, minlength=len(splits))[split]
    shares = np.divide(squares, totals, out=np.zeros_like(squares), where=totals > 0)
    return np.bincount(raw.features[used], gains[split] * shares, minlength=n_features)


def _pack(raw: _RawTree, kept: np.ndarray, stopped: np.ndarray) -> BallTree:
    """Keep some nodes; a ball whose children are dropped is a leaf.

    Leaves predict nothing yet; of `stopped` they get what `BallTree.thresholds` says.
    """
    number, left = np.cumsum(kept) - 1, raw.children[kept]
    is_leaf = (left == 0) | ~kept[left]
    widths = np.where(is_leaf, 0, raw.widths[kept])
    used = _ranges(raw.begins[kept], widths)
    return BallTree(
        children=np.where(is_leaf, -np.cumsum(is_leaf), number[left]).astype(np.int32),
        offsets=np.append(0, np.cumsum(widths)).astype(np.int32),
        features=raw.features[used],
        directions=raw.directions[used],
        thresholds=np.where(is_leaf, stopped[kept], raw.thresholds[kept]),
        leaf_proba=np.empty((0, 0)),
    )


def _ranges(begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the whole numbers of several ranges, one after another."""
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(begins - (ends - lengths), lengths)
