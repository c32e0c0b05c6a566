"""A large table in blocks on a cluster, of which members of a model get their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import getitem
from typing import Any

import numpy as np
from dask import delayed

from granulearn.balls.forest import GrownForest, forest_of_trees
from granulearn.balls.forest_rows import rows_in_place
from granulearn.balls.forest_tree import (
    ForestRule,
    GrownTree,
    evidence_tables,
    grow_on,
    rows_of_tree,
)
from granulearn.balls.keyed_tables import TableFrame
from granulearn.balls.narrow_tables import narrow_table
from granulearn.balls.row_keys import (
    Draw,
    DrawnRows,
    RowKeys,
    Twins,
    base_keys,
    drawn_by,
    joined_rows,
    key_of_draw,
    keys_of_rows,
    seen_by_trees,
    settled,
    value_hashes,
)
from granulearn.distributed.blocks import Block
from granulearn.distributed.cluster import compute, keep
from granulearn.distributed.reduction import in_groups
from granulearn.distributed.row_sketch import KeyedBlocks
from granulearn.estimators.row_source import Job, TreeJob

# Numbers that a group of blocks offers to all draws together, about: 64 MB.
CELLS_PER_GROUP = 8_000_000
_NOTHING = np.empty(0, dtype=np.intp)


class ClusterSource:
    """A large table in blocks.

    Parameters
    ----------
    keyed : KeyedBlocks
        Its blocks, and what they share.
    """

    def __init__(self, keyed: KeyedBlocks):
        self.keyed, self.frame = keyed, keyed.frame
        self.classes = keyed.facts.classes
        self.n_features = len(keyed.frame.lows)
        self._shared = delayed((self.classes, self.frame))
        # Weights of one change no count, but counts of whole numbers are looked up in a table.
        self._weighted = not np.array_equal(keyed.facts.totals, keyed.facts.counting)

    def fit(self, jobs: Sequence[Job], trees: TreeJob | None = None) -> tuple[list[Any], Any]:
        """Do jobs and grow trees on the workers; the blocks are made once.

        What tasks wait for is passed one by one: a list would be a graph of its own to Dask.

        Parameters
        ----------
        jobs : sequence of Job
            What to do with which rows.
        trees : TreeJob or None
            Trees to grow.
        """
        draws = [draw for job in jobs for draw in job.draws]
        n_trees = 0
        if trees is not None:
            n_trees = trees.rule.n_trees
            draws += tree_draws(trees.rule, self.frame.n_counted)
        if not draws:
            return [], None
        offered = self._offered(draws)
        pick, work = delayed(getitem), delayed(_work)
        tasks, at = [], 0
        for job in jobs:
            own = range(at, at + len(job.draws))
            parts = [[pick(part, number) for part in offered] for number in own]
            tasks.append(work(job, parts))
            at += len(job.draws)
        if trees is not None:
            shared = delayed((trees, self.frame, len(self.classes), self._weighted))
            grow = delayed(grow_from)
            for number in range(n_trees):
                parts = [pick(part, at + number) for part in offered]
                tasks.append(grow(shared, draws[at + number], *parts))
        done = list(compute(*tasks))
        if trees is None:
            return done, None
        return done[: len(jobs)], self._forest(done[len(jobs) :])

    def _offered(self, draws: list[Draw]) -> list[Any]:
        """Return, for each group of blocks, the rows that each draw may take."""
        offer, wanted = delayed(offered_rows), delayed(draws)
        keyed = self.keyed
        offers = [
            offer(block, twins, first_row, self._shared, wanted)
            for block, twins, first_row in zip(
                keyed.blocks, keyed.twins, keyed.first_rows, strict=True
            )
        ]
        n_cells = sum(sum(draw.wanted) for draw in draws) * self.n_features
        room = CELLS_PER_GROUP * len(offers) // n_cells
        return keep([delayed(joined_offers)(*group) for group in in_groups(offers, room)])

    def _forest(self, done: list[tuple[GrownTree, tuple[int, int]]]) -> GrownForest:
        grown, frame = [tree for tree, _ in done], self.frame
        nobody = np.zeros((len(grown), 0), dtype=bool)
        forest = forest_of_trees(grown, frame.shift, frame.scale, nobody, len(self.classes))
        return replace(forest, bags=np.array([bag for _, bag in done], dtype=np.uint64))

    def seen(self, grown: GrownForest, rows: DrawnRows) -> np.ndarray:
        """Return where trees saw rows that were drawn.

        Parameters
        ----------
        grown : GrownForest
            The forest.
        rows : DrawnRows
            Some rows.
        """
        return seen_by_trees(grown.bags, rows.keys)


def tree_draws(rule: ForestRule, n_rows: int) -> list[Draw]:
    """Return the draws of the trees of a forest.

    Parameters
    ----------
    rule : ForestRule
        Settings and seed.
    n_rows : int
        Rows of the whole table.
    """
    wanted = (rows_of_tree(rule, n_rows),)
    return [
        Draw(key_of_draw(rule.seed, number), wanted, (n_rows,)) for number in range(rule.n_trees)
    ]


def keys_of_block(
    block: Block, twins: Twins, shared: tuple[np.ndarray, TableFrame]
) -> tuple[np.ndarray, RowKeys]:
    """Return the classes of a block's rows, as indices into all classes, and the rows' keys.

    Parameters
    ----------
    block : Block
        Samples of the block.
    twins : Twins
        Its rows that equal others.
    shared : tuple of ndarray and TableFrame
        All classes, and what all rows share.
    """
    classes, frame = shared
    own = np.searchsorted(classes, block.facts.classes).astype(np.int32)
    codes = own[block.samples.codes]
    bases = base_keys(value_hashes(block.samples.X), codes, frame.numbers)
    return codes, keys_of_rows(bases, _NOTHING, twins)


def offered_rows(
    block: Block,
    twins: Twins,
    first_row: int,
    shared: tuple[np.ndarray, TableFrame],
    draws: Sequence[Draw],
) -> list[DrawnRows]:
    """Return, for each draw, the rows of a block that it may take.

    Parameters
    ----------
    block : Block
        Samples of the block.
    twins : Twins
        Its rows that equal others.
    first_row : int
        Number of its first row.
    shared : tuple of ndarray and TableFrame
        All classes, and what all rows share.
    draws : sequence of Draw
        Which rows to take.
    """
    samples = block.samples
    codes, keys = keys_of_block(block, twins, shared)
    return [drawn_by(draw, samples.X, codes, samples.weights, keys, first_row) for draw in draws]


def joined_offers(*blocks: list[DrawnRows]) -> list[DrawnRows]:
    """Return, for each draw, the rows of all blocks of a group that it may take.

    Parameters
    ----------
    *blocks : list of DrawnRows
        From `offered_rows`, block by block.
    """
    return [joined_rows(parts) for parts in zip(*blocks, strict=True)]


def _work(job: Job, offered: list[list[DrawnRows]]) -> Any:
    rows = [settled(draw, parts) for draw, parts in zip(job.draws, offered, strict=True)]
    return job.work(*rows)


def grow_from(
    shared: tuple[TreeJob, TableFrame, int, bool], draw: Draw, *offered: DrawnRows
) -> tuple[GrownTree, tuple[int, int]]:
    """Grow a tree on the rows that it draws; return it, and how to tell which these are.

    Parameters
    ----------
    shared : tuple
        How trees are grown, what all rows share, the number of classes, and whether rows have
        weights.
    draw : Draw
        Of the tree.
    *offered : DrawnRows
        What groups of blocks offer.
    """
    job, frame, n_classes, weighted = shared
    drawn = settled(draw, offered)
    weights = np.empty(0)
    if job.class_factor is not None:
        weights = drawn.weights * job.class_factor[drawn.codes]
    elif weighted:
        weights = drawn.weights
    everything = np.arange(len(drawn))
    rows = rows_in_place(narrow_table(drawn.X), drawn.codes, weights, frame, everything, drawn.keys)
    tables = evidence_tables(job.rule, draw.wanted[0], n_classes)
    grown = grow_on(rows, everything, tables, job.rule, np.uint64(draw.key))
    # Which rows it saw is told by their keys.
    return replace(grown, drawn=np.empty(0, dtype=np.intp)), (draw.key, drawn.cutoff)
