"""What a forest bases its doubt on: the rows that it finds similar, and the features that decide.

A forest predicts by similar rows: each ball on the way of a row shares its say among the rows
that the tree saw in it. Added up over the trees that did not see the row, these shares are the
weight that every other row has in what is predicted for it. From ball to ball the prediction
changes, and the features of the split between them are to thank for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from granulearn.audit.label_audit import LabelAudit
from granulearn.forest.explanation import SeenRows, WeighedTree, weigh_trees

# Weights of so many rows, for all positions together, are held at once.
_CELLS_AT_ONCE = 20_000_000
# Rounding must not choose between rows that are as similar.
_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why trees that did not see a row predict what they do."""

    class_counts: np.ndarray
    """(K,) given classes of the rows that are most similar; all zero if no tree may speak."""
    pushes: np.ndarray
    """(n_features,) what each feature adds to the probability of the rival less the given class."""
    start: float
    """The same difference before anything is known of the row."""


@dataclass(frozen=True, eq=False)
class _Tree:
    """A tree, with the rows that it saw in an order in which every ball is a stretch."""

    weighed: WeighedTree
    order: np.ndarray
    """(n_seen,) positions of the rows."""
    begins: np.ndarray
    """(n_nodes,) where the stretch of a ball begins."""
    sizes: np.ndarray
    """(n_nodes,) how long it is."""
    shares: sparse.csr_array
    """(n_nodes, n_features) the part that each feature has in the split of a ball."""


def weighed_trees(audit: LabelAudit, X: np.ndarray) -> list[WeighedTree]:
    """Return the trees of an audit with what their balls have and say.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    """
    seen = SeenRows(audit.forest_.rows(X), audit.learnt_, np.ones(len(X)), audit.in_bag_)
    return weigh_trees(audit.forest_, seen, audit.priors_, [1.0])


class ReasonFinder:
    """Finds why the forest of an audit prefers another class, or nearly does.

    The trees are weighed once, so that asking about one row after another is cheap.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    """

    def __init__(self, audit: LabelAudit, X: np.ndarray):
        self._audit, self._rows = audit, audit.forest_.rows(X)
        self._trees = [
            _with_rows(tree, self._rows, np.flatnonzero(seen))
            for tree, seen in zip(weighed_trees(audit, X), audit.in_bag_, strict=True)
        ]

    def reasons(self, positions: Sequence[int], rivals: np.ndarray) -> list[Reasons]:
        """Return the reasons for some rows.

        Parameters
        ----------
        positions : sequence of int
            The rows to look at.
        rivals : ndarray of int
            For each of them the number of the class that competes with the given one.

        Returns
        -------
        list of Reasons
            One for each position.
        """
        given, at = self._audit.ratings_.given, np.asarray(positions, dtype=int)
        step = max(1, _CELLS_AT_ONCE // len(self._rows))
        parts = [slice(begin, begin + step) for begin in range(0, len(at), step)]
        return [
            reasons
            for part in parts
            for reasons in _reasons(
                self._audit, self._trees, self._rows, given, at[part], rivals[part]
            )
        ]


def _with_rows(weighed: WeighedTree, rows: np.ndarray, seen: np.ndarray) -> _Tree:
    tree = weighed.tree
    sizes = weighed.counts.sum(axis=1).astype(int)
    begins = np.zeros(len(sizes), dtype=int)
    # A ball comes before the balls in it.
    for node in np.flatnonzero(tree.children > 0):
        left = tree.children[node]
        begins[left], begins[left + 1] = begins[node], begins[node] + sizes[left]
    squares = tree.directions.astype(float) ** 2
    features = sparse.csr_array(
        (squares, tree.features, tree.offsets), shape=(len(sizes), rows.shape[1])
    )
    totals = np.maximum(features.sum(axis=1), 1e-300)
    shares = sparse.csr_array(features.multiply(1 / totals[:, None]))
    order = np.argsort(begins[weighed.ends(rows[seen])], kind="stable")
    return _Tree(weighed, seen[order], begins, sizes, shares)


def _reasons(audit, trees, rows, given, at, rivals) -> Iterator[Reasons]:
    n_unseen = np.maximum((~audit.in_bag_[:, at]).sum(axis=0), 1)
    weights, pushes = np.zeros((len(at), len(rows))), np.zeros((len(at), rows.shape[1]))
    starts = np.zeros(len(at))
    for tree, seen in zip(trees, audit.in_bag_, strict=True):
        asked = np.flatnonzero(~seen[at])
        changes = np.zeros((len(asked), len(tree.sizes)))
        for i, k in enumerate(asked.tolist()):
            path = tree.weighed.path(rows[at[k]])
            _add_weights(weights[k], tree, path)
            says = _differences(tree.weighed, path, given[at[k]], rivals[k])
            tails = tree.weighed.masses[path][::-1].cumsum()[::-1]
            starts[k] += tails[0] * says[0]
            changes[i, path[:-1]] = tails[1:] * np.diff(says)
        pushes[asked] += changes @ tree.shares
    for k, n_estimators in enumerate(n_unseen):
        similar = _most_similar(weights[k])
        counts = np.bincount(given[similar], minlength=len(audit.classes_))
        yield Reasons(counts, pushes[k] / n_estimators, float(starts[k] / n_estimators))


def _add_weights(weights: np.ndarray, tree: _Tree, path: np.ndarray) -> None:
    """Share what each ball on a path says among the rows in it."""
    in_order = np.zeros(len(tree.order))
    for ball in path:
        stretch = slice(tree.begins[ball], tree.begins[ball] + tree.sizes[ball])
        in_order[stretch] += tree.weighed.masses[ball] / max(tree.sizes[ball], 1)
    weights[tree.order] += in_order


def _differences(tree: WeighedTree, path: np.ndarray, given: int, rival: int) -> np.ndarray:
    """Return the probability of the rival less that of the given class, ball by ball."""
    masses = tree.masses[path]
    spoken = tree.says[path, rival] - tree.says[path, given]
    # A ball in which no walk ends says what the one around it does.
    last = np.maximum.accumulate(np.where(masses > 0, np.arange(len(path)), 0))
    return (spoken / np.maximum(masses, 1e-300))[last]


def _most_similar(weights: np.ndarray) -> np.ndarray:
    """Return the rows with the largest weights: as many as equal weights would be worth."""
    total = weights.sum()
    if total == 0:
        return np.empty(0, dtype=int)
    shares = (weights / total).round(_DECIMALS)
    enough = min(len(shares), max(1, round(1 / (shares @ shares))))
    least = -np.partition(-shares, enough - 1)[enough - 1]
    return np.flatnonzero(shares >= max(least, 10.0**-_DECIMALS))
