"""Reductions: one fixed order, whatever the number of parts."""

import pytest
from dask import delayed

from granulearn.distributed.reduction import (
    LARGEST_GROUP,
    SPLIT_EVERY,
    in_groups,
    join_in_order,
    tree_reduce,
)


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


@pytest.mark.parametrize(("size", "largest"), [(0, 1), (3, 3), (10**9, LARGEST_GROUP)])
def test_groups_hold_every_part_in_order_and_as_many_as_there_is_room_for(size, largest):
    groups = in_groups(range(50), size)
    assert [part for group in groups for part in group] == list(range(50))
    assert {len(group) for group in groups[:-1]} == {largest}
    assert 1 <= len(groups[-1]) <= largest
