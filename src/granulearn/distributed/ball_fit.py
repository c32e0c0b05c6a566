"""The fit of ball classifiers on blocks: balls block by block, then one ridge on all centres."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from dask import delayed

from granulearn.balls import BallSet, resolve_membership
from granulearn.balls.generators import check_classes_kept, check_min_ball_size
from granulearn.distributed.ball_rating import rate_balls, rated_in_block
from granulearn.distributed.block_balls import (
    BallSettings,
    BlockBalls,
    assignment_of,
    balls_of_block,
    join_assignments,
    join_balls,
    without_assignment,
)
from granulearn.distributed.cluster import compute, keep
from granulearn.distributed.facts import BlockFacts, check_facts
from granulearn.rvfl import GBRVFLClassifier
from granulearn.rvfl.ball_rvfl import rated_rows
from granulearn.rvfl.base import with_class_weight
from granulearn.utils.estimator import Seeds

# Up to so many rows, the ball of each row is gathered; above, ``assignment`` is empty.
MAX_ROWS_ASSIGNED = 10_000_000


def fit_balls(model: GBRVFLClassifier, blocks: Sequence[Any], seeds: Seeds) -> BlockFacts:
    """Fit a ball classifier; return the facts about the samples.

    Parameters
    ----------
    model : GBRVFLClassifier
        Gets ``classes_``, ``balls_``, ``membership_``, ``features_`` and ``coef_``.
    blocks : sequence of Delayed
        One `Block` each.
    seeds : Seeds
        Seeds of the balls and the network.
    """
    check_min_ball_size(model.min_ball_size)
    maker = model._maker()
    maker._validate_params()
    scheme = resolve_membership(model.membership)
    scheme._validate_params()
    block_scheme = rated_in_block(scheme)
    settings = BallSettings(maker, model.min_ball_size, seeds.balls, model.n_jobs)
    make = delayed(balls_of_block)
    parts = keep([make(block, settings, block_scheme) for block in blocks])
    (on_cluster,) = keep(
        [delayed(join_balls)([delayed(without_assignment)(part) for part in parts])]
    )
    (joined,) = compute(on_cluster)
    facts = joined.facts
    check_facts(facts)
    _check_balls(joined, model.min_ball_size)
    delta = rate_balls(scheme, joined, on_cluster, parts, blocks, seeds.balls)
    model.classes_ = facts.classes
    balls = _with_assignment(joined, parts)
    codes = np.searchsorted(facts.classes, balls.classes)[balls.labels]
    rows = rated_rows(balls, codes, joined.ball_weights, delta, scheme)
    model.balls_, model.membership_ = balls, delta
    rows = with_class_weight(rows, model.class_weight, model.classes_)
    model.features_ = model._features(rows, seeds)
    model.coef_ = model._output_weights(model.features_, rows)
    return facts


def _with_assignment(joined: BlockBalls, parts: Sequence[Any]) -> BallSet:
    if joined.facts.n_rows > MAX_ROWS_ASSIGNED:
        return joined.balls
    assignment = join_assignments(compute(*(delayed(assignment_of)(part) for part in parts)))
    return replace(joined.balls, assignment=assignment)


def _check_balls(joined: BlockBalls, min_ball_size: int) -> None:
    """Raise or warn where the balls do not represent the samples."""
    balls, classes = joined.balls, joined.facts.classes
    if len(balls) == 0:
        raise ValueError(
            f"min_ball_size={min_ball_size} drops every ball of every block; lower min_ball_size, "
            "or lower purity to get larger balls."
        )
    check_classes_kept(
        classes,
        present=np.flatnonzero(joined.facts.counting),
        of_balls=np.unique(np.searchsorted(classes, balls.classes[balls.labels])),
        dropped=np.searchsorted(classes, joined.dropped),
        min_ball_size=min_ball_size,
    )
    mostly_alone = 2 * joined.facts.alone > joined.facts.counting
    if mostly_alone.any():
        warnings.warn(
            f"most samples of class {classes[mostly_alone].tolist()} lie in blocks without any "
            "other class, and such a block becomes a single ball, so the class will hardly be "
            "predicted: the rows seem to be sorted. Shuffle them, so that blocks are alike.",
            UserWarning,
            stacklevel=2,
        )
