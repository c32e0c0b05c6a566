"""Ball forest: a Bayesian average over all coverings of the data by balls of random trees.

Each tree splits a part of the samples by the nearer of two class means, in a few
features, until balls are pure. Instead of a purity threshold, every ball of a
tree is weighed by its evidence, so a ball that only separates noise counts for
nothing. A sample's posterior from the trees that did not see it says how far
its label can be believed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from granulearn.balls.makers import in_threads, power_of_two_scale
from granulearn.balls.records import order_by_value, repetitions

# The walk of a sample ends where it would go on with a smaller probability.
NEGLIGIBLE = 1e-12
ROWS_PER_TASK = 16_384  # so many rows are worth loading a tree into the cache for


@dataclass(frozen=True)
class ForestRule:
    """Settings that decide a forest, apart from the data."""

    n_trees: int = 100
    max_samples: float = 0.632
    n_tries: int = 8
    stop: float = 0.8
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
    """Difference of the two class means in each of `features`."""
    thresholds: np.ndarray
    """A row goes right when its dot product with the direction exceeds the node's threshold."""
    leaf_proba: np.ndarray
    """(n_leaves, K) posterior of a row that ends in the leaf, over its whole path."""


@dataclass(frozen=True, eq=False)
class BallForest:
    """Trees, and how inputs are shifted and scaled before they meet them."""

    trees: tuple[BallTree, ...]
    shift: np.ndarray
    scale: float
    n_classes: int

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Return inputs shifted and scaled, as the trees need them."""
        return (np.asarray(X, dtype=np.float64) * self.scale) - self.shift

    def posterior(self, X: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return class probabilities of shape (n_rows, n_classes)."""
        return self._mean_posterior(X, None, n_threads)

    def out_of_bag_posterior(
        self, X: np.ndarray, in_bag: np.ndarray, n_threads: int = 1
    ) -> np.ndarray:
        """Return class probabilities from the trees that did not see a row; NaN if all did.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
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
        total = np.zeros((len(X), self.n_classes))
        n_trees = np.zeros(len(X))
        nothing_seen = np.empty(0, dtype=bool)

        def add_up(stretch: slice) -> None:
            from granulearn.balls import _posterior_kernels

            rows = self.rows(X[stretch])
            for number, tree in enumerate(self.trees):
                seen = nothing_seen if in_bag is None else in_bag[number, stretch]
                _posterior_kernels.add_posterior(
                    rows, seen, tree.children, tree.offsets, tree.features, tree.directions,
                    tree.thresholds, tree.leaf_proba, total[stretch], n_trees[stretch],
                )  # fmt: skip

        stretches = [slice(i, i + ROWS_PER_TASK) for i in range(0, len(X), ROWS_PER_TASK)]
        in_threads(add_up, stretches, n_threads)
        n_trees[n_trees == 0] = np.nan
        return total / n_trees[:, None]


@dataclass(frozen=True, eq=False)
class GrownForest:
    """A forest, and what growing it says about the samples and the features."""

    forest: BallForest
    in_bag: np.ndarray
    """(n_trees, n_samples) true where a tree saw a sample."""
    importances: np.ndarray
    """(n_features,) share of the evidence gained by splits on each feature."""


def grow_forest(
    X: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    rule: ForestRule,
    *,
    sample_weight: np.ndarray | None = None,
    class_factor: np.ndarray | None = None,
    n_threads: int = 1,
) -> GrownForest:
    """Grow the trees of a forest.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
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
    n_threads : int, default=1
        Threads; they change no result.

    Returns
    -------
    GrownForest
    """
    rows = forest_rows(X, codes, n_classes, sample_weight, class_factor)
    tables = _log_gamma_tables(len(rows.samples), n_classes)
    grown = in_threads(
        lambda number: _grow_one(rows, tables, rule, number), range(rule.n_trees), n_threads
    )
    in_bag = np.zeros((rule.n_trees, len(X)), dtype=bool)
    importances = np.zeros(X.shape[1])
    for number, one in enumerate(grown):
        in_bag[number, rows.samples[one.drawn]] = True
        importances += one.gains
    if importances.any():
        importances /= importances.sum()
    forest = BallForest(tuple(one.tree for one in grown), rows.shift, rows.scale, n_classes)
    return GrownForest(forest, in_bag, importances)


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
        reasons.append(f"seen by every tree: {n_seen} (add trees, or lower max_samples)")
    if reasons:
        warnings.warn(
            f"the reliability of {n_unknown} of {len(codes)} labels is unknown (NaN); "
            f"{'; '.join(reasons)}.",
            UserWarning,
            stacklevel=2,
        )
    return reliability


@dataclass(frozen=True, eq=False)
class ForestRows:
    """Samples in an order, and with class numbers, that depend on the samples alone.

    Trees draw rows by position and classes by number. In any other order, a
    permutation of the data or new names of its classes would give another forest.
    """

    samples: np.ndarray
    """(m,) the sample of each row; a sample of weight two has two rows."""
    columns: np.ndarray
    """(d, m) inputs, shifted and scaled."""
    codes: np.ndarray
    """(m,) class of each row, in the canonical numbers."""
    numbers: np.ndarray
    """(K,) canonical number of each class."""
    weights: np.ndarray
    """(m,) weight of each row; empty where all are one."""
    shift: np.ndarray
    scale: float


def forest_rows(X, codes, n_classes, sample_weight=None, class_factor=None) -> ForestRows:
    """Repeat samples by their weight, and bring rows and classes into canonical order."""
    samples, weights = np.arange(len(X)), np.ones(len(X))
    if sample_weight is not None:
        n_copies = repetitions(sample_weight)
        samples = np.repeat(samples, n_copies)
        weights = (sample_weight / np.maximum(n_copies, 1))[samples]
    order, numbers = canonical_order(X[samples], codes[samples], n_classes)
    samples, weights = samples[order], weights[order]
    if class_factor is not None:
        weights = weights * class_factor[codes[samples]]
    scale = power_of_two_scale(X)
    columns = np.ascontiguousarray(X[samples].T, dtype=np.float64)
    columns *= scale
    shift = columns.mean(axis=1)
    columns -= shift[:, None]
    if (weights == 1).all():
        weights = np.empty(0)
    return ForestRows(samples, columns, numbers[codes[samples]], numbers, weights, shift, scale)


def canonical_order(X, codes, n_classes) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of the rows and a number for each class, whatever the classes are called.

    Rows are sorted by their values. Classes are numbered by the positions of their
    rows in that order, and equal rows are sorted by these numbers.
    """
    by_value = order_by_value(X)
    ordered = X[by_value]
    differs = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.concatenate([[0], np.cumsum(differs)])
    own = codes[by_value]
    # Bytes of big-endian numbers compare as the sequences of numbers do.
    places = [place[own == code].astype(">i8").tobytes() for code in range(n_classes)]
    numbers = np.empty(n_classes, dtype=np.int64)
    numbers[sorted(range(n_classes), key=lambda code: places[code])] = np.arange(n_classes)
    return by_value[np.lexsort((numbers[own], place))], numbers


