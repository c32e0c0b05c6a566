"""One tree of a ball forest: how it is grown, weighed and packed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from granulearn.balls.evidence_table import EvidenceTable, evidence_table
from granulearn.balls.forest_rows import ForestRows
from granulearn.balls.row_keys import key_of_draw, least_draws

# The walk of a sample ends where it would go on with a smaller probability.
NEGLIGIBLE = 1e-12
# Leaves side by side whose probabilities differ by less become one.
EQUAL = 1e-7
USUAL_ALPHA = 0.5


@dataclass(frozen=True)
class Weighing:
    """How the balls of a tree are weighed against the balls inside them."""

    alpha: float = USUAL_ALPHA
    """Dirichlet weight of each class."""
    stop: float = 0.8
    """Prior probability that a ball is not split."""


@dataclass(frozen=True)
class ForestRule:
    """Settings that decide a forest, apart from the data."""

    n_trees: int = 100
    max_samples: float = 0.632
    """Share of the rows that a tree sees."""
    n_directions: int = 8
    """Directions between class means to try for each ball."""
    n_axes: int = 0
    """Single features to try for each ball."""
    n_thresholds: int = 1
    """Thresholds to try for each, at most eight; the first of a direction is the middle."""
    split_alpha: float = USUAL_ALPHA
    """Dirichlet weight of the evidence that chooses a split."""
    weighings: tuple[Weighing, ...] = (Weighing(),)
    """Each weighs the balls of the same trees."""
    max_spared: int = 0
    """A ball of at most so many rows is not split where no try gains evidence."""
    seed: int = 0


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
    """(n_weighings, n_nodes) probability that a walk stops at a ball, once it is there."""


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


def evidence_tables(rule: ForestRule, n_rows: int, n_classes: int) -> dict[float, EvidenceTable]:
    """Return a table for each Dirichlet weight of a rule."""
    alphas = {rule.split_alpha, *(weighing.alpha for weighing in rule.weighings)}
    return {alpha: evidence_table(n_rows, n_classes, alpha) for alpha in alphas}


def grow_one(
    rows: ForestRows, tables: Mapping[float, EvidenceTable], rule: ForestRule, number: int
) -> GrownTree:
    """Draw a part of the rows, grow a tree on it, weigh its balls, pack it."""
    key = np.uint64(key_of_draw(rule.seed, number))
    return grow_on(rows, _draw_rows(rows, rule, key), tables, rule, key)


def rows_of_tree(rule: ForestRule, n_rows: int) -> int:
    """Return how many rows a tree sees, of so many."""
    return max(1, round(rule.max_samples * n_rows))


def grow_on(
    rows: ForestRows,
    drawn: np.ndarray,
    tables: Mapping[float, EvidenceTable],
    rule: ForestRule,
    key: np.uint64,
) -> GrownTree:
    """Grow a tree on rows that are drawn, weigh its balls, pack it."""
    from granulearn.balls import _posterior_kernels

    raw = _grow_raw(rows, drawn, tables[rule.split_alpha], key, rule)
    weighed = [_weigh(raw, tables[weighing.alpha], weighing) for weighing in rule.weighings]
    evidences, stops, reach = weighed[0]
    gains = np.zeros(rows.n_features)
    _posterior_kernels.add_importances(
        raw.children, raw.begins, raw.widths, raw.features, raw.directions, evidences,
        stops, reach, gains,
    )  # fmt: skip
    # What is left out below a leaf is hardly ever reached: the walk stopped there.
    stopped = (raw.children > 0).astype(float)
    tree, kept = _pack(raw, np.max([reach for _, _, reach in weighed], axis=0), stopped)
    n_leaves, n_classes = np.count_nonzero(tree.children < 0), len(rows.numbers)
    side_by_side = np.empty((n_leaves, len(weighed), n_classes), np.float32)
    for i, (weighing, (_, stops, reach)) in enumerate(zip(rule.weighings, weighed, strict=True)):
        posterior = np.empty((n_leaves, n_classes))
        _posterior_kernels.set_leaf_posteriors(
            tree.children, kept, raw.counts, weighing.alpha, stops, reach, posterior
        )
        side_by_side[:, i] = posterior[:, rows.numbers]
    tree = replace(tree, leaf_proba=side_by_side.reshape(n_leaves, -1))
    stops = np.array([stops[kept] for _, stops, _ in weighed], np.float32)
    return GrownTree(tree, drawn, gains, stops)


def _draw_rows(rows: ForestRows, rule: ForestRule, key: np.uint64) -> np.ndarray:
    """Return the rows that a tree sees; of a group all or none."""
    from granulearn.balls import _forest_kernels

    n_rows = len(rows.samples)
    n_wanted = rows_of_tree(rule, n_rows)
    if len(rows.keys):
        return least_draws(rows.keys, int(key), n_wanted)[0]
    if len(rows.units) == 0:
        drawn = np.empty(n_wanted, dtype=np.int32)
        _forest_kernels.draw_rows(key, n_rows, drawn)
        return drawn
    sizes = np.bincount(rows.units)
    draws = np.empty(len(sizes))
    _forest_kernels.draw_numbers(key, draws)
    order = np.argsort(draws, kind="stable")
    # As many groups as come nearest to the rows wanted; one at least is seen, and one is not.
    seen = np.cumsum(sizes[order])
    n_groups = 1 + int(np.abs(seen[:-1] - n_wanted).argmin()) if len(sizes) > 1 else 1
    is_seen = np.zeros(len(sizes), dtype=bool)
    is_seen[order[:n_groups]] = True
    return np.flatnonzero(is_seen[rows.units]).astype(np.int32)


def mix_tree(tree: BallTree, shares: np.ndarray, stops: np.ndarray) -> BallTree:
    """Return a tree whose leaves predict the weighted mean of the weighings, without equal ones.

    Parameters
    ----------
    tree : BallTree
        Its leaves predict what each weighing says, side by side.
    shares : ndarray of shape (n_weighings,)
        Weight of each weighing.
    stops : ndarray of shape (n_weighings, n_nodes)
        Probability that a walk stops at a ball, once it is there.
    """
    from granulearn.balls import _posterior_kernels

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


def _grow_raw(rows: ForestRows, drawn, table, key, rule: ForestRule) -> _RawTree:
    from granulearn.balls import _forest_kernels, _forest_split_kernels, _forest_try_kernels

    n_classes, n_drawn = len(rows.numbers), len(drawn)
    max_nodes, max_features = 2 * n_drawn, max(1, round(rows.n_features**0.5))
    # The tree's rows side by side: a tree of few rows of many stays near the processor.
    columns, own = rows.columns(drawn), rows.codes[drawn]
    weights = rows.weights[drawn] if len(rows.weights) else rows.weights
    perm = np.argsort(own, kind="stable").astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n_classes))])
    scratch = _forest_try_kernels.new_scratch(max_features, n_drawn, n_classes, columns)
    raw = _RawTree(
        children=np.zeros(max_nodes, dtype=np.int32),
        begins=np.zeros(max_nodes, dtype=np.int32),
        widths=np.zeros(max_nodes, dtype=np.int32),
        features=np.empty(n_drawn * max_features, dtype=np.int32),
        directions=np.empty(n_drawn * max_features, dtype=np.float64),
        thresholds=np.empty(max_nodes, dtype=np.float64),
        counts=np.empty((max_nodes, n_classes)),
    )
    search = _forest_split_kernels.Search(
        rule.n_directions, rule.n_axes, rule.n_thresholds, rule.max_spared
    )
    n_nodes = _forest_kernels.grow_tree(
        columns, weights, perm, bounds, key, search, table, scratch, raw.children, raw.begins,
        raw.widths, raw.features, raw.directions, raw.thresholds, raw.counts,
    )  # fmt: skip
    per_node = ("children", "begins", "widths", "thresholds", "counts")
    return replace(raw, **{name: getattr(raw, name)[:n_nodes] for name in per_node})


def _weigh(raw: _RawTree, table, weighing: Weighing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log evidence of each ball, and where walks stop and come."""
    from granulearn.balls import _posterior_kernels

    evidences, stops, reach = (np.empty(len(raw.children)) for _ in range(3))
    _posterior_kernels.weigh_balls(raw.counts, table, evidences)
    _posterior_kernels.weigh_tree(raw.children, evidences, weighing.stop, stops, reach)
    return evidences, stops, reach


def _pack(raw: _RawTree, reach: np.ndarray, stopped: np.ndarray) -> tuple[BallTree, np.ndarray]:
    """Keep the nodes that a walk can reach, in arrays of just the right size.

    Leaves predict nothing yet; of `stopped` they get what `BallTree.thresholds` says.
    """
    from granulearn.balls import _posterior_kernels

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
