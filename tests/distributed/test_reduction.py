"""Reductions: one fixed order, whatever the number of parts."""

import pytest
from dask import delayed

from granulearn.distributed.reduction import SPLIT_EVERY, join_in_order, tree_reduce


@pytest.mark.parametrize("n_parts", [1, 2, SPLIT_EVERY, SPLIT_EVERY + 1, 3 * SPLIT_EVERY**2 + 5])
def test_every_part_is_joined_once_and_in_order(n_parts):
    parts = [delayed([number]) for number in range(n_parts)]
    assert tree_reduce(list.__add__, parts).compute() == list(range(n_parts))


def test_a_join_never_holds_more_than_a_few_parts():
    widths = []

    def join(first, second):
        return first + second

    def counted(function, parts):
        widths.append(len(parts))
        return join_in_order(function, parts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("granulearn.distributed.reduction.join_in_order", counted)
        assert tree_reduce(join, [delayed(1)] * 200).compute(scheduler="sync") == 200
    assert max(widths) == SPLIT_EVERY
