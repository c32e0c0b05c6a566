"""Balls of one block, and the balls of all blocks put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from granulearn.balls import BallGenerator, BallSet, Membership, PrecomputedMembership
from granulearn.balls.generators import mean_weights, with_all_assigned
from granulearn.balls.memberships import class_sums
from granulearn.distributed.blocks import Block
from granulearn.distributed.facts import BlockFacts, align, join_facts, sum_by_class
from granulearn.distributed.reduction import join_in_order
from granulearn.utils.validation import Samples


@dataclass(frozen=True)
class BallSettings:
    """How balls are made, in every block."""

    maker: BallGenerator
    min_ball_size: int
    seed: int
    n_jobs: int | None

    def seed_of(self, number: int) -> int:
        """Return the seed of a block; the first block has the seed of the whole.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """
        if number == 0:
            return self.seed
        return int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])


@dataclass(frozen=True, eq=False)
class BlockBalls:
    """The balls of a block, or of all blocks, with the weights of their rows."""

    facts: BlockFacts
    balls: BallSet
    """Balls with the user's labels, and one assignment per row of the block."""
    ball_weights: np.ndarray | None
    """(k,) mean of min(weight, 1) over each ball's samples; None if there are no weights."""
    delta: np.ndarray | None
    """(k,) memberships, if they depend on samples of this block alone; else None."""
    sums: np.ndarray
    """(K, d) sum of the samples of each of ``balls.classes``, repeated by weight."""
    counts: np.ndarray
    """(K,) number of those samples."""
    dropped: np.ndarray
    """Labels of samples whose balls were dropped for their size."""


def balls_of_block(
    block: Block, settings: BallSettings, block_scheme: Membership | None
) -> BlockBalls:
    """Make the balls of one block.

    Parameters
    ----------
    block : Block
        Samples of the block.
    settings : BallSettings
        How balls are made.
    block_scheme : Membership or None
        Scheme that rates balls by the samples of their block; None if they are rated later.
    """
    if len(block.samples.X) == 0:
        return _no_balls(block)
    samples = block.samples.in_ball_order()
    every_ball = settings.maker(
        samples, random_state=settings.seed_of(block.number), n_jobs=settings.n_jobs
    )
    balls = every_ball.without_small(settings.min_ball_size)
    return BlockBalls(
        facts=block.facts,
        balls=_with_small_assignment(with_all_assigned(balls, samples)),
        ball_weights=mean_weights(balls, samples),
        delta=_rated_alone(balls, samples, block_scheme),
        sums=class_sums(samples.X, samples.codes, len(samples.classes)),
        counts=np.bincount(samples.codes),
        dropped=np.unique(samples.classes[samples.codes[balls.assignment < 0]]),
    )


def without_assignment(part: BlockBalls) -> BlockBalls:
    """Return the balls without their assignment, which grows with the rows, to be sent elsewhere.

    Parameters
    ----------
    part : BlockBalls
        Balls of one block.
    """
    return replace(part, balls=replace(part.balls, assignment=np.empty(0, np.int64)))


def assignment_of(part: BlockBalls) -> tuple[np.ndarray, int]:
    """Return the ball of each row, numbered within the block, and the number of balls.

    Parameters
    ----------
    part : BlockBalls
        Balls of one block.
    """
    return part.balls.assignment, len(part.balls)


def join_balls(parts: Sequence[BlockBalls]) -> BlockBalls:
    """Put the balls of all blocks together, in the order of the blocks.

    Parameters
    ----------
    parts : sequence of BlockBalls
        Balls of every block, without assignments.
    """
    facts = join_in_order(join_facts, [part.facts for part in parts])
    full = [part for part in parts if len(part.counts)] or list(parts[:1])
    sets = [part.balls for part in full]
    classes = np.unique(np.concatenate([balls.classes for balls in sets]))
    balls = BallSet(
        centers=np.concatenate([balls.centers for balls in sets]),
        radii=np.concatenate([balls.radii for balls in sets]),
        labels=np.concatenate(
            [np.searchsorted(classes, balls.classes)[balls.labels] for balls in sets]
        ),
        purities=np.concatenate([balls.purities for balls in sets]),
        counts=np.concatenate([balls.counts for balls in sets]),
        class_counts=np.concatenate(
            [align(balls.class_counts.T, balls.classes, classes).T for balls in sets]
        ),
        assignment=np.empty(0, np.int64),
        classes=classes,
    )
    return BlockBalls(
        facts=facts,
        balls=balls,
        ball_weights=_joined([part.ball_weights for part in full]),
        delta=_joined([part.delta for part in full]),
        sums=sum_by_class([(part.sums, part.balls.classes) for part in full], classes),
        counts=sum_by_class([(part.counts, part.balls.classes) for part in full], classes),
        dropped=np.unique(np.concatenate([part.dropped for part in full])),
    )


def join_assignments(parts: Sequence[tuple[np.ndarray, int]]) -> np.ndarray:
    """Return the ball of each row of all blocks, numbered over all blocks.

    Parameters
    ----------
    parts : sequence of tuple
        What `assignment_of` returned for every block.
    """
    joined = []
    before = 0
    for assignment, n_balls in parts:
        joined.append(np.where(assignment < 0, -1, assignment.astype(np.int64) + before))
        before += n_balls
    return np.concatenate(joined)


def _rated_alone(balls: BallSet, samples: Samples, scheme: Membership | None) -> np.ndarray | None:
    if samples.memberships is not None:
        scheme = PrecomputedMembership(samples.memberships)
    if scheme is None:
        return None
    return scheme(balls, samples.X, samples.codes) if len(balls) else np.empty(0)


def _with_small_assignment(balls: BallSet) -> BallSet:
    """Store assignments in half the memory: they are all that grows with the rows."""
    return replace(balls, assignment=balls.assignment.astype(np.int32))


def _no_balls(block: Block) -> BlockBalls:
    """Return the empty record of a block without samples of positive weight."""
    d = block.samples.X.shape[1]
    none, no_integers = np.empty(0), np.empty(0, np.int64)
    balls = BallSet(
        centers=np.empty((0, d)),
        radii=none,
        labels=no_integers,
        purities=none,
        counts=no_integers,
        class_counts=np.empty((0, 0), np.int64),
        assignment=np.full(block.samples.n_passed, -1, np.int32),
        classes=block.facts.classes[:0],
    )
    return BlockBalls(block.facts, balls, none, none, np.empty((0, d)), no_integers, none)


def _joined(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if len(given) == len(parts) else None
