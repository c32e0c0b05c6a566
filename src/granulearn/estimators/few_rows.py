"""Boosted trees and their inputs for a few rows, by NumPy instead of compiled loops.

When, and why: `granulearn.balls.few_rows`. Each function does what the loop of its name in
`_boosted_kernels` does, to the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from granulearn.estimators.boosted_trees import BoostedTrees
    from granulearn.estimators.bundles import Bundles


def add_leaf_values(trees: BoostedTrees, Z: np.ndarray, raw: np.ndarray) -> None:
    """Add the value of the leaf that each row comes to, tree by tree.

    Parameters
    ----------
    trees : BoostedTrees
        The trees.
    Z : ndarray of shape (n_rows, n_inputs)
        Bundled inputs.
    raw : ndarray of shape (n_rows, n_outputs)
        What is added to.
    """
    rows, nodes = np.arange(len(Z))[:, None], np.tile(trees.roots, (len(Z), 1))
    # Every round leads one level down, and trees are at most `DEEPEST` deep.
    while (is_split := trees.features[nodes] >= 0).any():
        goes_left = Z[rows, trees.features[nodes]] <= trees.thresholds[nodes]
        below = np.where(goes_left, trees.lefts[nodes], trees.rights[nodes])
        nodes = np.where(is_split, below, nodes)
    for tree, output in enumerate(trees.outputs):
        raw[:, output] += trees.values[nodes[:, tree]]


def set_codes(bundles: Bundles, X: np.ndarray, Z: np.ndarray) -> None:
    """Set the code of the first column of each bundle that is on, or that of none.

    Parameters
    ----------
    bundles : Bundles
        Which columns are bundled.
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    Z : ndarray of shape (n_rows, n_inputs)
        Its first columns, one for each bundle, are set.
    """
    for bundle in range(bundles.n_bundles):
        own = slice(bundles.offsets[bundle], bundles.offsets[bundle + 1])
        is_on = X[:, bundles.bundled[own]] > bundles.middles[own]
        # The place before the first column is that of none.
        is_none = ~is_on.any(axis=1, keepdims=True)
        places = np.hstack([is_none, is_on]).argmax(axis=1)
        Z[:, bundle] = bundles.codes_of(bundle)[places]
