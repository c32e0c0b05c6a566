"""Which balls of a forest speak for a class: what training rows say about each ball of a tree.

A packed tree keeps what a walk predicts, not the balls on the way. The rows that the
tree saw bring them back: walked down the tree once more, they give each ball its class
counts, the counts give its evidence, and the evidence the probability that a walk
ends in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from granulearn.balls.evidence_table import evidence_table
from granulearn.balls.forest import BallForest
from granulearn.balls.forest_tree import BallTree, Weighing

MOST_BALLS = 3
MOST_COLUMNS = 3
# A column that has less of the evidence gained on a path is not worth a word.
LEAST_SHARE = 0.1
# Rounding must not choose between balls that say as much.
_DECIMALS = 9


@dataclass(frozen=True)
class BallVoice:
    """A ball that speaks for a class of a row."""

    tree: int
    """Number of the tree."""
    weight: float
    """Share of what the forest predicts for the row that comes from this ball."""
    probability: float
    """What the ball predicts for the class."""
    n_samples: int
    """Training samples that the tree saw in the ball."""
    class_counts: tuple[int, ...]
    """How many of them each class has."""
    columns: tuple[tuple[int | str, str], ...]
    """Up to three columns that lead to the ball, with the side of the row: "higher" or "lower"."""


@dataclass(frozen=True, eq=False)
class SeenRows:
    """The rows that the trees of a forest were grown on."""

    rows: np.ndarray
    """(n, d) inputs, shifted and scaled."""
    codes: np.ndarray
    """(n,) class of each row."""
    weights: np.ndarray
    """(n,) what each row counts in the evidence."""
    in_bag: np.ndarray
    """(n_trees, n) true where a tree saw a row."""


@dataclass(frozen=True, eq=False)
class WeighedTree:
    """A packed tree, with what each of its balls has and says."""

    tree: BallTree
    parents: np.ndarray
    """(n_nodes,) the ball around each ball; -1 for the first."""
    leaves: np.ndarray
    """(n_leaves,) the node of each leaf."""
    counts: np.ndarray
    """(n_nodes, K) rows of each class that the tree saw in the ball."""
    masses: np.ndarray
    """(n_nodes,) probability that a walk through the ball ends in it."""
    says: np.ndarray
    """(n_nodes, K) what the ball adds to the probabilities of a row whose walk goes through it."""
    gains: np.ndarray
    """(n_nodes,) logarithm of the evidence that the split of the ball gains; zero if it loses."""

    def path(self, row: np.ndarray) -> np.ndarray:
        """Return the balls that a row falls into, from large to small.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
            Shifted and scaled.
        """
        balls = [self.ends(row[None])[0]]
        while self.parents[balls[-1]] >= 0:
            balls.append(self.parents[balls[-1]])
        return np.array(balls[::-1])

    def ends(self, rows: np.ndarray) -> np.ndarray:
        """Return the smallest ball that each row falls into.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Shifted and scaled.
        """
        from granulearn.balls import _walk_kernels

        tree = self.tree
        parts = tree.children, tree.offsets, tree.features, tree.directions, tree.thresholds
        found = [_walk_kernels.find_leaf(row, *parts) for row in rows]
        return self.leaves[np.array(found, dtype=int)]

    def columns(self, ball: int) -> tuple[tuple[int, str], ...]:
        """Return the columns that matter most on the way to a ball, and on which side it lies.

        The columns of a split share the evidence that it gains by their part in the squared
        direction, as they do in the importances of a forest.

        Parameters
        ----------
        ball : int
            Node of the tree.
        """
        shares: dict[int, float] = {}
        sides: dict[int, float] = {}
        while (above := self.parents[ball]) >= 0:
            part = slice(self.tree.offsets[above], self.tree.offsets[above + 1])
            direction = self.tree.directions[part].astype(float)
            gained = self.gains[above] * direction**2 / max(direction @ direction, 1e-300)
            to_right = 1 if ball > self.tree.children[above] else -1
            for column, share, side in zip(
                self.tree.features[part].tolist(), gained, to_right * direction, strict=True
            ):
                shares[column] = shares.get(column, 0.0) + share
                sides[column] = sides.get(column, 0.0) + share * np.sign(side)
            ball = above
        total = sum(shares.values())
        order = sorted(shares, key=lambda column: (-round(shares[column], _DECIMALS), column))
        return tuple(
            (column, "higher" if sides[column] > 0 else "lower")
            for column in order[:MOST_COLUMNS]
            if shares[column] > LEAST_SHARE * total
        )


def weigh_trees(
    forest: BallForest,
    seen: SeenRows,
    weighings: Sequence[Weighing],
    shares: Sequence[float] | np.ndarray,
) -> list[WeighedTree]:
    """Return every tree of a forest with what its balls have and say.

    Parameters
    ----------
    forest : BallForest
        Its leaves predict one probability per class.
    seen : SeenRows
        What it was grown on.
    weighings : sequence of Weighing
        How its balls were weighed.
    shares : sequence of float
        The share of each weighing in what leaves predict.
    """
    n_classes = forest.n_outputs
    first = weighings[int(np.argmax(shares))]
    shared = [(w, share) for w, share in zip(weighings, shares, strict=True) if share > 0]
    n_rows = len(seen.rows)
    tables = {w.alpha: evidence_table(n_rows, n_classes, w.alpha) for w, _ in shared}
    return [
        _weigh(tree, _counts(tree, seen, drawn, n_classes), first, tables, shared)
        for tree, drawn in zip(forest.trees, seen.in_bag, strict=True)
    ]


def _counts(
    tree: BallTree, seen: SeenRows, drawn: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows of each class every ball has, and what they weigh."""
    from granulearn.balls import _walk_kernels

    counts, weighed = (np.empty((len(tree.children), n_classes)) for _ in range(2))
    ones = np.ones(int(drawn.sum()))
    for weights, found in ((ones, counts), (seen.weights[drawn], weighed)):
        _walk_kernels.count_balls(
            seen.rows[drawn], seen.codes[drawn], weights, tree.children, tree.offsets,
            tree.features, tree.directions, tree.thresholds, found,
        )  # fmt: skip
    return counts, weighed