@dataclass(frozen=True, eq=False)
class _OneTree:
    tree: BallTree
    drawn: np.ndarray
    gains: np.ndarray


def _log_gamma_tables(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    whole = np.arange(n_rows + 1)
    return gammaln(whole + 0.5), gammaln(whole + 0.5 * n_classes)


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
    evidences: np.ndarray


def _grow_one(rows: ForestRows, tables, rule: ForestRule, number: int) -> _OneTree:
    """Draw a part of the rows, grow a tree on it, weigh its balls, pack it."""
    from granulearn.balls import _forest_kernels, _posterior_kernels

    n_features, n_rows = rows.columns.shape
    drawn = np.empty(max(1, round(rule.max_samples * n_rows)), dtype=np.int32)
    key = np.uint64(_forest_kernels.tree_key(np.uint64(rule.seed), number))
    _forest_kernels.draw_rows(key, n_rows, drawn)
    raw = _grow_raw(rows, drawn, tables, key, rule.n_tries)
    stops, reach = np.empty(len(raw.children)), np.empty(len(raw.children))
    _posterior_kernels.weigh_tree(raw.children, raw.evidences, rule.stop, stops, reach)
    gains = np.zeros(n_features)
    _posterior_kernels.add_importances(
        raw.children, raw.begins, raw.widths, raw.features, raw.directions, raw.evidences,
        stops, reach, gains,
    )  # fmt: skip
    tree = _pack(raw, stops, reach)
    tree.leaf_proba[:] = tree.leaf_proba[:, rows.numbers]
    return _OneTree(tree, drawn, gains)


def _grow_raw(rows: ForestRows, drawn, tables, key, n_tries: int) -> _RawTree:
    from granulearn.balls import _forest_kernels, _forest_split_kernels

    n_classes, max_nodes = len(rows.numbers), 2 * len(drawn)
    max_features = max(1, round(len(rows.columns) ** 0.5))
    own = rows.codes[drawn]
    perm = drawn[np.argsort(own, kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n_classes))])
    half_table, total_table = tables
    scratch = _forest_split_kernels.new_scratch(
        max_features, len(drawn), n_classes, len(rows.columns)
    )
    raw = _RawTree(
        children=np.zeros(max_nodes, dtype=np.int32),
        begins=np.zeros(max_nodes, dtype=np.int32),
        widths=np.zeros(max_nodes, dtype=np.int32),
        features=np.empty(len(drawn) * max_features, dtype=np.int32),
        directions=np.empty(len(drawn) * max_features),
        thresholds=np.empty(max_nodes),
        counts=np.empty((max_nodes, n_classes)),
        evidences=np.empty(max_nodes),
    )
    n_nodes = _forest_kernels.grow_tree(
        rows.columns, rows.weights, perm, bounds, key, n_tries, half_table, total_table, scratch,
        raw.children, raw.begins, raw.widths, raw.features, raw.directions, raw.thresholds,
        raw.counts, raw.evidences,
    )  # fmt: skip
    per_node = ("children", "begins", "widths", "thresholds", "counts", "evidences")
    return replace(raw, **{name: getattr(raw, name)[:n_nodes] for name in per_node})


def _pack(raw: _RawTree, stops: np.ndarray, reach: np.ndarray) -> BallTree:
    """Keep the nodes that a walk can reach, in arrays of just the right size."""
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
        directions=np.empty(n_filled),
        thresholds=np.empty(n_kept),
        leaf_proba=np.empty((n_kept - is_split.sum(), raw.counts.shape[1])),
    )
    _posterior_kernels.pack_tree(
        raw.children, raw.begins, raw.widths, raw.features, raw.directions, raw.thresholds,
        raw.counts, stops, reach, number, kept, tree.children, tree.offsets, tree.features,
        tree.directions, tree.thresholds, tree.leaf_proba,
    )  # fmt: skip
    return tree
