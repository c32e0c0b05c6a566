"""Rows drawn of blocks: those that are drawn of the table as a whole."""

import dask
import numpy as np
import pytest
from dask import delayed
from dask.diagnostics import Profiler
from numpy.testing import assert_array_equal

from granulearn.balls.forest_tree import ForestRule
from granulearn.distributed import cluster_source
from granulearn.distributed.cluster_source import ClusterSource, tree_draws
from granulearn.distributed.reduction import LARGEST_GROUP
from granulearn.distributed.row_sketch import key_blocks, sketch_blocks
from granulearn.estimators.row_source import (
    TableSource,
    TreeJob,
    job_of_judged,
    unseen_by_trees,
)
from granulearn.utils.validation import check_samples
from tests.distributed.chunked import block_of
from tests.distributed.large_tables import TREE_FIELDS, mixed_table


def cut(X, y, n_rows):
    """Return a table in blocks of so many rows."""
    make = delayed(block_of)
    blocks = [
        make(X[at : at + n_rows], y[at : at + n_rows], number)
        for number, at in enumerate(range(0, len(X), n_rows))
    ]
    return ClusterSource(key_blocks(blocks, *sketch_blocks(blocks)))


@pytest.mark.parametrize("cells_per_group", [1, 10**9])
def test_rows_trees_and_bags_are_those_of_a_table_in_memory(cells_per_group, monkeypatch):
    monkeypatch.setattr(cluster_source, "CELLS_PER_GROUP", cells_per_group)
    X, y = mixed_table(900)
    ours = cut(X, y, 300)
    alone = TableSource(check_samples(X, y))
    trees = TreeJob(ForestRule(n_trees=3, max_samples=0.2, n_axes=4, n_thresholds=3), None)
    results = [each.fit([job_of_judged(each.frame)], trees) for each in (ours, alone)]
    ((rows,), grown), ((wanted,), expected) = results
    assert_array_equal(rows.positions, wanted.positions)
    assert_array_equal(rows.X, wanted.X)
    for tree, other in zip(grown.forest.trees, expected.forest.trees, strict=True):
        for name in TREE_FIELDS:
            assert_array_equal(getattr(tree, name), getattr(other, name))
    assert_array_equal(ours.seen(grown, rows), alone.seen(expected, wanted))
    assert_array_equal(unseen_by_trees(ours, grown, rows), unseen_by_trees(alone, expected, wanted))
    assert ours.fit([]) == ([], None)


def test_what_a_tree_adds_to_the_tasks_is_one_for_a_group_of_blocks():
    """A task for each tree and block would leave a scheduler no time for anything else."""
    source = cut(*mixed_table(960), 30)
    counts = []
    for n_trees in (2, 12):
        rule = ForestRule(n_trees=n_trees, max_samples=0.2, n_axes=4, n_thresholds=3)
        with dask.config.set(scheduler="sync"), Profiler() as done:
            source.fit([], TreeJob(rule, None))
        counts.append(len(done.results))
    n_groups = 32 / LARGEST_GROUP
    assert counts[1] - counts[0] == 10 * (1 + n_groups)


def test_trees_draw_by_keys_of_their_own():
    draws = tree_draws(ForestRule(n_trees=3, max_samples=0.5, seed=4), 100)
    assert len({draw.key for draw in draws}) == 3
    assert {draw.wanted for draw in draws} == {(50,)}
    assert np.all([draw.available == (100,) for draw in draws])
