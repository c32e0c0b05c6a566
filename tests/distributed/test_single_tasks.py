"""Single tasks: the same results, with one task where there were many."""

import operator

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from numpy.testing import assert_array_equal

from granulearn.distributed import open_client
from granulearn.distributed.blocks import checked_blocks
from granulearn.distributed.single_tasks import single_tasks
from tests.distributed.chunked import chunked, framed, table
from tests.distributed.processes import made_table


def n_tasks(things):
    """Return how many tasks a scheduler would be given."""
    graph = {key: thing.dask[key] for thing in things for key in thing.dask}
    wanted, _ = dask.optimization.cull(graph, [thing.key for thing in things])
    return sum(bool(dask.core.istask(task)) for task in wanted.values())


def test_a_block_is_one_task_however_many_steps_lead_to_it():
    X, y = made_table()
    X = (X - 1) / (abs(X[:, :1]) + 2)
    blocks = checked_blocks(X, y, None, None, "")
    assert n_tasks(blocks) == len(blocks) == 12
    for number, block in enumerate(dask.compute(*blocks)):
        assert_array_equal(block.samples.X, X.blocks[number].compute())
        assert_array_equal(block.facts.classes[block.samples.codes], y.blocks[number].compute())


def test_what_several_need_is_done_once_and_in_no_one_s_task():
    calls = []
    common = delayed(lambda: calls.append(1) or 10)()
    twice = common * 2
    things = [delayed(operator.add)(twice, -delayed(number)) for number in range(3)]
    single = single_tasks(things)
    with dask.config.set(scheduler="sync"):
        assert dask.compute(*single) == (20, 19, 18)
    assert calls == [1]
    assert n_tasks(single) == 2 + 3


def test_a_thing_that_another_needs_stays_as_it_is():
    first = delayed(operator.add)(1, 2)
    second = delayed(operator.neg)(first + 1)
    assert dask.compute(*single_tasks([first, second])) == (3, -4)


def test_data_of_any_kind_is_handed_on_as_it_is():
    """Text and tuples that look like keys or tasks are no steps."""
    rows = np.arange(6).reshape(3, 2)
    key = delayed(operator.neg)(3)
    for value in ("x", (operator.neg, 1), key.key, pd.DataFrame(rows), [1, (2,)], {"a": 1}):
        (single,) = single_tasks([delayed(lambda given: [given])(dask.delayed(value, pure=True))])
        (found,) = dask.compute(single)[0]
        assert type(found) is type(value)
        assert np.array_equal(found, value) if isinstance(value, pd.DataFrame) else found == value


def test_annotated_tasks_keep_their_annotations():
    with dask.annotate(priority=3):
        things = [delayed(operator.neg)(number) + 1 for number in range(2)]
    assert single_tasks(things) == things


@pytest.mark.parametrize("kind", ["arrays", "frames", "kept"])
def test_on_a_cluster_blocks_are_those_of_no_cluster(kind, dask_cluster):
    X, y = table()
    with open_client(dask_cluster.scheduler.address) as client:
        if kind == "frames":
            cut = framed(X, y, [100, 100, 450])
        else:
            cut = chunked(X, 150) * 2 - da.from_array(X, chunks=(150, -1)), chunked(y, 150)
        if kind == "kept":
            cut = client.persist(cut)
        blocks = client.gather(client.compute(checked_blocks(*cut, None, None, "")))
    assert_array_equal(np.concatenate([block.samples.X for block in blocks]), X)
