"""Trees of scikit-learn's histogram booster as plain arrays: small files, and nothing to trust.

A fitted `HistGradientBoostingClassifier` is made of compiled objects that a model
file should not hold. What it predicts is the softmax (for two classes the logistic
function) of a baseline plus the values of leaves, and these are arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from granulearn._invariants import (
    FLOAT,
    FLOAT32,
    INT32,
    INTS,
    array_of,
    check_fields,
    number_of,
    require,
)
from granulearn._sklearn_compat import booster_baseline, booster_rounds
from granulearn.forest.packed_trees import sums_down_from_roots

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

    _held_once = True

    def _check_loaded(self) -> None:
        check_fields(self)
        n_features = number_of(self, "n_features", 1, 2**31, whole=True)
        classes = array_of(self, "classes", INTS, (None,), within=(0, 2**31))
        k = len(classes)
        require(k > 1 and len(np.unique(classes)) == k, self, "classes are not different")
        baseline = array_of(self, "baseline", FLOAT, (1 if k == 2 else k,), in_order=True)
        known = (-1, n_features - 1)
        features = array_of(self, "features", INT32, (None,), within=known, in_order=True)
        n_nodes, n_outputs = len(features), len(baseline)
        places = (0, n_nodes - 1)
        lefts = array_of(self, "lefts", INT32, (n_nodes,), within=places, in_order=True)
        rights = array_of(self, "rights", INT32, (n_nodes,), within=places, in_order=True)
        roots = array_of(self, "roots", INT32, (None,), within=places, in_order=True)
        few = len(roots) <= MOST_ROUNDS * n_outputs
        require(few, self, f"roots are more than those of {MOST_ROUNDS} rounds")
        outputs = (0, n_outputs - 1)
        array_of(self, "outputs", INT32, roots.shape, within=outputs, in_order=True)
        array_of(self, "thresholds", FLOAT, (n_nodes,), within=(-np.inf, np.inf), in_order=True)
        array_of(self, "values", FLOAT32, (n_nodes,), in_order=True)
        splits = np.flatnonzero(features >= 0)
        self._check_trees(np.tile(splits, 2), np.concatenate([lefts[splits], rights[splits]]))

    def _check_trees(self, parents: np.ndarray, children: np.ndarray) -> None:
        """Raise unless the nodes are trees, one after another.

        Every row walks down every tree: with nodes that trees share, a few bytes could stand for
        any number of steps, and so could a chain.
        """
        require((children > parents).all(), self, "lefts or rights come before their parent")
        is_root = np.zeros(len(self.features), bool)
        is_root[self.roots] = True
        rise = np.array_equal(np.flatnonzero(is_root), self.roots)
        require(rise, self, "roots do not rise")
        once = np.bincount(children, minlength=len(is_root)) == ~is_root
        require(once.all(), self, "a node is below none, or below more than one")
        tree_of = np.cumsum(is_root)
        own = tree_of[children] == tree_of[parents]
        require(own.all(), self, "lefts or rights are of another tree")
        parent_of = np.arange(len(is_root))
        parent_of[children] = parents
        is_below = (parent_of != np.arange(len(is_root))).astype(np.int64)
        deepest = sums_down_from_roots(parent_of, is_below).max(initial=0)
        require(deepest <= DEEPEST, self, f"a tree is {deepest} deep, and {DEEPEST} is the most")

    def raw(self, X: np.ndarray) -> np.ndarray:
        """Return raw scores of shape (n_rows, n_outputs)."""
        from granulearn.ensemble import _boosted_kernels

        raw = np.tile(self.baseline, (len(X), 1))
        for begin in range(0, len(X), ROWS_PER_BLOCK):
            block = slice(begin, begin + ROWS_PER_BLOCK)
            _boosted_kernels.add_leaf_values(
                X[block], self.roots, self.outputs, self.lefts, self.rights, self.features,
                self.thresholds, self.values, raw[block],
            )  # fmt: skip
        return raw

    def proba(self, X: np.ndarray, n_classes: int) -> np.ndarray:
        """Return class probabilities; a class that the booster did not see has zero."""
        raw, proba = self.raw(X), np.zeros((len(X), n_classes))
        if raw.shape[1] == 1:
            raw = np.hstack([np.zeros_like(raw), raw])
        proba[:, self.classes] = softmax(raw, axis=1)
        return proba


def trees_of(booster: HistGradientBoostingClassifier, n_rounds: int) -> BoostedTrees:
    """Return the trees of the first rounds of a fitted booster as arrays.

    Parameters
    ----------
    booster : HistGradientBoostingClassifier
        Fitted to columns of numbers without gaps.
    n_rounds : int
        Number of rounds.
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
        classes=np.asarray(booster.classes_),
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
