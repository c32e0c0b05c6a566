"""One tree of a ball forest: how it is grown, weighed and packed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

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
    """A ball of at most so many rows is not split where no candidate gains evidence."""
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
    """Return the table for balls of at most so many rows.

    Parameters
    ----------
    n_rows : int
        Rows of the largest ball.
    n_classes : int
        Number of classes.
    alpha : float
        Dirichlet weight of each class.
    """
    whole, of_all = np.arange(n_rows + 1), alpha * n_classes
    return EvidenceTable(
        alpha,
        gammaln(whole + alpha) - gammaln(alpha),
        gammaln(whole + of_all) - gammaln(of_all),
    )


@dataclass(frozen=True, eq=False)
class BallTree:
    """One tree, as parallel arrays over its nodes; the first node is the first ball."""

    children: np.ndarray
    """The left child, which the right one follows; at a leaf, minus one minus its number."""
    offsets: np.ndarray
    """Where the features of each node begin in `features`, and where the last ones end."""
    features: np.ndarray
    """Features that the splits look at, node by node."""
    directions: np.ndarray
    """Difference of the two class means in each of `features`; one for a single feature."""
    thresholds: np.ndarray
    """A row goes right when its dot product with the direction exceeds the node's threshold.

    A leaf has zero if its ball never was split; else, with what is below it left out, the
    probability that a walk stopped there.
    """
    leaf_proba: np.ndarray
    """(n_leaves, K) posterior of a row that ends in the leaf, over its whole path."""


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
    """A tree as it was grown: features of a node begin anywhere, every ball has counts."""

    children: np.ndarray
    begins: np.ndarray
    widths: np.ndarray
    features: np.ndarray
    directions: np.ndarray
    thresholds: np.ndarray
    counts: np.ndarray


def evidence_tables(
    settings: ForestSettings, n_rows: int, n_classes: int
) -> dict[float, EvidenceTable]:
    """Return a table for each Dirichlet weight of the settings."""
    alphas = {settings.split_alpha, *(prior.alpha for prior in settings.priors)}
    return {alpha: evidence_table(n_rows, n_classes, alpha) for alpha in alphas}


def grow_one(
    data: TrainingRows, tables: Mapping[float, EvidenceTable], settings: ForestSettings, number: int
) -> GrownTree:
    """Draw a part of the rows, grow a tree on it, weigh its balls, pack it."""
    from granulearn.forest import _posterior_kernels

    rng = np.random.default_rng([settings.seed, number])
    drawn = draw_rows(len(data.rows), settings.max_samples, data.groups, rng)
    key = rng.integers(2**63, dtype=np.uint64)
    raw = _grow_raw(data, drawn, tables[settings.split_alpha], key, settings)
    weighed = [_weigh(raw, tables[prior.alpha], prior) for prior in settings.priors]
    evidences, stops, reach = weighed[0]
    gains = np.zeros(data.rows.shape[1])
    _posterior_kernels.add_importances(
        raw.children, raw.begins, raw.widths, raw.features, raw.directions, evidences,
        stops, reach, gains,
    )  # fmt: skip
    # What is left out below a leaf is hardly ever reached: the walk stopped there.
    stopped = (raw.children > 0).astype(float)
    tree, kept = _pack(raw, np.max([reach for _, _, reach in weighed], axis=0), stopped)
    n_leaves, n_classes = np.count_nonzero(tree.children < 0), data.n_classes
    side_by_side = np.empty((n_leaves, len(weighed), n_classes), np.float32)
    posterior = np.empty((n_leaves, n_classes))
    for i, (prior, (_, stops, reach)) in enumerate(zip(settings.priors, weighed, strict=True)):
        _posterior_kernels.set_leaf_posteriors(
            tree.children, kept, raw.counts, prior.alpha, stops, reach, posterior
        )
        side_by_side[:, i] = posterior
    tree = replace(tree, leaf_proba=side_by_side.reshape(n_leaves, -1))
    stops = np.array([stops[kept] for _, stops, _ in weighed], np.float32)
    return GrownTree(tree, drawn, gains, stops)


def draw_rows(
    n_rows: int, share: float, groups: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """Return the rows that a tree sees, without replacement; of a group all or none.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    share : float
        Share of the rows to draw; of groups, so many as come nearest to it.
    groups : ndarray of shape (n_rows,) or None
        Group of each row, from zero.
    rng : Generator
        Source of random numbers.
    """
    n_wanted = max(1, round(share * n_rows))
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


def mix_tree(tree: BallTree, shares: np.ndarray, stops: np.ndarray) -> BallTree:
    """Return a tree whose leaves predict the weighted mean of the priors, without equal ones.

    Parameters
    ----------
    tree : BallTree
        Its leaves predict what each prior says, side by side.
    shares : ndarray of shape (n_priors,)
        Weight of each prior.
    stops : ndarray of shape (n_priors, n_nodes)
        Probability that a walk stops at a ball, once it is there.
    """
    from granulearn.forest import _posterior_kernels

    each = tree.leaf_proba.reshape(len(tree.leaf_proba), len(shares), -1)
    mean = np.einsum("w,lwk->lk", shares, each)
    n_nodes = len(tree.children)
    is_leaf, node_proba = np.empty(n_nodes, bool), np.empty((n_nodes, mean.shape[1]))
    _posterior_kernels.mark_equal_leaves(tree.children, mean, EQUAL, is_leaf, node_proba)
    children = np.where(is_leaf, 0, tree.children)
    reach = np.ones(n_nodes)
    raw = _RawTree(
        children, tree.offsets[:-1], np.diff(tree.offsets), tree.features, tree.directions,
        tree.thresholds, node_proba,
    )  # fmt: skip
    stopped = np.where(tree.children < 0, tree.thresholds, shares @ stops)
    packed, kept = _pack(raw, reach, stopped)
    return replace(packed, leaf_proba=node_proba[kept[packed.children < 0]].astype(np.float32))


def _grow_raw(
    data: TrainingRows, drawn: np.ndarray, table: EvidenceTable, key, settings: ForestSettings
) -> _RawTree:
    from granulearn.forest import _splitter_kernels

    n_classes, n_drawn, d = data.n_classes, len(drawn), data.rows.shape[1]
    max_nodes, max_features = 2 * n_drawn, max(1, round(d**0.5))
    # The tree's rows as columns side by side: a tree of few rows stays near the processor.
    columns, own = np.ascontiguousarray(data.rows[drawn].T), data.codes[drawn]
    weights = data.weights[drawn] if len(data.weights) else data.weights
    perm = np.argsort(own, kind="stable").astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n_classes))])
    scratch = _splitter_kernels.new_scratch(max_features, n_drawn, n_classes, d)
    raw = _RawTree(
        children=np.zeros(max_nodes, dtype=np.int32),
        begins=np.zeros(max_nodes, dtype=np.int32),
        widths=np.zeros(max_nodes, dtype=np.int32),
        features=np.empty(n_drawn * max_features, dtype=np.int32),
        directions=np.empty(n_drawn * max_features, dtype=np.float64),
        thresholds=np.empty(max_nodes, dtype=np.float64),
        counts=np.empty((max_nodes, n_classes)),
    )
    search = _splitter_kernels.Search(
        settings.n_directions, settings.n_axes, settings.n_thresholds, settings.max_spared
    )
    n_nodes = _splitter_kernels.grow_tree(
        columns, weights, perm, bounds, key, search, table, scratch, raw.children, raw.begins,
        raw.widths, raw.features, raw.directions, raw.thresholds, raw.counts,
    )  # fmt: skip
    per_node = ("children", "begins", "widths", "thresholds", "counts")
    return replace(raw, **{name: getattr(raw, name)[:n_nodes] for name in per_node})


def _weigh(raw: _RawTree, table, prior: Prior) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log evidence of each ball, and where walks stop and come."""
    from granulearn.forest import _posterior_kernels

    evidences, stops, reach = (np.empty(len(raw.children)) for _ in range(3))
    _posterior_kernels.weigh_balls(raw.counts, table, evidences)
    _posterior_kernels.weigh_tree(raw.children, evidences, prior.stop, stops, reach)
    return evidences, stops, reach


