"""Trees of scikit-learn's histogram booster as plain arrays: small files, and nothing to trust.

A fitted `HistGradientBoostingClassifier` is made of compiled objects that a model
file should not hold. What it predicts is the softmax (for two classes the logistic
function) of a baseline plus the values of leaves, and these are arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import softmax

from granulearn._sklearn_compat import booster_baseline, booster_rounds
from granulearn.ensemble._boosted_trees import add_leaf_values
from granulearn.utils.saved import Array, Size, require, sums_from_roots

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

# Every row walks down all trees, so a file may hold what training makes and no more: trees of so
# many leaves, at worst a chain of them, and one tree of each round for each raw score.
MOST_LEAVES, MOST_ROUNDS = 31, 50
DEEPEST = MOST_LEAVES - 1
ROWS_PER_BLOCK = 4_096  # inputs of a block stay in the cache while trees pass


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """All trees of a booster, their nodes one after another."""

    n_features: int
    """Number of columns."""
    classes: np.ndarray
    """(k,) the classes that the raw scores are about; for two classes the second one."""
    baseline: np.ndarray
    """(n_outputs,) raw score before any tree: one for two classes, else one per class."""
    roots: np.ndarray
    """(n_trees,) where each tree begins."""
    outputs: np.ndarray
    """(n_trees,) the raw score that each tree adds to."""
    lefts: np.ndarray
    """(n_nodes,) where a row goes whose feature is at most the threshold."""
    rights: np.ndarray
    """(n_nodes,) where other rows go."""
    features: np.ndarray
    """(n_nodes,) the column that a node looks at; -1 at a leaf."""
    thresholds: np.ndarray
    """(n_nodes,)"""
    values: np.ndarray
    """(n_nodes,) what a leaf adds."""

    _saved: ClassVar[dict] = {
        "n_features": Size,
        "classes": Array("int32|int64", ("k",), 0, 2**31),
        "baseline": Array("float64", ("n_outputs",)),
        "roots": Array("int32", ("n_trees",), 0),
        "outputs": Array("int32", ("n_trees",), 0),
        "lefts": Array("int32", ("n_nodes",), 0),
        "rights": Array("int32", ("n_nodes",), 0),
        "features": Array("int32", ("n_nodes",), -1),
        "thresholds": Array("float64", ("n_nodes",), -np.inf, np.inf),
        "values": Array("float32", ("n_nodes",)),
    }

    def _check_saved(self) -> None:
        k, n_outputs, n_nodes = len(self.classes), len(self.baseline), len(self.features)
        require(k > 1 and len(np.unique(self.classes)) == k, "classes are not different")
        require(n_outputs == (1 if k == 2 else k), "baseline has another length")
        few = len(self.roots) <= MOST_ROUNDS * n_outputs
        require(few, f"roots are more than those of {MOST_ROUNDS} rounds")
        ends = {"lefts": n_nodes, "rights": n_nodes, "roots": n_nodes, "outputs": n_outputs,
                "features": self.n_features}  # fmt: skip
        for name, end in ends.items():
            inside = getattr(self, name).max(initial=-1) < end
            require(inside, f"{name} point outside")
        splits = np.flatnonzero(self.features >= 0)
        children = np.concatenate([self.lefts[splits], self.rights[splits]])
        self._check_trees(np.tile(splits, 2), children)

    def _check_trees(self, parents: np.ndarray, children: np.ndarray) -> None:
        """Raise unless the nodes are trees, one after another.

        Every row walks down every tree: with nodes that trees share, a few bytes could stand for
        any number of steps, and so could a chain.
        """
        require((children > parents).all(), "lefts or rights come before their parent")
        is_root = np.zeros(len(self.features), bool)
        is_root[self.roots] = True
        rise = np.array_equal(np.flatnonzero(is_root), self.roots)
        require(rise, "roots do not rise")
        once = np.bincount(children, minlength=len(is_root)) == ~is_root
        require(once.all(), "a node is below none, or below more than one")
        tree_of = np.cumsum(is_root)
        own = tree_of[children] == tree_of[parents]
        require(own.all(), "lefts or rights are of another tree")
        parent_of = np.arange(len(is_root))
        parent_of[children] = parents
        is_below = (parent_of != np.arange(len(is_root))).astype(np.int64)
        deepest = sums_from_roots(parent_of, is_below).max(initial=0)
        require(deepest <= DEEPEST, f"a tree is {deepest} deep, and {DEEPEST} is the most")

    def raw(self, X: np.ndarray) -> np.ndarray:
        """Return raw scores of shape (n_rows, n_outputs)."""
        raw = np.tile(self.baseline, (len(X), 1))
        for begin in range(0, len(X), ROWS_PER_BLOCK):
            block = slice(begin, begin + ROWS_PER_BLOCK)
            add_leaf_values(
                np.ascontiguousarray(X[block], dtype=float), self.roots, self.outputs, self.lefts,
                self.rights, self.features, self.thresholds, self.values, raw[block],
            )  # fmt: skip
        return raw

    def proba(self, X: np.ndarray, n_classes: int) -> np.ndarray:
        """Return class probabilities; a class that the booster did not see has zero."""
        raw, proba = self.raw(X), np.zeros((len(X), n_classes))
        if raw.shape[1] == 1:
            raw = np.hstack([np.zeros_like(raw), raw])
        proba[:, self.classes] = softmax(raw, axis=1)
        return proba


def trees_of(
    booster: HistGradientBoostingClassifier, n_rounds: int, classes: np.ndarray
) -> BoostedTrees:
    """Return the trees of the first rounds of a fitted booster as arrays.

    Parameters
    ----------
    booster : HistGradientBoostingClassifier
        Fitted to columns of numbers without gaps.
    n_rounds : int
        Number of rounds.
    classes : ndarray of int
        Number of each class of the booster.
    """
    rounds = booster_rounds(booster)[:n_rounds]
    nodes = [predictor.nodes for trees in rounds for predictor in trees]
    roots = np.cumsum([0, *map(len, nodes)])
    joined = np.concatenate(nodes) if nodes else np.empty(0, dtype=_EMPTY_NODES)
    shift = np.repeat(roots[:-1], np.diff(roots))
    is_leaf = joined["is_leaf"].astype(bool)
    n_outputs = booster.n_trees_per_iteration_
    return BoostedTrees(
        n_features=booster.n_features_in_,
        classes=classes,
        baseline=np.asarray(booster_baseline(booster), dtype=float).ravel(),
        roots=roots[:-1].astype(np.int32),
        outputs=np.tile(np.arange(n_outputs, dtype=np.int32), len(rounds)),
        lefts=np.where(is_leaf, 0, joined["left"] + shift).astype(np.int32),
        rights=np.where(is_leaf, 0, joined["right"] + shift).astype(np.int32),
        features=np.where(is_leaf, -1, joined["feature_idx"]).astype(np.int32),
        thresholds=np.where(is_leaf, 0.0, joined["num_threshold"]),
        values=np.where(is_leaf, joined["value"], 0.0).astype(np.float32),
    )


def gains_of(booster: HistGradientBoostingClassifier, last: int, n_features: int) -> np.ndarray:
    """Return the loss that splits on each input saved in the first rounds.

    Parameters
    ----------
    booster : HistGradientBoostingClassifier
        Fitted.
    last : int
        Number of rounds.
    n_features : int
        Number of columns.
    """
    gains = np.zeros(n_features)
    for trees in booster_rounds(booster)[:last]:
        for predictor in trees:
            nodes = predictor.nodes[predictor.nodes["is_leaf"] == 0]
            np.add.at(gains, nodes["feature_idx"], np.maximum(nodes["gain"], 0))
    return gains


_EMPTY_NODES = [
    ("left", "i8"), ("right", "i8"), ("feature_idx", "i8"), ("num_threshold", "f8"),
    ("value", "f8"), ("is_leaf", "u1"),
]  # fmt: skip
