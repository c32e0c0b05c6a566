"""Why a label is doubted: the nearest trusted samples, and the balls that speak against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from granulearn.audit.label_audit import LabelAudit
from granulearn.balls.forest_voices import (
    BallVoice,
    SeenRows,
    WeighedTree,
    strongest_balls,
    weigh_trees,
)
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
class BallReason:
    """A ball that speaks for the suggested class, of a tree that did not see the sample."""

    words: str
    """What leads the sample into the ball; empty if no split on the way gains evidence."""
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
    balls: tuple[BallReason, ...]


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
    balls = speaking_balls(audit, X, positions, names)
    return [
        Explanation(position, near, reasons)
        for position, near, reasons in zip(positions, neighbours, balls, strict=True)
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


def speaking_balls(
    audit: LabelAudit, X: np.ndarray, positions: Sequence[int], names: Sequence[FeatureName]
) -> list[tuple[BallReason, ...]]:
    """Return, for each position, the balls that add most to the probability of the suggested class.

    Trees that saw the sample do not speak, as they do not in the audit.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    positions : sequence of int
        Positions of the samples.
    names : sequence of str or tuple
        Names of the features; (column, category) for a feature of zeros and ones.
    """
    if len(positions) == 0:
        return []
    given = np.searchsorted(audit.classes_, audit.given_)
    suggested = np.searchsorted(audit.classes_, audit.suggested_)
    rows, trees = audit.forest_.rows(X), weighed_trees(audit, X)
    return [
        tuple(
            _reason(ball, given[at], suggested[at], rows[at], names)
            for ball in strongest_balls(trees, rows[at], suggested[at], ~audit.in_bag_[:, at])
        )
        for at in positions
    ]


def weighed_trees(audit: LabelAudit, X: np.ndarray) -> list[WeighedTree]:
    """Return the trees of an audit with what their balls have and say.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited.
    """
    codes = np.searchsorted(audit.classes_, audit.given_)
    seen = SeenRows(audit.forest_.rows(X), codes, np.ones(len(X)), audit.in_bag_)
    return weigh_trees(audit.forest_, seen, audit.weighings_, [1.0])


def _reason(
    ball: BallVoice, given: int, suggested: int, row: np.ndarray, names: Sequence[FeatureName]
) -> BallReason:
    return BallReason(
        words=", ".join(
            _in_words(names[int(at)], side == "higher", row[int(at)] > 0)
            for at, side in ball.columns
        ),
        n_samples=ball.n_samples,
        given_share=ball.class_counts[given] / ball.n_samples,
        suggested_share=ball.class_counts[suggested] / ball.n_samples,
    )


def _in_words(name: FeatureName, higher: bool, above_mean: bool) -> str:
    if isinstance(name, str):
        return f"{'higher' if higher else 'lower'} {name}"
    column, category = name
    # Zeros lie below the mean of a column of zeros and ones, and ones above it.
    if higher == above_mean:
        return f"{column} is {category}" if higher else f"{column} is not {category}"
    # Features that decide together may outweigh each other.
    return f"{column} {'more' if higher else 'less'} often {category}"