def _pack(raw: _RawTree, reach: np.ndarray, stopped: np.ndarray) -> tuple[BallTree, np.ndarray]:
    """Keep the nodes that a walk can reach, in arrays of just the right size.

    Leaves predict nothing yet; of `stopped` they get what `BallTree.thresholds` says.
    """
    from granulearn.forest import _posterior_kernels

    number, kept = (np.empty(len(raw.children), dtype=np.int32) for _ in range(2))
    n_kept = _posterior_kernels.renumber_kept(raw.children, reach, NEGLIGIBLE, number, kept)
    kept = kept[:n_kept]
    is_split = (raw.children[kept] > 0) & (number[raw.children[kept]] >= 0)
    n_filled = raw.widths[kept][is_split].sum()
    tree = BallTree(
        children=np.empty(n_kept, dtype=np.int32),
        offsets=np.empty(n_kept + 1, dtype=np.int32),
        features=np.empty(n_filled, dtype=np.int32),
        directions=np.empty(n_filled, dtype=raw.directions.dtype),
        thresholds=np.empty(n_kept, dtype=raw.thresholds.dtype),
        leaf_proba=np.empty((0, 0)),
    )
    _posterior_kernels.pack_tree(
        raw.children, raw.begins, raw.widths, raw.features, raw.directions, raw.thresholds,
        number, kept, tree.children, tree.offsets, tree.features, tree.directions,
        tree.thresholds,
    )  # fmt: skip
    is_leaf = tree.children < 0
    tree.thresholds[is_leaf] = stopped[kept][is_leaf]
    return tree, kept
