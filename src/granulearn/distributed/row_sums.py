"""The fit of RVFL on blocks: the normal equations are sums over the rows, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask import delayed

from granulearn.distributed.blocks import Block
from granulearn.distributed.cluster import compute
from granulearn.distributed.facts import BlockFacts, check_facts, join_facts, sum_by_class
from granulearn.distributed.reduction import tree_reduce
from granulearn.rvfl import one_hot
from granulearn.rvfl.base import (
    BaseRVFLClassifier,
    TrainingRows,
    multiply_weights,
    sample_rows,
    weight_of_each_class,
)
from granulearn.rvfl.ridge import FeatureMap, NormalEquations, normal_equations, solve_primal
from granulearn.utils.estimator import Seeds


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """The factor on the weight of each class's rows."""

    classes: np.ndarray
    factors: np.ndarray


@dataclass(frozen=True, eq=False)
class RowSums:
    """The normal equations of some blocks; the moment has a column for each class of `facts`."""

    facts: BlockFacts
    equations: NormalEquations


def fit_rows(model: BaseRVFLClassifier, blocks: Sequence[Any], n_features: int, seeds: Seeds):
    """Fit a classifier that regresses on samples; return the facts about them.

    Parameters
    ----------
    model : BaseRVFLClassifier
        Gets ``classes_``, ``features_`` and ``coef_``.
    blocks : sequence of Delayed
        One `Block` each.
    n_features : int
        Number of columns of X.
    seeds : Seeds
        Seeds of the network.
    """
    features = model._features(TrainingRows(np.empty((0, n_features)), np.empty(0), None), seeds)
    weights = None
    if model.class_weight is not None:
        (facts,) = compute(tree_reduce(join_facts, [delayed(_facts)(block) for block in blocks]))
        check_facts(facts)
        factors = weight_of_each_class(model.class_weight, facts.classes, facts.totals)
        weights = ClassWeights(facts.classes, factors)
    parts = [delayed(sums_of_block)(block, features, weights) for block in blocks]
    (sums,) = compute(tree_reduce(join_sums, parts))
    facts = sums.facts
    check_facts(facts)
    model.classes_, model.features_ = facts.classes, features
    if facts.n_counting < features.n_columns:
        model.coef_ = model._output_weights(features, _gathered(blocks, facts, weights))
    else:
        model.coef_ = solve_primal(sums.equations, model.C)
    return facts


def sums_of_block(block: Block, features: FeatureMap, weights: ClassWeights | None) -> RowSums:
    """Return the normal equations of one block's rows.

    Parameters
    ----------
    block : Block
        Samples of the block.
    features : FeatureMap
        Turns inputs into columns.
    weights : ClassWeights or None
        Factors of all classes; None means one for each.
    """
    rows = rows_of_block(block, weights)
    Y = one_hot(rows.codes, len(block.facts.classes))
    return RowSums(block.facts, normal_equations(features, rows.X, Y, rows.weights))


def rows_of_block(block: Block, weights: ClassWeights | None) -> TrainingRows:
    """Return one row per sample; codes are those of the block's own classes.

    Parameters
    ----------
    block : Block
        Samples of the block.
    weights : ClassWeights or None
        Factors of all classes; None means one for each.
    """
    rows = sample_rows(block.samples)
    if weights is None:
        return rows
    own = weights.factors[np.searchsorted(weights.classes, block.facts.classes)]
    return replace(rows, weights=multiply_weights(rows.weights, own[rows.codes]))


def join_sums(first: RowSums, second: RowSums) -> RowSums:
    """Return the sums over the rows of both.

    Parameters
    ----------
    first, second : RowSums
        Sums over earlier and over later blocks.
    """
    facts = join_facts(first.facts, second.facts)
    if facts is first.facts:
        return first
    if facts is second.facts:
        return second
    moments = [(part.equations.moment.T, part.facts.classes) for part in (first, second)]
    moment = sum_by_class(moments, facts.classes).T
    return RowSums(facts, NormalEquations(first.equations.gram + second.equations.gram, moment))


def _facts(block: Block) -> BlockFacts:
    return block.facts


def _gathered(
    blocks: Sequence[Any], facts: BlockFacts, weights: ClassWeights | None
) -> TrainingRows:
    """Return all rows together, as the dual form needs them: there are fewer than columns."""
    full = [block for block in compute(*blocks) if block.facts.n_rows]
    rows = [rows_of_block(block, weights) for block in full]
    codes = [
        np.searchsorted(facts.classes, block.facts.classes)[part.codes]
        for block, part in zip(full, rows, strict=True)
    ]
    every_weight = [part.weights for part in rows if part.weights is not None]
    return TrainingRows(
        np.concatenate([part.X for part in rows]),
        np.concatenate(codes),
        np.concatenate(every_weight) if every_weight else None,
    )