def _weigh(tree: BallTree, both_counts, first: Weighing, tables, shared) -> WeighedTree:
    """Weigh the balls of one tree; the evidence gained is that of the first weighing."""
    from granulearn.balls import _posterior_kernels

    counts, weighed = both_counts
    n_nodes, n_classes = counts.shape
    children = np.maximum(tree.children, 0)
    # A leaf with balls left out below it: W = g E / (g E / W), the stop that it keeps.
    stopped = np.where(tree.children < 0, tree.thresholds, 0.0)
    evidences, stops, reach = (np.empty(n_nodes) for _ in range(3))
    masses, says = np.zeros(n_nodes), np.zeros((n_nodes, n_classes))
    for weighing, share in shared:
        _posterior_kernels.weigh_balls(weighed, tables[weighing.alpha], evidences)
        factors = np.divide(weighing.stop, stopped, out=np.ones(n_nodes), where=stopped > 0)
        averages = evidences + np.log(factors)
        _posterior_kernels.weigh_tree(children, averages, weighing.stop, stops, reach)
        mass = share * reach * stops
        masses += mass
        smoothed = weighed + weighing.alpha
        says += mass[:, None] * smoothed / smoothed.sum(axis=1, keepdims=True)
    _posterior_kernels.weigh_balls(weighed, tables[first.alpha], evidences)
    splits = np.flatnonzero(children)
    gains, parents = np.zeros(n_nodes), np.full(n_nodes, -1)
    lefts = children[splits]
    gains[splits] = np.maximum(evidences[lefts] + evidences[lefts + 1] - evidences[splits], 0)
    parents[lefts], parents[lefts + 1] = splits, splits
    leaves = np.flatnonzero(tree.children < 0)
    return WeighedTree(tree, parents, leaves, counts, masses, says, gains)


def strongest_balls(
    trees: Sequence[WeighedTree], row: np.ndarray, code: int, may_speak: np.ndarray | None = None
) -> tuple[BallVoice, ...]:
    """Return the balls that add most to the probability of a class for a row.

    Parameters
    ----------
    trees : sequence of WeighedTree
        All trees of a forest.
    row : ndarray of shape (n_features,)
        Shifted and scaled.
    code : int
        The class.
    may_speak : ndarray of shape (n_trees,), default=None
        The trees that may speak; None means all.
    """
    numbers = range(len(trees)) if may_speak is None else np.flatnonzero(may_speak).tolist()
    found = []
    for number in numbers:
        path = trees[number].path(row)
        added = trees[number].says[path, code].round(_DECIMALS)
        found += [
            (-add, number, ball) for add, ball in zip(added, path.tolist(), strict=True) if add > 0
        ]
    return tuple(
        _voice(trees[number], number, ball, code, len(numbers))
        for _, number, ball in sorted(found)[:MOST_BALLS]
    )


def _voice(tree: WeighedTree, number: int, ball: int, code: int, n_trees: int) -> BallVoice:
    counts = tree.counts[ball].astype(int)
    return BallVoice(
        tree=number,
        weight=float(tree.masses[ball] / n_trees),
        probability=float(tree.says[ball, code] / tree.masses[ball]),
        n_samples=int(counts.sum()),
        class_counts=tuple(counts.tolist()),
        columns=tree.columns(ball),
    )
