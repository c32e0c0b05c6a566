"""Rating the balls of all blocks, by the schemes of `granulearn.balls`.

How a scheme is computed depends on the samples and balls that it looks at:

- uniform, a function of the balls, fuzzy at the level of balls: from the
  gathered balls, exactly;
- fuzzy at the level of samples: class means are sums over blocks, class radii
  maxima over blocks, exactly;
- SDAPM: from the gathered balls; the neighbours of each stretch of balls are
  one task;
- memberships given for samples: within each block, exactly;
- any other scheme, such as evidence: by the samples of the ball's own block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from dask import delayed

from granulearn.balls import (
    BallSet,
    CallableMembership,
    FuzzyMembership,
    Membership,
    PrecomputedMembership,
    SDAPMembership,
    UniformMembership,
)
from granulearn.balls.memberships import (
    class_means,
    class_radii,
    closeness,
    distance_to_means,
    local_dissimilarity,
)
from granulearn.distributed.block_balls import BlockBalls
from granulearn.distributed.blocks import Block
from granulearn.distributed.cluster import compute, keep
from granulearn.distributed.reduction import tree_reduce
from granulearn.utils.validation import check_memberships

# Up to so many balls, neighbours are sought among all of them, in a time that grows with
# their square. Above, they are sought among that many balls drawn at random.
MAX_NEIGHBOR_CANDIDATES = 20_000
# Fewer queries are not worth a task: each task builds the search anew.
_QUERIES_PER_TASK = 2_048


@dataclass(frozen=True, eq=False)
class Distances:
    """How far the samples of a block lie from the means of their classes."""

    balls: BallSet
    """Balls of the block, with one assignment per sample of these arrays."""
    distance: np.ndarray
    codes: np.ndarray
    radii: np.ndarray
    """(K,) largest distance of each class in this block."""


def rated_in_block(scheme: Membership) -> Membership | None:
    """Return the scheme if it rates balls by the samples of their block, else None.

    Parameters
    ----------
    scheme : Membership
        The scheme that the user asked for.
    """
    if isinstance(scheme, PrecomputedMembership) and scheme.sample_membership is not None:
        raise TypeError(
            "PrecomputedMembership(sample_membership=...) holds memberships in memory; pass them "
            "to fit as a Dask array or Series: fit(X, y, sample_membership=...)."
        )
    later = UniformMembership, FuzzyMembership, SDAPMembership, CallableMembership
    return None if isinstance(scheme, later) else scheme


def rate_balls(
    scheme: Membership,
    joined: BlockBalls,
    on_cluster: Any,
    parts: Sequence[Any],
    blocks: Sequence[Any],
    seed: int,
) -> np.ndarray:
    """Return the membership of every ball.

    Parameters
    ----------
    scheme : Membership
        How balls are rated.
    joined : BlockBalls
        All balls, in memory.
    on_cluster : Delayed
        The same on the cluster, where tasks can use it.
    parts : sequence of Delayed
        The balls of each block.
    blocks : sequence of Delayed
        The samples of each block.
    seed : int
        Seed of the balls that are drawn when there are too many for a full search.
    """
    if joined.delta is not None:
        return joined.delta
    if isinstance(scheme, SDAPMembership):
        lsi = _dissimilarity(scheme, on_cluster, len(joined.balls), len(blocks), seed)
        return check_memberships(
            scheme.rate_by_dissimilarity(joined.balls, lsi), len(joined.balls), "SDAPMembership"
        )
    if isinstance(scheme, FuzzyMembership) and scheme.level == "sample":
        return _fuzzy(joined, parts, blocks)
    return scheme(joined.balls)


def _dissimilarity(
    scheme: SDAPMembership, on_cluster: Any, n_balls: int, n_blocks: int, seed: int
) -> np.ndarray:
    n_tasks = min(n_blocks, max(1, n_balls // _QUERIES_PER_TASK))
    edges = np.linspace(0, n_balls, n_tasks + 1).astype(int).tolist()
    task = delayed(dissimilarity_of_stretch)
    stretches = [
        task(on_cluster, first, end, scheme.n_neighbors, seed) for first, end in pairwise(edges)
    ]
    return np.concatenate(compute(*stretches))


def dissimilarity_of_stretch(
    joined: BlockBalls, first: int, end: int, n_neighbors: int, seed: int
) -> np.ndarray:
    """Return the local dissimilarity of the balls from `first` to before `end`.

    Parameters
    ----------
    joined : BlockBalls
        All balls.
    first, end : int
        Range of the balls to answer for.
    n_neighbors : int
        Nearest other balls that are looked at.
    seed : int
        Seed of the candidates, when there are more balls than `MAX_NEIGHBOR_CANDIDATES`.
    """
    balls = joined.balls
    among = None
    if len(balls) > MAX_NEIGHBOR_CANDIDATES:
        draw = np.random.RandomState(seed % 2**32)
        among = np.sort(draw.choice(len(balls), MAX_NEIGHBOR_CANDIDATES, replace=False))
    rows = np.arange(first, end)
    return local_dissimilarity(balls.centers, balls.labels, n_neighbors, rows, among)


def _fuzzy(joined: BlockBalls, parts: Sequence[Any], blocks: Sequence[Any]) -> np.ndarray:
    means = class_means(joined.sums, joined.counts)
    measure = delayed(distances_of_block)
    measured = keep(
        [
            measure(block, part, joined.balls.classes, means)
            for block, part in zip(blocks, parts, strict=True)
        ]
    )
    (radii,) = compute(tree_reduce(np.maximum, [delayed(_radii)(part) for part in measured]))
    rated = compute(*(delayed(fuzzy_of_block)(part, radii) for part in measured))
    delta = np.concatenate(rated)
    return check_memberships(delta, len(joined.balls), "FuzzyMembership")


def distances_of_block(
    block: Block, part: BlockBalls, classes: np.ndarray, means: np.ndarray
) -> Distances:
    """Measure how far samples of a block lie from the means of their classes over all blocks.

    Parameters
    ----------
    block : Block
        Samples of the block.
    part : BlockBalls
        Balls of the block.
    classes : ndarray of shape (K,)
        Labels of all blocks.
    means : ndarray of shape (K, d)
        Mean of each class.
    """
    if len(block.samples.X) == 0:
        nothing = np.empty(0)
        return Distances(part.balls, nothing, np.empty(0, np.int32), np.zeros(len(classes)))
    samples = block.samples.in_ball_order()
    codes = np.searchsorted(classes, samples.classes)[samples.codes]
    distance = distance_to_means(samples.X, codes, means)
    balls = replace(part.balls, assignment=part.balls.assignment[samples.positions])
    radii = class_radii(distance, codes, len(classes))
    return Distances(balls, distance, codes.astype(np.int32), radii)


def fuzzy_of_block(measured: Distances, radii: np.ndarray) -> np.ndarray:
    """Return the fuzzy membership of each ball of a block.

    Parameters
    ----------
    measured : Distances
        Distances of the samples of the block.
    radii : ndarray of shape (K,)
        Radius of each class over all blocks.
    """
    if len(measured.balls) == 0:
        return np.empty(0)
    values = closeness(measured.distance, measured.codes, radii)
    return measured.balls.sample_mean(values).clip(0, 1)


def _radii(measured: Distances) -> np.ndarray:
    return measured.radii
