"""Rows drawn of blocks: those that are drawn of the table as a whole."""

import numpy as np
from dask import delayed
from numpy.testing import assert_array_equal

from granulearn.balls import check_samples
from granulearn.balls.forest_tree import ForestRule
from granulearn.distributed.cluster_source import ClusterSource, tree_draws
from granulearn.distributed.row_sketch import key_blocks, sketch_blocks
from granulearn.estimators.row_source import (
    TableSource,
    TreeJob,
    job_of_judged,
    unseen_by_trees,
)
from tests.distributed.chunked import block_of
from tests.distributed.large_tables import TREE_FIELDS, mixed_table


def test_rows_trees_and_bags_are_those_of_a_table_in_memory():
    X, y = mixed_table(900)
    blocks = [
        delayed(block_of)(X[at : at + 300], y[at : at + 300], at // 300) for at in (0, 300, 600)
    ]
    ours = ClusterSource(key_blocks(blocks, *sketch_blocks(blocks)))
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


def test_trees_draw_by_keys_of_their_own():
    draws = tree_draws(ForestRule(n_trees=3, max_samples=0.5, seed=4), 100)
    assert len({draw.key for draw in draws}) == 3
    assert {draw.wanted for draw in draws} == {(50,)}
    assert np.all([draw.available == (100,) for draw in draws])
