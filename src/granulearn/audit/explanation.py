"""Why a label is doubted: the nearest trusted samples, and a path of balls in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from granulearn.audit.label_audit import LabelAudit
from granulearn.balls.forest import BallForest
from granulearn.balls.forest_tree import BallTree
from granulearn.memberships.base import nearest_points

FeatureName = str | tuple[str, str]
"""A column; or (column, category) for a feature that is one where the column has the category."""

TRUSTED_FROM = 0.5
NEIGHBOURS = 3


@dataclass(frozen=True)
class Neighbour:
    """A trusted sample of the suggested class."""

    position: int
    distance: float
    reliability: float


@dataclass(frozen=True)
class BallStep:
    """One ball on the way of a sample down a tree."""

    words: str
    """What sends the sample into this ball; empty for the first."""
    n_samples: int
    """Training samples of the tree in the ball."""
    given_share: float
    """Share of the given class among them."""
    suggested_share: float
    """Share of the suggested class among them."""


@dataclass(frozen=True)
class Explanation:
    """Why the label of one sample is doubted."""

    position: int
    neighbours: tuple[Neighbour, ...]
    path: tuple[BallStep, ...]


def explain(
    audit: LabelAudit, X: np.ndarray, positions: Sequence[int], names: Sequence[FeatureName]
) -> list[Explanation]:
    """Explain doubted labels.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    positions : sequence of int
        The samples to explain.
    names : sequence of str or tuple
        Names of the features; (column, category) for a feature of zeros and ones.

    Returns
    -------
    list of Explanation
        One for each position.
    """
    neighbours = nearest_trusted(audit, X, positions)
    codes = np.searchsorted(audit.classes_, audit.given_)
    rows = audit.forest_.rows(X)
    return [
        Explanation(position, found, tuple(ball_path(audit, rows, codes, position, names)))
        for position, found in zip(positions, neighbours, strict=True)
    ]


def nearest_trusted(
    audit: LabelAudit, X: np.ndarray, positions: Sequence[int]
) -> list[tuple[Neighbour, ...]]:
    """Return, for each position, the nearest trusted samples of its suggested class.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    positions : sequence of int
        Positions of the samples.
    """
    found: dict[int, tuple[Neighbour, ...]] = dict.fromkeys(positions, ())
    wanted = audit.suggested_[list(positions)]
    believed = ~audit.flagged_ & (np.nan_to_num(audit.reliability_) >= TRUSTED_FROM)
    for label in np.unique(wanted):
        own = [p for p, suggested in zip(positions, wanted, strict=True) if suggested == label]
        trusted = np.flatnonzero(believed & (audit.given_ == label))
        if len(trusted) == 0:
            continue
        nearest = nearest_points(X[trusted], X[own], min(NEIGHBOURS, len(trusted)))
        for position, near in zip(own, trusted[nearest], strict=True):
            distances = np.linalg.norm(X[near] - X[position], axis=1)
            found[position] = tuple(
                Neighbour(int(at), float(distance), float(audit.reliability_[at]))
                for at, distance in zip(near, distances, strict=True)
            )
    return [found[position] for position in positions]


def ball_path(
    audit: LabelAudit,
    rows: np.ndarray,
    codes: np.ndarray,
    position: int,
    names: Sequence[FeatureName],
) -> list[BallStep]:
    """Return the balls of a typical tree that a sample falls into, from large to small.

    Parameters
    ----------
    audit : LabelAudit
        Fitted.
    rows : ndarray of shape (n_samples, n_features)
        Inputs shifted and scaled, as the trees need them.
    codes : ndarray of shape (n_samples,)
        Given classes.
    position : int
        The sample.
    names : sequence of str or tuple
        Names of the features; (column, category) for a feature of zeros and ones.
    """
    number = typical_tree(audit, rows, position)
    if number is None:
        return []
    tree = audit.forest_.trees[number]
    given = codes[position]
    suggested = np.searchsorted(audit.classes_, audit.suggested_[position])
    members = np.flatnonzero(audit.in_bag_[number])
    steps, node, words = [], 0, ""
    while True:
        labels = codes[members]
        share = [float((labels == k).mean()) if len(labels) else 0.0 for k in (given, suggested)]
        steps.append(BallStep(words, len(members), share[0], share[1]))
        if tree.children[node] < 0:
            return steps
        goes_right = _goes_right(tree, node, rows[[position]])[0]
        words = _side_in_words(tree, node, goes_right, names)
        members = members[_goes_right(tree, node, rows[members]) == goes_right]
        node = tree.children[node] + int(goes_right)


def typical_tree(audit: LabelAudit, rows: np.ndarray, position: int) -> int | None:
    """Return the tree nearest to the mean of all trees that did not see a sample; None if all did.

    Parameters
    ----------
    audit : LabelAudit
        Fitted.
    rows : ndarray of shape (n_samples, n_features)
        Inputs shifted and scaled, as the trees need them.
    position : int
        The sample.
    """
    unseen = np.flatnonzero(~audit.in_bag_[:, position])
    if len(unseen) == 0:
        return None
    n_classes = len(audit.classes_)
    nothing, one = np.zeros(rows.shape[1]), rows[[position]]
    each = np.concatenate(
        [BallForest((audit.forest_.trees[t],), nothing, 1.0, n_classes).posterior(one)
         for t in unseen]
    )  # fmt: skip
    distance = np.abs(each - audit.proba_[position]).sum(axis=1)
    return int(unseen[distance.argmin()])


def _goes_right(tree: BallTree, node: int, rows: np.ndarray) -> np.ndarray:
    part = slice(tree.offsets[node], tree.offsets[node + 1])
    products = rows[:, tree.features[part]] * tree.directions[part]
    # Products are added up in the same order as in the kernel.
    return np.cumsum(products, axis=1)[:, -1] > tree.thresholds[node]


def _side_in_words(
    tree: BallTree, node: int, goes_right: bool, names: Sequence[FeatureName]
) -> str:
    part = slice(tree.offsets[node], tree.offsets[node + 1])
    signs = tree.directions[part] if goes_right else -tree.directions[part]
    # The largest difference of means says most.
    order = np.argsort(-np.abs(signs), kind="stable")
    return ", ".join(
        _in_words(names[tree.features[part][j]], signs[j] > 0, alone=len(order) == 1) for j in order
    )


def _in_words(name: FeatureName, higher: bool, *, alone: bool) -> str:
    if isinstance(name, str):
        return f"{'higher' if higher else 'lower'} {name}"
    column, category = name
    if alone:
        return f"{column} is {category}" if higher else f"{column} is not {category}"
    # Features that decide together may outweigh each other.
    return f"{column} {'more' if higher else 'less'} often {category}"
