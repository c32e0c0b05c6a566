"""The fit of forests, committees and the robust classifier on blocks: members on drawn rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from granulearn.balls.row_keys import MANY_ROWS
from granulearn.distributed.blocks import Block
from granulearn.distributed.cluster import compute
from granulearn.distributed.cluster_source import ClusterSource
from granulearn.distributed.facts import BlockFacts
from granulearn.distributed.row_sketch import key_blocks, sketch_blocks
from granulearn.estimators import BallForestClassifier, RobustClassifier
from granulearn.rvfl import RVFLEnsembleClassifier
from granulearn.utils.validation import Samples, describe_samples

Members = BallForestClassifier | RVFLEnsembleClassifier | RobustClassifier


def fit_members(model: Members, blocks: Sequence[Any]) -> BlockFacts:
    """Fit a classifier to blocks; return the facts about the samples.

    Up to 20,000 samples are gathered, and fitted as in memory.

    Parameters
    ----------
    model : BallForestClassifier, RVFLEnsembleClassifier or RobustClassifier
        Not fitted; parameters already checked.
    blocks : sequence of Delayed
        One `Block` each.
    """
    _check_settings(model)
    sketches, total = sketch_blocks(blocks)
    if total.facts.n_counting <= MANY_ROWS:
        model._fit_samples(gathered_samples(compute(*blocks), total.facts.classes))
        return total.facts
    source = ClusterSource(key_blocks(blocks, sketches, total))
    del sketches  # what they hold of every row is needed no more
    if isinstance(model, RobustClassifier):
        model._begin(source.classes, source.n_features)
        model._keep_members(model._fit_source(source))
    elif isinstance(model, BallForestClassifier):
        model._settle_without_rows(*model._fit_source(source))
    else:
        ((drawn,), _) = source.fit([model._job(source)])
        model._settle(drawn)
    return total.facts


def _check_settings(model: Members) -> None:
    if isinstance(model, RobustClassifier) and model.forest is not None:
        raise ValueError(
            "forest is fitted to all rows, and these are in blocks; leave it out, or fit the "
            "plain RobustClassifier to a sample."
        )
    has_networks = isinstance(model, RobustClassifier | RVFLEnsembleClassifier)
    if has_networks and "auto" not in (model.n_layers, model.n_hidden):
        raise ValueError(
            f"n_layers={model.n_layers} with n_hidden={model.n_hidden} is fitted to all rows, and "
            'these are in blocks; leave one of the two "auto".'
        )


def gathered_samples(blocks: Sequence[Block], classes: np.ndarray) -> Samples:
    """Return the samples of a few blocks together.

    Parameters
    ----------
    blocks : sequence of Block
        In memory.
    classes : ndarray
        The classes of all blocks.
    """
    full = [block for block in blocks if len(block.samples)]
    codes = [np.searchsorted(classes, block.facts.classes)[block.samples.codes] for block in full]
    weights = None
    if any(block.samples.weights is not None for block in full):
        weights = np.concatenate(
            [
                np.ones(len(block.samples)) if block.samples.weights is None
                else block.samples.weights
                for block in full
            ]
        )  # fmt: skip
    X = np.concatenate([block.samples.X for block in full])
    samples = describe_samples(X, np.concatenate(codes).astype(np.int32), classes, weights)
    return replace(samples, n_passed=len(X))
