"""What a large table in blocks shares: found block by block, joined by sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any

import numpy as np
from dask import delayed

from granulearn.balls.keyed_tables import TableFrame
from granulearn.balls.row_keys import (
    Twins,
    base_keys,
    class_numbers,
    class_sums,
    copies_of,
    exact_sums,
    find_twins,
    value_hashes,
)
from granulearn.distributed.blocks import Block
from granulearn.distributed.cluster import compute, keep
from granulearn.distributed.facts import (
    BlockFacts,
    check_facts,
    join_facts,
    sum_by_class,
)
from granulearn.distributed.reduction import in_groups, tree_reduce
from granulearn.utils.validation import Samples

# Keys that are compared with each other in one task.
KEYS_PER_TASK = 4_000_000


@dataclass(frozen=True, eq=False)
class BlockSketch:
    """What one block tells; the hashes stay on the cluster until equal rows are found."""

    facts: BlockFacts
    hashes: np.ndarray
    """(n,) of the values of each row."""
    codes: np.ndarray
    """(n,) class of each row, as an index into the classes of the block."""
    lows: np.ndarray
    highs: np.ndarray
    sums: np.ndarray
    """(K,) sum of the hashes of each class."""
    column_sums: np.ndarray
    """(d, n_limbs) sums of the columns, as of `exact_sums`."""


@dataclass(frozen=True, eq=False)
class TableSketch:
    """What several blocks tell together."""

    facts: BlockFacts
    lows: np.ndarray
    highs: np.ndarray
    sums: np.ndarray
    column_sums: np.ndarray
    n_rows: tuple[int, ...]
    """Rows of positive weight of each block."""


@dataclass(frozen=True, eq=False)
class KeyedBlocks:
    """A table in blocks whose rows can be drawn by their keys."""

    blocks: Sequence[Any]
    """One delayed `Block` each."""
    facts: BlockFacts
    frame: TableFrame
    twins: list[Any]
    """One delayed `Twins` each."""
    first_rows: list[int]
    """Number of the first row of each block."""


def sketch_blocks(blocks: Sequence[Any]) -> tuple[list[Any], TableSketch]:
    """Look at all blocks; return what each tells, on the cluster, and all together.

    Parameters
    ----------
    blocks : sequence of Delayed
        One `Block` each.
    """
    sketches = keep([delayed(sketch_of_block)(block) for block in blocks])
    totals = [delayed(total_of_block)(sketch) for sketch in sketches]
    (total,) = compute(tree_reduce(join_totals, totals))
    check_facts(total.facts)
    return sketches, total


def key_blocks(blocks: Sequence[Any], sketches: list[Any], total: TableSketch) -> KeyedBlocks:
    """Find equal rows and sums of columns, so that rows of all blocks have their keys.

    Parameters
    ----------
    blocks : sequence of Delayed
        One `Block` each.
    sketches : list of Delayed
        One `BlockSketch` each.
    total : TableSketch
        Of all blocks.
    """
    facts = total.facts
    counts = facts.counting.astype(np.int64)
    numbers = class_numbers(counts, total.sums)
    n_parts = 1 + int(counts.sum()) // KEYS_PER_TASK
    part, find, pick = delayed(keys_of_blocks), delayed(twins_of_part), delayed(getitem)
    shared = delayed((facts.classes, numbers))
    room = KEYS_PER_TASK // max(total.n_rows)
    groups = [part(shared, n_parts, *group) for group in in_groups(sketches, room)]
    found = [find(*(pick(group, number) for group in groups)) for number in range(n_parts)]
    collect = delayed(_joined_twins)
    twins = keep([collect(number, *found) for number in range(len(blocks))])
    frame = TableFrame(
        numbers=numbers,
        lows=total.lows,
        highs=total.highs,
        copies=counts,
        rows=counts,
        totals=facts.totals.astype(np.float64),
        sums=total.column_sums,
    )
    first_rows = np.concatenate([[0], np.cumsum(total.n_rows)[:-1]]).astype(int).tolist()
    return KeyedBlocks(blocks, facts, frame, twins, first_rows)


def sketch_of_block(block: Block) -> BlockSketch:
    """Return what one block tells.

    Parameters
    ----------
    block : Block
        Samples of the block.
    """
    samples, n_classes = block.samples, len(block.facts.classes)
    _check_single(samples, block.number)
    hashes = value_hashes(samples.X)
    nothing = np.empty(0, dtype=np.intp)
    empty = len(samples.X) == 0
    n_features = samples.X.shape[1]
    lows = np.full(n_features, np.inf) if empty else samples.X.min(axis=0).astype(float)
    highs = np.full(n_features, -np.inf) if empty else samples.X.max(axis=0).astype(float)
    sums = class_sums(hashes, samples.codes, nothing, n_classes)
    columns = exact_sums(samples.X, nothing)
    return BlockSketch(block.facts, hashes, samples.codes, lows, highs, sums, columns)


def _check_single(samples: Samples, number: int) -> None:
    if len(copies_of(samples.weights)):
        raise ValueError(
            f"block {number}: sample_weight stands for repeated samples, and has weights above "
            "1.5; on a cluster repeat the rows, or divide the weights."
        )


def total_of_block(sketch: BlockSketch) -> TableSketch:
    """Return what a block tells, without what is about single rows."""
    return TableSketch(
        sketch.facts,
        sketch.lows,
        sketch.highs,
        sketch.sums,
        sketch.column_sums,
        (len(sketch.hashes),),
    )


def join_totals(first: TableSketch, second: TableSketch) -> TableSketch:
    """Return what earlier and later blocks tell together.

    Parameters
    ----------
    first, second : TableSketch
        Of earlier and of later blocks.
    """
    facts = join_facts(first.facts, second.facts)
    parts = [(each.sums, each.facts.classes) for each in (first, second) if each.facts.n_rows]
    return TableSketch(
        facts,
        np.minimum(first.lows, second.lows),
        np.maximum(first.highs, second.highs),
        sum_by_class(parts, facts.classes) if parts else first.sums,
        first.column_sums + second.column_sums,
        first.n_rows + second.n_rows,
    )


def keys_of_blocks(
    shared: tuple[np.ndarray, np.ndarray], n_parts: int, *sketches: BlockSketch
) -> list[list[np.ndarray]]:
    """Return the keys of rows, for each part of all possible keys, block by block.

    Parameters
    ----------
    shared : tuple of ndarray
        All classes, and their numbers.
    n_parts : int
        Equal keys are in the same of so many parts.
    *sketches : BlockSketch
        Of some blocks.
    """
    parts: list[list[np.ndarray]] = [[] for _ in range(n_parts)]
    for sketch in sketches:
        bases = base_keys(sketch.hashes, sketch.codes, _own_numbers(sketch.facts.classes, shared))
        own = bases % np.uint64(n_parts)
        for number, part in enumerate(parts):
            part.append(bases[own == number])
    return parts


def twins_of_part(*groups: Sequence[np.ndarray]) -> list[Twins]:
    """Return, for each block, its rows that equal others, among keys of one part.

    Parameters
    ----------
    *groups : sequence of ndarray
        The keys, group by group and block by block.
    """
    once = np.empty(0, dtype=np.intp)
    return find_twins([(bases, once) for group in groups for bases in group])


def _own_numbers(own: np.ndarray, shared: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    classes, numbers = shared
    return numbers[np.searchsorted(classes, own)]


def _joined_twins(number: int, *found: list[Twins]) -> Twins:
    """Return the equal rows of one block, from all parts of the keys."""
    own = [parts[number] for parts in found]
    bases = np.concatenate([part.bases for part in own])
    order = np.argsort(bases)
    return Twins(
        bases[order],
        *(
            np.concatenate([getattr(part, name) for part in own])[order]
            for name in ("before", "copies", "rows")
        ),
    )
